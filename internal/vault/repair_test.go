package vault_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warder/internal/seal"
	"warder/internal/vault"
)

// acceptRestore takes the store as it is for the truth and checks what that did.
func (r *replica) acceptRestore(device string, want vault.Restored) {
	r.Helper()
	r.as(device, func(a *vault.Account) {
		former := a.Device()
		done, err := a.Repair().AcceptRestore()
		if err != nil {
			r.Fatal(err)
		}
		if diff := cmp.Diff(want, done); diff != "" {
			r.Errorf("%s restored (-want +got):\n%s", device, diff)
		}
		if a.Device() == former || a.Device().IsZero() {
			r.Errorf("%s goes on as the device that it was", device)
		}
		if slices.Contains(vault.Roster(a), former) {
			r.Errorf("the former id of %s is still on the roster", device)
		}
		r.name(device+"2", a.Device())
		if found := r.told(a.Findings()); slices.ContainsFunc(found, isAlarm) || slices.ContainsFunc(found, waits) {
			r.Errorf("%s still finds %q", device, found)
		}
	})
}

// finds reads the store again and compares what is found.
func (r *replica) finds(device string, a *vault.Account, want ...string) {
	r.Helper()
	if diff := cmp.Diff(want, r.check(a), sorted()); diff != "" {
		r.Errorf("%s finds (-want +got):\n%s", device, diff)
	}
}

// settled checks that no alarm stands on any of the devices, that each can write, that what one writes reaches the others, and that
// all see the same in the end.
func (r *replica) settled(devices ...string) {
	r.Helper()
	var ids []seal.ID
	for _, device := range devices {
		r.as(device, func(a *vault.Account) {
			if found := r.told(a.Findings()); slices.ContainsFunc(found, isAlarm) {
				r.Errorf("%s still finds %q", device, found)
				return
			}
			it := newItem(r, "settled by "+device, device)
			save(r, firstVault(r, a), it)
			ids = append(ids, it.ID)
		})
	}
	codes := map[string]string{}
	for _, device := range devices {
		r.as(device, func(a *vault.Account) {
			codes[device] = a.StateCode()
			if found := r.told(a.Findings()); slices.ContainsFunc(found, waits) {
				r.Errorf("%s finds %q", device, found)
			}
			for i, id := range ids {
				if got, _ := firstValue(r, firstVault(r, a), id); got != devices[i] {
					r.Errorf("%s reads %q of what %s wrote", device, got, devices[i])
				}
			}
		})
	}
	for _, device := range devices {
		if codes[device] != codes[devices[0]] {
			r.Errorf("%s and %s see different states", device, devices[0])
		}
	}
}

// reads opens the account and compares what is served with what was before, but for the differences.
func (r *replica) isServed(device string, differences map[string]string) {
	r.Helper()
	r.as(device, func(a *vault.Account) { r.sees(a, verdict{found: r.told(a.Findings()), reads: differences}) })
}

func itemID(r *replica, name string) seal.ID {
	r.Helper()
	id, err := seal.ParseID(r.id(name))
	if err != nil {
		r.Fatal(err)
	}
	return id
}

// TestAcceptRestore takes an account for the truth that was put back as a whole. Each device that had seen more must do so.
func TestAcceptRestore(t *testing.T) {
	r := newWorld(t).replica(t)
	r.remove(r.path(""))
	copyTree(r, r.past(""), r.path(""))
	old := map[string]string{
		"personal/edited": "edited 3", "personal/added": "", "personal/purged": "purged 1", "personal/of B": "of B 1", "work/in work": "in work 1",
	}
	r.acceptRestore("A", vault.Restored{})
	r.isServed("A", old)
	r.as("A", func(a *vault.Account) { r.finds("A", a) })

	// B wrote more than the backup has: it must say so itself.
	r.as("B", func(a *vault.Account) {
		r.finds("B", a, "rollback! manifest of device B in vault personal")
		r.writes(a, []string{"rollback! manifest of device B in vault personal"})
	})
	r.isServed("B", old)
	r.acceptRestore("B", vault.Restored{})
	r.isServed("A", old)
	r.settled("A", "B")
}

// TestAcceptRestoreOfOneRoot leaves the other device undisturbed, which wrote nothing that is lost.
func TestAcceptRestoreOfOneRoot(t *testing.T) {
	r := newWorld(t).replica(t)
	r.putBack("vaults/{personal}/man/{A}", "vaults/{personal}/man/{A}.d/*", "vaults/{personal}/items/*/*")
	r.acceptRestore("A", vault.Restored{})
	r.isServed("B", rolledBackA())
	r.settled("B", "A")
}

// TestAcceptRestoreMendsItems gives bad items the content of their newest intact revision, and names those of which nothing is left.
func TestAcceptRestoreMendsItems(t *testing.T) {
	r := newWorld(t).replica(t)
	r.flip(r.current("personal", "edited"), -1)
	r.remove(r.current("personal", "many"))
	r.flip(r.current("personal", "single"), -1)
	edited, many, single := itemID(r, "edited"), itemID(r, "many"), itemID(r, "single")
	r.as("A", func(a *vault.Account) {
		done, err := a.Repair().AcceptRestore()
		if err != nil {
			r.Fatal(err)
		}
		slices.SortFunc(done.Mended, func(x, y seal.ID) int { return slices.Compare(x[:], y[:]) })
		mended := []seal.ID{edited, many}
		slices.SortFunc(mended, func(x, y seal.ID) int { return slices.Compare(x[:], y[:]) })
		if diff := cmp.Diff(vault.Restored{Mended: mended, Lost: []seal.ID{single}}, done); diff != "" {
			r.Errorf("restored (-want +got):\n%s", diff)
		}
		r.finds("A", a, "tampered! item single")
		history, err := firstVault(r, a).History(edited)
		if err != nil || len(history) != 4 {
			r.Errorf("%d revisions of the mended item, want the new one and the three intact: %v", len(history), err)
		}
		r.writes(a, []string{"tampered! item single"})

		if err := a.Repair().Forget(firstVault(r, a), single); err != nil {
			r.Fatal(err)
		}
		r.finds("A", a)
		r.writes(a, nil)
	})
	r.reads = mergeReads(r.reads, map[string]string{"personal/edited": "edited 3", "personal/many": "many 11"}, "personal/single")
	r.settled("A", "B")
}

