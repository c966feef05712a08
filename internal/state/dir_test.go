package state_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warder/internal/state"
	"warder/internal/testkit"
)

// newDir makes a directory to work in and closes it with the test.
func newDir(t *testing.T) *state.Dir {
	t.Helper()
	d, err := state.CreateDir(filepath.Join(t.TempDir(), "own"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantUnsafe ends the test unless err is an UnsafeError whose reason holds text.
func wantUnsafe(t *testing.T, err error, text string) {
	t.Helper()
	var unsafe *state.UnsafeError
	if !errors.As(err, &unsafe) {
		t.Fatalf("got error %v, want an UnsafeError with %q", err, text)
	}
	if !strings.Contains(unsafe.Reason, text) {
		t.Fatalf("got reason %q, want %q in it", unsafe.Reason, text)
	}
	if !filepath.IsAbs(unsafe.Path) || !strings.Contains(err.Error(), unsafe.Path) {
		t.Errorf("error %q does not name the full path %q", err, unsafe.Path)
	}
	if state.Hint(err) == "" {
		t.Errorf("error %q has no hint", err)
	}
}

// needModes skips a test where the system has no modes.
func needModes(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("this system has no modes")
	}
}

// TestU_20_ModesWhateverTheUmask creates everything that can be created under
// the loosest, a usual and the strictest umask, and two that take rights from
// the owner himself.
func TestU_20_ModesWhateverTheUmask(t *testing.T) {
	needModes(t)
	if testkit.AsUser(t) {
		return
	}
	if !state.IsRerun() {
		for _, umask := range []string{"000", "022", "077", "277", "777"} {
			cmd := state.RerunCommand(t, "umask "+umask+`; exec "$@"`)
			base := filepath.Join(t.TempDir(), "base")
			must(t, os.Mkdir(base, 0o755))
			cmd.Env = append(cmd.Env, "BASE="+base)
			// The test's own line counts: writing a coverage report may fail
			// under such a umask.
			if out, err := cmd.CombinedOutput(); !strings.Contains(string(out), "--- PASS: "+t.Name()) {
				t.Errorf("under umask %s: %v\n%s", umask, err, out)
			}
		}
		return
	}
	base := os.Getenv("BASE")
	d, err := state.CreateDir(filepath.Join(base, "missing", "parents", "own"))
	must(t, err)
	defer d.Close()
	sub, err := d.Create("sub")
	must(t, err)
	defer sub.Close()
	must(t, sub.WriteNew("new", []byte("1")))
	must(t, sub.Replace("new", []byte("2")))
	must(t, sub.Replace("first", []byte("3")))
	lock, err := d.Lock("lock")
	must(t, err)
	must(t, lock.Release())

	got := map[string]string{}
	must(t, filepath.WalkDir(filepath.Join(base, "missing"), func(path string, e fs.DirEntry, err error) error {
		must(t, err)
		fi, err := e.Info()
		must(t, err)
		rel, err := filepath.Rel(base, path)
		must(t, err)
		got[rel] = fi.Mode().String()
		return nil
	}))
	want := map[string]string{
		"missing":                       "drwx------",
		"missing/parents":               "drwx------",
		"missing/parents/own":           "drwx------",
		"missing/parents/own/sub":       "drwx------",
		"missing/parents/own/sub/new":   "-rw-------",
		"missing/parents/own/sub/first": "-rw-------",
		"missing/parents/own/lock":      "-rw-------",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("modes (-want +got):\n%s", diff)
	}
}

// TestU_20_LooseDirectories: existing loose modes are reported, never repaired
// behind the user's back, at the top and below.
func TestU_20_LooseDirectories(t *testing.T) {
	needModes(t)
	if testkit.AsUser(t) {
		return
	}
	for _, mode := range []fs.FileMode{0o701, 0o710, 0o740, 0o755, 0o777, 0o702} {
		t.Run(mode.String(), func(t *testing.T) {
			d := newDir(t)
			path := filepath.Join(d.Path(), "sub")
			must(t, os.Mkdir(path, 0o700))
			must(t, os.Chmod(path, mode))
			for name, open := range map[string]func() (*state.Dir, error){
				"OpenDir":   func() (*state.Dir, error) { return state.OpenDir(path) },
				"CreateDir": func() (*state.Dir, error) { return state.CreateDir(path) },
				"Open":      func() (*state.Dir, error) { return d.Open("sub") },
				"Create":    func() (*state.Dir, error) { return d.Create("sub") },
			} {
				_, err := open()
				t.Log(name)
				wantUnsafe(t, err, "loose mode")
				if want := "chmod 700 " + path; state.Hint(err) != want {
					t.Errorf("hint %q, want %q", state.Hint(err), want)
				}
			}
			fi, err := os.Stat(path)
			must(t, err)
			if fi.Mode().Perm() != mode {
				t.Errorf("the mode was changed to %v", fi.Mode())
			}
		})
	}
}

// TestStricterModesAreFine: a user who takes the write bit away keeps reading.
func TestStricterModesAreFine(t *testing.T) {
	needModes(t)
	if testkit.AsUser(t) {
		return
	}
	d := newDir(t)
	sub, err := d.Create("sub")
	must(t, err)
	must(t, sub.WriteNew("f", []byte("kept")))
	must(t, os.Chmod(filepath.Join(sub.Path(), "f"), 0o400))
	must(t, sub.Close())
	must(t, os.Chmod(filepath.Join(d.Path(), "sub"), 0o500))
	t.Cleanup(func() { os.Chmod(filepath.Join(d.Path(), "sub"), 0o700) })
	sub, err = d.Open("sub")
	must(t, err)
	defer sub.Close()
	data, err := sub.Read("f", 10)
	must(t, err)
	if string(data) != "kept" {
		t.Errorf("read %q", data)
	}
	if err := sub.WriteNew("g", nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("writing to a directory without the write bit: %v", err)
	}
}

// TestForeignOwner judges a directory and a file of another user. Root makes
// them; an ordinary user finds one.
func TestForeignOwner(t *testing.T) {
	needModes(t)
	if os.Geteuid() != 0 {
		_, err := state.OpenDir("/")
		wantUnsafe(t, err, "owned by uid ")
		return
	}
	d := newDir(t)
	sub, err := d.Create("sub")
	must(t, err)
	must(t, sub.Close())
	must(t, d.WriteNew("f", []byte("x")))
	for _, name := range []string{"sub", "f"} {
		must(t, os.Chown(filepath.Join(d.Path(), name), testkit.UID, testkit.UID))
	}
	const reason = "owned by uid 12345, not 0"
	_, err = d.Open("sub")
	wantUnsafe(t, err, reason)
	_, err = state.OpenDir(filepath.Join(d.Path(), "sub"))
	wantUnsafe(t, err, reason)
	_, err = d.Create("sub")
	wantUnsafe(t, err, reason)
	_, err = d.Read("f", 10)
	wantUnsafe(t, err, reason)
	_, err = d.Lock("f")
	wantUnsafe(t, err, reason)
}

// TestForeignOwnerFirst: a foreign file that can't be opened is told as foreign,
// not as a missing permission.
func TestForeignOwnerFirst(t *testing.T) {
	needModes(t)
	if testkit.AsUser(t) {
		return
	}
	if os.Geteuid() == 0 {
		t.Skip("root can open everything")
	}
	_, err := state.OpenDir("/root")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no /root here")
	}
	wantUnsafe(t, err, "owned by uid 0")
}

func TestOpenDirRefusals(t *testing.T) {
	if testkit.AsUser(t) {
		return
	}
	base := t.TempDir()
	real, err := state.CreateDir(filepath.Join(base, "real"))
	must(t, err)
	must(t, real.WriteNew("file", []byte("x")))
	must(t, real.Close())
	must(t, os.Symlink("real", filepath.Join(base, "link")))
	must(t, os.Symlink("nowhere", filepath.Join(base, "dangling")))

	for _, c := range []struct{ path, reason string }{
		{"link", "is a symbolic link"},
		{"link/", "is a symbolic link"},
		{"dangling", "is a symbolic link"},
		{"real/file", "is not a directory"},
	} {
		for name, open := range map[string]func(string) (*state.Dir, error){"OpenDir": state.OpenDir, "CreateDir": state.CreateDir} {
			t.Run(name+" "+c.path, func(t *testing.T) {
				_, err := open(base + "/" + c.path)
				wantUnsafe(t, err, c.reason)
			})
		}
	}
	if _, err := state.OpenDir(filepath.Join(base, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
	if _, err := state.OpenDir(""); err == nil {
		t.Error("the empty path was opened")
	}
	if _, err := state.CreateDir(""); err == nil {
		t.Error("the empty path was created")
	}
	if _, err := state.CreateDir(filepath.Join(base, "real", "file", "below")); err == nil {
		t.Error("a directory was created below a file")
	}
	// Links above the last element are the user's own way to lay out a disk.
	d, err := state.CreateDir(filepath.Join(base, "link", "sub"))
	must(t, err)
	must(t, d.Close())
}

// TestOpenDirectoryNamedByFIFO: nothing may hang on a FIFO in a directory's place.
func TestOpenDirectoryNamedByFIFO(t *testing.T) {
	d := newDir(t)
	makeFIFO(t, filepath.Join(d.Path(), "pipe"))
	_, err := d.Open("pipe")
	wantUnsafe(t, err, "is a FIFO")
	_, err = d.Create("pipe")
	wantUnsafe(t, err, "is a FIFO")
	_, err = state.OpenDir(filepath.Join(d.Path(), "pipe"))
	wantUnsafe(t, err, "is a FIFO")
}

func TestList(t *testing.T) {
	d := newDir(t)
	for _, name := range []string{"b", "a", "é", "0"} {
		must(t, d.WriteNew(name, []byte(name)))
	}
	sub, err := d.Create("dir")
	must(t, err)
	must(t, sub.Close())
	must(t, os.WriteFile(filepath.Join(d.Path(), ".tmp-0011223344556677"), []byte("half"), 0o600))
	must(t, os.Symlink("dir", filepath.Join(d.Path(), "link")))
	want := []string{"0", "a", "b", "dir/", "link", "é"}
	for range 2 { // a second listing begins at the beginning
		got, err := d.List()
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("names (-want +got):\n%s", diff)
		}
	}
}

// TestDirOutlivesItsName: an open Dir goes on meaning the same directory.
func TestDirOutlivesItsName(t *testing.T) {
	base := t.TempDir()
	path := filepath.Join(base, "own")
	d, err := state.CreateDir(path)
	must(t, err)
	defer d.Close()
	must(t, os.Rename(path, path+".moved"))
	other, err := state.CreateDir(path)
	must(t, err)
	defer other.Close()
	must(t, d.WriteNew("f", []byte("first")))
	if _, err := other.Read("f", 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the exchanged directory has the file: %v", err)
	}
}

// TestNamesAreOneElement: no method takes a name that leads elsewhere.
func TestNamesAreOneElement(t *testing.T) {
	d := newDir(t)
	sub, err := d.Create("sub")
	must(t, err)
	must(t, sub.WriteNew("f", []byte("x")))
	must(t, sub.Close())
	for _, name := range []string{
		"", ".", "..", "/", "sub/f", "sub/", "./sub", "../own", "/etc/passwd", "a\x00b", ".tmp-0011223344556677",
	} {
		calls := map[string]func() error{
			"Open":     func() error { _, err := d.Open(name); return err },
			"Create":   func() error { _, err := d.Create(name); return err },
			"Read":     func() error { _, err := d.Read(name, 10); return err },
			"WriteNew": func() error { return d.WriteNew(name, nil) },
			"Replace":  func() error { return d.Replace(name, nil) },
			"Remove":   func() error { return d.Remove(name) },
			"Lock":     func() error { _, err := d.Lock(name); return err },
			"TryLock":  func() error { _, err := d.TryLock(name); return err },
		}
		for method, call := range calls {
			if err := call(); !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("%s(%q): got %v, want fs.ErrInvalid", method, name, err)
			}
		}
	}
}

func TestClosedDir(t *testing.T) {
	d := newDir(t)
	must(t, d.Close())
	if _, err := d.Read("f", 1); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("reading from a closed directory: %v", err)
	}
	if err := d.WriteNew("f", nil); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("writing to a closed directory: %v", err)
	}
	if _, err := d.List(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("listing a closed directory: %v", err)
	}
}
