package vault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"warder/internal/seal"
)

// Repair puts a store right that findings stopped. Each act overrules a warning, so each is a person's to order.
type Repair struct {
	c    *core
	wait context.Context // as of the account
}

// Repair returns the acts that put the store right.
func (a *Account) Repair() Repair { return Repair{a.c, a.wait} }

// Restored says what AcceptRestore did.
type Restored struct {
	Mended []seal.ID // items whose current file was bad and that got the content of an older revision
	Lost   []seal.ID // items of which nothing can be read: Forget ends them

	// Unlisted are items that a damaged part of this device's own manifest may have listed and that nothing lists any more. Adopt brings
	// them back.
	Unlisted []Orphan
}

// AcceptRestore takes the store as it is now for the truth: the user restored a backup, or knows why it changed. What this device
// remembers is dropped, and the device takes a new id, because going on under the old one would fork its manifest on devices that saw more.
//
// A vault whose header does not open is not given up: *AlarmError. It needs its header back, or its folder removed. An *AlarmError is
// also what remains in the end that only another device can put right, or a person: all else was restored then.
func (r Repair) AcceptRestore() (done Restored, err error) {
	c := r.c
	err = c.writing(r.wait, func() error {
		if err := c.examine(); err != nil {
			return err
		}
		if closed := r.closed(); len(closed) > 0 {
			return &AlarmError{closed}
		}
		former := c.dev.id
		unread := r.unreadParts()
		if err := r.dropBadFiles(); err != nil {
			return err
		}
		nothing := newSeen()
		nothing.keyset = c.seen.keyset // the keysets that follow must rule over it
		if err := (roster{c}).enrol(nothing); err != nil {
			return err
		}
		if done, err = r.mend(); err != nil {
			return err
		}
		if err := r.retire(former); err != nil {
			return err
		}
		if err := c.examine(); err != nil {
			return err
		}
		done.Unlisted = r.unlisted(unread)
		return r.left(done.Lost)
	})
	return done, err
}

// NewDevice gives this device a new id in the account and leaves the former one on the roster: another machine that was copied from
// this one, or that this one was copied from, goes on under it. It also serves a device whose own keys do not open: they were changed, or
// sealed under a device secret that was replaced.
func (r Repair) NewDevice() error {
	c := r.c
	return c.writing(r.wait, func() error {
		if err := c.load(); err != nil {
			return err
		}
		former := c.dev.id
		for _, f := range alarms(c.found) {
			if f.Kind != FindCloned && f.Object != objectDeviceKeys {
				return &AlarmError{alarms(c.found)}
			}
		}
		remembered := c.seen.clone()
		for _, s := range c.vaults {
			if root := s.roots[former]; root != nil {
				remembered.setRoot(s.id, former, root.mark)
			}
		}
		if err := (roster{c}).enrol(remembered); err != nil {
			return err
		}
		return c.load()
	})
}

// Forget ends an item of which nothing can be read any more, or whose file never comes.
func (r Repair) Forget(v *Vault, item seal.ID) error {
	return r.c.writing(r.wait, func() error {
		if err := r.c.sync(); err != nil {
			return err
		}
		if len(v.s.heads[item]) == 0 {
			return fmt.Errorf("item %s: %w", item, ErrNotFound)
		}
		return v.s.commit([]edit{{end: item}}, commitOptions{force: true})
	})
}

// Orphan is an intact item file that nothing lists: left by a crash, or put back by somebody.
type Orphan struct {
	Vault    seal.ID
	Item     seal.ID
	Kind     Kind
	Name     string
	Modified time.Time
	file     string // below the vault
}

// Orphans lists the intact item files that nothing lists. Those of a write that a crash cut short are among them until the next write.
func (r Repair) Orphans() (list []Orphan, err error) {
	c := r.c
	err = c.writing(r.wait, func() error {
		if err := c.load(); err != nil {
			return err
		}
		for _, s := range c.vaults {
			for _, path := range orphanPaths(s) {
				if o, it := openOrphan(s, path, false); it != nil {
					list = append(list, o)
				}
			}
		}
		return nil
	})
	slices.SortFunc(list, func(a, b Orphan) int { return strings.Compare(a.Name+a.file, b.Name+b.file) })
	return list, err
}

