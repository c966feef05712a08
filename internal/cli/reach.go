package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/daemon"
	"warder/internal/platform"
	"warder/internal/secret"
	"warder/internal/state"
)

// reach is the way to the daemon for one command. It connects with the first
// call, starts a daemon where none runs, and asks the person at the terminal
// for what the daemon wants to see proved.
type reach struct {
	env     *Env
	places  state.Places
	install *state.Install // what setup recorded; nil before it
	blind   error          // why it can't be seen whether something was recorded
	moved   error          // why what was recorded is of other places
	dialer  frame.Dialer
	conn    *api.Client

	stranger *api.Error // who listens at the socket though no daemon runs; nil where nobody does

	starting bool // this command holds the lock of those that start daemons
	mayStart bool // a daemon, where none runs
	mayAsk   bool // the person, for the password

	proving proving // how presence is proved
}

// reach finds out where the daemon is. The caller closes it.
func (env *Env) reach() (*reach, error) {
	r, err := env.reachAny()
	if err == nil && r.moved != nil {
		return nil, movedFault(r.moved)
	}
	return r, err
}

// reachAny is reach for setup, which records places anew.
func (env *Env) reachAny() (*reach, error) {
	places, err := env.places()
	if err != nil {
		return nil, err
	}
	r := &reach{env: env, places: places, mayStart: true, mayAsk: true}
	r.install, err = readInstall(places)
	if errors.Is(err, fs.ErrPermission) {
		// A sandbox may hide the state directory and yet let the socket
		// through, which is all that a client needs.
		r.blind, err = err, nil
	}
	if err != nil {
		return nil, err
	}
	r.dialer = frame.Dialer{Self: selfHello()}
	if r.install != nil {
		// The daemon listens where it was recorded, whatever this session's
		// runtime directory is: two sessions must not have two daemons.
		r.dialer.Path = r.install.Socket
		r.moved = r.install.CheckPlaces(places)
		return r, nil
	}
	if r.dialer.Path, err = places.Socket(); err != nil {
		return nil, usageError("%v", err).WithHint("set WARDER_HOME to a shorter path")
	}
	return r, nil
}

// readInstall is what setup recorded, nil where it did not yet.
func readInstall(places state.Places) (*state.Install, error) {
	dir, err := state.OpenDir(places.State.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, placeFault(err)
	}
	defer func() { _ = dir.Close() }()
	in, err := state.ReadInstall(dir)
	if errors.Is(err, state.ErrNoInstall) {
		return nil, nil
	}
	if err != nil {
		return nil, recordFault(places, err)
	}
	return &in, nil
}

// placesHere are the places for a command that works on files alone. What was
// recorded may be unreadable here, but not of other places.
func (env *Env) placesHere() (state.Places, *state.Install, error) {
	places, err := env.places()
	if err != nil {
		return places, nil, err
	}
	in, _ := readInstall(places) // whoever needs the record says what is wrong with it
	if in == nil {
		return places, nil, nil
	}
	if err := in.CheckPlaces(places); err != nil {
		return places, nil, movedFault(err)
	}
	return places, in, nil
}

// movedFault is the failure of every command but setup where the record is of
// other places: it would act on those, and its user asked for these.
func movedFault(err error) *api.Error {
	return api.Errorf(api.Internal, "%v", err).WithCause(err).
		WithHint("to use what is here, as after a copy or a move: warder setup; to use the other, set HOME, WARDER_HOME or the XDG variable as it was")
}

// placeFault is the failure of a command that can't use one of warder's
// directories or files as it is.
func placeFault(err error) *api.Error {
	e := api.Errorf(api.Internal, "%v", err).WithCause(err)
	if hint := state.Hint(err); hint != "" {
		return e.WithHint(hint)
	}
	var at *fs.PathError
	if errors.Is(err, fs.ErrPermission) && errors.As(err, &at) {
		if foreign := foreignFault(at.Path, err); foreign != nil {
			return foreign
		}
	}
	if errors.Is(err, fs.ErrPermission) {
		return e.WithHint("name a directory that you may write to, for all that is warder's: export WARDER_HOME=DIRECTORY")
	}
	return e.WithHint("see what is wrong with it: warder doctor")
}

// foreignFault is the failure of a command that may not look into a directory
// since it is another user's; nil where that does not explain it.
func foreignFault(path string, err error) *api.Error {
	dir, owner, found := platform.ForeignDir(path)
	if !found {
		return nil
	}
	return api.Errorf(api.Unreachable, "can't use %s: %s belongs to uid %d, and you are uid %d", path, dir, owner, os.Geteuid()).
		WithHint(fmt.Sprintf("do it as uid %d, or set WARDER_HOME to a directory of your own", owner)).WithCause(err)
}

// glance is a reach that changes nothing: it starts no daemon, asks nobody, and
// takes a daemon of any build.
func (env *Env) glance() (*reach, error) {
	r, err := env.reach()
	if err != nil {
		return nil, err
	}
	r.mayStart, r.mayAsk, r.dialer.AnyBuild = false, false, true
	return r, nil
}

// selfHello is what this program says about itself.
func selfHello() frame.Hello {
	return frame.Hello{Protocol: frame.Protocol, Version: readVersion().Version}
}

// places are warder's directories for this environment.
func (env *Env) places() (state.Places, error) {
	places, err := state.ResolvePlaces(env.Getenv, env.Getenv("HOME"), os.Getuid())
	if err != nil {
		return state.Places{}, usageError("%v", err).WithHint("set HOME, or WARDER_HOME to an absolute path").WithCause(err)
	}
	return places, nil
}

// close ends the connection, if there is one.
func (r *reach) close() {
	if r.conn != nil {
		_ = r.conn.Close()
		r.conn = nil
	}
}

