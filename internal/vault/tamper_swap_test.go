package vault_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"warder/internal/vault"
)

// TestS2_09_SwappedFilesAreFound exchanges two files of each kind. Each is intact, and bound to another place.
func TestS2_09_SwappedFilesAreFound(t *testing.T) {
	w := newWorld(t)
	for _, row := range slices.Concat(itemSwaps(), manifestSwaps(), vaultSwaps()) {
		t.Run(row.name, func(t *testing.T) { row.test(t, w) })
	}
}

// swaps is an attack that every device finds alike.
func swaps(name string, do func(*replica), code codeIs, reads map[string]string, found ...string) attack {
	v := verdict{found, reads, code, nil}
	return attack{name: name, do: do, seen: v, fresh: v}
}

func itemSwaps() []attack {
	return []attack{
		swaps("two items", func(r *replica) { r.swap(r.current("personal", "edited"), r.current("personal", "single")) },
			sameCode, map[string]string{"personal/edited": "edited 3 (damaged)", "personal/single": "damaged"},
			"tampered! item edited", "tampered! item single"),
		swaps("two items of two vaults", func(r *replica) { r.swap(r.current("personal", "edited"), r.current("work", "in work")) },
			sameCode, map[string]string{"personal/edited": "edited 3 (damaged)", "work/in work": "in work 1 (damaged)"},
			"tampered! item edited", "tampered! item in work"),
		swaps("two revisions of one item", func(r *replica) { r.swap(r.current("personal", "edited"), r.revision("personal", "edited", 1)) },
			sameCode, map[string]string{"personal/edited": "edited 2 (damaged)"},
			"orphan file personal/items/xx/edited", "tampered! item edited"),
		swaps("the names of two revisions of one item", func(r *replica) {
			// Under its own name's hash each would be intact.
			current, older := r.current("personal", "edited"), r.revision("personal", "edited", 2)
			r.remove(older)
			writeFile(r, older, readFile(r, current))
			r.remove(current)
		}, sameCode, map[string]string{"personal/edited": "edited 3 (missing)"}, "missing item edited"),
		swaps("an item of another vault is put among these", func(r *replica) {
			from := r.current("work", "in work")
			writeFile(r, r.path("vaults/{personal}/items/"+r.id("in work")[:2]+"/"+filepath.Base(from)), readFile(r, from))
		}, sameCode, nil, "orphan file personal/items/xx/in work"),
	}
}

func manifestSwaps() []attack {
	noRoots := everythingUnlisted()
	delete(noRoots, "work/in work")
	delete(noRoots, "work/of B in work")
	return []attack{
		swaps("two shards of one device", func(r *replica) {
			r.swap(r.shardOf("personal", "A", "added"), r.shardOf("personal", "A", "edited"))
		}, otherCode, map[string]string{"personal/added": "", "personal/edited": "edited 2"},
			"orphan file personal/items/xx/added", "orphan file personal/items/xx/edited", "tampered! shard xx of device A in vault personal"),
		swaps("the shards of two devices", func(r *replica) {
			r.swap(r.shardOf("personal", "A", "edited"), r.shardOf("personal", "B", "edited"))
		}, otherCode, map[string]string{"personal/edited": ""},
			"orphan file personal/items/xx/edited", "tampered! shard xx of device A in vault personal", "tampered! shard xx of device B in vault personal"),
		swaps("the roots of two devices", func(r *replica) {
			r.swap(r.path("vaults/{personal}/man/{A}"), r.path("vaults/{personal}/man/{B}"))
		}, otherCode, noRoots, "tampered! manifest of device A in vault personal", "tampered! manifest of device B in vault personal"),
		swaps("a root and a shard", func(r *replica) {
			r.swap(r.path("vaults/{personal}/man/{B}"), r.shardOf("personal", "B", "of B"))
		}, otherCode, unlisted("personal/of B"), "tampered! manifest of device B in vault personal"),
	}
}

