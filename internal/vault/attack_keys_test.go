package vault_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"

	"warder/internal/seal"
	"warder/internal/vault"
)

// These rows are about devices, keysets and vaults.

// withoutB is what is served when B does not count.
func withoutB() map[string]string { return unlisted("personal/of B", "work/of B in work") }

func memoryAttacks() []attack {
	return []attack{{
		name: "A's memory is restored from a backup", local: true,
		do: func(r *replica) {
			writeFile(r, filepath.Join(r.dir, "A", "device", "seen"), readFile(r, filepath.Join(r.w.dir, "past", "A", "device", "seen")))
		},
		seen:  verdict{[]string{"cloned! manifest of device A in vault personal", "cloned! manifest of device A in vault work"}, nil, sameCode, nil},
		fresh: verdict{nil, nil, sameCode, nil},
	}, {
		name: "A's memory is removed", local: true,
		do:    func(r *replica) { r.remove(filepath.Join(r.dir, "A", "device", "seen")) },
		seen:  verdict{[]string{"cloned! manifest of device A in vault personal", "cloned! manifest of device A in vault work"}, nil, sameCode, nil},
		fresh: verdict{nil, nil, sameCode, nil},
	}, {
		name: "A is restored from a backup with its copy of the account, and B's files are synced to it", local: true,
		do: func(r *replica) {
			present := r.copy()
			r.remove(r.path(""))
			copyTree(r, r.past(""), r.path(""))
			copyTree(r, filepath.Join(r.w.dir, "past", "A"), filepath.Join(r.dir, "A"))
			for _, pattern := range []string{"vaults/{personal}/man/{B}", "vaults/{personal}/man/{B}.d/*", "vaults/{personal}/items/*/{of B}-*"} {
				for _, path := range present.every(pattern) {
					rel, err := filepath.Rel(present.path(""), path)
					if err != nil {
						r.Fatal(err)
					}
					writeFile(r, filepath.Join(r.path(""), rel), readFile(r, path))
				}
			}
		},
		seen: verdict{
			[]string{"cloned! manifest of device A in vault personal", "orphan file personal/man/B.d/xx"},
			map[string]string{
				"personal/edited": "edited 3", "personal/added": "", "personal/purged": "purged 1", "work/in work": "in work 1",
			},
			otherCode, nil,
		},
		fresh: verdict{
			[]string{"behind manifest of device A in vault personal", "orphan file personal/man/B.d/xx"},
			map[string]string{
				"personal/edited": "edited 3", "personal/added": "", "personal/purged": "purged 1", "work/in work": "in work 1",
			},
			otherCode, nil,
		},
	}}
}

