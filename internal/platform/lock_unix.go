//go:build unix

package platform

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// LockFile takes an exclusive advisory lock on f and waits until it has it. The
// lock belongs to this opening of the file: the same process can't take it
// twice through two openings. It ends with [UnlockFile], with the last close of
// f, or with the process, so a crash leaves no stale lock.
//
// On NFS the kernel asks the server for a byte-range lock, which needs f to be
// open for writing. An error names the file, contains the word "lock" and wraps
// the cause; [IsNoLocks] tells a file system without locks from other faults.
func LockFile(f *os.File) error {
	if err := flock(f, unix.LOCK_EX); err != nil {
		return fmt.Errorf("taking the lock on %s: %w", f.Name(), err)
	}
	return nil
}

// TryLockFile is [LockFile] without the waiting: it returns false and no error
// if the lock is taken.
func TryLockFile(f *os.File) (bool, error) {
	err := flock(f, unix.LOCK_EX|unix.LOCK_NB)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, unix.EWOULDBLOCK):
		return false, nil
	default:
		return false, fmt.Errorf("taking the lock on %s: %w", f.Name(), err)
	}
}

// UnlockFile gives up a lock taken by [LockFile] or [TryLockFile].
func UnlockFile(f *os.File) error {
	if err := flock(f, unix.LOCK_UN); err != nil {
		return fmt.Errorf("releasing the lock on %s: %w", f.Name(), err)
	}
	return nil
}

func flock(f *os.File, how int) error {
	return withFD(f, func(fd uintptr) error {
		for {
			// A signal (Go sends itself many, to preempt) may interrupt the wait.
			if err := unix.Flock(int(fd), how); !errors.Is(err, unix.EINTR) {
				return err
			}
		}
	})
}
