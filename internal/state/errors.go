package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"warder/internal/platform"
)

// ErrTooLarge says that a file is larger than its reader allows. Nothing of it
// was returned.
var ErrTooLarge = errors.New("file is larger than its limit")

// ErrLocked says that another process, or another opening in this process,
// holds the lock.
var ErrLocked = errors.New("locked by another process")

// LockedError says which lock was not to be had in time, and who holds it. It
// is an [ErrLocked].
type LockedError struct {
	Path string // of the lock file, absolute
	PID  int    // of the process that took it; 0 if that is not known
}

// Error implements error.
func (e *LockedError) Error() string {
	switch e.PID {
	case 0:
		return fmt.Sprintf("another process holds %s", e.Path)
	case os.Getpid():
		return fmt.Sprintf("this process (pid %d) still holds %s", e.PID, e.Path)
	}
	return fmt.Sprintf("another process (pid %d) holds %s", e.PID, e.Path)
}

// Is makes it an [ErrLocked].
func (e *LockedError) Is(target error) bool { return target == ErrLocked }

// hint is what a person can do about it.
func (e *LockedError) hint() string {
	switch e.PID {
	case 0:
		return "find out which and end it, then try again: fuser " + quote(e.Path)
	case os.Getpid():
		return "it is at work: try again later"
	}
	return fmt.Sprintf("see what it is, and end it if it is not warder at work: ps -p %d; then try again", e.PID)
}

// UnsafeError says that a file or directory is not to be believed: somebody
// else could have written or read it. Callers match it with errors.As.
type UnsafeError struct {
	Path   string // the file or directory, absolute
	Reason string // what is wrong: "loose mode 0644, want 0600", "is a symbolic link", …
	Repair string // what a person can do about it: a command or a sentence
}

// Error implements error.
func (e *UnsafeError) Error() string { return fmt.Sprintf("refusing %s: %s", e.Path, e.Reason) }

// Hint returns what a person can do about the first cause in err that this
// package knows: a command that repairs an unsafe file, who holds a lock, or the
// way out of a full or read-only disk or of one without locks. It returns "" for all else.
func Hint(err error) string {
	var unsafe *UnsafeError
	var locked *LockedError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &locked):
		return locked.hint()
	case errors.As(err, &unsafe):
		return unsafe.Repair
	case platform.IsDiskFull(err):
		return "make room on that disk or in your quota and try again; the old content is intact"
	case platform.IsReadOnly(err):
		return "that file system is read-only: set WARDER_HOME, or XDG_STATE_HOME, XDG_DATA_HOME and XDG_CONFIG_HOME, to a folder that can be written"
	case errors.Is(err, errNoLocks):
		return "that file system has no working locks: set XDG_STATE_HOME or WARDER_HOME to a folder on a local disk"
	default:
		return ""
	}
}

// IsReadOnly reports whether err says that the file system can't be written to
// at all, so that reading may still be served.
func IsReadOnly(err error) bool { return platform.IsReadOnly(err) }

// IsDiskFull reports whether err says that no room is left, on the disk or in
// the user's quota.
func IsDiskFull(err error) bool { return platform.IsDiskFull(err) }

// errNoLocks marks a failed lock as one that no waiting will cure.
var errNoLocks = errors.New("the file system has no working locks")

// withPath puts the full path into an error of package os, which knows a file
// in a Root only by its last element.
func withPath(err error, path string) error {
	var inner *fs.PathError
	if errors.As(err, &inner) {
		return &fs.PathError{Op: inner.Op, Path: path, Err: inner.Err}
	}
	return &fs.PathError{Op: "use", Path: path, Err: err}
}

// quote makes path one word for a shell, so that a repairing command can be
// pasted whatever the path holds.
func quote(path string) string {
	plain := func(r rune) bool {
		return r == '/' || r == '.' || r == '_' || r == '-' ||
			'0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if path != "" && strings.TrimFunc(path, plain) == "" && !strings.HasPrefix(path, "-") {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
