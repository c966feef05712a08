package vault_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warder/internal/seal"
	"warder/internal/testkit"
	"warder/internal/vault"
)

// TestJunkStopsNobody puts one file into the account that is none of its own and that no reader takes: a link, one open to others, one
// that is too large. Whoever may write there could do worse; but what nothing lists must not keep the owner from his values.
func TestJunkStopsNobody(t *testing.T) {
	oneThread(t)
	needModes(t)
	if testkit.AsUser(t) {
		return
	}
	base := newScene(t)
	a, _ := create(t, base.account())
	vaultID := firstVault(t, a).ID().String()
	it := newItem(t, "x", "1")
	it.ID = seal.NewID()
	it.ID[0] = 0
	save(t, firstVault(t, a), it)
	a.Lock()
	places := map[string]string{ // and what is found there, if it can be read at all
		"keysets/00000000000000ff-12345678":                   "orphan",
		"keysets/0000000000000000-12345678":                   "", // below the one in force: removed
		"vaults/" + vaultID + "/man/" + seal.NewID().String(): "behind",
		"vaults/" + seal.NewID().String():                     "orphan",
		"vaults/" + vaultID + "/items/f0":                     "orphan",
		"devices/" + seal.NewID().String():                    "orphan",
	}
	junk := map[string]func(t *testing.T, path string){
		"link": func(t *testing.T, path string) { t.Helper(); must(t, os.Symlink("x", path)) },
		"loose": func(t *testing.T, path string) {
			t.Helper()
			writeFile(t, path, []byte("x"))
			must(t, os.Chmod(path, 0o644))
		},
		"large": func(t *testing.T, path string) {
			t.Helper()
			writeFile(t, path, nil)
			must(t, os.Truncate(path, 17<<20))
		},
	}
	for place, want := range places {
		for kind, put := range junk {
			t.Run(kind+" "+strings.ReplaceAll(place, vaultID, "V")[:8], func(t *testing.T) {
				t.Parallel()
				s := base.copy(t)
				b := open(t, s.account()) // it meets the junk later
				put(t, filepath.Join(s.account().AccountDir, place))
				c := open(t, s.account())
				if got := strings.Join(summaries(c.Findings()), " "); got != want {
					t.Errorf("%s: found %q, want %s", place, got, want)
				}
				if got, _ := firstValue(t, firstVault(t, c), it.ID); got != "1" {
					t.Errorf("%s: reads %q", place, got)
				}
				save(t, firstVault(t, c), newItem(t, "y", "1"))
				save(t, firstVault(t, b), newItem(t, "z", "1"))
			})
		}
	}
	t.Run("loose folder", func(t *testing.T) {
		s := base.copy(t)
		path := filepath.Join(s.account().AccountDir, "vaults", vaultID, "items", "f0")
		must(t, os.Mkdir(path, 0o700))
		must(t, os.Chmod(path, 0o755))
		c := open(t, s.account())
		if got := summaries(c.Findings()); !slices.Equal(got, []string{"orphan"}) {
			t.Errorf("found %q", got)
		}
		save(t, firstVault(t, c), newItem(t, "y", "1"))
	})
}

// TestTooLargeIsTampered: a file that is listed and larger than F1 allows was changed.
func TestTooLargeIsTampered(t *testing.T) {
	oneThread(t)
	base, first, second := twoDevices(t)
	save(t, firstVault(t, second), newItem(t, "of the second", "1"))
	vaultID, device := firstVault(t, first).ID().String(), second.Device().String()
	_, err := first.Check()
	must(t, err)
	first.Lock()
	second.Lock()
	for name, pattern := range map[string]string{
		"root":         "vaults/" + vaultID + "/man/" + device,
		"shard":        "vaults/" + vaultID + "/man/" + device + ".d/*",
		"card":         "devices/" + device,
		"other header": "vaults/" + vaultID + "/header-00000000000000ff",
	} {
		t.Run(name, func(t *testing.T) {
			s := base.copy(t)
			found, err := filepath.Glob(filepath.Join(s.account().AccountDir, pattern))
			must(t, err)
			if name == "other header" {
				found = []string{filepath.Join(s.account().AccountDir, pattern)}
				writeFile(t, found[0], nil)
			}
			must(t, os.Truncate(found[0], 17<<20))
			a := open(t, s.account())
			if got := summaries(a.Findings()); !slices.Contains(got, "tampered!") {
				t.Errorf("found %q", got)
			}
		})
	}
}

// TestAWrongPasswordBesideAKeysetThatCantBeRead tells both: the keyset may be the one that the password is for.
func TestAWrongPasswordBesideAKeysetThatCantBeRead(t *testing.T) {
	needModes(t)
	if testkit.AsUser(t) {
		return
	}
	cfg, a, _ := newAccount(t)
	a.Lock()
	must(t, os.Symlink("x", filepath.Join(cfg.AccountDir, "keysets", "00000000000000ff-12345678")))
	_, err := vault.Open(cfg, value(t, "some other phrase, number 12"))
	if err == nil || !strings.Contains(err.Error(), "wrong password") || !strings.Contains(err.Error(), "00000000000000ff") {
		t.Errorf("it says %v", err)
	}
}
