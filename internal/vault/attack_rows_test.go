package vault_test

import (
	"path/filepath"

	"warder/internal/vault"
)

// This file is the attack table. Findings name the devices A (which made the account), B and C (which is fresh).

// orphansOf are the findings that files of items are not listed.
func orphansOf(vaultName string, items ...string) (found []string) {
	for _, item := range items {
		found = append(found, "orphan file "+vaultName+"/items/xx/"+item)
	}
	return found
}

func unlisted(keys ...string) map[string]string {
	reads := map[string]string{}
	for _, key := range keys {
		reads[key] = ""
	}
	return reads
}

// withoutRootOfA is what is left of the personal vault when A's root does not count: what B's root repeats from when B was enrolled.
func withoutRootOfA() map[string]string {
	return map[string]string{
		"personal/single": "single 1", "personal/edited": "edited 2", "personal/added": "", "personal/purged": "damaged",
	}
}

func withoutRootOfAFound(more ...string) []string {
	return append(more, append(orphansOf("personal", "added", "edited"), "missing item purged")...)
}

// tamperedRootOfA is what is found then if the root is there. While it can't be read, nobody knows what it lists: nothing is an orphan.
func tamperedRootOfA() []string {
	return []string{"missing item purged", "tampered! manifest of device A in vault personal"}
}

func rootAttacks() []attack {
	return []attack{{
		name: "the root is removed",
		do:   func(r *replica) { r.remove(r.path("vaults/{personal}/man/{A}")) },
		seen: verdict{withoutRootOfAFound("missing! manifest of device A in vault personal"), withoutRootOfA(), otherCode, nil},
		// Its `seen` vectors tell of A's root, which a sync may bring.
		fresh: verdict{withoutRootOfAFound("behind manifest of device A in vault personal"), withoutRootOfA(), otherCode, nil},
	}, {
		name: "every root of a vault is removed",
		do:   func(r *replica) { r.remove(r.path("vaults/{personal}/man")) },
		seen: verdict{append(orphansOf("personal", "added", "edited", "many", "of B", "personal", "single"),
			"missing! manifest of device A in vault personal",
			"missing! manifest of device B in vault personal",
			"missing! vault personal",
		), unlisted("personal/added", "personal/edited", "personal/many", "personal/of B", "personal/single"), otherCode, nil},
		fresh: verdict{append(orphansOf("personal", "added", "edited", "many", "of B", "personal", "single"),
			"behind manifest of device A in vault personal",
			"behind manifest of device B in vault personal",
			"missing! vault personal",
		), unlisted("personal/added", "personal/edited", "personal/many", "personal/of B", "personal/single"), otherCode, nil},
	}, {
		name:  "the signature is changed",
		do:    func(r *replica) { r.flip(r.path("vaults/{personal}/man/{A}"), -1) },
		seen:  verdict{tamperedRootOfA(), withoutRootOfA(), otherCode, nil},
		fresh: verdict{tamperedRootOfA(), withoutRootOfA(), otherCode, nil},
	}, {
		name:  "the box is changed",
		do:    func(r *replica) { r.flip(r.path("vaults/{personal}/man/{A}"), 8*200) },
		seen:  verdict{tamperedRootOfA(), withoutRootOfA(), otherCode, nil},
		fresh: verdict{tamperedRootOfA(), withoutRootOfA(), otherCode, nil},
	}, {
		name: "the box is changed and signed by its own device",
		do: func(r *replica) {
			path := r.path("vaults/{personal}/man/{A}")
			r.flip(path, 8*200)
			r.as("A", func(a *vault.Account) { writeFile(r, path, vault.SignAgain(r, a, readFile(r, path))) })
		},
		seen:  verdict{tamperedRootOfA(), withoutRootOfA(), otherCode, nil},
		fresh: verdict{tamperedRootOfA(), withoutRootOfA(), otherCode, nil},
	}, {
		name: "B's root is put in the place of A's",
		do: func(r *replica) {
			writeFile(r, r.path("vaults/{personal}/man/{A}"), readFile(r, r.path("vaults/{personal}/man/{B}")))
		},
		seen:  verdict{tamperedRootOfA(), withoutRootOfA(), otherCode, nil},
		fresh: verdict{tamperedRootOfA(), withoutRootOfA(), otherCode, nil},
	}, {
		name: "A's root is put in the place of B's",
		do: func(r *replica) {
			writeFile(r, r.path("vaults/{personal}/man/{B}"), readFile(r, r.path("vaults/{personal}/man/{A}")))
		},
		seen:  verdict{[]string{"tampered! manifest of device B in vault personal"}, unlisted("personal/of B"), otherCode, nil},
		fresh: verdict{[]string{"tampered! manifest of device B in vault personal"}, unlisted("personal/of B"), otherCode, nil},
	}, {
		name: "A's root of another vault is put in its place",
		do: func(r *replica) {
			writeFile(r, r.path("vaults/{personal}/man/{A}"), readFile(r, r.path("vaults/{work}/man/{A}")))
		},
		seen:  verdict{tamperedRootOfA(), withoutRootOfA(), otherCode, nil},
		fresh: verdict{tamperedRootOfA(), withoutRootOfA(), otherCode, nil},
	}}
}

