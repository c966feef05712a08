package vault_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"warder/internal/seal"
	"warder/internal/vault"
)

// orphans lists the orphans by name; each must be there once.
func orphansNamed(r *replica, a *vault.Account, names ...string) map[string]vault.Orphan {
	r.Helper()
	list, err := a.Repair().Orphans()
	if err != nil {
		r.Fatal(err)
	}
	found := map[string]vault.Orphan{}
	for _, o := range list {
		found[o.Name] = o
	}
	if len(list) != len(names) {
		r.Errorf("%d orphans, want %d: %v", len(list), len(names), list)
	}
	for _, name := range names {
		if found[name].Name == "" {
			r.Fatalf("no orphan called %s in %v", name, list)
		}
	}
	return found
}

// TestAdoptBringsAPurgedItemBack adopts a file that nothing lists: it counts from then on, on every device.
func TestAdoptBringsAPurgedItemBack(t *testing.T) {
	r := newWorld(t).replica(t)
	r.putBack("vaults/{personal}/items/*/{purged}-*")
	r.as("A", func(a *vault.Account) {
		o := orphansNamed(r, a, "purged")["purged"]
		if o.Item != itemID(r, "purged") || o.Kind != vault.KindItem || o.Modified.IsZero() {
			r.Errorf("it is %+v", o)
		}
		if err := a.Repair().Adopt(o); err != nil {
			r.Fatal(err)
		}
		r.finds("A", a)
		orphansNamed(r, a)
		if err := a.Repair().Adopt(o); !errors.Is(err, vault.ErrNotFound) {
			r.Errorf("adopting it again says %v", err)
		}
	})
	r.reads = mergeReads(r.reads, map[string]string{"personal/purged": "purged 1"})
	r.isServed("B", nil)
	r.settled("A", "B")
}

// TestAdoptMakesAnOldRevisionTheCurrentOne adopts a revision of an item that is there. What it replaces stays in the history.
func TestAdoptMakesAnOldRevisionTheCurrentOne(t *testing.T) {
	r := newWorld(t).replica(t)
	present := filepath.Join(r.w.dir, "present", "account")
	last := r.w.revs["many"][10]
	r.as("A", func(a *vault.Account) {
		edit(r, firstVault(r, a), "many", "many 13")
		edit(r, firstVault(r, a), "single", "single 2")
	})
	r.copyBack(present, "vaults/{personal}/items/*/{many}-"+last)
	r.as("A", func(a *vault.Account) {
		o := orphansNamed(r, a, "many")["many"]
		if err := a.Repair().Adopt(o); err != nil {
			r.Fatal(err)
		}
		r.finds("A", a)
		v := firstVault(r, a)
		if got, st := firstValue(r, v, o.Item); got != "many 2" || st != vault.StateOK {
			r.Errorf("it is served as %q (%s)", got, st)
		}
		history, err := v.History(o.Item)
		if err != nil || len(history) != 11 {
			r.Fatalf("%d revisions: %v", len(history), err)
		}
		before, err := v.OpenRevision(o.Item, history[1].Rev())
		if err != nil {
			r.Fatal(err)
		}
		defer before.Destroy()
		if got := string(bytesOf(r, before.Fields[0].Value)); got != "many 13" {
			r.Errorf("before it was %q", got)
		}
	})
	r.reads = mergeReads(r.reads, map[string]string{"personal/many": "many 2", "personal/single": "single 2"})
	r.isServed("B", nil)
	r.settled("A", "B")
}

// copyBack copies files of another account directory that fit a pattern into this one.
func (g *ground) copyBack(from, pattern string) {
	g.Helper()
	found, err := filepath.Glob(filepath.Join(from, filepath.FromSlash(g.resolve(pattern))))
	if err != nil || len(found) == 0 {
		g.Fatalf("nothing fits %s (%v)", pattern, err)
	}
	for _, path := range found {
		rel, err := filepath.Rel(from, path)
		if err != nil {
			g.Fatal(err)
		}
		writeFile(g, filepath.Join(g.path(""), rel), readFile(g, path))
	}
}

