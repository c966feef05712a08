package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"warder/internal/platform"
)

// Lock is a held lock. It ends with Release or with the process, so that a
// crash leaves none behind.
type Lock struct{ release func() error }

// Lock waits for the lock file called name and takes it, for this process
// alone. The file is created, mode 0600, if it is missing, and judged as by
// [Dir.Read]; it stays when the lock is released. A second Lock of the same
// file waits for the first, in this process too.
//
// A file system without locks, such as a network home whose lock service is
// down, is an error that [Hint] explains. There is no going on without.
func (d *Dir) Lock(name string) (*Lock, error) {
	lock := platform.LockFile
	if d.hooks != nil && d.hooks.lock != nil {
		lock = d.hooks.lock
	}
	return takeLock(d, name, lock)
}

// TryLock is [Dir.Lock] without the waiting: it fails with [ErrLocked] if the
// lock is taken.
func (d *Dir) TryLock(name string) (*Lock, error) {
	return takeLock(d, name, func(f *os.File) error {
		ok, err := platform.TryLockFile(f)
		if err == nil && !ok {
			return ErrLocked
		}
		return err
	})
}

// lockPause bounds the pause between two tries of [Dir.LockUntil].
const lockPause = 20 * time.Millisecond

// LockUntil is [Dir.Lock] that gives up at the end of ctx, after one try at the
// least: any process of this user can hold a lock for as long as it likes. Then
// it fails with a [*LockedError]. Of those that wait nobody is first.
func (d *Dir) LockUntil(ctx context.Context, name string) (*Lock, error) {
	for pause := time.Millisecond; ; pause = min(2*pause, lockPause) {
		lock, err := d.TryLock(name)
		if !errors.Is(err, ErrLocked) {
			return lock, err
		}
		select {
		case <-ctx.Done():
			return nil, lockedBy(d, name)
		case <-time.After(pause):
		}
	}
}

func lockedBy(d *Dir, name string) *LockedError {
	e := &LockedError{Path: filepath.Join(d.path, name)}
	if fi, err := d.root.Lstat(name); err == nil {
		e.PID = platform.LockHolder(fi)
	}
	return e
}

// Release gives the lock up. Releasing it again does nothing.
func (l *Lock) Release() error { return l.release() }

// takeLock opens the lock file and locks it. While it waited, the file may have
// been removed or exchanged, and another process may hold the lock of the new
// one; then it begins again.
func takeLock(d *Dir, name string, lock func(*os.File) error) (*Lock, error) {
	if err := checkName(d, name); err != nil {
		return nil, err
	}
	path := filepath.Join(d.path, name)
	for range openTries {
		f, err := openLockFile(d, name)
		if err != nil {
			return nil, err
		}
		if err := lock(f); err != nil {
			return nil, errors.Join(lockError(path, err), f.Close())
		}
		if stillNamed(d, name, f) {
			return newLock(f), nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	return nil, changing(path)
}

func newLock(f *os.File) *Lock {
	return &Lock{release: sync.OnceValue(func() error {
		// Unlocking by itself matters where a child of a fork in between holds
		// a copy of the descriptor.
		return errors.Join(platform.UnlockFile(f), f.Close())
	})}
}

// openLockFile opens the lock file, creating it if it is missing. It is opened
// for writing: NFS grants an exclusive lock on nothing less.
func openLockFile(d *Dir, name string) (*os.File, error) {
	for range openTries {
		f, _, err := openFile(d, name, os.O_RDWR)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		f, err = d.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
		if errors.Is(err, fs.ErrExist) {
			continue // somebody was faster; his file is judged like any other
		}
		path := filepath.Join(d.path, name)
		if err != nil {
			return nil, withPath(err, path)
		}
		if err := f.Chmod(fileMode); err != nil {
			return nil, errors.Join(withPath(err, path), f.Close())
		}
		return f, nil
	}
	return nil, changing(filepath.Join(d.path, name))
}

// stillNamed reports whether f is the file that name means now.
func stillNamed(d *Dir, name string, f *os.File) bool {
	named, err := d.root.Lstat(name)
	if err != nil {
		return false
	}
	fi, err := f.Stat()
	return err == nil && os.SameFile(named, fi)
}

func lockError(path string, err error) error {
	switch {
	case errors.Is(err, ErrLocked):
		return fmt.Errorf("taking the lock on %s: %w", path, err)
	case platform.IsNoLocks(err):
		return fmt.Errorf("%w: %w", errNoLocks, err)
	default:
		return err
	}
}