func cardAttacks() []attack {
	withoutA := withoutRootOfA()
	withoutA["work/in work"] = "in work 1"
	return []attack{{
		name:  "B's card is changed",
		do:    func(r *replica) { r.flip(r.path("devices/{B}"), -1) },
		seen:  verdict{[]string{"tampered! device B"}, withoutB(), otherCode, nil},
		fresh: verdict{[]string{"tampered! device B"}, withoutB(), otherCode, nil},
	}, {
		name:  "A's card is put in the place of B's",
		do:    func(r *replica) { writeFile(r, r.path("devices/{B}"), readFile(r, r.path("devices/{A}"))) },
		seen:  verdict{[]string{"tampered! device B"}, withoutB(), otherCode, nil},
		fresh: verdict{[]string{"tampered! device B"}, withoutB(), otherCode, nil},
	}, {
		name:  "B's card is removed",
		do:    func(r *replica) { r.remove(r.path("devices/{B}")) },
		seen:  verdict{[]string{"behind device B"}, withoutB(), otherCode, nil},
		fresh: verdict{[]string{"behind device B"}, withoutB(), otherCode, nil},
	}, {
		// A knows its own keys without the card, so its own root still counts.
		name:  "A's card is changed",
		do:    func(r *replica) { r.flip(r.path("devices/{A}"), -1) },
		seen:  verdict{[]string{"tampered! device A"}, nil, sameCode, nil},
		fresh: verdict{[]string{"tampered! device A", "missing item purged"}, withoutA, otherCode, nil},
	}, {
		name:  "A's card is removed",
		do:    func(r *replica) { r.remove(r.path("devices/{A}")) },
		seen:  verdict{[]string{"missing! device A"}, nil, sameCode, nil},
		fresh: verdict{[]string{"behind device A", "missing item purged"}, withoutA, otherCode, nil},
	}, {
		name:  "every card is removed",
		do:    func(r *replica) { r.remove(r.path("devices")) },
		seen:  verdict{[]string{"missing! device A", "behind device B"}, withoutB(), otherCode, nil},
		fresh: verdict{[]string{"behind device A", "behind device B"}, everythingUnlisted(), otherCode, nil},
	}, {
		name: "the card of B is removed, and its roots too",
		do: func(r *replica) {
			r.remove(r.path("devices/{B}"))
			r.remove(r.path("vaults/{personal}/man/{B}"))
			r.remove(r.path("vaults/{work}/man/{B}"))
		},
		seen: verdict{[]string{
			"behind device B", "missing! manifest of device B in vault personal", "missing! manifest of device B in vault work",
			"orphan file personal/items/xx/of B", "orphan file work/items/xx/of B in work",
		}, withoutB(), otherCode, nil},
		// A's roots tell of B's, but the card may still be on its way, and the roots with it.
		fresh: verdict{[]string{
			"behind device B", "orphan file personal/items/xx/of B", "orphan file work/items/xx/of B in work",
		}, withoutB(), otherCode, nil},
	}, {
		name:    "the card of a device that was removed is put back",
		prepare: retire,
		do:      func(r *replica) { r.putBack("devices/{A}") },
		seen:    verdict{nil, nil, sameCode, nil},
		fresh:   verdict{nil, nil, sameCode, nil},
	}, {
		name: "a card is put among the devices that is none",
		do: func(r *replica) {
			writeFile(r, r.path("devices/00000000000000000000000000000001"), readFile(r, r.path("devices/{A}")))
		},
		seen:  verdict{[]string{"orphan folder devices"}, nil, sameCode, nil},
		fresh: verdict{[]string{"orphan folder devices"}, nil, sameCode, nil},
	}, {
		name:    "card and roots of a device that was removed are put back",
		prepare: retire,
		do: func(r *replica) {
			r.putBack("devices/{A}", "vaults/*/man/{A}", "vaults/*/man/{A}.d/*")
		},
		seen:  verdict{retiredA(), nil, sameCode, nil},
		fresh: verdict{retiredA(), nil, sameCode, nil},
	}}
}

func retiredA() []string {
	return []string{"behind manifest of device A in vault personal", "behind manifest of device A in vault work"}
}

// retire gives A a new id, which takes the old one off the roster.
func retire(r *replica) {
	r.as("A", func(a *vault.Account) {
		if _, err := a.Repair().AcceptRestore(); err != nil {
			r.Fatal(err)
		}
		r.name("A again", a.Device())
	})
}

func everythingUnlisted() map[string]string {
	return unlisted("personal/added", "personal/edited", "personal/many", "personal/of B", "personal/single", "work/in work", "work/of B in work")
}

func keysetAttacks() []attack {
	change := func(r *replica) {
		fresh := "another good phrase, number 12"
		r.as("A", func(a *vault.Account) {
			if err := a.ChangePassword(value(r, r.password), value(r, fresh)); err != nil {
				r.Fatal(err)
			}
		})
		r.password = fresh
	}
	junk := func(alter func(file []byte)) func(*replica) {
		return func(r *replica) { forgeKeyset(r, alter) }
	}
	return []attack{{
		name: "the keyset from before a change of the password is put back", prepare: change,
		do: func(r *replica) {
			r.remove(r.path("keysets"))
			r.putBack("keysets/*")
			r.password = password
		},
		seen:  verdict{[]string{"keyset_rollback! keyset"}, nil, sameCode, nil},
		fresh: verdict{[]string{"keyset_rollback! keyset"}, nil, sameCode, nil}, // the roots name the later one
	}, {
		name: "the keyset from before is put beside the present one", prepare: change,
		do:    func(r *replica) { r.putBack("keysets/*") },
		seen:  verdict{nil, nil, sameCode, nil},
		fresh: verdict{nil, nil, sameCode, nil},
	}, {
		name:  "a keyset of a higher epoch is forged",
		do:    junk(func(file []byte) { binary.BigEndian.PutUint64(file[28:], 1000) }),
		seen:  verdict{[]string{"tampered! keyset 00000000000003e8"}, nil, sameCode, nil},
		fresh: verdict{[]string{"tampered! keyset 00000000000003e8"}, nil, sameCode, nil},
	}, {
		name: "a keyset of the same epoch is forged, with a hash that would rule",
		do: junk(func(file []byte) {
			was := seal.HashOf(file)
			for n := uint64(0); ; n++ {
				binary.BigEndian.PutUint64(file[len(file)-8:], n)
				if h := seal.HashOf(file); bytes.Compare(h[:], was[:]) < 0 {
					return
				}
			}
		}),
		seen:  verdict{[]string{"tampered! keyset 0000000000000002"}, nil, sameCode, nil},
		fresh: verdict{[]string{"tampered! keyset 0000000000000002"}, nil, sameCode, nil},
	}, {
		name: "files are put among the keysets that are none",
		do: func(r *replica) {
			writeFile(r, r.path("keysets/ffffffffffffffff-00000000"), []byte("nothing"))
			writeFile(r, r.path("keysets/0000000000000009 (copy)"), []byte("nothing"))
		},
		seen:  verdict{[]string{"orphan folder keysets"}, nil, sameCode, nil},
		fresh: verdict{[]string{"orphan folder keysets"}, nil, sameCode, nil},
	}}
}

