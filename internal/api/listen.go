package api

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"warder/internal/api/frame"
	"warder/internal/platform"
)

const (
	socketMode fs.FileMode = 0o600
	dirMode    fs.FileMode = 0o700

	// probeTime is how long the place is probed for somebody who listens there.
	probeTime = time.Second
)

// Listener is the daemon's socket.
type Listener struct {
	*net.UnixListener
	path      string
	file      fs.FileInfo // which file path was when it was ours
	displaced *platform.PeerCred
}

// Listen makes the socket at path: its folder with mode 0700 if it is missing, the socket with mode 0600. The folder must
// be this user's alone and no link; where the socket goes there may be nothing, or a socket of this user that a dead
// daemon left behind. Anything else is an error wrapping a [*frame.PlaceError].
//
// held is the proof that this process holds the daemon's lock: Listen calls it before it touches what is there, and its
// error is returned. Without the lock a socket that looks dead may be one that a starting daemon has just made.
//
// The socket appears in one step, with its mode, by a rename. So no client sees a half-made one, no umask has to be
// changed for a moment for all goroutines, and a socket that is in the way is replaced rather than removed first.
func Listen(path string, held func() error) (*Listener, error) {
	l, err := listen(path, held)
	if err != nil {
		return nil, fmt.Errorf("opening the daemon's socket: %w", err)
	}
	return l, nil
}

func listen(path string, held func() error) (*Listener, error) {
	if err := frame.CheckPath(path); err != nil {
		return nil, err
	}
	if err := makeDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if err := held(); err != nil {
		return nil, fmt.Errorf("without the daemon's lock: %w", err)
	}
	// Never longer than path, so within its limit.
	fresh := strings.TrimSuffix(path, frame.Suffix) + ".new"
	if err := clearLeftover(fresh); err != nil {
		return nil, err
	}
	displaced, err := whoIsThere(path)
	if err != nil {
		return nil, err
	}
	l, err := bind(fresh, path)
	if err != nil {
		return nil, err
	}
	l.displaced = displaced
	return l, nil
}

// Displaced tells which process listened at the path and lost it, though it did not hold the daemon's lock: the daemon
// that this one replaces, or a program that wanted to be taken for it.
func (l *Listener) Displaced() (cred platform.PeerCred, ok bool) {
	if l.displaced == nil {
		return platform.PeerCred{}, false
	}
	return *l.displaced, true
}

// Path is where the socket is.
func (l *Listener) Path() string { return l.path }

// Close removes the socket and stops listening. A socket that another daemon has put there meanwhile stays.
func (l *Listener) Close() error {
	var removed error
	if now, err := os.Lstat(l.path); err == nil && os.SameFile(now, l.file) {
		removed = os.Remove(l.path)
	}
	return errors.Join(removed, l.UnixListener.Close())
}

// makeDir makes the socket's folder, the last element of its path alone, and judges it. Only a folder made here gets its
// mode set: a loose one that was there may have been used by others already, which the user must see.
func makeDir(dir string) error {
	err := os.Mkdir(dir, dirMode)
	switch {
	case err == nil:
		// #nosec G302 -- a folder needs the right to be searched
		if err := os.Chmod(dir, dirMode); err != nil {
			return explain(err, dir)
		}
	case !errors.Is(err, fs.ErrExist):
		return explain(err, dir)
	}
	return frame.CheckDir(dir)
}

// clearLeftover removes a socket that a daemon left behind when it died between making and naming it.
func clearLeftover(fresh string) error {
	err := frame.CheckSocket(fresh)
	var place *frame.PlaceError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.As(err, &place) && isOwnSocket(fresh):
		// It died before it had set the mode.
	case err != nil:
		return err
	}
	return os.Remove(fresh)
}

// isOwnSocket reports whether path is a socket of this user, whatever its mode.
func isOwnSocket(path string) bool {
	fi, err := os.Lstat(path)
	if err != nil || fi.Mode().Type() != fs.ModeSocket {
		return false
	}
	uid, _, ok := platform.Owner(fi)
	return !ok || uid == uint32(os.Geteuid())
}

// whoIsThere judges what stands at path and returns the process that listens there, nil if there is none.
func whoIsThere(path string) (*platform.PeerCred, error) {
	err := frame.CheckSocket(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	var dialer net.Dialer
	nc, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, nil // left over: nobody listens, or nobody accepts
	}
	defer func() { _ = nc.Close() }()
	uc, ok := nc.(*net.UnixConn)
	if !ok {
		return nil, nil
	}
	cred, err := platform.PeerCredentials(uc)
	if err != nil {
		return &platform.PeerCred{}, nil // somebody, though the system does not tell who
	}
	return &cred, nil
}

// bind listens at fresh, makes the socket ours alone, and gives it its name.
func bind(fresh, path string) (*Listener, error) {
	ul, err := net.ListenUnix("unix", &net.UnixAddr{Name: fresh, Net: "unix"})
	if err != nil {
		return nil, explain(err, path)
	}
	ul.SetUnlinkOnClose(false) // it would remove whatever has the first name by then
	l := &Listener{UnixListener: ul, path: path}
	if err := l.publish(fresh); err != nil {
		return nil, errors.Join(explain(err, path), ul.Close(), os.Remove(fresh))
	}
	return l, nil
}

func (l *Listener) publish(fresh string) (err error) {
	if err := os.Chmod(fresh, socketMode); err != nil {
		return err
	}
	if err := frame.CheckSocket(fresh); err != nil {
		return err
	}
	if l.file, err = os.Lstat(fresh); err != nil {
		return err
	}
	return os.Rename(fresh, l.path)
}

// explain adds what a person can do where the file system does not take a socket.
func explain(err error, path string) error {
	place := &frame.PlaceError{Path: path, Reason: "can't make it there: " + err.Error()}
	switch {
	case platform.IsReadOnly(err):
		place.Repair = "that file system is read-only: set XDG_RUNTIME_DIR or WARDER_HOME to a folder that can be written"
	case platform.IsDiskFull(err):
		place.Repair = "make room on that disk or in your quota"
	default:
		place.Repair = "that file system may have no sockets: set XDG_RUNTIME_DIR or WARDER_HOME to a folder on a local disk"
	}
	return place
}