// rolledBackA is what an old root of A says of the personal vault.
func rolledBackA() map[string]string {
	return map[string]string{"personal/edited": "edited 3", "personal/added": "", "personal/purged": "purged 1"}
}

func storeAttacks() []attack {
	putBackA := func(r *replica) {
		r.putBack("vaults/{personal}/man/{A}", "vaults/{personal}/man/{A}.d/*", "vaults/{personal}/items/*/*")
	}
	leftOfA := []string{
		"orphan file personal/items/xx/added", "orphan file personal/items/xx/edited", "orphan file personal/man/A.d/xx",
	}
	return []attack{{
		name:  "an old root of A is put back, with all that it lists",
		do:    putBackA,
		seen:  verdict{append(leftOfA, "rollback! manifest of device A in vault personal"), rolledBackA(), otherCode, nil},
		fresh: verdict{append([]string{"behind manifest of device A in vault personal"}, leftOfA...), rolledBackA(), otherCode, nil},
	}, {
		name: "an old root of B is put back, which nobody saw a later one of",
		do:   func(r *replica) { r.putBack("vaults/{personal}/man/{B}", "vaults/{personal}/man/{B}.d/*") },
		seen: verdict{[]string{
			"orphan file personal/items/xx/of B", "orphan file personal/man/B.d/xx", "rollback! manifest of device B in vault personal",
		}, map[string]string{"personal/of B": "of B 1"}, otherCode, nil},
		// First sight: nothing tells. Only the state code, compared with another device, does.
		fresh: verdict{[]string{
			"orphan file personal/items/xx/of B", "orphan file personal/man/B.d/xx",
		}, map[string]string{"personal/of B": "of B 1"}, otherCode, nil},
	}, {
		name: "the whole account is put back",
		do:   func(r *replica) { r.remove(r.path("")); copyTree(r, r.past(""), r.path("")) },
		seen: verdict{[]string{
			"rollback! manifest of device A in vault personal",
			"rollback! manifest of device A in vault work",
			"rollback! manifest of device B in vault personal",
		}, map[string]string{
			"personal/edited": "edited 3", "personal/added": "", "personal/purged": "purged 1", "personal/of B": "of B 1", "work/in work": "in work 1",
		}, otherCode, nil},
		fresh: verdict{nil, map[string]string{
			"personal/edited": "edited 3", "personal/added": "", "personal/purged": "purged 1", "personal/of B": "of B 1", "work/in work": "in work 1",
		}, otherCode, nil}, // sees nothing: the state code differs
	}, {
		name:    "a copy of A wrote apart and its root is put in the place of A's",
		prepare: fork,
		do:      putApart,
		seen: verdict{[]string{
			"fork! manifest of device A in vault personal", "orphan file personal/items/xx/edited", "orphan file personal/man/A.d/xx",
		}, map[string]string{"personal/edited": "edited 4", "personal/single": "apart"}, otherCode, nil},
		fresh: forkTaken(),
	}, {
		name:    "a copy of A wrote apart, and B saw A's own root first",
		prepare: func(r *replica) { fork(r); r.as("B", func(*vault.Account) {}) },
		do:      putApart,
		device:  "B",
		seen: verdict{[]string{
			"fork! manifest of device A in vault personal", "orphan file personal/items/xx/edited", "orphan file personal/man/A.d/xx",
		}, map[string]string{"personal/edited": "edited 4", "personal/single": "apart"}, otherCode, nil},
		fresh: forkTaken(),
	}}
}

// forkTaken is what a device makes of a fork that it can't see: it takes the copy's word, and finds out when the other comes.
func forkTaken() verdict {
	return verdict{
		[]string{"orphan file personal/items/xx/edited", "orphan file personal/man/A.d/xx"},
		map[string]string{"personal/edited": "edited 4", "personal/single": "apart"},
		otherCode,
		[]string{"fork! manifest of device A in vault personal", "missing item single"},
	}
}

// fork lets A and a copy of A each write once. The copy's account is kept beside the replica.
func fork(r *replica) {
	apart := r.copy()
	apart.as("A", func(a *vault.Account) { edit(r, firstVault(r, a), "single", "apart") })
	r.as("A", func(a *vault.Account) { edit(r, firstVault(r, a), "edited", "edited 5") })
	copyTree(r, apart.path(""), filepath.Join(r.dir, "apart"))
}

// putApart puts what A's copy wrote over what A wrote.
func putApart(r *replica) {
	apart := filepath.Join(r.dir, "apart")
	for _, name := range files(r, apart) {
		to := filepath.Join(r.path(""), name)
		if to == r.path("vaults/{personal}/man/{A}") || !exists(to) {
			writeFile(r, to, readFile(r, filepath.Join(apart, name)))
		}
	}
}