// forgeKeyset puts a changed copy of the keyset beside it, under the name that belongs to its bytes.
func forgeKeyset(r *replica, alter func(file []byte)) {
	r.Helper()
	file := readFile(r, r.one("keysets/*"))
	alter(file)
	name := fmt.Sprintf("%016x-%s", binary.BigEndian.Uint64(file[28:]), seal.HashOf(file).String()[:8])
	writeFile(r, r.path("keysets/"+name), file)
}

func vaultAttacks() []attack {
	work := unlisted("work/in work", "work/of B in work")
	return []attack{{
		name: "the roots of a vault are held back that was just made",
		prepare: func(r *replica) {
			r.as("A", func(a *vault.Account) {
				v, err := a.CreateVault("new")
				if err != nil {
					r.Fatal(err)
				}
				r.name("new", v.ID())
			})
		},
		do:     func(r *replica) { r.remove(r.path("vaults/{new}/man")) },
		device: "B",
		seen:   verdict{[]string{"missing vault new", "orphan file new/items/xx/new"}, nil, otherCode, nil},
		fresh:  verdict{orphansOf("new", "new"), nil, otherCode, nil}, // it writes a root there, as in every vault
	}, {
		name: "a vault is removed",
		do:   func(r *replica) { r.remove(r.path("vaults/{work}")) },
		seen: verdict{[]string{"missing! vault work"}, work, otherCode, nil},
		// The roots of the other vault name it; it may still be on its way here.
		fresh: verdict{[]string{"missing vault work"}, work, otherCode, nil},
	}, {
		name: "every vault is removed",
		do:   func(r *replica) { r.remove(r.path("vaults")) },
		seen: verdict{[]string{"missing! vault personal", "missing! vault work"}, everythingUnlisted(), otherCode, nil},
		// An account without any vault may be one that is on its way here.
		fresh: verdict{[]string{"missing vaults"}, everythingUnlisted(), otherCode, nil},
	}, {
		name:  "a vault's header is removed",
		do:    func(r *replica) { r.remove(r.one("vaults/{work}/header-*")) },
		seen:  verdict{[]string{"missing! vault work"}, work, otherCode, nil},
		fresh: verdict{[]string{"missing vault work"}, work, otherCode, nil},
	}, {
		name:  "a vault's header is changed",
		do:    func(r *replica) { r.flip(r.one("vaults/{work}/header-*"), -1) },
		seen:  verdict{[]string{"tampered! vault work header"}, work, otherCode, nil},
		fresh: verdict{[]string{"tampered! vault work header"}, work, otherCode, nil},
	}, {
		name: "another vault's header is put in its place",
		do: func(r *replica) {
			writeFile(r, r.one("vaults/{work}/header-*"), readFile(r, r.one("vaults/{personal}/header-*")))
		},
		seen:  verdict{[]string{"tampered! vault work header"}, work, otherCode, nil},
		fresh: verdict{[]string{"tampered! vault work header"}, work, otherCode, nil},
	}}
}
