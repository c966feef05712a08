package vault_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warder/internal/vault"
)

// TestCreateSparesADeviceSecret: a device secret without its account is somebody's only key. However often Create is tried, it stays.
func TestCreateSparesADeviceSecret(t *testing.T) {
	s, other := newScene(t), newScene(t)
	a, kit := create(t, other.account())
	a.Lock()
	must(t, vault.SetDeviceSecret(s.account(), kit.DeviceSecret))
	before := files(t, s.dir)
	for range 3 {
		if _, _, err := vault.Create(s.account(), value(t, password)); !errors.Is(err, vault.ErrExists) || !strings.Contains(err.Error(), s.account().StateDir) {
			t.Fatal(err)
		}
	}
	kept := slices.DeleteFunc(files(t, s.dir), func(name string) bool { return name == "state/write.lock" })
	if !slices.Equal(kept, before) {
		t.Errorf("files %q, were %q", kept, before)
	}
	copyTree(t, other.account().AccountDir, s.account().AccountDir)
	open(t, s.account())
}

// TestCreateAgainSparesWhatCame: Create was interrupted, and into the same folder, because it is synced, comes another account, as yet without
// the file that says so. To create again must not remove that.
func TestCreateAgainSparesWhatCame(t *testing.T) {
	base, other := newScene(t), newScene(t)
	a, _ := create(t, other.account())
	save(t, firstVault(t, a), newItem(t, "S1", "value of S1"))
	a.Lock()
	// Some steps after the first: there is a marker, a secret, and a part of an account.
	if _, killed := runChild(t, job{Name: "creating an account", Dir: base.dir, Die: death{9, nothing}}); !killed {
		t.Fatal("the child lives")
	}
	theirs := files(t, other.account().AccountDir)
	for _, came := range []string{"keysets/", "devices/", "/header-", "/items/", "/man/", "format", "left behind"} {
		s := base.copy(t)
		var arrived []string
		for _, name := range theirs {
			if strings.Contains(name, came) {
				arrived = append(arrived, name)
				path := filepath.Join(s.account().AccountDir, filepath.FromSlash(name))
				must(t, os.RemoveAll(path))
				writeFile(t, path, readFile(t, filepath.Join(other.account().AccountDir, filepath.FromSlash(name))))
			}
		}
		if len(arrived) == 0 {
			arrived = append(arrived, came)
			writeFile(t, filepath.Join(s.account().AccountDir, came), []byte("a file of no account"))
		}
		before := files(t, s.dir)
		if _, _, err := vault.Create(s.later(s.account()), value(t, password)); !errors.Is(err, vault.ErrExists) {
			t.Errorf("after %q came: %v", arrived, err)
		}
		if after := files(t, s.dir); !slices.Equal(after, before) {
			t.Errorf("after %q came, files %q, were %q", arrived, after, before)
		}
	}
}

// TestReadingNeedsNoWriting: an account opens and reads where nothing at all can be written, whatever others have written meanwhile.
func TestReadingNeedsNoWriting(t *testing.T) {
	s, first, second := twoDevices(t)
	save(t, firstVault(t, first), newItem(t, "mine", "value of mine"))
	first.Lock()
	save(t, firstVault(t, second), newItem(t, "theirs", "value of theirs"))
	second.Lock()
	f := &fault{step: 1, lasting: true}
	cfg := f.over(s.account())
	f.begin()
	a := open(t, cfg)
	for _, name := range []string{"mine", "theirs"} {
		if text, _ := firstValue(t, firstVault(t, a), find(t, firstVault(t, a), name)); text != "value of "+name {
			t.Errorf("%s is %q", name, text)
		}
	}
	if f.where == "" {
		t.Error("nothing was tried to be written: the test shows nothing")
	}
	f.end()
	save(t, firstVault(t, a), newItem(t, "more", "value of more"))
	quiet(t, a, 3)
}
