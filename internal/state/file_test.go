package state_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"warder/internal/state"
	"warder/internal/testkit"
)

// makeFIFO makes a FIFO at path, which opens for reading only once it has a
// writer, or skips the test.
func makeFIFO(t *testing.T, path string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "mkfifo", "-m", "600", path).CombinedOutput(); err != nil {
		t.Skipf("no FIFO can be made here: %v: %s", err, out)
	}
}

// TestPlantedFiles plants everything that is no file of our own where one is
// expected. Nothing is read, locked or followed, and nothing hangs.
func TestPlantedFiles(t *testing.T) {
	needModes(t)
	if testkit.AsUser(t) {
		return
	}
	plants := []struct {
		name, reason string
		plant        func(t *testing.T, d *state.Dir, path string)
	}{
		{"link outside", "is a symbolic link", func(t *testing.T, _ *state.Dir, path string) {
			outside := filepath.Join(t.TempDir(), "outside")
			must(t, os.WriteFile(outside, []byte("x"), 0o600))
			must(t, os.Symlink(outside, path))
		}},
		{"link inside", "is a symbolic link", func(t *testing.T, d *state.Dir, path string) {
			must(t, d.WriteNew("good", []byte("x")))
			must(t, os.Symlink("good", path))
		}},
		{"link to nothing", "is a symbolic link", func(t *testing.T, _ *state.Dir, path string) {
			must(t, os.Symlink("created", path))
		}},
		{"link to itself", "is a symbolic link", func(t *testing.T, _ *state.Dir, path string) {
			must(t, os.Symlink(filepath.Base(path), path))
		}},
		{"FIFO", "is a FIFO", func(t *testing.T, _ *state.Dir, path string) { makeFIFO(t, path) }},
		{"socket", "is a socket", func(t *testing.T, _ *state.Dir, path string) {
			if len(path) > state.MaxSocketPath {
				t.Skip("the temporary folder's path is too long for a socket")
			}
			l, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
			must(t, err)
			t.Cleanup(func() { l.Close() })
		}},
		{"directory", "is a directory", func(t *testing.T, _ *state.Dir, path string) { must(t, os.Mkdir(path, 0o700)) }},
		{"hard link", "has 2 hard links", func(t *testing.T, d *state.Dir, path string) {
			must(t, d.WriteNew("good", []byte("x")))
			must(t, os.Link(filepath.Join(d.Path(), "good"), path))
		}},
		{"group can read", "loose mode 0640, want 0600", mode(0o640)},
		{"others can read", "loose mode 0604, want 0600", mode(0o604)},
		{"others can write", "loose mode 0602, want 0600", mode(0o602)},
		{"group can execute", "loose mode 0610, want 0600", mode(0o610)},
		{"the usual mode of others", "loose mode 0644, want 0600", mode(0o644)},
	}
	for _, p := range plants {
		t.Run(p.name, func(t *testing.T) {
			d := newDir(t)
			p.plant(t, d, filepath.Join(d.Path(), "f"))
			before := snapshot(t, d.Path())
			_, err := d.Read("f", 100)
			wantUnsafe(t, err, p.reason)
			_, err = d.Lock("f")
			wantUnsafe(t, err, p.reason)
			_, err = d.TryLock("f")
			wantUnsafe(t, err, p.reason)
			if err := d.WriteNew("f", []byte("new")); !errors.Is(err, fs.ErrExist) {
				t.Errorf("WriteNew where something is: %v", err)
			}
			if diff := cmp.Diff(before, snapshot(t, d.Path())); diff != "" {
				t.Errorf("the directory changed:\n%s", diff)
			}
		})
	}
}

func mode(m fs.FileMode) func(*testing.T, *state.Dir, string) {
	return func(t *testing.T, _ *state.Dir, path string) {
		must(t, os.WriteFile(path, []byte("x"), 0o600))
		must(t, os.Chmod(path, m))
	}
}

// snapshot maps the names in a directory to their modes, sizes and link targets.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	seen := map[string]string{}
	for _, e := range entries {
		fi, err := e.Info()
		must(t, err)
		target, _ := os.Readlink(filepath.Join(dir, e.Name()))
		seen[e.Name()] = fmt.Sprint(fi.Mode(), fi.Size(), target)
	}
	return seen
}

// TestDeviceIsRefused needs root, who alone can make a device.
func TestDeviceIsRefused(t *testing.T) {
	d := newDir(t)
	path := filepath.Join(d.Path(), "null")
	if out, err := exec.CommandContext(t.Context(), "mknod", "-m", "600", path, "c", "1", "3").CombinedOutput(); err != nil {
		t.Skipf("no device can be made here: %v: %s", err, out)
	}
	_, err := d.Read("null", 10)
	wantUnsafe(t, err, "is a device")
	_, err = d.Lock("null")
	wantUnsafe(t, err, "is a device")
}

