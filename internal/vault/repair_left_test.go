package vault_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"warder/internal/seal"
	"warder/internal/vault"
)

// TestAcceptRestoreRemovesJunk: what nobody needs must not keep an alarm standing after the owner took the store for the truth.
func TestAcceptRestoreRemovesJunk(t *testing.T) {
	stranger := seal.NewID().String()
	for name, harm := range map[string]func(r *replica){
		"a header besides the good one":  func(r *replica) { writeFile(r, r.path("vaults/{work}/header-00000000000000ff"), make([]byte, 112)) },
		"a header that is too large":     func(r *replica) { writeFile(r, r.path("vaults/{work}/header-00000000000000ff"), make([]byte, 70<<10)) },
		"a root that is no one's, old":   func(r *replica) { writeFile(r, r.path("vaults/{work}/man/"+stranger), []byte("x")) },
		"a root that is a link, and old": func(r *replica) { must(r, os.Symlink("x", r.path("vaults/{work}/man/"+stranger))) },
		"an older revision was changed":  func(r *replica) { r.flip(r.revision("personal", "edited", 2), -1) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newWorld(t).replica(t)
			harm(r)
			r.as("A", func(*vault.Account) {})
			r.now = r.now.Add(25 * time.Hour)
			r.as("A", func(a *vault.Account) {
				found, err := a.Check()
				must(t, err)
				if !slices.ContainsFunc(r.told(found), isAlarm) {
					t.Fatalf("found %q, want an alarm", r.told(found))
				}
				if _, err := a.Repair().AcceptRestore(); err != nil {
					t.Fatal(err)
				}
				r.finds("A", a)
				r.now = r.now.Add(25 * time.Hour)
				r.finds("A", a)
			})
			r.isServed("A", nil)
			r.settled("A", "B")
		})
	}
}

// TestAcceptRestoreNamesWhatIsLeft: the card and the shards of another device are that device's to repair. Saying nothing would leave a
// person with a store that can't be written and no word why.
func TestAcceptRestoreNamesWhatIsLeft(t *testing.T) {
	w := newWorld(t)
	for name, harm := range map[string]func(r *replica){
		"a shard of B": func(r *replica) { r.flip(r.shardOf("personal", "B", "of B"), -1) },
		"B's card":     func(r *replica) { r.flip(r.path("devices/{B}"), -1) },
	} {
		t.Run(name, func(t *testing.T) {
			r := w.replica(t)
			harm(r)
			r.as("A", func(a *vault.Account) {
				_, err := a.Repair().AcceptRestore()
				var left *vault.AlarmError
				if !errors.As(err, &left) || !strings.Contains(left.Error(), r.id("B")) {
					t.Errorf("it says %v", err)
				}
				r.name("A2", a.Device())
			})
			r.as("B", func(a *vault.Account) {
				done, err := a.Repair().AcceptRestore()
				must(t, err)
				for _, o := range done.Unlisted {
					must(t, a.Repair().Adopt(o))
				}
				r.name("B2", a.Device())
			})
			r.isServed("A", nil)
			r.settled("A", "B")
		})
	}
}

// TestAcceptRestoreNamesWhatIsNotListedAnyMore: where this device's own statement of its items was damaged, nothing lists those that no
// other device has repeated. They are still there.
func TestAcceptRestoreNamesWhatIsNotListedAnyMore(t *testing.T) {
	w := newWorld(t)
	for name, harm := range map[string]func(r *replica){
		"a shard is changed": func(r *replica) { r.flip(r.shardOf("personal", "A", "added"), -1) },
		"a shard is removed": func(r *replica) { r.remove(r.shardOf("personal", "A", "added")) },
		"the root":           func(r *replica) { r.flip(r.path("vaults/{personal}/man/{A}"), -1) },
	} {
		t.Run(name, func(t *testing.T) {
			r := w.replica(t)
			harm(r)
			r.as("A", func(a *vault.Account) {
				done, err := a.Repair().AcceptRestore()
				must(t, err)
				if len(done.Unlisted) != 1 || done.Unlisted[0].Name != "added" {
					t.Fatalf("restored: %+v", done)
				}
				must(t, a.Repair().Adopt(done.Unlisted[0]))
				if got, _ := firstValue(t, firstVault(t, a), itemID(r, "added")); got != "added 1" {
					t.Errorf("it reads %q", got)
				}
			})
		})
	}
}

