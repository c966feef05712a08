package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/platform"
	"warder/internal/state"
)

const (
	// askTime is how long a running daemon may take to say that it makes room.
	askTime = 5 * time.Second
	// hastyTime is how soon a refusal to talk has come that is worth a second try.
	hastyTime = time.Second
	// deafTime is how long one that does not talk at all may keep the lock: it may be ending.
	deafTime = 2 * time.Second
)

// oldDaemon is the daemon that runs, or whatever listens in its place.
type oldDaemon struct {
	conn *api.Client // nil if nobody answers
}

// meetOld connects to the daemon that runs while this process can still be recognised by its program, and holds no secret.
// By hand nobody is replaced. Where the lock is free no daemon runs, and who listens there all the same gets no time: one
// that says nothing would hold up each start.
func (d claim) meetOld(ctx context.Context, s *starter) *oldDaemon {
	if s == nil {
		return &oldDaemon{}
	}
	if free, err := Unclaimed(d.state.Path()); free && err == nil {
		return &oldDaemon{}
	}
	began := d.clock.moment()
	conn, err := d.dialOld(ctx)
	if err != nil && !errors.Is(err, frame.ErrNotRunning) && d.clock.since(began) < hastyTime {
		conn, err = d.dialOld(ctx) // it refuses whoever has other processes above him at a second look than at the first
	}
	if err != nil {
		return &oldDaemon{}
	}
	return &oldDaemon{conn: conn}
}

func (d claim) dialOld(ctx context.Context) (*api.Client, error) {
	self := frame.Hello{Protocol: frame.Protocol, Version: d.opt.Version}
	return api.Dial(ctx, frame.Dialer{Path: d.opt.Socket, Self: self, AnyBuild: true})
}

func (o *oldDaemon) close() {
	if o.conn != nil {
		_ = o.conn.Close()
	}
}

// pid is the process behind the connection, 0 if there is none.
func (o *oldDaemon) pid() int {
	if o.conn == nil {
		return 0
	}
	return o.conn.ServerPID()
}

// take makes this process the daemon: the lock, the log and the socket are its own then.
func (d claim) take(ctx context.Context, old *oldDaemon, r *startRequest) error {
	if err := d.takePlace(ctx, old, r); err != nil {
		return err
	}
	if err := journal(d).openAudit(); err != nil {
		return err
	}
	l, err := api.Listen(d.opt.Socket, func() error { return nil }) // takePlace took the lock
	if err != nil {
		return placeError("the socket", err)
	}
	d.listener = l
	d.onEnd(func() error {
		if err := l.Close(); !errors.Is(err, net.ErrClosed) { // the server closes it, if it came to serve
			return err
		}
		return nil
	})
	return nil
}

// takePlace makes this process the daemon. A plain start takes nobody's place; all others ask the daemon that runs to end,
// which by now costs nothing if it is not the one to be replaced: the account is open. Nothing secret is said to whatever
// listens there.
func (d claim) takePlace(ctx context.Context, old *oldDaemon, r *startRequest) error {
	if r.op == api.OpStart {
		if old.conn != nil && d.isHolder(old.pid()) {
			return running(old.pid())
		}
		return d.takeLock(ctx, endTime, func() error { return d.another(ctx) })
	}
	refused, wait := old.askToEnd(ctx), endTime
	if old.conn == nil {
		wait = deafTime
	}
	return d.takeLock(ctx, wait, func() error {
		if refused != nil && d.isHolder(old.pid()) {
			return refused // the daemon itself; what somebody else says counts for nothing
		}
		return nil
	})
}

// another looks for a daemon that has got the lock and answers, and says so.
func (d claim) another(ctx context.Context) error {
	conn, err := d.dialOld(ctx)
	if err != nil {
		return nil
	}
	defer conn.Close() //nolint:errcheck // nothing was asked over it
	if pid := conn.ServerPID(); d.isHolder(pid) {
		return running(pid)
	}
	return nil
}

// askToEnd asks for the place and returns the refusal, if that is the answer.
func (o *oldDaemon) askToEnd(ctx context.Context) error {
	if o.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	_, err := o.conn.Call(ctx, api.OpDaemonReplace, api.Replace{Reason: "unlock"}, nil)
	var refused *api.Error
	if errors.As(err, &refused) && refused.Code != api.Unreachable {
		return refused
	}
	return nil // it makes room, or does not answer, which the lock will tell
}

// replace lets a fresh daemon of the recorded program take this one's place.
func (d answers) replace(ctx context.Context, call *api.Call) (*api.Reply, error) {
	c, err := clientOf(call)
	if err != nil {
		return nil, err
	}
	var in api.Replace
	if err := call.Decode(&in); err != nil {
		return nil, err
	}
	if err := d.mayReplace(c); err != nil {
		journal(d).noteRefused(ctx, c, err)
		return nil, api.Errorf(api.Denied, "the daemon that runs (pid %d) does not make room: %v", ownPID(), err).
			WithHint("set warder up from the program that is to run: warder setup").WithCause(err)
	}
	journal(d).note(ctx, eventReplaced, c, map[string]any{"pid": c.peer.PID(), "reason": in.Reason})
	d.quit("replaced")
	return nil, nil
}

// errNoProgram says that it can't be told what a process runs.
var errNoProgram = errors.New("its program can't be told")

// mayReplace says why a process may not take this daemon's place, nil if it may: it has to run the recorded program, which
// nobody but this user and root can have put there to stay.
func (d answers) mayReplace(c *client) error {
	in, err := state.ReadInstall(d.state)
	if err != nil {
		return err
	}
	if platform.IsGoRun(in.Binary) {
		return fmt.Errorf("the recorded program %s lies where go run builds", in.Binary)
	}
	recorded, err := os.Lstat(in.Binary)
	if err != nil {
		return fmt.Errorf("the recorded program can't be looked at: %w", err)
	}
	switch uid, _, known := platform.Owner(recorded); {
	case !recorded.Mode().IsRegular():
		return fmt.Errorf("the recorded program %s is no regular file", in.Binary)
	case known && uid != 0 && uid != uint32(os.Geteuid()): // #nosec G115 -- a user id
		return fmt.Errorf("the recorded program %s belongs to uid %d", in.Binary, uid)
	case recorded.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("the recorded program %s can be written by others", in.Binary)
	case c.program == nil:
		return errNoProgram
	case !os.SameFile(recorded, c.program):
		return fmt.Errorf("it does not run the recorded program %s", in.Binary)
	}
	return nil
}

// programOf looks at what a process that has just connected runs; nil if that can't be told. The process may run something
// else later: the same user could end this daemon in other ways, too (L2).
func programOf(pid int) fs.FileInfo {
	fi, err := platform.ProcProgram(pid)
	if err != nil {
		return nil
	}
	return fi
}

// checkSocket finds out whether the socket can be where it shall be, before a daemon that runs is asked to end.
func (d claim) checkSocket() error {
	err := frame.CheckPath(d.opt.Socket)
	if err == nil {
		err = frame.CheckDir(filepath.Dir(d.opt.Socket))
	}
	if err == nil {
		err = frame.CheckSocket(d.opt.Socket)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return placeError("the socket", err)
}
