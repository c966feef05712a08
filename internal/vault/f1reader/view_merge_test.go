package f1reader

import (
	"os"
	"slices"
	"testing"
)

// vec is a version vector of the devices 1, 2, ….
func vec(counts ...uint64) vector {
	v := vector{}
	for i, n := range counts {
		if n > 0 {
			v[id{byte(i + 1)}] = n
		}
	}
	return v
}

// TestF1_6_Heads checks which entries are heads.
func TestF1_6_Heads(t *testing.T) {
	e := func(rev byte, counts ...uint64) entry {
		if rev == 0 {
			return entry{dead: 1, vector: vec(counts...)}
		}
		return entry{rev: &hash{rev}, vector: vec(counts...)}
	}
	for name, c := range map[string]struct{ entries, want []entry }{
		"one":                   {[]entry{e(1, 1)}, []entry{e(1, 1)}},
		"followed":              {[]entry{e(1, 1), e(2, 2)}, []entry{e(2, 2)}},
		"followed by another":   {[]entry{e(1, 1), e(2, 1, 1)}, []entry{e(2, 1, 1)}},
		"apart":                 {[]entry{e(1, 2, 1), e(2, 1, 2)}, []entry{e(1, 2, 1), e(2, 1, 2)}},
		"twins":                 {[]entry{e(1, 1), e(1, 1)}, []entry{e(1, 1)}},
		"equal vectors":         {[]entry{e(1, 1), e(2, 1)}, []entry{e(1, 1), e(2, 1)}},
		"dead":                  {[]entry{e(1, 1), e(0, 2)}, []entry{e(0, 2)}},
		"dead apart":            {[]entry{e(1, 1, 1), e(0, 2)}, []entry{e(0, 2), e(1, 1, 1)}},
		"three, one follows":    {[]entry{e(1, 1), e(2, 0, 1), e(3, 1, 1)}, []entry{e(3, 1, 1)}},
		"an entry without rank": {[]entry{e(1), e(2, 1)}, []entry{e(2, 1)}},
	} {
		got := heads(c.entries)
		equal := slices.EqualFunc(got, c.want, func(x, y entry) bool {
			return x.sum() == y.sum() && x.vector.within(y.vector) && y.vector.within(x.vector)
		})
		if !equal {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestF1_6_ShownHead checks which of several heads is shown.
func TestF1_6_ShownHead(t *testing.T) {
	heads := []*revision{{lamport: 3, writer: id{9}}, {lamport: 5, writer: id{1}}, {lamport: 5, writer: id{2}}}
	slices.SortFunc(heads, newest)
	if heads[0].writer != (id{2}) || heads[1].writer != (id{1}) {
		t.Errorf("shown first: %v", heads[0])
	}
}

// TestF1_6_Tombstones checks that a tombstone that follows all revisions ends an
// item, and that a revision made apart from it keeps the item.
func TestF1_6_Tombstones(t *testing.T) {
	f := newForge(t)
	v := f.vaultNamed("personal")
	name, item := v.itemNamed("login")
	f.replaceListed(v, name, entryOf(nil, vector{f.local.device: 99}))
	if a := f.finds(); !a.vaults[v.id].items[name].dead() {
		t.Errorf("%s is alive after a tombstone", item.shown.name)
	}

	f = newForge(t)
	v = f.vaultNamed("Büro – 仕事")
	name, item = v.itemNamed("conflict")
	f.replaceListed(v, name, entryOf(nil, vector{f.local.device: 99}))
	after := f.finds("orphan").vaults[v.id].items[name] // our revision is listed no more
	if after.dead() || len(after.heads) != 2 || after.shown.hash != item.opened[1].hash {
		t.Errorf("%+v is shown after a tombstone made apart", after.shown)
	}
}

// TestF1_6_VectorOfAnEntry checks that an entry and its revision agree.
func TestF1_6_VectorOfAnEntry(t *testing.T) {
	f := newForge(t)
	v := f.vaultNamed("personal")
	name, item := v.itemNamed("login")
	f.replaceListed(v, name, entryOf(&item.shown.hash, vector{f.local.device: 99}))
	f.finds("tampered")
}

// spoiled is what is done to the fixture's files, and what is found then.
type spoiled struct {
	spoil  func(f *forge, v *vault)
	kinds  []string
	strays int
}

// TestF1_9_Names adds names that do not fit, and takes headers away.
func TestF1_9_Names(t *testing.T) {
	testSpoiled(t, map[string]spoiled{
		"other names": {func(f *forge, v *vault) {
			for _, name := range []string{
				"stray", "stray 2", "devices/stray", "devices/" + id{1}.String(), "keysets/stray", "vaults/stray", v.dir() + "stray", v.dir() + "man/stray",
				v.dir() + "items/stray", v.dir() + nameOf(v, "login") + " (1)",
				v.dir() + "man/" + f.local.device.String() + ".d/stray", "devices/.tmp-1", v.dir() + "items/.tmp-1",
			} {
				f.write(name, nil)
			}
		}, slices.Repeat([]string{"orphan"}, 7+2), 9}, // one of each of seven folders, and the names among items and shards one by one
		"names of a drive": {func(f *forge, v *vault) {
			for _, name := range []string{
				".DS_Store", "devices/desktop.ini", "keysets/.x", "vaults/Thumbs.db", v.dir() + "Icon\r", v.dir() + "man/.git",
				v.dir() + "items/.x", v.dir() + nameOf(v, "login")[:9] + ".DS_Store",
			} {
				f.write(name, nil)
			}
		}, nil, 0},
		"no header":      {func(f *forge, v *vault) { f.remove(v.dir() + "header-0000000000000001") }, []string{"missing"}, 0},
		"an empty vault": {func(f *forge, _ *vault) { f.write("vaults/"+id{1}.String()+"/man/.DS_Store", nil) }, nil, 0},
		"a vault of items only": {func(f *forge, v *vault) {
			f.write("vaults/"+id{1}.String()+"/"+nameOf(v, "login"), nil)
		}, []string{"missing"}, 0},
	})
}

// TestF1_9_Files removes, spoils and adds files.
func TestF1_9_Files(t *testing.T) {
	testSpoiled(t, map[string]spoiled{
		"nothing":         {func(*forge, *vault) {}, nil, 0},
		"an item is gone": {func(f *forge, v *vault) { f.remove(v.dir() + nameOf(v, "login")) }, []string{"missing"}, 0},
		"an old one is gone": {func(f *forge, v *vault) {
			name, item := v.itemNamed("twelve revisions")
			f.remove(v.dir() + itemName(name, item.history[3].hash))
		}, nil, 0},
		"an old one is another": {func(f *forge, v *vault) {
			name, item := v.itemNamed("twelve revisions")
			f.write(v.dir()+itemName(name, item.history[3].hash), f.read(v.dir()+nameOf(v, "note")))
		}, []string{"tampered"}, 0},
		"an item is another": {func(f *forge, v *vault) {
			f.write(v.dir()+nameOf(v, "login"), f.read(v.dir()+nameOf(v, "note")))
		}, []string{"tampered"}, 0},
		"a shard is gone": {func(f *forge, v *vault) {
			r := v.roots[f.local.device]
			name, _ := v.itemNamed("login")
			sum := r.shards[name[0]]
			f.remove(v.dir() + "man/" + f.local.device.String() + ".d/" + hexOf(name[:1]) + "-" + sum.String()[:8])
		}, []string{"missing"}, 0},
		"a shard is another": {func(f *forge, v *vault) {
			r, device := v.roots[f.local.device], f.local.device
			name, _ := v.itemNamed("login")
			at := place{account: f.id, vault: v.id, device: device, part: uint16(name[0])}
			sum := r.shards[name[0]]
			f.write(v.dir()+"man/"+device.String()+".d/"+hexOf(name[:1])+"-"+sum.String()[:8],
				shardKind.sealManifest(v.keys[1], f.local.sign, at, r.seq, writeCanonical(object{})))
		}, []string{"tampered"}, 0},
		"an item is sealed again": {func(f *forge, v *vault) {
			name, item := v.itemNamed("login")
			f.write(v.dir()+nameOf(v, "login"), sealItem(v.keys[1], v.id, name, pad(writeCanonical(item.shown.json))))
		}, []string{"tampered"}, 0},
		"an item too many": {func(f *forge, v *vault) {
			name, item := v.itemNamed("login")
			f.write(v.dir()+itemName(name, hash{1}), f.read(v.dir()+itemName(name, item.shown.hash)))
		}, []string{"orphan"}, 0},
		"a shard too many": {func(f *forge, v *vault) {
			f.write(v.dir()+"man/"+f.local.device.String()+".d/00-01234567", nil)
		}, []string{"orphan"}, 0},
		"a root of no one": {func(f *forge, v *vault) {
			f.write(v.dir()+"man/"+id{1}.String(), f.read(v.dir()+"man/"+f.local.device.String()))
		}, []string{"behind"}, 0},
		"an unread folder": {func(f *forge, _ *vault) { f.write("inbox/"+id{}.String()+"/1", nil) }, nil, 0},
		"no card": {func(f *forge, _ *vault) {
			f.remove("devices/" + f.local.device.String())
		}, []string{"behind"}, 0},
	})
}

// testSpoiled reads the fixture after each change.
func testSpoiled(t *testing.T, rows map[string]spoiled) {
	t.Helper()
	for what, c := range rows {
		t.Run(what, func(t *testing.T) {
			f := newForge(t)
			c.spoil(f, f.vaultNamed("personal"))
			a, err := f.reopen()
			if err != nil {
				t.Fatal(err)
			}
			var kinds []string
			for _, found := range append(a.findings, compare(a, f.local)...) {
				kinds = append(kinds, found.kind)
			}
			slices.Sort(kinds)
			if !slices.Equal(kinds, c.kinds) || a.strays != c.strays {
				t.Errorf("findings %v and %d strays, want %v and %d", kinds, a.strays, c.kinds, c.strays)
			}
		})
	}
}

// nameOf is the name of an item's shown revision below its vault.
func nameOf(v *vault, name string) string {
	i, item := v.itemNamed(name)
	return itemName(i, item.shown.hash)
}

// TestF1_9_Fallback checks that of an item whose file is damaged the newest
// older revision is served, and not one that no root lists yet.
func TestF1_9_Fallback(t *testing.T) {
	for what, damage := range map[string]func(path string) error{
		"gone":    os.Remove,
		"damaged": func(path string) error { return os.WriteFile(path, []byte("junk"), 0o600) },
	} {
		f := newForge(t)
		v := f.vaultNamed("personal")
		name, before := v.itemNamed("twelve revisions")
		later := with(before.shown.json, "lamport", before.shown.lamport+1, "vector", object{f.local.device.String(): 99})
		apart := with(later, "vector", object{id{1}.String(): 1})
		for _, unlisted := range []object{later, apart} { // left over from writes that a crash ended
			file := sealItem(v.keys[1], v.id, name, pad(writeCanonical(unlisted)))
			f.write(v.dir()+itemName(name, hashOf(file)), file)
		}
		if err := damage(f.store.at(v.dir() + itemName(name, before.shown.hash))); err != nil {
			t.Fatal(err)
		}
		a, err := f.reopen()
		if err != nil {
			t.Fatal(err)
		}
		after := a.vaults[v.id].items[name]
		if after.shown == nil || after.shown.hash != before.others()[0].hash || len(a.findings) == 0 {
			t.Errorf("%s: %+v is served", what, after.shown)
		}
	}
}
