package f1reader

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestF1_4_FileSystem checks what a reader accepts of a file system.
func TestF1_4_FileSystem(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permissions here")
	}
	write := func(t *testing.T, name string) {
		if err := os.WriteFile(name, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, spoil := range map[string]func(dir string) error{
		"readable by others": func(dir string) error { return os.Chmod(filepath.Join(dir, "file"), 0o640) },
		"executable by all":  func(dir string) error { return os.Chmod(filepath.Join(dir, "file"), 0o711) },
		"two hard links": func(dir string) error {
			return os.Link(filepath.Join(dir, "file"), filepath.Join(dir, "other"))
		},
		"a symbolic link": func(dir string) error {
			if err := os.Rename(filepath.Join(dir, "file"), filepath.Join(dir, "other")); err != nil {
				return err
			}
			return os.Symlink("other", filepath.Join(dir, "file"))
		},
		"a folder": func(dir string) error {
			if err := os.Remove(filepath.Join(dir, "file")); err != nil {
				return err
			}
			return os.Mkdir(filepath.Join(dir, "file"), 0o600)
		},
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "file"))
		if _, err := (disk{dir}).read("file", 4); err != nil {
			t.Fatalf("before: %v", err)
		}
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := (disk{dir}).read("file", 4); err == nil {
			t.Errorf("%s: read", name)
		}
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"))
	if err := os.Chmod(filepath.Join(dir, "file"), 0o400); err != nil {
		t.Fatal(err)
	}
	if _, err := (disk{dir}).read("file", 4); err != nil {
		t.Errorf("a file that its owner may only read: %v", err)
	}
	if _, err := (disk{dir}).read("file", 3); err == nil {
		t.Error("read a file over its limit")
	}
	if err := os.Chmod(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	if _, err := (disk{dir}).list("."); err == nil {
		t.Error("listed a folder that others may read")
	}
	if _, err := (disk{dir}).list("file"); err == nil {
		t.Error("listed a file")
	}
}

// TestF1_4_UnfinishedWrites checks that temporary files are not seen.
func TestF1_4_UnfinishedWrites(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".tmp-1", ".other", "file"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if names, err := (disk{dir}).list("."); err != nil || len(names) != 2 {
		t.Errorf("listed %q, %v", names, err)
	}
}
