package vault_test

import (
	"path/filepath"
	"slices"
	"strings"

	"warder/internal/vault"
)

// These rows are about what is absent, changed or not listed.

func behindAttacks() []attack {
	return []attack{{
		name: "a root of B is held back that its own root in another vault tells of",
		prepare: func(r *replica) {
			r.as("B", func(a *vault.Account) {
				edit(r, firstVault(r, a), "of B", "of B 3")
				work, err := a.Vault("work")
				if err != nil {
					r.Fatal(err)
				}
				edit(r, work, "of B in work", "of B in work 2")
			})
		},
		do: func(r *replica) {
			present := filepath.Join(r.w.dir, "present", "account")
			rel, err := filepath.Rel(r.path(""), r.path("vaults/{personal}/man/{B}"))
			if err != nil {
				r.Fatal(err)
			}
			r.remove(r.path("vaults/{personal}/man/{B}.d"))
			writeFile(r, r.path("vaults/{personal}/man/{B}"), readFile(r, filepath.Join(present, rel)))
			copyTree(r, filepath.Join(present, rel+".d"), r.path("vaults/{personal}/man/{B}.d"))
		},
		seen: verdict{[]string{
			"behind manifest of device B in vault personal", "orphan file personal/items/xx/of B",
		}, map[string]string{"personal/of B": "of B 2"}, otherCode, nil},
		fresh: verdict{[]string{
			"behind manifest of device B in vault personal", "orphan file personal/items/xx/of B",
		}, map[string]string{"personal/of B": "of B 2"}, otherCode, nil},
	}}
}

// replayAttacks take the listed revision away and leave a later one lying about, which must not be served in its place.
func replayAttacks() []attack {
	left := append(orphansOf("personal", "added", "edited"), "orphan file personal/man/A.d/xx", "tampered! item edited")
	reads := mergeReads(rolledBackA(), map[string]string{"personal/edited": "edited 2 (damaged)"})
	return []attack{{
		name: "an old root of A is put back, and the revision that it lists is changed",
		do: func(r *replica) {
			r.putBack("vaults/{personal}/man/{A}", "vaults/{personal}/man/{A}.d/*", "vaults/{personal}/items/*/*")
			r.flip(r.revision("personal", "edited", 1), -1)
		},
		seen:  verdict{append(slices.Clone(left), "rollback! manifest of device A in vault personal"), reads, otherCode, nil},
		fresh: verdict{append(slices.Clone(left), "behind manifest of device A in vault personal"), reads, otherCode, nil},
	}}
}

func itemAttacks() []attack {
	both := func(name string, do func(*replica), v verdict) attack {
		return attack{name: name, do: do, seen: v, fresh: v}
	}
	return []attack{
		both("an item's file is removed", func(r *replica) { r.remove(r.current("personal", "edited")) },
			verdict{[]string{"missing item edited"}, map[string]string{"personal/edited": "edited 3 (missing)"}, sameCode, nil}),
		both("the only file of an item is removed", func(r *replica) { r.remove(r.current("personal", "single")) },
			verdict{[]string{"missing item single"}, map[string]string{"personal/single": "damaged"}, sameCode, nil}),
		both("every file of an item with a history is removed", func(r *replica) {
			for _, path := range r.every("vaults/{personal}/items/*/{edited}-*") {
				r.remove(path)
			}
		}, verdict{[]string{"missing item edited"}, map[string]string{"personal/edited": "damaged"}, sameCode, nil}),
		both("an item's file is changed", func(r *replica) { r.flip(r.current("personal", "edited"), -1) },
			verdict{[]string{"tampered! item edited"}, map[string]string{"personal/edited": "edited 3 (damaged)"}, sameCode, nil}),
		both("the only file of an item is changed", func(r *replica) { r.flip(r.current("personal", "single"), 8*200) },
			verdict{[]string{"tampered! item single"}, map[string]string{"personal/single": "damaged"}, sameCode, nil}),
		both("an item's file and the newest of its history are changed", func(r *replica) {
			current, older := r.current("personal", "edited"), r.revision("personal", "edited", 1)
			r.flip(current, -1)
			r.flip(older, -1)
		}, verdict{[]string{"orphan file personal/items/xx/edited", "tampered! item edited"}, map[string]string{"personal/edited": "edited 2 (damaged)"}, sameCode, nil}),
		both("every file of an item with a history is changed", func(r *replica) {
			for _, path := range r.every("vaults/{personal}/items/*/{edited}-*") {
				r.flip(path, -1)
			}
		}, verdict{[]string{"orphan file personal/items/xx/edited", "tampered! item edited"}, map[string]string{"personal/edited": "damaged"}, sameCode, nil}),
		both("an item's file is cut short", func(r *replica) {
			path := r.current("personal", "edited")
			writeFile(r, path, readFile(r, path)[:100])
		}, verdict{[]string{"tampered! item edited"}, map[string]string{"personal/edited": "edited 3 (damaged)"}, sameCode, nil}),
		both("an older revision is put under the name of the current one", func(r *replica) {
			writeFile(r, r.current("personal", "edited"), readFile(r, r.revision("personal", "edited", 2)))
		}, verdict{[]string{"tampered! item edited"}, map[string]string{"personal/edited": "edited 3 (damaged)"}, sameCode, nil}),
	}
}

