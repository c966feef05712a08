package vault_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warder/internal/vault"
)

// driveFiles are what cloud drives, file managers and version control put into folders.
var driveFiles = []string{".DS_Store", "desktop.ini", "Thumbs.db", ".git/HEAD", ".stfolder/x", ".dropbox", "._x", "Icon\r"}

// accountFolders are folders of the account, with {name} in the place of ids.
var accountFolders = []string{"", "keysets/", "devices/", "vaults/", "vaults/{personal}/", "vaults/{personal}/man/", "vaults/{personal}/items/"}

// TestFilesOfCloudDrives: what belongs to the drive raises nothing, wherever it lies.
func TestFilesOfCloudDrives(t *testing.T) {
	r := newWorld(t).replica(t)
	shard := filepath.Dir(r.shardOf("personal", "A", "single"))
	item := filepath.Dir(r.current("personal", "single"))
	for _, name := range driveFiles {
		for _, folder := range accountFolders {
			writeFile(r, filepath.Join(r.path(folder), name), []byte("x"))
		}
		writeFile(r, filepath.Join(shard, name), []byte("x"))
		writeFile(r, filepath.Join(item, name), []byte("x"))
	}
	for _, device := range []string{"A", "C"} {
		a := r.open(device)
		if found := r.check(a); len(found) != 0 {
			t.Errorf("%s finds %q", device, found)
		}
		r.writes(a, nil)
		a.Lock()
		r.now = r.now.Add(time.Second)
	}
}

// TestStrays: other files that are not the account's are said, by folder and not one by one, and nothing is stopped by them.
func TestStrays(t *testing.T) {
	r := newWorld(t).replica(t)
	copied := filepath.Base(r.one("keysets/*"))
	device := filepath.Base(r.path("devices/{A}"))
	strays := map[string][]string{
		"":                          {"format (conflicted copy)", "a folder/x", "keysets (1)/" + copied},
		"keysets/":                  {copied + " (1)", strings.ToUpper(copied) + "x", "0000000000000001-0000000", "ffffffffffffffff-00000000"},
		"devices/":                  {device + " (conflicted copy)", strings.Repeat("0", 32)},
		"vaults/":                   {"a file", strings.Repeat("ab", 16), "a folder/x"},
		"vaults/{personal}/":        {"header-0000000000000001 (1)", "items (1)/x", "header-1"},
		"vaults/{personal}/man/":    {device + " (1)", device + ".d (1)/x"},
		"vaults/{personal}/items/":  {"x", "000/x"},
		"vaults/{personal}/blobs/x": {"y"}, // reserved: not looked into
		"inbox/x":                   {"y"},
	}
	for folder, names := range strays {
		for _, name := range names {
			writeFile(r, filepath.Join(r.path(folder), name), []byte("x"))
		}
	}
	want := []string{
		"orphan folder .", "orphan folder devices", "orphan folder keysets", "orphan folder vaults",
		"orphan folder vaults/personal", "orphan folder vaults/personal/items", "orphan folder vaults/personal/man",
	}
	before := files(t, r.path(""))
	for _, device := range []string{"A", "C"} {
		a := r.open(device)
		if diff := cmp.Diff(want, r.check(a)); diff != "" {
			t.Errorf("%s finds (-want +got):\n%s", device, diff)
		}
		for _, f := range a.Findings() {
			folder := strings.TrimPrefix(f.Object, "folder ")
			counted := map[string]string{".": "3 files", "keysets": "4 files", "devices": "2 files", "vaults": "3 files"}[folder]
			if f.Alarm || !strings.Contains(f.Text, counted) || !strings.Contains(f.Text, `"`) {
				t.Errorf("%s: alarm %t, %s", folder, f.Alarm, f.Text)
			}
		}
		r.writes(a, nil)
		a.Lock()
		r.now = r.now.Add(time.Second)
	}
	for _, name := range before {
		if !exists(filepath.Join(r.path(""), name)) && !strings.HasPrefix(name, "vaults/"+r.id("personal")+"/man/") && !strings.HasPrefix(name, "keysets/000000000000000") {
			t.Errorf("%s was removed", name)
		}
	}
	a := r.open("A")
	for folder, names := range strays {
		for _, name := range names {
			top, _, _ := strings.Cut(name, "/")
			must(t, os.RemoveAll(filepath.Join(r.path(folder), top)))
		}
	}
	if found := r.check(a); len(found) != 0 {
		t.Errorf("when they are gone: %q", found)
	}
}

// TestStrayNamesAreHarmless: their names are somebody's choice, and findings are printed on terminals.
func TestStrayNamesAreHarmless(t *testing.T) {
	cfg, a, _ := newAccount(t)
	writeFile(t, filepath.Join(cfg.AccountDir, "\x1b[2J\u202e"), nil)
	found, err := a.Check()
	must(t, err)
	if len(found) != 1 || strings.ContainsFunc(found[0].Text, func(c rune) bool { return c < ' ' || c > '~' }) {
		t.Errorf("%q", texts(found))
	}
}

// TestStraysAmongKeysetsStay: only what is named as a keyset was one, and may be removed as an older one.
func TestStraysAmongKeysetsStay(t *testing.T) {
	cfg, a, _ := newAccount(t)
	keysets := filepath.Join(cfg.AccountDir, "keysets")
	strays := []string{
		"0000000000000000-00000000 (conflicted copy)", "0000-notes", "0000000000000000-0123456", "0000000000000000-0123456X", "0-folder/kept", "a-b",
	}
	for _, name := range strays {
		writeFile(t, filepath.Join(keysets, name), []byte("x"))
	}
	must(t, a.ChangePassword(value(t, password), value(t, freshPassword)))
	a.Lock()
	a, err := vault.Open(cfg, value(t, freshPassword))
	must(t, err)
	defer a.Lock()
	left := files(t, keysets)
	for _, name := range strays {
		if !slices.Contains(left, name) {
			t.Errorf("%s was removed", name)
		}
	}
	if len(left) != len(strays)+1 {
		t.Errorf("there are %q", left)
	}
	if got := summaries(a.Findings()); !slices.Equal(got, []string{"orphan"}) {
		t.Errorf("findings %q", got)
	}
}
