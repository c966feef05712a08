package f1reader

import (
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// forge is a copy of the fixture with all its keys, to be spoiled.
type forge struct {
	t            *testing.T
	want         wantStore
	store, state disk
	*account
	local *local
}

// newForge opens a copy of the fixture.
func newForge(t *testing.T) *forge {
	t.Helper()
	store, state := copyFixture(t)
	f := &forge{t: t, want: expected(t), store: store, state: state, account: unlocked(t, store)}
	var err error
	if f.local, err = readLocal(state, f.ark, f.id); err != nil {
		t.Fatal(err)
	}
	return f
}

// write puts a file into the account directory.
func (f *forge) write(name string, data []byte) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Dir(f.store.at(name)), 0o700); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(f.store.at(name), data, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// read returns a file of the account directory.
func (f *forge) read(name string) []byte {
	f.t.Helper()
	data, err := os.ReadFile(f.store.at(name))
	if err != nil {
		f.t.Fatal(err)
	}
	return data
}

// remove removes a file of the account directory.
func (f *forge) remove(name string) {
	f.t.Helper()
	if err := os.Remove(f.store.at(name)); err != nil {
		f.t.Fatal(err)
	}
}

// reopen opens the spoiled store by the recovery code.
func (f *forge) reopen() (*account, error) {
	f.t.Helper()
	return openAccount(f.store, f.want.withCode(f.t))
}

// finds opens the store and checks that it has findings of these kinds, in any
// order, and no others.
func (f *forge) finds(kinds ...string) *account {
	f.t.Helper()
	a, err := f.reopen()
	if err != nil {
		f.t.Fatal(err)
	}
	var found []string
	for _, finding := range append(a.findings, compare(a, f.local)...) {
		found = append(found, finding.kind)
	}
	slices.Sort(found)
	slices.Sort(kinds)
	if !slices.Equal(found, kinds) {
		f.t.Errorf("findings %v, want the kinds %v", append(a.findings, compare(a, f.local)...), kinds)
	}
	return a
}

// files are the names of all files in the account directory, in order.
func (f *forge) files() []string {
	f.t.Helper()
	var names []string
	err := filepath.Walk(f.store.root, func(name string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			rel, _ := filepath.Rel(f.store.root, name)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return names
}

// vaultNamed returns the fixture's vault of a name.
func (f *forge) vaultNamed(name string) *vault {
	f.t.Helper()
	for _, v := range f.vaults {
		if v.name() == name {
			return v
		}
	}
	f.t.Fatalf("no vault %s", name)
	return nil
}

// itemNamed returns an item of the vault and its id.
func (v *vault) itemNamed(name string) (id, *item) {
	for i, item := range v.items {
		if item.shown != nil && item.shown.name == name {
			return i, item
		}
	}
	return id{}, nil
}

// with copies an object and changes members of it: pairs of key and value,
// where nil removes the member.
func with(o object, pairs ...any) object {
	o = maps.Clone(o)
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] == nil {
			delete(o, pair[0].(string))
			continue
		}
		o[pair[0].(string)] = pair[1]
	}
	return o
}

// replaceListed writes what our root says of an item again: it puts an entry
// into the item's shard, and a new root in place of the last.
func (f *forge) replaceListed(v *vault, item id, entry object) {
	f.t.Helper()
	device, sign, vk := f.local.device, f.local.sign, v.keys[1]
	r := v.roots[device]
	at := place{account: f.id, vault: v.id, device: device, part: uint16(item[0])}
	dir := v.dir() + "man/" + device.String() + ".d/"
	number := hexOf(item[:1])
	entries := object{}
	if old, there := r.shards[item[0]]; there {
		name := dir + number + "-" + old.String()[:8]
		s, err := readShard(f.read(name), at, v.keys, f.cards[device].sign)
		if err != nil {
			f.t.Fatal(err)
		}
		entries = s.json["entries"].(map[string]any)
		f.remove(name)
	}
	shard := shardKind.sealManifest(vk, sign, at, r.seq+1, writeCanonical(object{"entries": with(entries, item.String(), entry)}))
	f.write(dir+number+"-"+hashOf(shard).String()[:8], shard)
	shards, _ := r.json["shards"].(map[string]any)
	f.replaceRoot(v, with(r.json, "shards", with(shards, number, hashOf(shard).String())))
}

// replaceRoot writes a new root of ours and remembers it as accepted.
func (f *forge) replaceRoot(v *vault, body object) {
	f.t.Helper()
	device := f.local.device
	old := v.roots[device]
	body = with(body, "seq", old.seq+1, "prev", old.hash.String())
	at := place{account: f.id, vault: v.id, device: device, part: rootPart}
	file := rootKind.sealManifest(v.keys[1], f.local.sign, at, old.seq+1, writeCanonical(body))
	f.write(v.dir()+"man/"+device.String(), file)
	f.local.seen.vaults[v.id][device] = mark{old.seq + 1, hashOf(file)}
}

// entryOf is the shard entry of a revision or, for nil, of a tombstone.
func entryOf(rev *hash, counts vector) object {
	known := object{}
	for device, n := range counts {
		known[device.String()] = n
	}
	if rev == nil {
		return object{"dead": 1, "vector": known}
	}
	return object{"rev": rev.String(), "vector": known}
}

// hexOf is lower-case hex.
func hexOf(data []byte) string { return hex.EncodeToString(data) }
