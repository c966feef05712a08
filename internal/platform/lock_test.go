package platform_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"warder/internal/platform"
)

// twice opens a new file two times, as two processes would.
func twice(t *testing.T) (a, b *os.File) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		must(t, err)
		t.Cleanup(func() { f.Close() })
		return f
	}
	return open(), open()
}

func try(t *testing.T, f *os.File) bool {
	t.Helper()
	ok, err := platform.TryLockFile(f)
	must(t, err)
	return ok
}

func TestLocksExclude(t *testing.T) {
	a, b := twice(t)
	must(t, platform.LockFile(a))
	if try(t, b) {
		t.Error("the lock was taken twice")
	}
	must(t, platform.UnlockFile(a))
	if !try(t, b) {
		t.Error("a released lock was not free")
	}
	if try(t, a) {
		t.Error("the lock was taken twice")
	}
}

// TestLockEndsWithClose: no explicit release is needed.
func TestLockEndsWithClose(t *testing.T) {
	a, b := twice(t)
	must(t, platform.LockFile(a))
	must(t, a.Close())
	if !try(t, b) {
		t.Error("the lock outlived its file")
	}
}

// TestLockFileWaits: whoever waits gets the lock when it is released, not before.
func TestLockFileWaits(t *testing.T) {
	a, b := twice(t)
	must(t, platform.LockFile(a))
	var released atomic.Bool
	waiting, done := make(chan struct{}), make(chan error)
	go func() {
		close(waiting)
		err := platform.LockFile(b)
		if !released.Load() {
			err = errors.Join(err, errors.New("the lock was taken while it was held"))
		}
		done <- err
	}()
	<-waiting
	c, err := os.OpenFile(a.Name(), os.O_RDWR, 0)
	must(t, err)
	defer c.Close()
	for range 1000 { // something to do while the other goes to wait
		if try(t, c) {
			t.Fatal("the lock was taken while it was held")
		}
	}
	released.Store(true)
	must(t, platform.UnlockFile(a))
	must(t, <-done)
}

func TestLockErrorsSayLock(t *testing.T) {
	f, _ := twice(t)
	must(t, f.Close())
	_, tryErr := platform.TryLockFile(f)
	for _, err := range []error{platform.LockFile(f), tryErr, platform.UnlockFile(f)} {
		if !errors.Is(err, fs.ErrClosed) || !strings.Contains(err.Error(), "lock on "+f.Name()) {
			t.Errorf("got %v", err)
		}
	}
}