// TestReplaceDoesNotFollow: what lies at the name is replaced, not written to.
func TestReplaceDoesNotFollow(t *testing.T) {
	d := newDir(t)
	outside := filepath.Join(t.TempDir(), "outside")
	must(t, os.WriteFile(outside, []byte("untouched"), 0o644))
	must(t, os.Symlink(outside, filepath.Join(d.Path(), "link")))
	must(t, os.Link(outside, filepath.Join(d.Path(), "hard")))
	must(t, os.Symlink(outside, filepath.Join(d.Path(), "soon")))
	for name, replace := range map[string]func(string, []byte) error{
		"link": d.Replace, "hard": d.Replace, "soon": func(name string, data []byte) error { return state.ReplaceSoon(d, name, data) },
	} {
		must(t, replace(name, []byte("new")))
		data, err := d.Read(name, 10)
		must(t, err)
		if string(data) != "new" {
			t.Errorf("%s: read %q", name, data)
		}
	}
	data, err := os.ReadFile(outside)
	must(t, err)
	if string(data) != "untouched" {
		t.Errorf("the file outside became %q", data)
	}
	must(t, os.Mkdir(filepath.Join(d.Path(), "dir"), 0o700))
	if err := d.Replace("dir", []byte("new")); err == nil {
		t.Error("a directory was replaced by a file")
	}
	wantNoTemp(t, d)
}

// wantNoTemp fails the test if a temporary file is left in d.
func wantNoTemp(t *testing.T, d *state.Dir) {
	t.Helper()
	for name := range snapshot(t, d.Path()) {
		if strings.HasPrefix(name, ".tmp-") {
			t.Errorf("left over: %s", name)
		}
	}
}

func TestReadLimit(t *testing.T) {
	d := newDir(t)
	must(t, d.WriteNew("five", []byte("12345")))
	must(t, d.WriteNew("empty", nil))
	for _, c := range []struct {
		name  string
		limit int64
		want  string
		err   error
	}{
		{"five", 6, "12345", nil},
		{"five", 5, "12345", nil},
		{"five", 4, "", state.ErrTooLarge},
		{"five", 0, "", state.ErrTooLarge},
		{"empty", 0, "", nil},
		{"missing", 5, "", fs.ErrNotExist},
	} {
		data, err := d.Read(c.name, c.limit)
		if !errors.Is(err, c.err) || string(data) != c.want {
			t.Errorf("Read(%q, %d) = %q, %v; want %q, %v", c.name, c.limit, data, err, c.want, c.err)
		}
		if err != nil && !strings.Contains(err.Error(), filepath.Join(d.Path(), c.name)) {
			t.Errorf("error %q does not name the file", err)
		}
	}
}

// TestReadOfAHugeFile: the limit is judged before memory is taken for the size.
func TestReadOfAHugeFile(t *testing.T) {
	d := newDir(t)
	must(t, d.WriteNew("f", nil))
	if err := os.Truncate(filepath.Join(d.Path(), "f"), 1<<42); err != nil {
		t.Skipf("no sparse file of 4 TiB here: %v", err)
	}
	if _, err := d.Read("f", 1<<20); !errors.Is(err, state.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}

func TestWriteNewAndReplaceRoundTrip(t *testing.T) {
	d := newDir(t)
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		name := fmt.Sprint("f", n)
		first := rapid.SliceOfN(rapid.Byte(), 0, 5000).Draw(rt, "first")
		second := rapid.SliceOfN(rapid.Byte(), 0, 5000).Draw(rt, "second")
		if err := d.WriteNew(name, first); err != nil {
			rt.Fatal(err)
		}
		if err := d.WriteNew(name, second); !errors.Is(err, fs.ErrExist) {
			rt.Fatalf("second WriteNew: %v", err)
		}
		if got, err := d.Read(name, 5000); err != nil || !bytes.Equal(got, first) {
			rt.Fatalf("read back %d bytes, %v", len(got), err)
		}
		if err := d.Replace(name, second); err != nil {
			rt.Fatal(err)
		}
		if got, err := d.Read(name, 5000); err != nil || !bytes.Equal(got, second) {
			rt.Fatalf("read back %d bytes, %v", len(got), err)
		}
	})
	wantNoTemp(t, d)
}

