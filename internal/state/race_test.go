package state

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// swapping is a hook that changes a name between the look and the open, once or
// each time.
func swapping(always bool, swap func()) *hooks {
	done := false
	return &hooks{at: func(s step) error {
		if s == stepOpen && (always || !done) {
			done = true
			swap()
		}
		return nil
	}}
}

func wantReason(t *testing.T, err error, reason string) {
	t.Helper()
	var unsafe *UnsafeError
	if !errors.As(err, &unsafe) || !strings.Contains(unsafe.Reason, reason) {
		t.Errorf("got %v, want the reason %q", err, reason)
	}
}

func fifo(t *testing.T, path string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "mkfifo", "-m", "600", path).CombinedOutput(); err != nil {
		t.Skipf("no FIFO can be made here: %v: %s", err, out)
	}
}

// TestFileSwappedBetweenLookAndOpen is the race that a check by path loses.
func TestFileSwappedBetweenLookAndOpen(t *testing.T) {
	for _, c := range []struct {
		name   string
		always bool
		plant  func(t *testing.T, path string)
		reason string
	}{
		{"link inside", false, func(t *testing.T, path string) { check(t, os.Symlink("other", path)) }, "is a symbolic link"},
		{"FIFO", false, func(t *testing.T, path string) { fifo(t, path) }, "is a FIFO"},
		{"loose", false, func(t *testing.T, path string) {
			check(t, os.WriteFile(path, nil, 0o600))
			check(t, os.Chmod(path, 0o666))
		}, "loose mode 0666"},
		{"for ever", true, func(t *testing.T, path string) { check(t, os.WriteFile(path, nil, 0o600)) }, "was exchanged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := ownDir(t, nil)
			path := filepath.Join(d.path, "f")
			check(t, d.WriteNew("f", []byte("f")))
			check(t, d.WriteNew("other", []byte("other")))
			n := 0
			d.hooks = swapping(c.always, func() {
				n++
				// The old file keeps its inode number busy under another name.
				check(t, os.Rename(path, path+strings.Repeat("x", n)))
				c.plant(t, path)
			})
			data, err := d.Read("f", 100)
			wantReason(t, err, c.reason)
			if data != nil {
				t.Errorf("read %q", data)
			}
			d.hooks = swapping(c.always, func() {})
			if _, err := d.Lock("f"); err == nil && !c.always {
				t.Error("a planted file was locked")
			}
		})
	}
}

// TestLooseAfterTheLook: the descriptor's own mode counts.
func TestLooseAfterTheLook(t *testing.T) {
	d := ownDir(t, nil)
	check(t, d.WriteNew("f", []byte("f")))
	d.hooks = swapping(false, func() { check(t, os.Chmod(filepath.Join(d.path, "f"), 0o644)) })
	_, err := d.Read("f", 100)
	wantReason(t, err, "loose mode 0644")

	sub, err := d.Create("sub")
	check(t, err)
	check(t, sub.Close())
	d.hooks = swapping(false, func() { check(t, os.Chmod(filepath.Join(d.path, "sub"), 0o755)) })
	_, err = d.Open("sub")
	wantReason(t, err, "loose mode 0755")
}

// TestReplacedBetweenLookAndOpen: an honest writer in the gap costs a second
// look and nothing else.
func TestReplacedBetweenLookAndOpen(t *testing.T) {
	d := ownDir(t, nil)
	writer, err := OpenDir(d.path)
	check(t, err)
	defer writer.Close()
	check(t, writer.WriteNew("f", []byte("old")))
	d.hooks = swapping(false, func() { check(t, writer.Replace("f", []byte("new"))) })
	if got := content(t, d); string(got) != "new" {
		t.Errorf("read %q", got)
	}
	d.hooks = swapping(false, func() { check(t, writer.Remove("f")) })
	if _, err := d.Read("f", 100); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed in the gap: %v", err)
	}
}

