//go:build unix

package platform

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// NoFollow makes an open fail where the last element of the path is a
	// symbolic link. It is 0 where the system has no such flag.
	NoFollow = unix.O_NOFOLLOW

	// NonBlock makes an open return at once where the path names a FIFO that
	// nobody writes to, or a device that waits for its line; it changes nothing
	// for a regular file. It is 0 where the system has no such flag.
	NonBlock = unix.O_NONBLOCK
)

// Owner returns the user id that owns a file and how many names (hard links)
// the file has. ok is false where the system has no owners, or where fi does
// not come from the operating system; the caller decides what that means.
func Owner(fi fs.FileInfo) (uid uint32, links uint64, ok bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return st.Uid, uint64(st.Nlink), true
}

// SyncDir makes the names in a directory durable: what was created, renamed or
// removed there before the call survives a power cut after it. It returns an
// error wrapping [ErrUnsupported] where a directory can't be synced, as on some
// network and FUSE file systems and on Windows.
func SyncDir(dir *os.File) error {
	err := dir.Sync()
	if isOneOf(err, unix.EINVAL, unix.ENOSYS, unix.EOPNOTSUPP) {
		return fmt.Errorf("syncing directory %s: %w: %w", dir.Name(), ErrUnsupported, err)
	}
	if err != nil {
		return fmt.Errorf("syncing directory: %w", err)
	}
	return nil
}

// IsDiskFull reports whether err, or an error that it wraps, says that no room
// is left: on the file system, or in the user's quota of it.
func IsDiskFull(err error) bool { return isOneOf(err, unix.ENOSPC, unix.EDQUOT) }

// IsReadOnly reports whether err, or an error that it wraps, says that the file
// system can't be written to at all. A missing permission is something else.
func IsReadOnly(err error) bool { return isOneOf(err, unix.EROFS) }

// IsNoLocks reports whether err, or an error that it wraps, says that a file
// system has no working locks, as opposed to a lock that somebody else holds.
// Network homes without a lock service answer so.
func IsNoLocks(err error) bool {
	return isOneOf(err, unix.ENOLCK, unix.ENOSYS, unix.EOPNOTSUPP, ErrUnsupported)
}
