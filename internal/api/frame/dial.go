package frame

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"path/filepath"
	"time"

	"warder/internal/platform"
)

// helloTime is how long an end waits until the other one has said who it is. It takes microseconds; a socket that
// accepts and stays silent must not hang every command.
const helloTime = 5 * time.Second

// ErrNotRunning says that nobody listens where the daemon would: it may be started.
var ErrNotRunning = errors.New("no daemon is running")

// ErrHungUp says that whoever listens ended the connection before a word: a daemon that is ending, or one that refuses this
// process or has no room.
var ErrHungUp = errors.New("the connection was ended before a word")

// errOtherUser says that another user's process has the daemon's place.
var errOtherUser = errors.New("it is another user's process")

// PeerError says which process answered where the daemon would, and what is wrong with it.
type PeerError struct {
	PID int // 0 where the system does not tell it
	Err error
}

// Error implements error.
func (e *PeerError) Error() string { return fmt.Sprintf("pid %d: %v", e.PID, e.Err) }

// Unwrap is the error itself.
func (e *PeerError) Unwrap() error { return e.Err }

// Dialer is the way to a daemon.
type Dialer struct {
	Path string // of the socket
	Self Hello  // what this client says about itself

	// Patience is how long the other end may take to say who it is; 0 stands for what is enough for any daemon.
	Patience time.Duration

	// AnyBuild makes do with a daemon of another build that speaks the same protocol. It is for the commands that show,
	// stop or replace it.
	AnyBuild bool
}

// Dial connects. Before it sends the first byte it checks the folder, the socket, and that the process behind it has this
// process's user id. Errors are of type [*Error], but for the end of ctx: Unreachable (wrapping ErrNotRunning where a
// daemon may be started, a [*PlaceError], or a [*PeerError]), Sandboxed, or Version (wrapping a [*VersionError]).
func (d Dialer) Dial(ctx context.Context) (*ClientConn, error) {
	limited, cancel := context.WithTimeout(ctx, cmp.Or(d.Patience, helloTime))
	defer cancel()
	conn, err := d.dial(limited)
	if ctx.Err() != nil {
		if err == nil {
			_ = conn.Close()
		}
		return nil, fmt.Errorf("connecting to the daemon: %w", context.Cause(ctx))
	}
	return conn, err
}

func (d Dialer) dial(ctx context.Context) (*ClientConn, error) {
	if err := d.Self.Check(); err != nil {
		return nil, fmt.Errorf("connecting to the daemon: %w", err)
	}
	if err := checkPlace(d.Path); err != nil {
		return nil, placeProblem(d.Path, err)
	}
	var dialer net.Dialer
	nc, err := dialer.DialContext(ctx, "unix", d.Path)
	if err != nil {
		return nil, connectProblem(d.Path, err)
	}
	conn, err := d.meet(ctx, nc)
	if err != nil {
		_ = nc.Close()
		return nil, err
	}
	return conn, nil
}

// meet finds out who serves nc: first from the kernel, then from the server itself.
func (d Dialer) meet(ctx context.Context, nc net.Conn) (*ClientConn, error) {
	cred, err := serverOf(nc)
	if err != nil {
		return nil, Errorf(Unreachable, "can't tell who serves %s, so nothing was sent to it", d.Path).WithCause(err)
	}
	if own := ourUID(); cred.UID != own {
		return nil, Errorf(Unreachable, "%s is served by uid %d, not %d: nothing was sent to it", d.Path, cred.UID, own).
			WithHint("find out which program took the daemon's place, and end it").
			WithCause(&PeerError{PID: cred.PID, Err: errOtherUser})
	}
	conn, err := handshake(ctx, nc, d.Self)
	if err != nil {
		if isHangUp(err) {
			err = fmt.Errorf("%w: %w", ErrHungUp, err)
		}
		return nil, Errorf(Unreachable, "the process at %s (pid %d) refuses to talk, or is not warder's daemon", d.Path, cred.PID).
			WithHint("it may be at its limit of connections, or refuse this process: try again, or put a fresh daemon in its place: warder daemon restart").
			WithCause(&PeerError{PID: cred.PID, Err: err})
	}
	conn.pid = cred.PID
	if err := d.fits(conn); err != nil {
		return nil, err.asError()
	}
	return conn, nil
}

// isHangUp reports whether err is the other end's closing of the connection.
func isHangUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || platform.IsHangUp(err)
}

// fits says whether the server's build will do.
func (d Dialer) fits(conn *ClientConn) *VersionError {
	same := d.Self.Protocol == conn.server.Protocol
	if same && (d.AnyBuild || d.Self.Compare(conn.server) == 0) {
		return nil
	}
	return &VersionError{Client: d.Self, Server: conn.server, ServerPID: conn.pid}
}

func serverOf(nc net.Conn) (platform.PeerCred, error) {
	uc, ok := nc.(*net.UnixConn)
	if !ok {
		return platform.PeerCred{}, fmt.Errorf("not a unix socket: %w", platform.ErrUnsupported)
	}
	return platform.PeerCredentials(uc)
}

// checkPlace judges everything that can be judged without a connection.
func checkPlace(path string) error {
	if err := CheckPath(path); err != nil {
		return err
	}
	if err := CheckDir(filepath.Dir(path)); err != nil {
		return err
	}
	return CheckSocket(path)
}

// placeProblem tells the user about an error of checkPlace.
func placeProblem(path string, err error) *Error {
	var place *PlaceError
	switch {
	case errors.As(err, &place):
		return Errorf(Unreachable, "%s", place.Error()).WithHint(place.Repair).WithCause(err)
	case errors.Is(err, fs.ErrNotExist):
		return notRunning(path, err)
	case errors.Is(err, fs.ErrPermission):
		return sandboxed(path, err)
	}
	return Errorf(Unreachable, "can't look at the daemon's socket %s", path).WithCause(err)
}

// connectProblem tells the user about an error of connecting. A full queue and a lack of descriptors pass; all else means
// that nobody listens: the socket is left over from a daemon that died.
func connectProblem(path string, err error) *Error {
	var passing interface{ Temporary() bool }
	switch {
	case errors.Is(err, fs.ErrPermission):
		return sandboxed(path, err)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &passing) && passing.Temporary():
		return Errorf(Unreachable, "the daemon at %s does not take connections now", path).WithHint("try again in a moment").
			WithCause(&PeerError{Err: err})
	}
	return notRunning(path, err)
}

func notRunning(path string, err error) *Error {
	return Errorf(Unreachable, "no daemon is running at %s", path).WithHint("start it: warder unlock").
		WithCause(fmt.Errorf("%w: %w", ErrNotRunning, err))
}

// sandboxed tells the user about a refusal. It is a sandbox's where owner and mode of the directories above don't explain it.
func sandboxed(path string, err error) *Error {
	if dir, owner, found := platform.ForeignDir(path); found {
		return Errorf(Unreachable, "can't reach the daemon's socket %s: %s belongs to uid %d, and you are uid %d", path, dir, owner, ourUID()).
			WithHint(fmt.Sprintf("do it as uid %d, or set WARDER_HOME to a directory of your own", owner)).WithCause(err)
	}
	return Errorf(Sandboxed, "this process may not reach the daemon's socket %s", path).
		WithHint("a sandbox forbids it: allow that socket in its settings, or run the command outside of it").WithCause(err)
}