// TestAVaultWhoseNameIsLost: a vault's own item that can't be read is made anew, or nothing could be written any more.
func TestAVaultWhoseNameIsLost(t *testing.T) {
	for name, harm := range map[string]func(t *testing.T, path string){
		"changed": func(t *testing.T, path string) {
			t.Helper()
			file := readFile(t, path)
			file[len(file)-1] ^= 1
			writeFile(t, path, file)
		},
		"removed": func(t *testing.T, path string) { t.Helper(); must(t, os.Remove(path)) },
	} {
		t.Run(name, func(t *testing.T) {
			cfg, a, _ := newAccount(t)
			v := firstVault(t, a)
			save(t, v, newItem(t, "x", "1"))
			id := v.ID()
			a.Lock()
			found, err := filepath.Glob(filepath.Join(cfg.AccountDir, "vaults", id.String(), "items", "*", id.String()+"-*"))
			must(t, err)
			harm(t, found[0])

			b := open(t, cfg)
			done, err := b.Repair().AcceptRestore()
			if err != nil || !slices.Equal(done.Mended, []seal.ID{id}) || len(b.Findings()) > 0 {
				t.Fatalf("restored %v, %v; findings: %q", done, err, texts(b.Findings()))
			}
			v = b.Vaults()[0]
			if len(v.List()) != 1 || v.Name() != id.String() {
				t.Errorf("%q lists %v", v.Name(), v.List())
			}
			own, err := v.Open(id)
			must(t, err)
			defer own.Destroy()
			own.Name = vault.DefaultVault
			save(t, v, own)
			quiet(t, open(t, cfg), 1)
		})
	}
}

// TestAChangedRevisionOfTheHistory is found by a check, and the history says which it is.
func TestAChangedRevisionOfTheHistory(t *testing.T) {
	r := newWorld(t).replica(t)
	r.flip(r.revision("personal", "edited", 2), -1)
	r.as("A", func(a *vault.Account) {
		found, err := a.Check()
		must(t, err)
		if len(found) != 1 || found[0].Kind != vault.FindTampered || !found[0].Alarm || !strings.Contains(found[0].Object, r.w.revs["edited"][2]) {
			t.Errorf("found %+v", found)
		}
		history, err := firstVault(t, a).History(itemID(r, "edited"))
		must(t, err)
		for i, m := range history {
			if damaged := m.State == vault.StateDamaged; damaged != (i == 2) || m.Rev().String()[:16] != r.w.revs["edited"][i] {
				t.Errorf("revision %d of the history is %s and %s", i, m.Rev(), m.State)
			}
		}
		if len(history) != 4 {
			t.Errorf("%d revisions", len(history))
		}
	})
}

// TestAHeaderThatWasRemovedAgain is found no longer, without a restart.
func TestAHeaderThatWasRemovedAgain(t *testing.T) {
	cfg, a, _ := newAccount(t)
	path := filepath.Join(cfg.AccountDir, "vaults", firstVault(t, a).ID().String(), "header-00000000000000ff")
	writeFile(t, path, make([]byte, 112))
	if found, err := a.Check(); err != nil || len(found) != 1 {
		t.Fatalf("found %q, %v", texts(found), err)
	}
	must(t, os.Remove(path))
	quiet(t, a, 0)
	save(t, firstVault(t, a), newItem(t, "x", "1"))
}

// noRoom is a folder on a disk that has no room for an item.
type noRoom struct {
	vault.Folder
	path        string
	root, items *bool
}

func (f noRoom) Replace(name string, data []byte) error {
	if *f.root && strings.HasSuffix(f.path, "/man") {
		return os.ErrInvalid
	}
	return f.Folder.Replace(name, data)
}

func (f noRoom) WriteNew(name string, data []byte) error {
	if *f.items && strings.Contains(f.path, "/items/") {
		return os.ErrInvalid
	}
	return f.Folder.WriteNew(name, data)
}

func (f noRoom) Remove(name string) error {
	if *f.root {
		return os.ErrInvalid
	}
	return f.Folder.Remove(name)
}

// TestAdoptThatFailsLosesNothing adopts what a write left that was cut short, on a disk that is full: it is still there to be adopted.
func TestAdoptThatFailsLosesNothing(t *testing.T) {
	cfg, a, _ := newAccount(t)
	a.Lock()
	var root, items bool
	full := cfg
	full.Wrap(func(path string, f vault.Folder) vault.Folder { return noRoom{f, path, &root, &items} })
	a = open(t, full)
	root = true
	if firstVault(t, a).Save(newItem(t, "precious", "1")) == nil {
		t.Fatal("it was saved")
	}
	root = false
	a.Lock()
	a = open(t, full)
	items = true
	for range 2 {
		list, err := a.Repair().Orphans()
		if err != nil || len(list) != 1 {
			t.Fatalf("orphans: %v, %v", list, err)
		}
		if a.Repair().Adopt(list[0]) == nil {
			t.Fatal("it was adopted")
		}
	}
	items = false
	list, err := a.Repair().Orphans()
	if err != nil || len(list) != 1 {
		t.Fatalf("orphans: %v, %v", list, err)
	}
	must(t, a.Repair().Adopt(list[0]))
	if got, _ := firstValue(t, firstVault(t, a), list[0].Item); got != "1" {
		t.Errorf("it reads %q", got)
	}
	quiet(t, a, 1)
}
