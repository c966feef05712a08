package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/audit"
	"warder/internal/caller"
	"warder/internal/gate"
	"warder/internal/platform"
	"warder/internal/state"
	"warder/internal/vault"
)

// lastCalls is how long calls that run may take to end when the daemon does.
const lastCalls = 5 * time.Second

// maxWarnings bounds what status repeats; the daemon's log has all of them.
const maxWarnings = 100

// Daemon is a running daemon. Its fields are set while it starts, before anybody else sees it.
type Daemon struct {
	opt     Options
	log     *slog.Logger
	flush   func() // writes what of the log still waits
	clock   clock
	begun   time.Time
	program program
	starter caller.Identity // who started it

	state    *state.Dir
	account  accountPlace
	tables   atomic.Pointer[caller.Tables]
	audit    *audit.Log
	held     atomic.Pointer[audit.Mark] // what the account has signed of the log and the log does not hold; nil usually
	checked  atomic.Pointer[time.Time]  // when this daemon last verified all of the log
	keep     *keeper
	needles  needles
	opened   atomic.Pointer[keeper] // keep, once others may use it: for the goroutine that writes the log
	gate     *gate.Gate
	listener *api.Listener

	wishing      sync.Mutex // guards agents, settingsText and accepted, and writing policy; taken before mu and before keep's
	agents       agentsKnown
	settingsText []byte // config.toml as it was read
	accepted     acceptance

	mu       sync.Mutex // guards policy, told and warnings
	policy   settings
	told     map[string]said // by the name of the user's file
	warnings []string

	quits  chan string // why the daemon shall end
	failed chan error  // the server can't go on
	ending string
	undo   []func() error // ends what is open, the last first
}

// program is the file that this process runs.
type program struct {
	file   fs.FileInfo
	sha256 func() string // "" if it can't be read
}

func newDaemon(o Options) (*Daemon, error) {
	p, err := ownProgram()
	if err != nil {
		return nil, err
	}
	d := &Daemon{
		opt:     o,
		clock:   clock{now: time.Now, boot: platform.SinceBoot},
		begun:   time.Now(),
		program: p,
		quits:   make(chan string, 1),
		failed:  make(chan error, 1),
	}
	logTo(d, slog.NewTextHandler(o.Log, nil))
	return d, nil
}

// logTo sends the log somewhere, masked.
func logTo(d *Daemon, h slog.Handler) {
	masked := newLogMask(h, func() (*vault.Account, error) {
		if k := d.opened.Load(); k != nil {
			return k.get()
		}
		return nil, errLocked()
	}, &d.needles)
	d.log, d.flush = slog.New(masked), masked.q.flush
}

// onEnd registers how something that was opened is closed.
func (d *Daemon) onEnd(f func() error) { d.undo = append(d.undo, f) }

// end closes everything in the opposite order of opening: no more calls, the account, the log, the lock.
func (d *Daemon) end() error {
	var errs []error
	for i := len(d.undo) - 1; i >= 0; i-- {
		errs = append(errs, d.undo[i]())
	}
	d.undo = nil
	return errors.Join(errs...)
}

// quit asks the daemon to end, once.
func (d *Daemon) quit(reason string) {
	select {
	case d.quits <- reason:
	default: // it ends already
	}
}

// warn keeps a sentence for status.
func (d *Daemon) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	d.log.LogAttrs(context.Background(), slog.LevelWarn, "warning", slog.String("text", text))
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.warnings) < maxWarnings && !slices.Contains(d.warnings, text) {
		d.warnings = append(d.warnings, text)
	}
}

// serve begins to answer.
func (d *Daemon) serve() error {
	book := openLeases(d)
	d.gate = gate.New(gate.Config{
		Log: d.audit, Unattended: d.keep.unattended, Now: d.clock.awake, Word: wordOf, Keep: book.keep, Drop: book.drop,
	})
	book.takeOver(d.gate, d.warn)
	server, err := api.NewServer(api.Config{
		Hello: frame.Hello{Protocol: frame.Protocol, Version: d.opt.Version},
		Ops:   d.ops(),
		Log:   d.log,
		Admit: d.admit,
	})
	if err != nil {
		return err
	}
	if cred, ok := d.listener.Displaced(); ok {
		journal{d}.displaced(cred)
	}
	d.onEnd(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), lastCalls)
		defer cancel()
		return server.Shutdown(ctx)
	})
	d.log.LogAttrs(context.Background(), slog.LevelInfo, "serving", slog.String("socket", d.opt.Socket))
	go func() {
		if err := server.Serve(d.listener); err != nil {
			d.failed <- err
		}
	}()
	return nil
}

// ops are all operations: the daemon's own, and those on what the account holds.
func (d *Daemon) ops() map[string]api.Op {
	a := &acts{
		account: d.keep.get, log: d.audit, person: d.keep.acted, now: d.clock.now, state: d.state,
		gate: d.gate, holding: holding{d.gate, newPrograms(d.state).has, holderOf},
		unattended: d.keep.unattended, home: platform.HomeDir(), places: d.places(), needles: &d.needles, warn: d.warn,
	}
	d.onEnd(func() error { d.gate.Shut(); return nil })
	own := answers{d}
	ops := a.ops()
	ops[api.OpStatus] = api.Op{Call: own.status}
	ops[api.OpWhoami] = api.Op{Call: own.whoami}
	ops[api.OpLock] = api.Op{Call: own.lock}
	ops[api.OpDaemonStop] = api.Op{Call: own.stop}
	ops[api.OpDaemonReplace] = api.Op{Call: own.replace}
	ops[api.OpAuditVerify] = api.Op{Call: own.auditVerify}
	ops[api.OpAuditSeal] = own.seal(a)
	maps.Copy(ops, accepting{d}.ops(a))
	return ops
}

// places are the directories in which no agent may work.
func (d *Daemon) places() []string {
	return []string{d.opt.Data, d.opt.State, d.opt.Config, filepath.Dir(d.opt.Socket)}
}

// placeError is what whoever starts the daemon is told about a place that it can't use.
func placeError(what string, err error) error {
	var known *api.Error
	if errors.As(err, &known) {
		return err
	}
	e := api.Errorf(api.Internal, "%s can't be used: %v", what, err).WithCause(err)
	var place *frame.PlaceError
	switch hint := state.Hint(err); {
	case hint != "":
		return e.WithHint(hint)
	case errors.As(err, &place):
		return e.WithHint(place.Repair)
	}
	return e
}

// dataOf is the data of an audit record.
func dataOf(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		return nil // no type that is passed here can fail
	}
	return text
}

// ownPID is this process's id, for records and messages.
func ownPID() int { return os.Getpid() }