// every lists the files that fit a pattern.
func (g *ground) every(pattern string) []string {
	g.Helper()
	found, err := filepath.Glob(g.path(pattern))
	if err != nil || len(found) == 0 {
		g.Fatalf("no file fits %s (%v)", pattern, err)
	}
	return found
}

func shardAttacks() []attack {
	both := func(name string, do func(*replica), v verdict) attack {
		return attack{name: name, do: do, seen: v, fresh: v}
	}
	return []attack{
		// B repeats what it knew of the item when it was enrolled.
		both("a shard of A is removed", func(r *replica) { r.remove(r.shardOf("personal", "A", "edited")) },
			verdict{[]string{
				"missing shard xx of device A in vault personal", "orphan file personal/items/xx/edited",
			}, map[string]string{"personal/edited": "edited 2"}, otherCode, nil}),
		both("a shard of A is removed that only A has", func(r *replica) { r.remove(r.shardOf("personal", "A", "added")) },
			verdict{[]string{
				"missing shard xx of device A in vault personal", "orphan file personal/items/xx/added",
			}, unlisted("personal/added"), otherCode, nil}),
		both("every shard of B is removed", func(r *replica) { r.remove(r.path("vaults/{personal}/man/{B}.d")) },
			verdict{[]string{
				"missing shard xx of device B in vault personal", "orphan file personal/items/xx/of B",
			}, unlisted("personal/of B"), otherCode, nil}),
		both("a shard of A is changed", func(r *replica) { r.flip(r.shardOf("personal", "A", "edited"), -1) },
			verdict{[]string{
				"orphan file personal/items/xx/edited", "tampered! shard xx of device A in vault personal",
			}, map[string]string{"personal/edited": "edited 2"}, otherCode, nil}),
		both("an old shard is put under the name of the present one", func(r *replica) {
			old := r.the(r.past("vaults/{personal}/man/{A}.d/" + r.id("edited")[:2] + "-*"))
			writeFile(r, r.shardOf("personal", "A", "edited"), readFile(r, old))
		}, verdict{[]string{
			"orphan file personal/items/xx/edited", "tampered! shard xx of device A in vault personal",
		}, map[string]string{"personal/edited": "edited 2"}, otherCode, nil}),
	}
}

func orphanAttacks() []attack {
	both := func(name string, do func(*replica), v verdict) attack {
		return attack{name: name, do: do, seen: v, fresh: v}
	}
	listed := func(found ...string) verdict { return verdict{found, nil, sameCode, nil} }
	replay := both("a revision is put back that fell out of the history", func(r *replica) {
		present := filepath.Join(r.w.dir, "present", "account")
		for _, name := range files(r, present) {
			if strings.Contains(name, "/"+r.id("many")+"-") && !exists(filepath.Join(r.path(""), name)) {
				writeFile(r, filepath.Join(r.path(""), name), readFile(r, filepath.Join(present, name)))
			}
		}
	}, listed("orphan file personal/items/xx/many"))
	replay.prepare = func(r *replica) {
		r.as("A", func(a *vault.Account) { edit(r, firstVault(r, a), "many", "many 13") })
	}
	// A remembers which files its last write put out of use: it ignores them, and removes them again with the next one.
	replay.seen.found = nil
	return []attack{
		replay,
		both("the file of a purged item is put back", func(r *replica) { r.putBack("vaults/{personal}/items/*/{purged}-*") },
			listed("orphan file personal/items/xx/purged")),
		both("old shards are put back", func(r *replica) { r.putBack("vaults/{personal}/man/{A}.d/*") },
			listed("orphan file personal/man/A.d/xx")),
		both("a cloud drive made a conflicted copy", func(r *replica) {
			path := r.current("personal", "edited")
			writeFile(r, path+" (conflicted copy)", readFile(r, path))
		}, listed("orphan file personal/items/xx/edited (conflicted copy)")),
	}
}
