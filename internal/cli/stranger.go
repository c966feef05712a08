package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/daemon"
)

// strangerPatience is how long whoever listens may take to say who it is while
// nobody holds the daemon's lock. It can only be a daemon that has just started.
const strangerPatience = 250 * time.Millisecond

// dial connects to the daemon. A program of the same user may take the socket
// while no daemon runs, and say nothing, hang up, or play the daemon. The lock
// tells it from one: a daemon takes it before it listens. Such a program counts
// as if nobody listened, so that it keeps no command from starting a daemon,
// which takes the socket back.
func dial(ctx context.Context, r *reach) (*api.Client, error) {
	r.stranger = nil
	free := unclaimed(r, false)
	d := r.dialer
	if free {
		d.Patience = strangerPatience
	}
	conn, err := api.Dial(ctx, d)
	var peer *frame.PeerError
	silent := errors.As(err, &peer)
	switch {
	case ctx.Err() != nil, err == nil && !free, err != nil && !silent && codeOf(err) != api.Version:
		return conn, err
	case unclaimed(r, silent):
		r.stranger = strangerFault(r, conn, err)
		if conn != nil {
			_ = conn.Close()
		}
		return nil, r.stranger
	case free && err != nil: // a daemon has got the lock since
		return api.Dial(ctx, r.dialer)
	}
	return conn, err
}

// unclaimed reports whether certainly no daemon runs. Where nothing is recorded
// and there is no lock, a sandbox may hide the state directory and yet let the
// socket through: that no daemon runs then is only the likelier of two things.
func unclaimed(r *reach, likely bool) bool {
	free, err := daemon.Unclaimed(r.places.State.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return r.install != nil || likely && r.blind == nil
	}
	return free && err == nil
}

// strangerFault is the failure of what needs the daemon and starts none.
func strangerFault(r *reach, conn *api.Client, err error) *api.Error {
	pid := 0
	var peer *frame.PeerError
	var other *frame.VersionError
	switch {
	case conn != nil:
		pid = conn.ServerPID()
	case errors.As(err, &peer):
		pid = peer.PID
	case errors.As(err, &other):
		pid = other.ServerPID
	}
	who := "another program"
	if pid > 0 {
		who = fmt.Sprintf("another program (pid %d)", pid)
	}
	return api.Errorf(api.Unreachable, "no daemon is running, and %s listens at its socket %s", who, r.dialer.Path).
		WithHint(takeBack).WithCause(frame.ErrNotRunning)
}

// isPlace reports whether err is of the socket's place, which a fresh daemon
// could not use either.
func isPlace(err error) bool {
	var place *frame.PlaceError
	return errors.As(err, &place) || errors.Is(err, fs.ErrPermission)
}

// takeBack is what to do about a stranger.
const takeBack = "take the socket back: warder daemon restart"

// warnStranger says who listens in the daemon's place, where a command goes on
// without a daemon.
func warnStranger(r *reach) {
	if r.stranger != nil {
		warn(r.env.Err, "%s", strangerText(r.stranger))
	}
}

// strangerText is the warning.
func strangerText(e *api.Error) string { return e.Error() + "; " + e.Hint }
