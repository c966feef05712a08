package platform

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// wholeFile is each half of a byte count that covers any file.
const wholeFile = ^uint32(0)

// LockFile takes an exclusive lock on f and waits until it has it. The lock
// belongs to this opening of the file. It ends with [UnlockFile], with the close
// of f, or with the process. An error names the file, contains the word "lock"
// and wraps the cause.
func LockFile(f *os.File) error {
	if err := lockFileEx(f, windows.LOCKFILE_EXCLUSIVE_LOCK); err != nil {
		return fmt.Errorf("taking the lock on %s: %w", f.Name(), err)
	}
	return nil
}

// TryLockFile is [LockFile] without the waiting: it returns false and no error
// if the lock is taken.
func TryLockFile(f *os.File) (bool, error) {
	err := lockFileEx(f, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return false, nil
	default:
		return false, fmt.Errorf("taking the lock on %s: %w", f.Name(), err)
	}
}

// UnlockFile gives up a lock taken by [LockFile] or [TryLockFile].
func UnlockFile(f *os.File) error {
	err := withFD(f, func(fd uintptr) error {
		return windows.UnlockFileEx(windows.Handle(fd), 0, wholeFile, wholeFile, new(windows.Overlapped))
	})
	if err != nil {
		return fmt.Errorf("releasing the lock on %s: %w", f.Name(), err)
	}
	return nil
}

func lockFileEx(f *os.File, flags uint32) error {
	return withFD(f, func(fd uintptr) error {
		return windows.LockFileEx(windows.Handle(fd), flags, 0, wholeFile, wholeFile, new(windows.Overlapped))
	})
}
