package f1reader

import (
	"maps"
	"slices"
	"testing"
)

// TestF1_9_Memory changes what the device remembers, or what roots say, and
// checks the findings.
func TestF1_9_Memory(t *testing.T) {
	for what, c := range map[string]struct {
		spoil func(f *forge, v, elsewhere *vault, other id)
		kinds []string
	}{
		"nothing": {func(*forge, *vault, *vault, id) {}, nil},
		"seen later": {func(f *forge, v, _ *vault, other id) {
			f.local.seen.vaults[v.id][other] = mark{v.roots[other].seq + 1, hash{}}
		}, []string{"rollback"}},
		"seen otherwise": {func(f *forge, v, _ *vault, other id) {
			f.local.seen.vaults[v.id][other] = mark{v.roots[other].seq, hash{}}
		}, []string{"fork"}},
		"seen earlier": {func(f *forge, v, _ *vault, other id) {
			f.local.seen.vaults[v.id][other] = mark{1, hash{}}
		}, nil},
		"ours seen earlier": {func(f *forge, v, _ *vault, _ id) {
			f.local.seen.vaults[v.id][f.local.device] = mark{1, hash{}}
		}, []string{"cloned"}},
		"ours is the next": {func(f *forge, v, _ *vault, _ id) {
			r := v.roots[f.local.device]
			f.local.seen.vaults[v.id][f.local.device] = mark{r.seq - 1, hash{}}
			f.local.seen.next = &pending{vault: v.id, root: mark{r.seq, r.hash}}
		}, nil},
		"seen and gone": {func(_ *forge, v, elsewhere *vault, other id) {
			delete(v.roots, other)
			delete(elsewhere.roots[other].vaults, v.id)
		}, []string{"missing"}},
		"another saw more of ours": {func(f *forge, v, _ *vault, other id) {
			v.roots[other].seen[f.local.device] = v.roots[f.local.device].seq + 1
		}, []string{"cloned"}},
		"we saw more of another's": {func(f *forge, v, _ *vault, other id) {
			v.roots[f.local.device].seen = map[id]uint64{other: v.roots[other].seq + 1}
		}, []string{"behind"}},
		"another wrote more elsewhere": {func(_ *forge, v, elsewhere *vault, other id) {
			v.roots[other].vaults[elsewhere.id] = elsewhere.roots[other].seq + 1
		}, []string{"behind"}},
		"we wrote more elsewhere": {func(f *forge, v, elsewhere *vault, _ id) {
			v.roots[f.local.device].vaults = map[id]uint64{elsewhere.id: elsewhere.roots[f.local.device].seq + 1}
		}, []string{"rollback"}},
		"a later keyset was seen": {func(f *forge, _, _ *vault, _ id) {
			f.local.seen.keyset.n++
		}, []string{"keyset_rollback"}},
		"a root names a later keyset": {func(_ *forge, v, _ *vault, other id) {
			v.roots[other].keyset.n++
		}, []string{"keyset_rollback"}},
	} {
		t.Run(what, func(t *testing.T) {
			f := newForge(t)
			v := f.vaultNamed("personal")
			others := maps.Clone(v.roots)
			delete(others, f.local.device)
			other := slices.Collect(maps.Keys(others))[0]
			c.spoil(f, v, f.vaultNamed("Büro – 仕事"), other)
			var kinds []string
			for _, found := range compare(f.account, f.local) {
				kinds = append(kinds, found.kind)
			}
			if !slices.Equal(kinds, c.kinds) {
				t.Errorf("findings %v, want %v", kinds, c.kinds)
			}
		})
	}
}

// TestF1_7_SeenState reads members that the fixture's seen state does not have.
func TestF1_7_SeenState(t *testing.T) {
	f := newForge(t)
	v := f.vaultNamed("personal")
	seal := func(body object) []byte {
		ad := enc("warder/seen/v1").add(f.id[:], f.local.device[:]).bytes
		return seenKind.file(sealBox(subkey(f.ark, "warder/seen/v1"), writeCanonical(body), ad), f.id[:], f.local.device[:])
	}
	next := object{"files": []any{"items/00/a"}, "gone": []any{"man/b"}, "hash": hash{1}.String(), "seq": 3, "vault": v.id.String()}
	body := with(f.local.seen.json, "next", next, "gone", object{"files": []any{"c"}, "vault": v.id.String()},
		"since", object{"missing": 5})
	s, err := openSeen(seal(body), f.ark, f.id, f.local.device)
	if err != nil {
		t.Fatal(err)
	}
	if s.next.root != (mark{3, hash{1}}) || s.next.vault != v.id || s.gone.files[0] != "c" || s.since["missing"] != 5 {
		t.Errorf("read %+v", s)
	}
	for what, body := range map[string]object{
		"a bad keyset": with(body, "keyset", object{"epoch": 1}),
		"a bad hash":   with(body, "next", with(next, "hash", "00")),
		"a bad vault":  with(body, "vaults", object{"": object{}}),
	} {
		if _, err := openSeen(seal(body), f.ark, f.id, f.local.device); err == nil {
			t.Errorf("%s: read", what)
		}
	}
}
