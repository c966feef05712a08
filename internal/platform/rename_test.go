package platform_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"warder/internal/platform"
)

// openDir makes a directory with a file called old in it.
func openDir(t *testing.T) (dir *os.File, path string) {
	t.Helper()
	path = t.TempDir()
	must(t, os.WriteFile(filepath.Join(path, "old"), []byte("old"), 0o600))
	dir, err := os.Open(path)
	must(t, err)
	t.Cleanup(func() { dir.Close() })
	return dir, path
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rename skips the test where the system lacks the call.
func rename(t *testing.T, dir *os.File, from, to string) error {
	t.Helper()
	err := platform.RenameNoReplace(dir, from, to)
	if errors.Is(err, platform.ErrUnsupported) {
		t.Skip(err)
	}
	return err
}

func TestRenameNoReplace(t *testing.T) {
	dir, path := openDir(t)
	must(t, rename(t, dir, "old", "new"))
	if _, err := os.Lstat(filepath.Join(path, "old")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old name: %v", err)
	}
	data, err := os.ReadFile(filepath.Join(path, "new"))
	if err != nil || string(data) != "old" {
		t.Errorf("the new name: %q, %v", data, err)
	}
}

// TestRenameNoReplaceRefuses finds the new name taken by anything at all.
func TestRenameNoReplaceRefuses(t *testing.T) {
	for name, take := range map[string]func(path string) error{
		"a file":          func(path string) error { return os.WriteFile(path, []byte("kept"), 0o600) },
		"a directory":     func(path string) error { return os.Mkdir(path, 0o700) },
		"a link":          func(path string) error { return os.Symlink("old", path) },
		"a dangling link": func(path string) error { return os.Symlink("nowhere", path) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, path := openDir(t)
			must(t, take(filepath.Join(path, "new")))
			before, err := os.Lstat(filepath.Join(path, "new"))
			must(t, err)
			if err := rename(t, dir, "old", "new"); !errors.Is(err, fs.ErrExist) {
				t.Fatalf("got %v, want fs.ErrExist", err)
			}
			after, err := os.Lstat(filepath.Join(path, "new"))
			must(t, err)
			if !os.SameFile(before, after) {
				t.Error("what had the name was replaced")
			}
			if _, err := os.Lstat(filepath.Join(path, "old")); err != nil {
				t.Errorf("the old name: %v", err)
			}
		})
	}
}

func TestRenameNoReplaceErrors(t *testing.T) {
	dir, _ := openDir(t)
	if err := rename(t, dir, "missing", "new"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	must(t, dir.Close())
	if err := rename(t, dir, "old", "new"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a closed directory: %v", err)
	}
}
