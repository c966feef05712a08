package vault_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"warder/internal/vault"
)

// TestAcceptRestoreWithoutARootOfB goes on without a root of the other device, which is not its own any more. B finds that out and must
// do the same; what only its root listed can be adopted.
func TestAcceptRestoreWithoutARootOfB(t *testing.T) {
	r := newWorld(t).replica(t)
	r.flip(r.path("vaults/{personal}/man/{B}"), -1)
	r.as("A", func(a *vault.Account) {
		if _, err := a.Repair().AcceptRestore(); err != nil {
			r.Fatal(err)
		}
		// Another root of B tells of the one that is gone.
		r.finds("A", a, "behind manifest of device B in vault personal", "orphan file personal/items/xx/of B")
	})
	r.isServed("A", map[string]string{"personal/of B": ""})
	r.as("B", func(a *vault.Account) {
		found := []string{"missing! manifest of device B in vault personal", "orphan file personal/items/xx/of B"}
		r.finds("B", a, found...)
		r.writes(a, found)
	})
	r.acceptRestore("B", vault.Restored{})
	r.as("B", func(a *vault.Account) {
		list, err := a.Repair().Orphans()
		if err != nil {
			r.Fatal(err)
		}
		at := slices.IndexFunc(list, func(o vault.Orphan) bool { return o.Name == "of B" })
		last := slices.MaxFunc(list, func(x, y vault.Orphan) int { return x.Modified.Compare(y.Modified) })
		if at < 0 || last.Name != "of B" {
			r.Fatalf("orphans: %v", list)
		}
		if err := a.Repair().Adopt(last); err != nil {
			r.Fatal(err)
		}
	})
	r.isServed("A", nil)
	r.settled("A", "B")
}

// TestAcceptRestoreWithoutAVault goes on without a vault that is gone. A device that remembers it must say so itself.
func TestAcceptRestoreWithoutAVault(t *testing.T) {
	r := newWorld(t).replica(t)
	r.remove(r.path("vaults/{work}"))
	gone := unlisted("work/in work", "work/of B in work")
	r.as("A", func(a *vault.Account) {
		if _, err := a.Repair().AcceptRestore(); err != nil {
			r.Fatal(err)
		}
		r.finds("A", a, "missing vault work") // a root of B names it
	})
	r.isServed("A", gone)
	r.as("B", func(a *vault.Account) { r.finds("B", a, "missing! vault work") })
	r.acceptRestore("B", vault.Restored{})
	r.settled("A", "B")
}

// TestAcceptRestoreDoesNotGiveUpAVault refuses while the header of a vault does not open: with it all that is in the vault would be lost,
// and it may come back. Who wants that removes the vault's folder.
func TestAcceptRestoreDoesNotGiveUpAVault(t *testing.T) {
	r := newWorld(t).replica(t)
	path := r.one("vaults/{work}/header-*")
	file := readFile(r, path)
	r.flip(path, -1)
	before := r.tree()
	r.as("A", func(a *vault.Account) {
		var refused *vault.AlarmError
		if _, err := a.Repair().AcceptRestore(); !errors.As(err, &refused) || r.told(refused.Findings)[0] != "tampered! vault work header" {
			r.Errorf("it says %v", err)
		}
		r.finds("A", a, "tampered! vault work header")
	})
	untouched(r, before)
	writeFile(r, path, file)
	r.isServed("A", nil)
	r.settled("A", "B")
}

// untouched checks that the account directory holds what it did.
func untouched(r *replica, before map[string]string) {
	r.Helper()
	after := r.tree()
	for name := range mergeReads(before, after) {
		if before[name] != after[name] {
			r.Errorf("%s was changed", name)
		}
	}
}

// TestPendingFindingsAgeAcrossRestarts lets the grace time pass in processes that each live for a moment. If what was absent comes, the time
// starts anew the next time.
func TestPendingFindingsAgeAcrossRestarts(t *testing.T) {
	w := newWorld(t)
	for _, device := range []string{"A", "C"} {
		t.Run(device, func(t *testing.T) {
			r := w.replica(t)
			path := r.current("personal", "edited")
			file := readFile(r, path)
			finds := func(passed time.Duration, want ...string) {
				r.Helper()
				r.now = r.now.Add(passed)
				r.as(device, func(a *vault.Account) {
					if found := r.told(a.Findings()); !slices.Equal(found, want) {
						r.Errorf("at %s %s finds %q, want %q", r.now, device, found, want)
					}
				})
			}
			finds(0)
			r.remove(path)
			finds(0, "missing item edited")
			finds(12*time.Hour, "missing item edited")
			finds(12*time.Hour-time.Millisecond, "missing item edited")
			finds(time.Millisecond, "missing! item edited")
			finds(-48*time.Hour, "missing item edited") // a clock that goes back only delays it
			finds(48*time.Hour, "missing! item edited")
			writeFile(r, path, file)
			finds(0)
			r.remove(path)
			finds(time.Hour, "missing item edited")
		})
	}
}

// TestAnItemWhoseFileIsAbsentCanBeWritten writes a new revision over one that has not come. When it comes it is history.
func TestAnItemWhoseFileIsAbsentCanBeWritten(t *testing.T) {
	r := newWorld(t).replica(t)
	path := r.current("personal", "edited")
	file := readFile(r, path)
	r.remove(path)
	r.as("A", func(a *vault.Account) {
		edit(r, firstVault(r, a), "edited", "edited 5")
		r.finds("A", a)
	})
	writeFile(r, path, file)
	r.reads = mergeReads(r.reads, map[string]string{"personal/edited": "edited 5"})
	r.as("A", func(a *vault.Account) {
		r.finds("A", a)
		history, err := firstVault(r, a).History(itemID(r, "edited"))
		if err != nil || len(history) != 5 {
			r.Errorf("%d revisions, want all five: %v", len(history), err)
		}
	})
	r.isServed("B", nil)
	r.settled("A", "B")
}

// TestAShardThatIsAbsentIsNotWritten refuses to write a shard of this device that is not there, because what it listed would be gone from
// it. All others can be written.
func TestAShardThatIsAbsentIsNotWritten(t *testing.T) {
	r := newWorld(t).replica(t)
	path := r.shardOf("personal", "A", "added")
	file := readFile(r, path)
	r.remove(path)
	before := r.tree()
	r.as("A", func(a *vault.Account) {
		it := newItem(r, "in the same shard", "x")
		it.ID = itemID(r, "added")
		it.ID[15]++
		var refused *vault.AlarmError
		if err := firstVault(r, a).Save(it); !errors.As(err, &refused) || len(refused.Findings) != 1 || refused.Findings[0].Kind != vault.FindMissing {
			r.Errorf("it says %v", err)
		}
		untouched(r, before)
		r.writes(a, nil)
		writeFile(r, path, file)
		r.finds("A", a)
		save(r, firstVault(r, a), it)
	})
	r.settled("A", "B")
}