func mergeReads(reads, changed map[string]string, gone ...string) map[string]string {
	out := map[string]string{}
	for key, text := range reads {
		if !slices.Contains(gone, key) {
			out[key] = text
		}
	}
	for key, text := range changed {
		out[key] = text
	}
	return out
}

// TestAcceptRestoreKeepsWhatOwnKeysProve repairs a device whose card or memory was harmed: nothing is lost by that.
func TestAcceptRestoreKeepsWhatOwnKeysProve(t *testing.T) {
	w := newWorld(t)
	for name, harm := range map[string]func(r *replica){
		"card removed":   func(r *replica) { r.remove(r.path("devices/{A}")) },
		"card changed":   func(r *replica) { r.flip(r.path("devices/{A}"), -1) },
		"memory changed": func(r *replica) { r.flip(filepath.Join(r.dir, "A", "device", "seen"), -1) },
		"memory removed": func(r *replica) { r.remove(filepath.Join(r.dir, "A", "device", "seen")) },
		"forged keyset":  func(r *replica) { forgeKeyset(r, func(file []byte) { file[35]++ }) },
	} {
		t.Run(name, func(t *testing.T) {
			r := w.replica(t)
			harm(r)
			r.as("A", func(a *vault.Account) { r.writes(a, []string{"!"}) })
			r.acceptRestore("A", vault.Restored{})
			r.isServed("A", nil)
			r.isServed("B", nil)
			r.settled("A", "B")
		})
	}
}

// TestAcceptRestoreOfOldKeyset goes on from a keyset that was put back: with its password, above every epoch that was in force.
func TestAcceptRestoreOfOldKeyset(t *testing.T) {
	w := newWorld(t)
	for range 3 { // which of two keysets of one epoch would rule is chance
		r := w.replica(t)
		fresh := "another good phrase, number 12"
		r.as("A", func(a *vault.Account) {
			for _, next := range []string{fresh, password, fresh} {
				if err := a.ChangePassword(value(r, r.password), value(r, next)); err != nil {
					r.Fatal(err)
				}
				r.password = next
			}
		})
		r.as("B", func(a *vault.Account) { edit(r, firstVault(r, a), "of B", "of B 3") }) // its roots name the newest
		r.remove(r.path("keysets"))
		r.putBack("keysets/*")
		r.password = password
		a := open(r, r.config("A"))
		r.finds("A", a, "keyset_rollback! keyset")
		a.Lock()
		r.acceptRestore("A", vault.Restored{})
		r.isServed("B", map[string]string{"personal/of B": "of B 3"})
		r.settled("A", "B")
	}
}

// TestNewDevice gives a device whose memory is older than its roots a new id. Its former one goes on elsewhere.
func TestNewDevice(t *testing.T) {
	r := newWorld(t).replica(t)
	if err := os.Rename(filepath.Join(r.dir, "A"), filepath.Join(r.dir, "twin")); err != nil {
		t.Fatal(err)
	}
	copyTree(r, filepath.Join(r.w.dir, "past", "A"), filepath.Join(r.dir, "A"))
	r.as("A", func(a *vault.Account) {
		r.finds("A", a, "cloned! manifest of device A in vault personal", "cloned! manifest of device A in vault work")
		former := a.Device()
		if err := a.Repair().NewDevice(); err != nil {
			r.Fatal(err)
		}
		r.name("A2", a.Device())
		if !slices.Contains(vault.Roster(a), former) || !slices.Contains(vault.Roster(a), a.Device()) || a.Device() == former {
			r.Errorf("it is %s now, was %s, and the roster is %v", a.Device(), former, vault.Roster(a))
		}
		r.finds("A", a)
	})
	for _, device := range []string{"A", "twin", "B"} {
		r.isServed(device, nil)
	}
	r.settled("A", "twin", "B")
}

// TestNewDeviceOverrulesNothingElse refuses while something else is wrong.
func TestNewDeviceOverrulesNothingElse(t *testing.T) {
	r := newWorld(t).replica(t)
	r.remove(filepath.Join(r.dir, "A", "device", "seen"))
	r.flip(r.current("personal", "edited"), -1)
	r.as("A", func(a *vault.Account) {
		former := a.Device()
		var refused *vault.AlarmError
		if err := a.Repair().NewDevice(); !errors.As(err, &refused) {
			r.Errorf("it says %v", err)
		}
		if a.Device() != former || len(vault.Roster(a)) != 2 {
			r.Errorf("it is %s now, was %s, and the roster is %v", a.Device(), former, vault.Roster(a))
		}
	})
}

// TestAcceptRestoreAfterFork lets each side of a fork go on under an id of its own.
func TestAcceptRestoreAfterFork(t *testing.T) {
	r := newWorld(t).replica(t)
	copyTree(r, filepath.Join(r.dir, "A"), filepath.Join(r.dir, "twin"))
	fork(r)
	putApart(r)
	r.acceptRestore("A", vault.Restored{})
	r.isServed("A", map[string]string{"personal/single": "apart"})
	r.isServed("B", map[string]string{"personal/single": "apart"})
	r.settled("A", "twin", "B")
}