func vaultSwaps() []attack {
	header := func(r *replica, name string) string { return r.one("vaults/{" + name + "}/header-*") }
	both := []string{"tampered! vault personal header", "tampered! vault work header"}
	return []attack{
		swaps("two vaults' headers", func(r *replica) { r.swap(header(r, "personal"), header(r, "work")) },
			otherCode, everythingUnlisted(), both...),
		swaps("two vaults", func(r *replica) {
			a, b, aside := r.path("vaults/{personal}"), r.path("vaults/{work}"), filepath.Join(r.dir, "aside")
			for _, move := range [][2]string{{a, aside}, {b, a}, {aside, b}} {
				if err := os.Rename(move[0], move[1]); err != nil {
					r.Fatal(err)
				}
			}
		}, otherCode, everythingUnlisted(), both...),
	}
}

// TestS2_09_SwappedCards exchanges the cards of two devices. A device knows its own keys without.
func TestS2_09_SwappedCards(t *testing.T) {
	w := newWorld(t)
	attack{
		do:    func(r *replica) { r.swap(r.path("devices/{A}"), r.path("devices/{B}")) },
		seen:  verdict{[]string{"tampered! device A", "tampered! device B"}, withoutB(), otherCode, nil},
		fresh: verdict{[]string{"tampered! device A", "tampered! device B"}, everythingUnlisted(), otherCode, nil},
	}.test(t, w)
}

// TestS2_09_PartsOfTwoAccounts mixes two accounts that have the same password: nothing of one opens in the other.
func TestS2_09_PartsOfTwoAccounts(t *testing.T) {
	w := newWorld(t)
	theirs, _, _ := newAccount(t)
	other := filepath.Dir(theirs.AccountDir)
	opens := func(r *replica) (*vault.Account, error) {
		r.Helper()
		a, err := vault.Open(r.config("A"), value(r, password))
		if err == nil {
			r.Cleanup(a.Lock)
		}
		return a, err
	}
	put := func(r *replica, part, to string) {
		r.Helper()
		r.remove(to)
		copyTree(r, filepath.Join(other, part), to)
	}
	for name, mix := range map[string]func(r *replica){
		"the account": func(r *replica) { put(r, "account", r.path("")) },
		"the state":   func(r *replica) { put(r, "state", filepath.Join(r.dir, "A")) },
		"the keysets": func(r *replica) { put(r, "account/keysets", r.path("keysets")) },
		"all but the keysets": func(r *replica) {
			own := filepath.Join(r.dir, "keysets")
			copyTree(r, r.path("keysets"), own)
			put(r, "account", r.path(""))
			r.remove(r.path("keysets"))
			copyTree(r, own, r.path("keysets"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := w.replica(t)
			mix(r)
			if _, err := opens(r); !errors.Is(err, vault.ErrWrongPassword) {
				t.Errorf("it says %v", err)
			}
		})
	}
	t.Run("the device's keys and memory", func(t *testing.T) {
		r := w.replica(t)
		for _, name := range []string{"keys", "seen"} {
			writeFile(r, filepath.Join(r.dir, "A", "device", name), readFile(r, filepath.Join(other, "state", "device", name)))
		}
		a, err := opens(r)
		if err != nil {
			t.Fatal(err)
		}
		r.sees(a, verdict{found: []string{"tampered! device keys"}})
		r.writes(a, []string{"tampered! device keys"})
	})
	t.Run("a vault", func(t *testing.T) {
		r := w.replica(t)
		copyTree(r, filepath.Join(other, "account", "vaults"), r.path("vaults"))
		id := filepath.Base(r.the(filepath.Join(other, "account", "vaults", "*")))
		r.names[id] = "foreign"
		a, err := opens(r)
		if err != nil {
			t.Fatal(err)
		}
		r.sees(a, verdict{found: []string{"tampered! vault foreign header"}})
	})
	t.Run("a card", func(t *testing.T) {
		r := w.replica(t)
		copyTree(r, filepath.Join(other, "account", "devices"), r.path("devices"))
		a, err := opens(r)
		if err != nil {
			t.Fatal(err)
		}
		r.sees(a, verdict{found: []string{"orphan folder devices"}}) // the keyset does not list it: it is ignored, and said
	})
}
