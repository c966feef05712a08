package audit_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warder/internal/audit"
	"warder/internal/seal"
	"warder/internal/state"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// scene is a log's directory and the account that it belongs to.
type scene struct {
	t       testing.TB
	path    string
	dir     *state.Dir
	root    seal.RootKey
	account seal.ID
}

// newScene makes an empty one, in memory where that is possible: what is tested
// is the order of steps, not the disk.
func newScene(t testing.TB) *scene {
	t.Helper()
	root, err := seal.NewRootKey()
	must(t, err)
	t.Cleanup(root.Destroy)
	return (&scene{t: t, path: filepath.Join(tempDir(t), "audit"), root: root, account: seal.NewID()}).opened()
}

func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "warder-audit-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func (s *scene) opened() *scene {
	s.t.Helper()
	dir, err := state.CreateDir(s.path)
	must(s.t, err)
	s.t.Cleanup(func() { dir.Close() })
	s.dir = dir
	return s
}

// copy is the same scene elsewhere, to be spoiled.
func (s *scene) copy() *scene {
	s.t.Helper()
	c := &scene{t: s.t, path: filepath.Join(tempDir(s.t), "audit"), root: s.root, account: s.account}
	c.opened()
	entries, err := os.ReadDir(s.path)
	must(s.t, err)
	for _, e := range entries {
		c.write(e.Name(), s.read(e.Name()))
	}
	return c
}

func (s *scene) read(name string) []byte {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.path, name))
	must(s.t, err)
	return data
}

func (s *scene) write(name string, data []byte) {
	s.t.Helper()
	must(s.t, os.WriteFile(filepath.Join(s.path, name), data, 0o600))
}

func (s *scene) remove(name string) {
	s.t.Helper()
	must(s.t, os.Remove(filepath.Join(s.path, name)))
}

// segments lists the names of the log's segments.
func (s *scene) segments() []string {
	s.t.Helper()
	names, err := s.dir.List()
	must(s.t, err)
	return slices.DeleteFunc(names, func(name string) bool { return !strings.HasSuffix(name, ".jsonl") })
}

// open opens the log for the rest of the test, or until it is closed.
func (s *scene) open(opt audit.Options) *audit.Log {
	s.t.Helper()
	l, err := audit.Open(s.dir, opt)
	must(s.t, err)
	s.t.Cleanup(func() { l.Close() })
	return l
}

// fill makes a log of n records and closes it. With a root key it begins with a
// checkpoint.
func (s *scene) fill(n int) *scene {
	s.t.Helper()
	l := s.open(audit.Options{})
	must(s.t, l.Checkpoint(s.root, s.account))
	s.add(l, n)
	must(s.t, l.Close())
	return s
}

// add records n events.
func (s *scene) add(l *audit.Log, n int) {
	s.t.Helper()
	for range n {
		s.one(l, event())
	}
}

func (s *scene) one(l *audit.Log, r audit.Record) uint64 {
	s.t.Helper()
	seq, err := l.Append(s.t.Context(), r)
	must(s.t, err)
	return seq
}

// event is a usual record.
func event() audit.Record {
	return audit.Record{
		Event:     "permission.decided",
		ID:        "01J9ZQ6W3Y",
		Session:   "s-17",
		Principal: &audit.Principal{Verdict: "agent", Client: "claude", Depth: 1, Instance: "boot/4711/99"},
		Tool:      "run",
		Item:      "deploy token",
		Decision:  "allow",
		Reason:    "a rule allows it",
		Rule:      "Run(deploy token -- deploy:*)",
		Source:    "policy.toml:12",
		Data:      []byte(`{"argv":["deploy","--stage","production"],"cwd":"/srv/app"}`),
	}
}

// verify checks the log without the root key, and full with it.
func (s *scene) verify() audit.Report { return s.verifyWith(audit.VerifyOptions{}) }

func (s *scene) full() audit.Report {
	return s.verifyWith(audit.VerifyOptions{Root: s.root, Account: s.account})
}

func (s *scene) verifyWith(opt audit.VerifyOptions) audit.Report {
	s.t.Helper()
	report, err := audit.Verify(s.t.Context(), s.dir, opt)
	must(s.t, err)
	return report
}

// want checks both ways of verifying for the same result. An empty cause is a
// log without fault.
func (s *scene) want(seq uint64, cause audit.Cause) {
	s.t.Helper()
	s.wantReport("chain", s.verify(), seq, cause)
	s.wantReport("full", s.full(), seq, cause)
}

func (s *scene) wantReport(how string, r audit.Report, seq uint64, cause audit.Cause) {
	s.t.Helper()
	if cause == "" {
		if !r.OK || r.FirstBad != nil {
			s.t.Errorf("%s: %s", how, show(r))
		}
		return
	}
	if r.OK || r.FirstBad == nil || r.FirstBad.Seq != seq || r.FirstBad.Cause != cause {
		s.t.Errorf("%s: %s, want %s at %d", how, show(r), cause, seq)
	}
}

func show(r audit.Report) string {
	if r.FirstBad == nil {
		return fmt.Sprintf("ok %v, %d events up to %d", r.OK, r.Events, r.Last)
	}
	return fmt.Sprintf("ok %v, %s at %d: %s", r.OK, r.FirstBad.Cause, r.FirstBad.Seq, r.FirstBad.Text)
}

// lines are the lines of a segment with their newlines.
func lines(data []byte) [][]byte { return slices.Collect(bytes.Lines(data)) }

// records are all records that can be read.
func records(s *scene) (all []audit.Record) {
	s.t.Helper()
	for r, err := range audit.Records(s.dir, 0) {
		if err != nil && !errors.Is(err, audit.ErrDamaged) {
			s.t.Fatal(err)
		}
		if err == nil {
			all = append(all, r)
		}
	}
	return all
}

// events are the names of all records.
func events(s *scene) (names []string) {
	for _, r := range records(s) {
		names = append(names, r.Event)
	}
	return names
}
