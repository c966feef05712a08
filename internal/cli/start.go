package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/daemon"
	"warder/internal/platform"
	"warder/internal/secret"
	"warder/internal/state"
)

// startPatience is how long a command waits for another one that is starting a
// daemon.
const startPatience = 10 * time.Second

// order is the one request that a daemon gets from the command that started it.
type order struct {
	op     string
	in     any
	values []secret.Value
}

// startLock keeps commands that find no daemon at the same time from starting
// one each: unlocking costs time and memory on purpose.
const startLock = "start.lock"

// startAndDial starts a daemon from the recorded program and connects to it. Of
// several commands one starts it, and the others wait for it.
func (r *reach) startAndDial(ctx context.Context) (*api.Client, error) {
	if r.install == nil {
		return nil, noAccount(r)
	}
	release, err := holdStart(ctx, r)
	if err != nil {
		return nil, err
	}
	defer release()
	return r.startAlone(ctx)
}

// holdStart waits until no other command is starting a daemon or putting one in
// the place of another, and keeps others from it. Without that a command which
// finds no daemon in between would start one that takes the place. It waits for
// no longer than startPatience: a command that hangs must not stop all others.
func holdStart(ctx context.Context, r *reach) (release func(), err error) {
	if r.starting {
		return func() {}, nil
	}
	dir, err := state.OpenDir(r.places.State.Path)
	if err != nil {
		return nil, placeFault(err)
	}
	limited, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	defer dir.Close() //nolint:errcheck // nothing is written through it
	lock, err := dir.LockUntil(limited, startLock)
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("waiting for another command that starts the daemon: %w", context.Cause(ctx))
	case errors.Is(err, state.ErrLocked): // whoever hangs stops nobody
		lock = nil
	case err != nil:
		return nil, placeFault(err)
	}
	r.starting = true
	return func() {
		r.starting = false
		if lock != nil {
			_ = lock.Release()
		}
	}, nil
}

// startAlone starts a daemon unless one runs by now.
func (r *reach) startAlone(ctx context.Context) (*api.Client, error) {
	conn, err := dial(ctx, r)
	if !errors.Is(err, frame.ErrNotRunning) {
		return conn, err
	}
	started, got, err := r.launch(ctx, order{op: api.OpStart})
	frame.DestroyAll(got)
	if err != nil && codeOf(err) != api.Exists {
		return nil, err
	}
	if started.Locked != "" { // an operation that needs no account does not fail by it
		warn(r.env.Err, "%v: %s", notOpened(started), started.Hint)
	}
	return dial(ctx, r)
}

// noAccount is the failure of a command where nothing was set up, or where it
// can't see whether something was.
func noAccount(r *reach) error {
	if r.blind != nil {
		if e := foreignFault(r.places.State.Path, r.blind); e != nil {
			return e
		}
		return api.Errorf(api.Sandboxed, "no daemon answers, and this process may not look into %s", r.places.State.Path).
			WithHint("run it outside of the sandbox, or let it see that directory").WithCause(r.blind)
	}
	return api.Errorf(api.NoAccount, "there is no account in %s", r.places.Data.Path)
}

// launch starts a fresh daemon, gives it the order, and returns when it serves
// in the place of any other.
func (r *reach) launch(ctx context.Context, o order) (api.Started, []secret.Value, error) {
	r.close()
	if r.env.launch != nil {
		return r.env.launch(ctx, o)
	}
	if err := mayLaunch(r); err != nil {
		return api.Started{}, nil, err
	}
	release, err := holdStart(ctx, r)
	if err != nil {
		return api.Started{}, nil, err
	}
	defer release()
	conn, err := r.spawn(ctx, "run")
	if err != nil {
		return api.Started{}, nil, err
	}
	defer func() { _ = conn.Close() }()
	var started api.Started
	got, err := conn.Call(ctx, o.op, o.in, &started, o.values...)
	return started, got, err
}

// mayLaunch says why the recorded program can't be started, as far as that can
// be seen.
func mayLaunch(r *reach) error {
	if r.install == nil {
		return noAccount(r)
	}
	return checkProgram(r.install)
}

// spawn starts the recorded program as a daemon or a prover, with the recorded
// places, and meets it over a connection that it inherits.
func (r *reach) spawn(ctx context.Context, part string) (*api.Client, error) {
	who, err := r.env.judgeSelf()
	if err != nil {
		return nil, err
	}
	ours, theirs, err := platform.ConnPair()
	if err != nil {
		return nil, err
	}
	in := r.install
	daemon, err := platform.StartDetached(in.Binary, []string{
		"daemon", part, "--data", in.Data, "--state", in.State, "--config", in.Config, "--socket", in.Socket,
		"--started-by", who.Verdict, "--start-fd", strconv.Itoa(platform.InheritedFD),
	}, theirs)
	if err := errors.Join(err, theirs.Close()); err != nil {
		_ = ours.Close()
		return nil, api.Errorf(api.Unreachable, "the recorded program can't be started: %v", err).
			WithHint("record the program anew: warder setup").WithCause(err)
	}
	_ = daemon.Release() // it outlives this process
	conn, err := frame.Inherited(ctx, ours, selfHello())
	if err != nil {
		return nil, err
	}
	return &api.Client{ClientConn: conn}, nil
}

// checkProgram refuses to start a program that is not the recorded one.
func checkProgram(in *state.Install) error {
	sum, err := hashFile(in.Binary)
	switch {
	case err != nil:
		return api.Errorf(api.Unreachable, "the recorded program can't be started: %v", err).
			WithHint("install warder, then record it: warder setup").WithCause(err)
	case sum != in.SHA256:
		return api.Errorf(api.Version, "%s is not the program that was recorded", in.Binary).
			WithHint("if you replaced it yourself, record it anew: warder setup")
	}
	return nil
}

// unlockAt asks for the master password on the terminal and opens the account
// with it, in a fresh daemon. A mistyped password may be typed again.
func (r *reach) unlockAt(ctx context.Context, c *console) error {
	if err := daemon.CheckWait(r.places.Data.Path, r.places.State.Path); err != nil {
		return err // before anything is typed
	}
	for try := 1; ; try++ {
		password, err := c.hidden("Master password: ")
		if err != nil {
			return err
		}
		_, got, err := r.launch(ctx, order{op: api.OpStartUnlock, in: api.StartUnlock{}, values: []secret.Value{password}})
		password.Destroy()
		frame.DestroyAll(got)
		if codeOf(err) != api.WrongPassword || try == passwordTries {
			return err
		}
		if err := c.say("%s", sentence(err.Error())); err != nil {
			return err
		}
	}
}

// hashFile is the SHA-256 of a file, as install.json has it.
func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return hash(f)
}

// hash is the SHA-256 of what is left of a file.
func hash(f *os.File) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("reading %s: %w", f.Name(), err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