// orphanPaths lists the item files that are orphans or left over.
func orphanPaths(s *shelf) []string {
	paths := map[string]bool{}
	for _, f := range s.problems {
		if path, ok := strings.CutPrefix(f.Object, "file "+s.id.String()+"/"); ok && f.Kind == FindOrphan {
			paths[path] = true
		}
	}
	if p := s.c.seen.next; p != nil && p.vault == s.id {
		for _, path := range p.files {
			paths[path] = true
		}
	}
	return slices.Sorted(maps.Keys(paths))
}

// openOrphan opens an item file by its path; the item is nil if it is none or is not intact.
func openOrphan(s *shelf, path string, values bool) (Orphan, *Item) {
	dir, name := splitPath(path)
	digits, _, _ := strings.Cut(name, "-")
	id, err := seal.ParseID(digits)
	if err != nil || !strings.HasPrefix(path, "items/") {
		return Orphan{}, nil
	}
	var it *Item
	err = s.c.shared.in(vaultPath(s.id, dir), func(d folder) error {
		file, err := d.Read(name, limitItem)
		if err != nil {
			return err
		}
		it, err = openItem(s.keys, s.id, id, file, values)
		return err
	})
	if err != nil {
		return Orphan{}, nil
	}
	return Orphan{Vault: s.id, Item: id, Kind: it.Kind, Name: it.Name, Modified: it.Modified, file: path}, it
}

// Adopt makes an orphan's content the current revision of its item.
func (r Repair) Adopt(o Orphan) error {
	c := r.c
	return c.writing(r.wait, func() error {
		if err := c.sync(); err != nil {
			return err
		}
		s := c.vaults[o.Vault]
		if s == nil {
			return fmt.Errorf("vault %s: %w", o.Vault, ErrNotFound)
		}
		_, it := openOrphan(s, o.file, true)
		if it == nil {
			return fmt.Errorf("orphan %s: %w", o.file, ErrNotFound)
		}
		defer it.Destroy()
		it.link.rev = s.shownRev(it.ID)
		if err := s.commit([]edit{{item: it, kept: true}}, commitOptions{gone: []string{o.file}}); err != nil {
			return err
		}
		delete(s.problems, "file "+o.Vault.String()+"/"+o.file)
		return c.judgeAll()
	})
}

// closed are the alarms about vaults of which no header opens.
func (r Repair) closed() (list []Finding) {
	for _, f := range alarms(r.c.found) {
		for _, s := range r.c.vaults {
			if len(s.keys) == 0 && strings.HasPrefix(f.Object, "vault "+s.id.String()+" ") {
				list = append(list, f)
			}
		}
	}
	return list
}

// unreadParts are this device's own shards of which nothing is known, by vault.
func (r Repair) unreadParts() map[seal.ID]map[uint8]bool {
	unread := map[seal.ID]map[uint8]bool{}
	for _, s := range r.c.vaults {
		parts := map[uint8]bool{}
		own := s.roots[r.c.dev.id]
		for n := range 256 {
			parts[uint8(n)] = own == nil && s.unread[r.c.dev.id] // #nosec G115 -- below 256
		}
		if own != nil {
			for n, part := range own.shards {
				parts[n] = part.broken && part.entries == nil
			}
		}
		unread[s.id] = parts
	}
	return unread
}

// unlisted are the newest revisions, in those shards, of items that nothing lists.
func (r Repair) unlisted(parts map[seal.ID]map[uint8]bool) (list []Orphan) {
	newest := map[seal.ID]Orphan{}
	for _, s := range r.c.vaults {
		for _, path := range orphanPaths(s) {
			o, it := openOrphan(s, path, false)
			if it == nil || len(s.heads[o.Item]) > 0 || !parts[s.id][shardOf(o.Item)] {
				continue
			}
			if was, ok := newest[o.Item]; !ok || was.Modified.Before(o.Modified) {
				newest[o.Item] = o
			}
		}
	}
	for _, id := range sortedIDs(maps.Keys(newest)) {
		list = append(list, newest[id])
	}
	return list
}

// left is an error if alarms stand other than those about items that are known to be lost.
func (r Repair) left(lost []seal.ID) error {
	alarms := slices.DeleteFunc(alarms(r.c.found), func(f Finding) bool {
		return slices.ContainsFunc(lost, func(id seal.ID) bool { return f.Object == itemObject(id) })
	})
	if len(alarms) == 0 {
		return nil
	}
	return fmt.Errorf("the rest is restored, but this must be put right by the device that it is about: %w", &AlarmError{alarms})
}