func TestRemove(t *testing.T) {
	d := newDir(t)
	must(t, d.WriteNew("f", nil))
	must(t, d.Remove("f"))
	must(t, d.Remove("f"))
	sub, err := d.Create("sub")
	must(t, err)
	must(t, sub.WriteNew("g", nil))
	if err := d.Remove("sub"); err == nil {
		t.Error("a directory with a file in it was removed")
	}
	must(t, sub.Remove("g"))
	must(t, sub.Close())
	must(t, d.Remove("sub"))
	names, err := d.List()
	must(t, err)
	if len(names) != 0 {
		t.Errorf("left: %v", names)
	}
}

func TestCleanTemp(t *testing.T) {
	d := newDir(t)
	outside := filepath.Join(t.TempDir(), "outside")
	must(t, os.WriteFile(outside, []byte("x"), 0o600))
	must(t, d.WriteNew("f", []byte("kept")))
	must(t, os.WriteFile(filepath.Join(d.Path(), ".tmp-00"), nil, 0o644))
	must(t, os.Symlink(outside, filepath.Join(d.Path(), ".tmp-01")))
	must(t, os.Mkdir(filepath.Join(d.Path(), ".tmp-02"), 0o700))
	must(t, d.CleanTemp(time.Now().Add(-time.Minute)))
	if n := len(snapshot(t, d.Path())); n != 4 {
		t.Errorf("%d names are left after young files were to stay", n)
	}
	must(t, d.CleanTemp(time.Now().Add(time.Minute)))
	must(t, d.CleanTemp(time.Now().Add(time.Minute)))
	if _, err := os.Stat(outside); err != nil {
		t.Error("the target of a link was removed")
	}
	seen := snapshot(t, d.Path())
	if len(seen) != 2 || seen["f"] == "" || seen[".tmp-02"] == "" {
		t.Errorf("left: %v", seen)
	}
}

// TestReadersSeeOldOrNew reads without a lock while a writer replaces the file:
// never an error, never a mixture.
func TestReadersSeeOldOrNew(t *testing.T) {
	d := newDir(t)
	contents := [][]byte{bytes.Repeat([]byte("a"), 300), bytes.Repeat([]byte("b"), 70_000)}
	must(t, d.Replace("f", contents[0]))
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				data, err := d.Read("f", 100_000)
				if err != nil || !bytes.Equal(data, contents[0]) && !bytes.Equal(data, contents[1]) {
					t.Errorf("read %d bytes, %v", len(data), err)
					return
				}
			}
		})
	}
	for i := range 100 {
		if err := d.Replace("f", contents[i%2]); err != nil {
			t.Error(err)
		}
	}
	close(done)
	readers.Wait()
}

// TestWritersOfOneNameAgree: of many who write the same new name, one wins and
// the others are told.
func TestWritersOfOneNameAgree(t *testing.T) {
	d := newDir(t)
	var mu sync.Mutex
	var winner []byte
	won := 0
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			data := bytes.Repeat([]byte{byte('a' + i)}, 1000)
			err := d.WriteNew("f", data)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				winner = data
				won++
			} else if !errors.Is(err, fs.ErrExist) {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	got, err := d.Read("f", 2000)
	must(t, err)
	if won != 1 || !bytes.Equal(got, winner) {
		t.Errorf("%d writers won, the file is of %q", won, got[:1])
	}
	wantNoTemp(t, d)
}

// TestRepairCommandsWork pastes the repairing command of a loose mode into a
// shell, with a path that a shell would take apart.
func TestRepairCommandsWork(t *testing.T) {
	needModes(t)
	if testkit.AsUser(t) {
		return
	}
	d, err := state.CreateDir(filepath.Join(t.TempDir(), "it's; echo $HOME `id` \"x\""))
	must(t, err)
	defer d.Close()
	must(t, d.WriteNew("-f g", []byte("x")))
	must(t, os.Chmod(filepath.Join(d.Path(), "-f g"), 0o644))
	_, err = d.Read("-f g", 10)
	wantUnsafe(t, err, "loose mode")
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", state.Hint(err)).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := d.Read("-f g", 10); err != nil {
		t.Errorf("after the repair: %v", err)
	}
	// A second name: the command gives the file back its own.
	must(t, os.Link(filepath.Join(d.Path(), "-f g"), filepath.Join(d.Path(), "h")))
	_, err = d.Read("-f g", 10)
	wantUnsafe(t, err, "has 2 hard links")
	_, command, _ := strings.Cut(state.Hint(err), "own: ")
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", command).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, err := d.Read("-f g", 10); err != nil {
		t.Errorf("after the repair: %v", err)
	}
}
