package state_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"warder/internal/state"
	"warder/internal/testkit"
)

// onSmallDisk runs the calling test again with a file system of 256 KiB of its
// own on $DISK, in a user and mount namespace, or skips it with the reason.
func onSmallDisk(t *testing.T) (parent bool) {
	t.Helper()
	if state.IsRerun() {
		return false // in the namespace, as its root
	}
	if testkit.AsUser(t) {
		return true
	}
	if out, err := exec.CommandContext(t.Context(), "unshare", "-Urm", "true").CombinedOutput(); err != nil {
		t.Skipf("no user and mount namespace here: %v: %s", err, out)
	}
	t.Setenv("DISK", t.TempDir())
	return state.Rerun(t, `exec unshare -Urm sh -c 'mount -t tmpfs -o size=256k,mode=700 none "$DISK" && exec "$@"' sh "$@"`)
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", name, err, out)
	}
}

// TestU_153_DiskFull fills a real disk. What was there stays entire, the error
// says what happened, and there is room again as soon as somebody makes it.
func TestU_153_DiskFull(t *testing.T) {
	if onSmallDisk(t) {
		return
	}
	d, err := state.CreateDir(filepath.Join(os.Getenv("DISK"), "own"))
	must(t, err)
	defer d.Close()
	old := bytes.Repeat([]byte("old "), 5000)
	must(t, d.WriteNew("f", old))
	must(t, d.WriteNew("filler", make([]byte, 150<<10)))

	big := bytes.Repeat([]byte("new "), 50_000)
	for name, write := range map[string]func() error{
		"Replace":  func() error { return d.Replace("f", big) },
		"WriteNew": func() error { return d.WriteNew("g", big) },
	} {
		err := write()
		if !errors.Is(err, syscall.ENOSPC) || !state.IsDiskFull(err) || !strings.Contains(err.Error(), d.Path()) {
			t.Fatalf("%s on a full disk: %v", name, err)
		}
		if !strings.Contains(state.Hint(err), "room") {
			t.Errorf("%s: hint %q", name, state.Hint(err))
		}
	}
	got, err := d.Read("f", 1<<20)
	must(t, err)
	if !bytes.Equal(got, old) {
		t.Errorf("the old content has become %d bytes", len(got))
	}
	if _, err := d.Read("g", 1<<20); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that found no room: %v", err)
	}
	wantNoTemp(t, d)

	must(t, d.Remove("filler"))
	must(t, d.Replace("f", big[:100<<10]))
	lock, err := d.Lock("lock")
	must(t, err)
	must(t, lock.Release())
}

// TestU_155_ReadOnly turns the disk read-only. Reading goes on, whatever
// writes says why it can't and how to move.
func TestU_155_ReadOnly(t *testing.T) {
	if onSmallDisk(t) {
		return
	}
	disk := os.Getenv("DISK")
	d, err := state.CreateDir(filepath.Join(disk, "own"))
	must(t, err)
	defer d.Close()
	must(t, d.WriteNew("f", []byte("kept")))
	lock, err := d.Lock("lock")
	must(t, err)
	must(t, lock.Release())
	run(t, "mount", "-o", "remount,bind,ro", disk)

	again, err := state.CreateDir(d.Path())
	must(t, err)
	defer again.Close()
	data, err := again.Read("f", 10)
	must(t, err)
	if string(data) != "kept" {
		t.Errorf("read %q", data)
	}
	names, err := again.List()
	must(t, err)
	if strings.Join(names, " ") != "f lock" {
		t.Errorf("listed %v", names)
	}
	for name, write := range map[string]func() error{
		"WriteNew":  func() error { return again.WriteNew("g", nil) },
		"Replace":   func() error { return again.Replace("f", nil) },
		"Remove":    func() error { return again.Remove("f") },
		"Create":    func() error { _, err := again.Create("sub"); return err },
		"Lock":      func() error { _, err := again.Lock("lock"); return err },
		"new Lock":  func() error { _, err := again.Lock("new"); return err },
		"CreateDir": func() error { _, err := state.CreateDir(filepath.Join(disk, "other", "own")); return err },
	} {
		err := write()
		if !errors.Is(err, syscall.EROFS) || !state.IsReadOnly(err) || !strings.Contains(err.Error(), disk) {
			t.Errorf("%s on a read-only disk: %v", name, err)
		}
		if !strings.Contains(state.Hint(err), "WARDER_HOME") {
			t.Errorf("%s: hint %q", name, state.Hint(err))
		}
	}
}