// TestAdoptIsRefused adopts what must not be: nothing may change by that.
func TestAdoptIsRefused(t *testing.T) {
	w := newWorld(t)
	t.Run("while an alarm stands", func(t *testing.T) {
		r := w.replica(t)
		r.putBack("vaults/{personal}/items/*/{purged}-*")
		r.flip(r.current("personal", "edited"), -1)
		r.as("A", func(a *vault.Account) {
			var refused *vault.AlarmError
			if err := a.Repair().Adopt(orphansNamed(r, a, "purged")["purged"]); !errors.As(err, &refused) {
				r.Errorf("it says %v", err)
			}
			r.finds("A", a, "orphan file personal/items/xx/purged", "tampered! item edited")
		})
	})
	t.Run("when its name is taken", func(t *testing.T) {
		r := w.replica(t)
		r.as("A", func(a *vault.Account) { save(r, firstVault(r, a), newItem(r, "Purged", "another")) })
		r.putBack("vaults/{personal}/items/*/{purged}-*")
		r.as("A", func(a *vault.Account) {
			if err := a.Repair().Adopt(orphansNamed(r, a, "purged")["purged"]); !errors.Is(err, vault.ErrExists) {
				r.Errorf("it says %v", err)
			}
			r.finds("A", a, "orphan file personal/items/xx/purged")
		})
	})
	t.Run("what was changed", func(t *testing.T) {
		r := w.replica(t)
		r.putBack("vaults/{personal}/items/*/{purged}-*")
		r.flip(r.one("vaults/{personal}/items/*/{purged}-*"), -1)
		r.as("A", func(a *vault.Account) { orphansNamed(r, a); r.finds("A", a, "orphan file personal/items/xx/purged") })
	})
	t.Run("what another vault's key seals", func(t *testing.T) {
		r := w.replica(t)
		from := r.current("work", "in work")
		writeFile(r, r.path("vaults/{personal}/items/"+r.id("in work")[:2]+"/"+filepath.Base(from)), readFile(r, from))
		r.as("A", func(a *vault.Account) { orphansNamed(r, a) })
	})
}

// TestForgetEndsAMissingItem ends an item whose file never comes. If it comes after all, it is an orphan and does not rise again.
func TestForgetEndsAMissingItem(t *testing.T) {
	r := newWorld(t).replica(t)
	path := r.current("personal", "single")
	file := readFile(r, path)
	r.remove(path)
	r.as("A", func(a *vault.Account) {
		r.finds("A", a, "missing item single")
		if err := a.Repair().Forget(firstVault(r, a), itemID(r, "single")); err != nil {
			r.Fatal(err)
		}
		r.finds("A", a)
		if err := a.Repair().Forget(firstVault(r, a), seal.NewID()); !errors.Is(err, vault.ErrNotFound) {
			r.Errorf("forgetting what is not there says %v", err)
		}
		edit(r, firstVault(r, a), "edited", "edited 5") // after it the left-overs of the purge are forgotten
	})
	writeFile(r, path, file)
	r.reads = mergeReads(r.reads, map[string]string{"personal/edited": "edited 5"}, "personal/single")
	for _, device := range []string{"A", "B"} {
		r.as(device, func(a *vault.Account) { r.finds(device, a, "orphan file personal/items/xx/single") })
		r.isServed(device, nil)
	}
	r.settled("A", "B")
}

// TestAcceptRestoreLeavesOrphansToAdopt shows what becomes of items that only a lost part of a manifest listed: nothing lists them, their
// files are intact, and each can be adopted.
func TestAcceptRestoreLeavesOrphansToAdopt(t *testing.T) {
	w := newWorld(t)
	for name, harm := range map[string]func(r *replica){
		"root removed":  func(r *replica) { r.remove(r.path("vaults/{personal}/man/{A}")) },
		"root changed":  func(r *replica) { r.flip(r.path("vaults/{personal}/man/{A}"), -1) },
		"shard removed": func(r *replica) { r.remove(r.shardOf("personal", "A", "added")) },
		"shard changed": func(r *replica) { r.flip(r.shardOf("personal", "A", "added"), -1) },
	} {
		t.Run(name, func(t *testing.T) {
			r := w.replica(t)
			harm(r)
			r.as("A", func(a *vault.Account) {
				if _, err := a.Repair().AcceptRestore(); err != nil {
					r.Fatal(err)
				}
				list, err := a.Repair().Orphans()
				if err != nil {
					r.Fatal(err)
				}
				for _, o := range list {
					if o.Name != "added" {
						continue
					}
					if err := a.Repair().Adopt(o); err != nil {
						r.Fatal(err)
					}
				}
				if got, _ := firstValue(r, firstVault(r, a), itemID(r, "added")); got != "added 1" {
					r.Errorf("the adopted item is served as %q", got)
				}
				if found := r.check(a); slices.ContainsFunc(found, isAlarm) {
					r.Errorf("A still finds %q", found)
				}
			})
			r.as("B", func(a *vault.Account) {
				if got, _ := firstValue(r, firstVault(r, a), itemID(r, "added")); got != "added 1" {
					r.Errorf("the adopted item is served to B as %q", got)
				}
			})
		})
	}
}
