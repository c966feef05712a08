//go:build unix

package platform_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"warder/internal/platform"
)

// TestNonBlockOpensFIFO: an open without it would wait for a writer for ever.
func TestNonBlockOpensFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	must(t, unix.Mkfifo(path, 0o600))
	f, err := os.OpenFile(path, os.O_RDONLY|platform.NonBlock, 0)
	must(t, err)
	must(t, f.Close())
}

func TestNoFollow(t *testing.T) {
	_, path := openDir(t)
	link := filepath.Join(path, "link")
	must(t, os.Symlink("old", link))
	if f, err := os.OpenFile(link, os.O_RDONLY|platform.NoFollow, 0); err == nil {
		f.Close()
		t.Error("a link was followed")
	}
}

func TestErrorsOfTheDisk(t *testing.T) {
	for _, c := range []struct {
		is   func(error) bool
		errs []error
	}{
		{platform.IsDiskFull, []error{unix.ENOSPC, unix.EDQUOT}},
		{platform.IsReadOnly, []error{unix.EROFS}},
		{platform.IsNoLocks, []error{unix.ENOLCK, unix.ENOSYS, unix.EOPNOTSUPP}},
	} {
		for _, err := range c.errs {
			if !c.is(err) || !c.is(fmt.Errorf("writing: %w", &os.PathError{Op: "write", Path: "f", Err: err})) {
				t.Errorf("%v is not recognised", err)
			}
		}
	}
}

// TestSyncDirUnsupported: a descriptor that can't be synced is an answer, not a
// failure. A pipe answers as the file systems do that can't sync directories.
func TestSyncDirUnsupported(t *testing.T) {
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	defer w.Close()
	if err := platform.SyncDir(r); !errors.Is(err, platform.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}