// TestDirectorySwappedBetweenLookAndOpen plants links and others in the place
// of a directory that has just been found good, below an open one and by path.
func TestDirectorySwappedBetweenLookAndOpen(t *testing.T) {
	below := func(d *Dir, _ string) (*Dir, error) { return d.Open("sub") }
	byPath := func(d *Dir, path string) (*Dir, error) { return openDir(path, d.hooks) }
	for _, c := range []struct {
		name          string
		plant         func(t *testing.T, path string)
		below, byPath string // the reasons, "" for any error
	}{
		{"link inside", func(t *testing.T, path string) { check(t, os.Symlink("other", path)) }, "was exchanged", "was exchanged"},
		{"link outside", func(t *testing.T, path string) { check(t, os.Symlink(t.TempDir(), path)) }, "", "was exchanged"},
		{"FIFO", func(t *testing.T, path string) { fifo(t, path) }, "", ""},
		{"file", func(t *testing.T, path string) { check(t, os.WriteFile(path, nil, 0o600)) }, "", ""},
		{"another directory", func(t *testing.T, path string) { check(t, os.Mkdir(path, 0o700)) }, "was exchanged", "was exchanged"},
	} {
		t.Run(c.name, func(t *testing.T) { swapDirectory(t, c.plant, below, c.below) })
		t.Run(c.name+" by path", func(t *testing.T) { swapDirectory(t, c.plant, byPath, c.byPath) })
	}
}

func swapDirectory(t *testing.T, plant func(*testing.T, string), open func(*Dir, string) (*Dir, error), reason string) {
	d := ownDir(t, nil)
	for _, name := range []string{"sub", "other"} {
		sub, err := d.Create(name)
		check(t, err)
		check(t, sub.Close())
	}
	path := filepath.Join(d.path, "sub")
	d.hooks = swapping(false, func() {
		check(t, os.Rename(path, path+".away"))
		plant(t, path)
	})
	sub, err := open(d, path)
	if err == nil {
		sub.Close()
		t.Fatal("the planted thing was opened")
	}
	if reason != "" {
		wantReason(t, err, reason)
	}
}

// TestForeignFile judges a file as another user would, where no other user can
// make one.
func TestForeignFile(t *testing.T) {
	d := ownDir(t, nil)
	check(t, d.WriteNew("f", []byte("f")))
	sub, err := d.Create("sub")
	check(t, err)
	check(t, sub.Close())
	if d.owner == ^uint32(0) {
		t.Skip("this system has no owners")
	}
	d.owner++
	_, err = d.Read("f", 10)
	wantReason(t, err, "owned by uid ")
	_, err = d.Open("sub")
	wantReason(t, err, "owned by uid ")
	_, err = d.Lock("f")
	wantReason(t, err, "owned by uid ")
}

// TestU_154_NoLocks: a home whose file system has no locks is told as that, and
// there is no going on without.
func TestU_154_NoLocks(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.ENOLCK, syscall.ENOSYS, syscall.EOPNOTSUPP} {
		d := ownDir(t, &hooks{lock: func(f *os.File) error {
			return &fs.PathError{Op: "lock", Path: f.Name(), Err: errno}
		}})
		lock, err := d.Lock("lock")
		if lock != nil || !errors.Is(err, errno) || !errors.Is(err, errNoLocks) {
			t.Fatalf("got %v, %v", lock, err)
		}
		if !strings.Contains(err.Error(), "lock") || !strings.Contains(err.Error(), d.path) {
			t.Errorf("error %q lacks the word or the path", err)
		}
		if !strings.Contains(Hint(err), "local disk") {
			t.Errorf("hint: %q", Hint(err))
		}
	}
}

// TestLockOfAnExchangedFile: whoever waited for a lock file that is no longer
// the one with the name holds nothing and begins again.
func TestLockOfAnExchangedFile(t *testing.T) {
	d := ownDir(t, nil)
	first, err := d.Lock("lock")
	check(t, err)
	check(t, first.Release())
	tries := 0
	d.hooks = &hooks{lock: func(*os.File) error {
		if tries++; tries == 1 {
			return d.Remove("lock")
		}
		return nil
	}}
	second, err := d.Lock("lock")
	check(t, err)
	defer second.Release()
	if tries != 2 {
		t.Errorf("%d tries", tries)
	}
	d.hooks = nil
	if _, err := os.Stat(filepath.Join(d.path, "lock")); err != nil {
		t.Errorf("the locked file is not the named one: %v", err)
	}
}