// ask makes one call on a connection of its own.
func (env *Env) ask(ctx context.Context, op string, in, out any, values ...secret.Value) ([]secret.Value, error) {
	r, err := env.reach()
	if err != nil {
		return nil, err
	}
	defer r.close()
	return r.call(ctx, op, in, out, values...)
}

// do is ask for an operation that returns no values.
func (env *Env) do(ctx context.Context, op string, in, out any, values ...secret.Value) error {
	got, err := env.ask(ctx, op, in, out, values...)
	frame.DestroyAll(got)
	return err
}

// call asks the daemon for an operation. values stay the caller's, who also
// destroys those that come back.
func (r *reach) call(ctx context.Context, op string, in, out any, values ...secret.Value) ([]secret.Value, error) {
	got, err := r.send(ctx, op, in, out, values)
	if codeOf(err) == api.Locked && r.mayAsk {
		if err := r.unlockHere(ctx, err); err != nil {
			return nil, err
		}
		got, err = r.send(ctx, op, in, out, values)
	}
	if p, needsProof := in.(provable); needsProof && questionOf(err).Hash != "" && r.mayAsk { // else it is a refusal, which no proof changes
		return r.prove(ctx, err, p, func(proof secret.Value) ([]secret.Value, error) {
			return r.send(ctx, op, in, out, append(values[:len(values):len(values)], proof))
		})
	}
	return got, err
}

// stream is call for an operation that answers with a stream.
func (r *reach) stream(ctx context.Context, op string, in any, each func(item json.RawMessage) error) error {
	if err := r.connect(ctx); err != nil {
		return err
	}
	err := r.conn.Stream(ctx, op, in, each)
	if errors.Is(err, frame.ErrNotSent) { // as in send
		r.close()
		if err := r.connect(ctx); err != nil {
			return err
		}
		err = r.conn.Stream(ctx, op, in, each)
	}
	if codeOf(err) != api.Locked || !r.mayAsk {
		return err
	}
	if err := r.unlockHere(ctx, err); err != nil {
		return err
	}
	if err := r.connect(ctx); err != nil {
		return err
	}
	return r.conn.Stream(ctx, op, in, each)
}

// dialogue is call for an operation that answers piece by piece. with is called once at the most.
func dialogue(ctx context.Context, r *reach, op string, t api.Talk, with func(d *frame.Dialogue) error) error {
	for again := true; ; again = false {
		if err := r.connect(ctx); err != nil {
			return err
		}
		started := false
		err := r.conn.Dialogue(ctx, op, t, func(d *frame.Dialogue) error {
			started = true
			return with(d)
		})
		switch {
		case started || !again:
			return err
		case errors.Is(err, frame.ErrNotSent): // as in send
			r.close()
		case codeOf(err) == api.Locked && r.mayAsk:
			if err := r.unlockHere(ctx, err); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// send makes one call. Where the daemon closed the connection before it had the
// request, which it does when it is replaced, it tries once more.
func (r *reach) send(ctx context.Context, op string, in, out any, values []secret.Value) ([]secret.Value, error) {
	if err := r.connect(ctx); err != nil {
		return nil, err
	}
	got, err := r.conn.Call(ctx, op, in, out, values...)
	if !errors.Is(err, frame.ErrNotSent) {
		return got, err
	}
	r.close()
	if err := r.connect(ctx); err != nil {
		return nil, err
	}
	return r.conn.Call(ctx, op, in, out, values...)
}

// connect dials unless there is a connection, and starts a daemon where nobody
// listens and one was set up.
func (r *reach) connect(ctx context.Context) error {
	if r.conn != nil {
		return nil
	}
	conn, err := dial(ctx, r)
	if errors.Is(err, frame.ErrHungUp) || errors.Is(err, frame.ErrNotRunning) && !r.mayStart {
		conn, err = dialLater(ctx, r, err)
	}
	if errors.Is(err, frame.ErrNotRunning) && r.mayStart {
		conn, err = r.startAndDial(ctx)
	}
	r.conn = conn
	return err
}

// dialLater dials again once no other command is putting a daemon in its place.
// Where none does, a daemon that hung up may have been about to end, and one that
// does not run is not waited for.
func dialLater(ctx context.Context, r *reach, failed error) (*api.Client, error) {
	if r.install != nil && isThere(filepath.Join(r.places.State.Path, startLock)) {
		release, err := holdStart(ctx, r)
		if err != nil {
			return nil, failed // that the lock can't be had is no news on the daemon
		}
		release()
	}
	return dial(ctx, r)
}

// unlockHere asks the person at the terminal for the password where there is
// one, and gives locked back where there is none.
func (r *reach) unlockHere(ctx context.Context, locked error) error {
	var who api.Whoami
	if _, err := r.send(ctx, api.OpWhoami, nil, &who, nil); err != nil || who.Verdict != verdictPerson {
		return locked
	}
	c, err := r.env.console()
	if err != nil {
		return locked
	}
	defer c.close()
	return r.unlockAt(ctx, c)
}

// silent is the failure of a command that found nobody listening, where a
// daemon runs all the same; nil where none does.
func silent(ctx context.Context, r *reach) error {
	err := daemon.Silent(ctx, r.places.State.Path)
	if err == nil {
		return nil
	}
	conn, dialled := api.Dial(ctx, r.dialer)
	if dialled != nil {
		return err
	}
	return conn.Close() // it was about to start
}

// tell is call for an operation that returns no values.
func tell(ctx context.Context, r *reach, op string, in, out any) error {
	got, err := r.call(ctx, op, in, out)
	frame.DestroyAll(got)
	return err
}
