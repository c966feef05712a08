package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"warder/internal/audit"
	"warder/internal/seal"
	"warder/internal/state"
)

const (
	auditClients = 8
	auditTime    = 3 * time.Second
	verified     = 1_000_000
	wantAppends  = 5_000 // events a second, from the budget
)

// auditPart measures durable events from some clients at once, and how long it takes to verify many.
func auditPart(r *report, dir string) error {
	r.step("audit: appending from %d clients", auditClients)
	rate, err := appendRate(filepath.Join(dir, "append"))
	if err != nil {
		return err
	}
	r.show([]row{{
		fmt.Sprintf("durable events a second from %d clients", auditClients), fmt.Sprint(wantAppends),
		fmt.Sprintf("%.0f", rate), wantAppends / rate,
	}})
	// In memory where there is such a place: what is measured reads, and making the log is not what is measured.
	place := dir
	if temp, err := os.MkdirTemp("/dev/shm", "warder-bench-"); err == nil {
		defer os.RemoveAll(temp) //nolint:errcheck // what stays in memory is seen by the system's own cleaning
		place = temp
	}
	return verifyMany(r, filepath.Join(place, "verify"))
}

// appendRate is how many events a second are durable.
func appendRate(path string) (float64, error) {
	l, done, err := openLog(path, audit.Options{})
	if err != nil {
		return 0, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(context.Background(), auditTime)
	defer cancel()
	start := time.Now()
	count, err := appendFrom(ctx, l, auditClients, 0)
	return float64(count) / time.Since(start).Seconds(), err
}

// appendFrom appends from several clients at once until ctx ends, or each has appended each events if that is not 0.
func appendFrom(ctx context.Context, l *audit.Log, clients, each int) (count uint64, err error) {
	first, _ := l.Head()
	errs := make([]error, clients)
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			for n := 0; ctx.Err() == nil && (each == 0 || n < each); n++ {
				if _, err := l.Append(context.WithoutCancel(ctx), benchEvent()); err != nil {
					errs[c] = err
					return
				}
			}
		})
	}
	all.Wait()
	last, _ := l.Head()
	return last - first, errors.Join(errs...)
}

func benchEvent() audit.Record {
	return audit.Record{
		Event: "permission.decided", ID: "i-7f31", Session: "s-01", Tool: "run", Item: "personal/github-token", Decision: "allow",
		Principal: &audit.Principal{Verdict: "agent", Client: "claude", Depth: 1}, Reason: "level use", Source: "policy.toml:12",
		Data: json.RawMessage(`{"argv":["gh","api","user"],"cwd":"/home/u/src"}`),
	}
}

// openLog opens a log in a folder of its own.
func openLog(path string, opt audit.Options) (l *audit.Log, done func(), err error) {
	dir, err := state.CreateDir(path)
	if err != nil {
		return nil, nil, err
	}
	if l, err = audit.Open(dir, opt); err != nil {
		return nil, nil, errors.Join(err, dir.Close())
	}
	return l, func() {
		if err := errors.Join(l.Close(), dir.Close()); err != nil {
			fmt.Fprintln(os.Stderr, "bench: closing the log:", err)
		}
	}, nil
}

// verifyMany makes a log of a million events and verifies it, chain alone and each record by the root key.
func verifyMany(r *report, path string) error {
	r.step("audit: making %d events", verified)
	root, err := seal.NewRootKey()
	if err != nil {
		return err
	}
	defer root.Destroy()
	account := seal.NewID()
	l, done, err := openLog(path, audit.Options{Generations: 100})
	if err != nil {
		return err
	}
	if err = l.Checkpoint(root, account); err == nil {
		const clients = 500 // so that one commit takes many
		_, err = appendFrom(context.Background(), l, clients, verified/clients)
	}
	done()
	if err != nil {
		return err
	}
	dir, err := state.OpenDir(path)
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // read only
	var rows []row
	for _, v := range []struct {
		name string
		opt  audit.VerifyOptions
	}{{"chain", audit.VerifyOptions{}}, {"each record by the account's key", audit.VerifyOptions{Root: root, Account: account}}} {
		r.step("audit: verifying them: %s", v.name)
		start := time.Now()
		report, err := audit.Verify(context.Background(), dir, v.opt)
		if err != nil {
			return err
		}
		if !report.OK || report.Events < verified {
			return fmt.Errorf("the log does not verify: %d events", report.Events)
		}
		rows = append(rows, timed(fmt.Sprintf("verify %d events: %s", report.Events, v.name), 5*time.Second, time.Since(start)))
	}
	r.show(rows)
	return nil
}
