package state

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"warder/internal/platform"
)

// ownDir makes a directory to work in, with hooks.
func ownDir(t *testing.T, h *hooks) *Dir {
	t.Helper()
	d, err := CreateDir(filepath.Join(t.TempDir(), "own"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	d.hooks = h
	return d
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// lacksRename is a file system that can't rename without replacing.
func lacksRename(*os.File, string, string) error {
	return fmt.Errorf("renaming: %w", platform.ErrUnsupported)
}

// writes are the ways to write a file, with the steps each of them passes.
var writes = []struct {
	name   string
	exists bool // whether the file is there before
	rename func(*os.File, string, string) error
	write  func(d *Dir, data []byte) error
	steps  []step
	// Before this step dying leaves what was there, from it on the new content.
	turn step
}{
	{
		"WriteNew", false, nil, func(d *Dir, data []byte) error { return d.WriteNew("f", data) },
		[]step{stepCreate, stepWrite, stepSync, stepRename, stepDir, stepDone},
		stepDir,
	},
	{
		"WriteNew by link", false, lacksRename, func(d *Dir, data []byte) error { return d.WriteNew("f", data) },
		[]step{stepCreate, stepWrite, stepSync, stepRename, stepUnlink, stepDir, stepDone},
		stepUnlink,
	},
	{
		"Replace", true, nil, func(d *Dir, data []byte) error { return d.Replace("f", data) },
		[]step{stepCreate, stepWrite, stepSync, stepRename, stepDir, stepDone},
		stepDir,
	},
	{
		"Replace nothing", false, nil, func(d *Dir, data []byte) error { return d.Replace("f", data) },
		[]step{stepCreate, stepWrite, stepSync, stepRename, stepDir, stepDone},
		stepDir,
	},
}

var (
	oldContent = bytes.Repeat([]byte("old "), 1000)
	newContent = bytes.Repeat([]byte("new "), 3000)
)

// content returns what a reader gets of f, nil if there is none. Any error but
// a missing file ends the test.
func content(t *testing.T, d *Dir) []byte {
	t.Helper()
	data, err := d.Read("f", 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	check(t, err)
	return data
}

// TestKilledAtEachStep kills a writing process at every step, with SIGKILL. A
// reader finds the old or the new content entire, before and after the
// left-overs are cleaned away, and the next write succeeds.
func TestKilledAtEachStep(t *testing.T) {
	if IsRerun() {
		dieWriting(t)
		return
	}
	for w, c := range writes {
		reached := false
		for _, s := range c.steps {
			reached = reached || s == c.turn
			t.Run(c.name+" "+string(s), func(t *testing.T) {
				d := ownDir(t, nil)
				want := newContent
				if !reached {
					want = nil
				}
				if c.exists {
					check(t, d.Replace("f", oldContent))
					if !reached {
						want = oldContent
					}
				}
				runKilled(t, d.path, w, s)
				if got := content(t, d); !bytes.Equal(got, want) {
					t.Fatalf("after the crash a reader finds %d bytes %.8q", len(got), got)
				}
				names, err := d.List()
				check(t, err)
				if len(names) > 1 || len(names) == 1 && names[0] != "f" {
					t.Errorf("listed: %v", names)
				}
				check(t, d.CleanTemp(time.Now().Add(time.Minute)))
				if temps, err := tempNames(d); len(temps) > 0 || err != nil {
					t.Errorf("after cleaning: %v, %v", temps, err)
				}
				if got := content(t, d); !bytes.Equal(got, want) {
					t.Fatalf("after cleaning a reader finds %d bytes %.8q", len(got), got)
				}
				check(t, d.Replace("f", []byte("next")))
			})
		}
	}
}

// runKilled lets another process write and die at step s.
func runKilled(t *testing.T, dir string, write int, s step) {
	t.Helper()
	self, err := os.Executable()
	check(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestKilledAtEachStep$", "-test.count=1")
	cmd.Env = append(os.Environ(), rerunMark+"=1", "DIE_DIR="+dir, fmt.Sprint("DIE_WRITE=", write), "DIE_AT="+string(s))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != -1 {
		t.Fatalf("the writer was not killed: %v\n%s", err, out)
	}
}

// dieWriting is the process that dies.
func dieWriting(t *testing.T) {
	d, err := OpenDir(os.Getenv("DIE_DIR"))
	check(t, err)
	var w int
	_, err = fmt.Sscan(os.Getenv("DIE_WRITE"), &w)
	check(t, err)
	d.hooks = &hooks{rename: writes[w].rename, at: func(s step) error {
		if s == step(os.Getenv("DIE_AT")) {
			self, err := os.FindProcess(os.Getpid())
			check(t, err)
			check(t, self.Kill())
			select {} // until the signal arrives
		}
		return nil
	}}
	t.Fatalf("survived: %v", writes[w].write(d, newContent))
}

// TestU_153_FailedAtEachStep lets each step of a write fail as a full disk does.
// The error keeps its number and names the file, the old content is entire, no
// temporary file holds on to the room, and the next write succeeds.
func TestU_153_FailedAtEachStep(t *testing.T) {
	for _, c := range writes {
		for _, s := range c.steps {
			t.Run(c.name+" "+string(s), func(t *testing.T) {
				h := &hooks{rename: c.rename}
				d := ownDir(t, h)
				var want []byte
				if c.exists {
					check(t, d.Replace("f", oldContent))
					want = oldContent
				}
				h.at = func(at step) error {
					if at == s {
						return &fs.PathError{Op: "write", Path: "temp", Err: syscall.ENOSPC}
					}
					return nil
				}
				err := c.write(d, newContent)
				if !errors.Is(err, syscall.ENOSPC) || !IsDiskFull(err) || !strings.Contains(err.Error(), filepath.Join(d.path, "f")) {
					t.Fatalf("got error %v", err)
				}
				if !strings.Contains(Hint(err), "room") {
					t.Errorf("hint: %q", Hint(err))
				}
				h.at = nil
				if strings.HasPrefix(c.name, "Replace") && (s == stepDir || s == stepDone) {
					want = newContent
					if !strings.Contains(err.Error(), "perhaps not durably") {
						t.Errorf("error %q does not say that the new content is there", err)
					}
				}
				if got := content(t, d); !bytes.Equal(got, want) {
					t.Errorf("after the failure a reader finds %d bytes %.8q", len(got), got)
				}
				if temps, err := tempNames(d); len(temps) > 0 || err != nil {
					t.Errorf("left over: %v, %v", temps, err)
				}
				check(t, c.write(d, newContent))
			})
		}
	}
}

// TestEveryStepIsPassed keeps the table above honest.
func TestEveryStepIsPassed(t *testing.T) {
	for _, c := range writes {
		var passed []step
		d := ownDir(t, &hooks{rename: c.rename, at: func(s step) error {
			passed = append(passed, s)
			return nil
		}})
		check(t, c.write(d, newContent))
		if fmt.Sprint(passed) != fmt.Sprint(c.steps) {
			t.Errorf("%s passed %v, the table says %v", c.name, passed, c.steps)
		}
	}
}

// TestWritesAreDurable: what names the file is synced after the file itself,
// and a directory that can't be synced is borne with.
func TestWritesAreDurable(t *testing.T) {
	for _, dirErr := range []error{nil, platform.ErrUnsupported} {
		var synced []string
		d := ownDir(t, nil)
		d.hooks = &hooks{sync: func(f *os.File, dir bool) error {
			name := filepath.Base(filepath.Clean(f.Name()))
			if isTemp(name) {
				name = "temp"
			}
			synced = append(synced, name)
			if dir {
				return dirErr
			}
			return nil
		}}
		check(t, d.WriteNew("f", newContent))
		check(t, d.Replace("f", oldContent))
		sub, err := d.Create("sub")
		check(t, err)
		check(t, sub.Close())
		sub, err = d.Create("sub") // there already: nothing to sync
		check(t, err)
		check(t, sub.Close())
		if got := strings.Join(synced, " "); got != "temp own temp own own" {
			t.Errorf("synced: %s", got)
		}
	}
}

// TestSyncFailures: a sync that fails is a write that fails.
func TestSyncFailures(t *testing.T) {
	failed := errors.New("sync failed")
	for _, failDir := range []bool{false, true} {
		d := ownDir(t, &hooks{sync: func(_ *os.File, dir bool) error {
			if dir == failDir {
				return failed
			}
			return nil
		}})
		if err := d.WriteNew("f", newContent); !errors.Is(err, failed) {
			t.Errorf("WriteNew: %v", err)
		}
		if got := content(t, d); got != nil {
			t.Errorf("there is a file of %d bytes", len(got))
		}
		if err := d.Replace("f", newContent); !errors.Is(err, failed) {
			t.Errorf("Replace: %v", err)
		}
		sub, err := d.Create("sub")
		if errors.Is(err, failed) != failDir {
			t.Errorf("Create: %v", err)
		}
		if err == nil {
			check(t, sub.Close())
		}
	}
}

// TestFileThatGrowsWhileItIsRead is read to its new end, or refused.
func TestFileThatGrowsWhileItIsRead(t *testing.T) {
	d := ownDir(t, nil)
	check(t, d.WriteNew("f", []byte("begin")))
	path := filepath.Join(d.path, "f")
	d.hooks = &hooks{at: func(s step) error {
		if s == stepRead {
			return os.WriteFile(path, bytes.Repeat([]byte("x"), 3000), 0o600)
		}
		return nil
	}}
	if _, err := d.Read("f", 100); !errors.Is(err, ErrTooLarge) {
		t.Errorf("grown beyond the limit: %v", err)
	}
	check(t, os.WriteFile(path, []byte("begin"), 0o600))
	if got, err := d.Read("f", 3000); len(got) != 3000 || err != nil {
		t.Errorf("grown within the limit: %d bytes, %v", len(got), err)
	}
}

// TestWriteNewByLink is WriteNew on a file system that lacks the one-step rename.
func TestWriteNewByLink(t *testing.T) {
	d := ownDir(t, &hooks{rename: lacksRename})
	check(t, d.WriteNew("f", []byte("first")))
	if err := d.WriteNew("f", []byte("second")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a taken name: %v", err)
	}
	if got := content(t, d); string(got) != "first" {
		t.Errorf("read %q", got)
	}
	entries, err := os.ReadDir(d.path)
	check(t, err)
	if len(entries) != 1 {
		t.Errorf("left: %v", entries)
	}
}

// TestInnocentSecondName: only the pair that a dead writer leaves is borne with.
func TestInnocentSecondName(t *testing.T) {
	d := ownDir(t, nil)
	check(t, d.WriteNew("f", []byte("x")))
	path := filepath.Join(d.path, "f")
	check(t, os.Link(path, filepath.Join(d.path, ".tmp-0123456789abcdef")))
	content(t, d)
	check(t, os.Link(path, filepath.Join(d.path, ".tmp-fedcba9876543210")))
	var unsafe *UnsafeError
	if _, err := d.Read("f", 10); !errors.As(err, &unsafe) {
		t.Errorf("three names: %v", err)
	}
	check(t, d.CleanTemp(time.Now().Add(time.Minute)))
	content(t, d)
}

// TestFileSystemWithoutModes: a file that does not get its mode is no success.
func TestFileSystemWithoutModes(t *testing.T) {
	d := ownDir(t, nil)
	d.hooks = &hooks{at: func(s step) error {
		if s != stepSync {
			return nil
		}
		temps, err := tempNames(d)
		check(t, err)
		return os.Chmod(filepath.Join(d.path, temps[0]), 0o755)
	}}
	var unsafe *UnsafeError
	err := d.WriteNew("f", []byte("x"))
	if _, _, owned := platform.Owner(mustStat(t, d.path)); !owned {
		t.Skip("this system has no modes")
	}
	if !errors.As(err, &unsafe) || unsafe.Reason != "loose mode 0755, want 0600" {
		t.Errorf("got %v", err)
	}
	if content(t, d) != nil {
		t.Error("the file is there")
	}
}

// TestU_151_FileSystemThatKeepsNothing: bytes that are gone after the sync are no
// success, and the old content stays.
func TestU_151_FileSystemThatKeepsNothing(t *testing.T) {
	d := ownDir(t, nil)
	check(t, d.WriteNew("f", oldContent))
	d.hooks = &hooks{at: func(s step) error {
		if s != stepSync {
			return nil
		}
		temps, err := tempNames(d)
		check(t, err)
		return os.Truncate(filepath.Join(d.path, temps[0]), 5)
	}}
	if err := d.Replace("f", newContent); err == nil || !strings.Contains(err.Error(), "kept 5 of 12000 bytes") {
		t.Errorf("got %v", err)
	}
	if got := content(t, d); !bytes.Equal(got, oldContent) {
		t.Errorf("the old content has become %d bytes", len(got))
	}
}

func mustStat(t *testing.T, path string) fs.FileInfo {
	t.Helper()
	fi, err := os.Stat(path)
	check(t, err)
	return fi
}
