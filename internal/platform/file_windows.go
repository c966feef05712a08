package platform

import (
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

const (
	// NoFollow makes an open fail where the last element of the path is a
	// symbolic link. It is 0 where the system has no such flag.
	NoFollow = 0

	// NonBlock makes an open return at once where the path names a FIFO that
	// nobody writes to, or a device that waits for its line; it changes nothing
	// for a regular file. It is 0 where the system has no such flag.
	NonBlock = 0
)

// Owner returns the user id that owns a file and how many names (hard links)
// the file has. ok is always false here: Windows guards files by access lists,
// which a mode and a uid can't express. The caller decides what that means.
func Owner(fs.FileInfo) (uid uint32, links uint64, ok bool) { return 0, 0, false }

// SyncDir makes the names in a directory durable. Windows offers no such call
// to an ordinary user; NTFS journals its directories by itself.
func SyncDir(dir *os.File) error {
	return fmt.Errorf("syncing directory %s: %w", dir.Name(), ErrUnsupported)
}

// IsDiskFull reports whether err, or an error that it wraps, says that no room
// is left: on the file system, or in the user's quota of it.
func IsDiskFull(err error) bool {
	return isOneOf(err, windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL)
}

// IsReadOnly reports whether err, or an error that it wraps, says that the file
// system can't be written to at all. A missing permission is something else.
func IsReadOnly(err error) bool { return isOneOf(err, windows.ERROR_WRITE_PROTECT) }

// IsNoLocks reports whether err, or an error that it wraps, says that a file
// system has no working locks, as opposed to a lock that somebody else holds.
// Network homes without a lock service answer so.
func IsNoLocks(err error) bool { return isOneOf(err, windows.ERROR_INVALID_FUNCTION, ErrUnsupported) }
