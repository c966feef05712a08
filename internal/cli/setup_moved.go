package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"warder/internal/api"
	"warder/internal/caller"
	"warder/internal/state"
)

const verdictAgent = string(caller.Agent)

// resettle is setup where the record is of other places, since the files were
// copied or moved or a variable has changed. It records these places and leaves
// the files as they are.
func (o *setup) resettle(ctx context.Context, r *reach, who api.Whoami) error {
	var moved *state.MovedError
	errors.As(r.moved, &moved)
	if !mayResettle(r.install, moved, who) {
		return api.Errorf(api.Denied, "%v, and a person says that it is meant; this is %s: %s", moved, who.Verdict, who.Why).
			WithHint("ask your user to run this in a terminal of their own: warder setup")
	}
	if !r.hasAccount() {
		return api.Errorf(api.NoAccount, "%v, and there is no account in %s", moved, r.places.Account()).
			WithHint("bring the data directory along, or set WARDER_HOME to a new directory for another account")
	}
	lock, err := lockSetup(r)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Release() }()
	former := *r.install
	if r.dialer.Path, err = socketAnew(r, moved); err != nil {
		return usageError("%v", err).WithHint("set WARDER_HOME to a shorter path")
	}
	if err := o.recordHere(r, moved); err != nil {
		return err
	}
	// One that runs has the other places: it would answer for them.
	if _, err := stopDaemon(ctx, r.env); err != nil {
		return err
	}
	warn(r.env.Err, "what is here was recorded and is used from now on: %s", r.places.State.Path)
	if moved.StateMoved && !former.Unattended && isThere(former.Data) {
		warn(r.env.Err, "if the account in %s stays in use too, make this copy a device of its own: warder repair new-device", former.Data)
	}
	r.moved = nil
	_, err = o.again(ctx, r, who)
	return err
}

// mayResettle reports whether this caller may record other places. Nobody is
// asked where an account without people was copied as a whole: the record of the
// original stays as it is.
func mayResettle(in *state.Install, moved *state.MovedError, who api.Whoami) bool {
	return who.Verdict == verdictPerson || in.Unattended && (moved.StateMoved || who.Verdict != verdictAgent)
}

// socketAnew is where the daemon of these places listens. A copy that would take
// the socket of the original away gets one of its own.
func socketAnew(r *reach, moved *state.MovedError) (string, error) {
	if !moved.StateMoved {
		return r.install.Socket, nil
	}
	path, err := r.places.Socket()
	if err == nil && path == r.install.Socket && isThere(r.install.State) {
		return r.places.SocketApart()
	}
	return path, err
}

// recordHere records the running program and these places.
func (o *setup) recordHere(r *reach, moved *state.MovedError) error {
	unattended, dir := r.install.Unattended, filepath.Dir(r.install.Binary)
	o.by = r.install.SetUpBy
	if !moved.StateMoved {
		p, err := installTo(dir)
		if err != nil {
			return err
		}
		return recordProgram(r, p, unattended, o.by)
	}
	_, err := o.install(r, unattended, !o.noInstall && dir != filepath.Join(r.install.State, "bin"))
	return err
}

// isThere reports whether a path is there, or can't be looked at.
func isThere(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// warnLoose says where others can exchange warder's directories.
func warnLoose(r *reach) {
	var told []string
	for _, place := range []state.Place{r.places.Data, r.places.State, r.places.Config} {
		if loose := state.LooseParent(place.Path); loose != "" && !slices.Contains(told, loose) {
			told = append(told, loose)
			warn(r.env.Err, "anybody can write to %s and exchange warder's directory in it: chmod o-w %s", loose, shellWords(loose))
		}
	}
}
