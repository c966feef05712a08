package f1reader

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
)

// item is what the merged view says of an item.
type item struct {
	heads   []entry
	opened  []*revision // heads that are not dead, the shown one first
	shown   *revision   // nil where the item is dead or nothing of it opens
	history []*revision // that the heads list, each once
}

// dead reports whether the item is gone: all its heads are tombstones.
func (i *item) dead() bool {
	return !slices.ContainsFunc(i.heads, func(e entry) bool { return e.rev != nil })
}

// heads drops entries that another follows, and twins.
func heads(entries []entry) []entry {
	var kept []entry
	for _, e := range entries {
		follows := func(other entry) bool { return e.vector.dominated(other.vector) }
		twin := func(other entry) bool {
			return e.vector.within(other.vector) && other.vector.within(e.vector) && e.sum() == other.sum()
		}
		if !slices.ContainsFunc(entries, follows) && !slices.ContainsFunc(kept, twin) {
			kept = append(kept, e)
		}
	}
	slices.SortFunc(kept, func(x, y entry) int {
		xs, ys := x.sum(), y.sum()
		return bytes.Compare(xs[:], ys[:])
	})
	return kept
}

// sum is the entry's hash, zero for a tombstone.
func (e entry) sum() hash {
	if e.rev == nil {
		return hash{}
	}
	return *e.rev
}

// newest orders revisions, the one to be shown first.
func newest(x, y *revision) int {
	return cmp.Or(cmp.Compare(y.lamport, x.lamport), compareIDs(y.writer, x.writer))
}

// readItems merges the entries and reads what they list.
func (v *vault) readItems() error {
	for _, name := range slices.SortedFunc(maps.Keys(v.entries), compareIDs) {
		i := &item{heads: heads(v.entries[name])}
		v.items[name] = i
		if err := v.readHeads(name, i); err != nil {
			return err
		}
		if err := v.readHistories(name, i); err != nil {
			return err
		}
	}
	return nil
}

// readHeads reads an item's heads.
func (v *vault) readHeads(name id, i *item) error {
	for _, e := range i.heads {
		if e.rev == nil {
			continue
		}
		r, err := v.readListed(name, *e.rev)
		if errors.Is(err, fs.ErrNotExist) {
			v.account.find("missing", "%s", itemName(name, *e.rev))
		} else if err != nil {
			return err
		}
		if r != nil && !(r.vector.within(e.vector) && e.vector.within(r.vector)) {
			v.account.find("tampered", "%s: another vector than its entry", itemName(name, *e.rev))
			r = nil
		}
		if r == nil {
			if r, err = v.fallback(name, e); err != nil {
				return err
			}
		}
		if r != nil {
			i.opened = append(i.opened, r)
		}
	}
	slices.SortFunc(i.opened, newest)
	if len(i.opened) > 0 {
		i.shown = i.opened[0]
	}
	return nil
}

// readListed reads a revision that an entry or a history lists. It returns nil
// with a finding where that fails, and fs.ErrNotExist where there is no file.
func (v *vault) readListed(name id, rev hash) (*revision, error) {
	path := itemName(name, rev)
	v.listed[path] = true
	file, err := v.account.disk.read(v.dir()+path, itemKind.limit)
	if err != nil {
		return nil, err
	}
	r, err := readRevision(file, v.keys, v.id, name)
	if err == nil && r.hash != rev {
		err = errors.New("another revision than listed")
	}
	if err != nil {
		return nil, v.account.tampered(path, err)
	}
	return r, nil
}

// fallback finds, for a head that cannot be read, the newest intact revision
// among the item's files that came before it.
func (v *vault) fallback(name id, e entry) (*revision, error) {
	folder := fmt.Sprintf("items/%02x", name[0])
	names, err := v.account.disk.list(v.dir() + folder)
	if err != nil {
		return nil, err
	}
	var best *revision
	for _, file := range names {
		of, _, fits := nameParts(file, 32, 16)
		if !fits || of != name.String() {
			continue
		}
		data, err := v.account.disk.read(v.dir()+folder+"/"+file, itemKind.limit)
		if err != nil {
			return nil, err
		}
		r, err := readRevision(data, v.keys, v.id, name)
		if err != nil || itemName(name, r.hash) != folder+"/"+file || !r.vector.within(e.vector) {
			continue
		}
		if best == nil || newest(r, best) < 0 {
			best = r
		}
	}
	return best, nil
}

// readHistories reads the older revisions that the heads list and that are
// still there.
func (v *vault) readHistories(name id, i *item) error {
	read := map[hash]bool{}
	for _, head := range i.opened {
		for _, rev := range head.history {
			if read[rev] {
				continue
			}
			read[rev] = true
			r, err := v.readListed(name, rev)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if r != nil {
				i.history = append(i.history, r)
			}
		}
	}
	return nil
}

// stateCode is the code that people compare between devices, without dashes.
func (a *account) stateCode() string {
	roster := enc("warder/roster/v1")
	for _, device := range slices.SortedFunc(maps.Keys(a.keyset.roster), compareIDs) {
		sum := a.keyset.roster[device]
		roster.add(device[:], sum[:])
	}
	rosterHash := sha256.Sum256(roster.bytes)
	state := enc("warder/state-code/v1").add(rosterHash[:])
	for _, v := range slices.SortedFunc(maps.Keys(a.vaults), compareIDs) {
		state.add(v[:])
		for _, i := range slices.SortedFunc(maps.Keys(a.vaults[v].items), compareIDs) {
			state.add(i[:])
			for _, head := range a.vaults[v].items[i].heads {
				sum := head.sum()
				state.add(sum[:])
			}
		}
	}
	sum := sha256.Sum256(state.bytes)
	return base32(sum[:], 12)
}