// dropBadFiles removes what the account did not make: keysets that are no one's, roots that do not open or have been off the roster for
// long, headers besides a good one, and older revisions that were changed. A device whose root goes this way writes it again.
func (r Repair) dropBadFiles() error {
	c := r.c
	var errs error
	for _, name := range c.junk {
		errs = errors.Join(errs, c.shared.in("keysets", func(d folder) error { return d.Remove(name) }))
		c.problems.clear("keyset " + name)
	}
	c.junk = nil
	for _, s := range c.vaults {
		for dev := range c.cards {
			if s.problems[s.rootObject(dev)].Kind == FindTampered {
				errs = errors.Join(errs, c.removeBelow(s.id, []string{"man/" + dev.String()}))
				s.problems.clear(s.rootObject(dev))
			}
		}
		errs = errors.Join(errs, c.removeBelow(s.id, junkBelow(s)), r.dropStrangers(s))
		for dev, gone := range s.absent {
			if gone {
				delete(s.roots, dev)
				delete(s.absent, dev)
			}
		}
	}
	return errs
}

// junkBelow are a vault's headers and older revisions that were changed: they serve nobody. A header that a root names the key of stays:
// it may come back.
func junkBelow(s *shelf) (paths []string) {
	inUse := map[string]bool{}
	for _, stated := range s.roots {
		inUse[headerObject(s.id, stated.root.vk)] = true
	}
	for object, f := range s.problems {
		if header, ok := strings.CutPrefix(object, "vault "+s.id.String()+" "); ok && f.Kind == FindTampered && !inUse[object] {
			paths = append(paths, header)
		}
		if path, ok := revisionPath(object); ok && isReadable(s, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// dropStrangers removes the manifests of devices that should have come onto the roster long ago.
func (r Repair) dropStrangers(s *shelf) (errs error) {
	for _, f := range alarms(r.c.found) {
		for dev := range s.unread {
			if _, listed := r.c.keyset.roster[dev]; listed || f.Object != s.rootObject(dev) {
				continue
			}
			errs = errors.Join(errs, r.c.removeBelow(s.id, []string{"man/" + dev.String()}),
				r.c.removeTree(vaultPath(s.id, "man/"+dev.String()+".d")+"/"))
			delete(s.unread, dev)
			s.problems.clear(f.Object)
		}
	}
	return errs
}

// mend writes the last good content of each bad item as its new revision. A vault's own item of which nothing is left is made anew: its
// name, which is all that is in it, is the vault's id then.
func (r Repair) mend() (done Restored, err error) {
	for _, s := range r.c.vaults {
		m := mending{s: s, opt: commitOptions{force: true}}
		defer m.destroy() //nolint:gocritic // few, and all are needed until the write
		for id, meta := range s.index {
			if meta.State == StateOK {
				continue
			}
			readable, err := m.add(id)
			if err != nil {
				return done, err
			}
			if readable {
				done.Mended = append(done.Mended, id)
			} else {
				done.Lost = append(done.Lost, id)
			}
		}
		if len(m.edits) == 0 {
			continue
		}
		if err := s.commit(m.edits, m.opt); err != nil {
			return done, err
		}
	}
	return done, nil
}

// mending is the mending of one vault.
type mending struct {
	s     *shelf
	edits []edit
	opt   commitOptions
}

// add takes up one item, if anything of it can be read.
func (m *mending) add(id seal.ID) (readable bool, err error) {
	head := m.s.heads[id][0]
	it, st, err := m.s.openHead(id, head, true)
	if it == nil && id == m.s.id {
		it = &Item{Meta: Meta{ID: id, Kind: KindVault, Name: id.String()}}
	}
	if it == nil || err != nil {
		return false, err
	}
	it.link.rev = head.rev
	m.edits = append(m.edits, edit{item: it, kept: true})
	if path := itemFolder(shardOf(id)) + "/" + itemFile(id, head.rev); st == StateDamaged && isReadable(m.s, path) {
		m.opt.gone = append(m.opt.gone, path)
	}
	return true, nil
}

func (m *mending) destroy() {
	for _, e := range m.edits {
		e.item.Destroy()
	}
}

// retire takes a device off the roster. Its entries stand in this device's own roots by now.
func (r Repair) retire(dev seal.ID) error {
	if _, in := r.c.keyset.roster[dev]; !in {
		return nil
	}
	return (roster{r.c}).advance(func(k *keyset) error {
		delete(k.roster, dev)
		return nil
	}, commitOptions{force: true})
}
