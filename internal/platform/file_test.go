package platform_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/fstest"

	"warder/internal/platform"
)

func TestOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, os.Link(path, path+".second"))
	fi, err := os.Lstat(path)
	must(t, err)
	uid, links, ok := platform.Owner(fi)
	if runtime.GOOS == "windows" {
		if ok {
			t.Error("Windows has owners now")
		}
		return
	}
	if !ok || int(uid) != os.Geteuid() || links != 2 {
		t.Errorf("got uid %d, %d links, %v; want %d, 2, true", uid, links, ok, os.Geteuid())
	}
}

// TestOwnerOfForeignInfo: a description that no system made has no owner.
func TestOwnerOfForeignInfo(t *testing.T) {
	fi, err := fs.Stat(fstest.MapFS{"f": {}}, "f")
	must(t, err)
	if _, _, ok := platform.Owner(fi); ok {
		t.Error("a file in memory has an owner")
	}
}

func TestSyncDir(t *testing.T) {
	dir, _ := openDir(t)
	err := platform.SyncDir(dir)
	if runtime.GOOS == "windows" {
		if !errors.Is(err, platform.ErrUnsupported) {
			t.Errorf("got %v", err)
		}
		return
	}
	must(t, err)
	must(t, dir.Close())
	if err := platform.SyncDir(dir); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a closed directory: %v", err)
	}
}

// TestErrorsOfOtherKinds: only their own numbers count as a full or read-only
// disk or as missing locks.
func TestErrorsOfOtherKinds(t *testing.T) {
	for _, err := range []error{nil, fs.ErrPermission, fs.ErrNotExist, errors.New("no space left on device")} {
		if platform.IsDiskFull(err) || platform.IsReadOnly(err) || platform.IsNoLocks(err) {
			t.Errorf("%v is taken for another error", err)
		}
	}
	if !platform.IsNoLocks(fmt.Errorf("locking: %w", platform.ErrUnsupported)) {
		t.Error("a system without locks has no locks")
	}
}
