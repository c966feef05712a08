package vault

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"warder/internal/seal"
)

// Repair puts a store right that findings stopped. Each act overrules a warning, so each is a person's to order.
type Repair struct{ c *core }

// Repair returns the acts that put the store right.
func (a *Account) Repair() Repair { return Repair{a.c} }

// Restored says what AcceptRestore did.
type Restored struct {
	Mended []seal.ID // items whose current file was bad and that got the content of an older revision
	Lost   []seal.ID // items of which nothing can be read: Forget ends them
}

// AcceptRestore takes the store as it is now for the truth: the user restored a backup, or knows why it changed. What this device
// remembers is dropped, and the device takes a new id, because going on under the old one would fork its manifest on devices that saw more.
//
// A vault whose header does not open is not given up: *AlarmError. It needs its header back, or its folder removed.
func (r Repair) AcceptRestore() (done Restored, err error) {
	c := r.c
	err = c.writing(func() error {
		if err := c.load(); err != nil {
			return err
		}
		if closed := r.closed(); len(closed) > 0 {
			return &AlarmError{closed}
		}
		former := c.dev.id
		if err := r.dropBadFiles(); err != nil {
			return err
		}
		latest := c.seen.keyset
		c.seen = newSeen()
		c.seen.keyset = latest // the keysets that follow must rule over it
		if err := (roster{c}).enrol(); err != nil {
			return err
		}
		if done, err = r.mend(); err != nil {
			return err
		}
		if err := r.retire(former); err != nil {
			return err
		}
		return c.load()
	})
	return done, err
}

// NewDevice gives this device a new id in the account and leaves the former one on the roster: another machine that was copied from
// this one, or that this one was copied from, goes on under it. It also serves a device whose own keys do not open: they were changed, or
// sealed under a device secret that was replaced.
func (r Repair) NewDevice() error {
	c := r.c
	return c.writing(func() error {
		if err := c.load(); err != nil {
			return err
		}
		former := c.dev.id
		for _, f := range alarms(c.found) {
			if f.Kind != FindCloned && f.Object != objectDeviceKeys {
				return &AlarmError{alarms(c.found)}
			}
		}
		for _, s := range c.vaults {
			if root := s.roots[former]; root != nil {
				c.seen.setRoot(s.id, former, root.mark)
			}
		}
		if err := (roster{c}).enrol(); err != nil {
			return err
		}
		return c.load()
	})
}

// Forget ends an item of which nothing can be read any more, or whose file never comes.
func (r Repair) Forget(v *Vault, item seal.ID) error {
	return r.c.writing(func() error {
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
	err = c.writing(func() error {
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
	return c.writing(func() error {
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
		if err := s.commit([]edit{{item: it}}, commitOptions{gone: []string{o.file}}); err != nil {
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

// dropBadFiles removes what the account did not make: keysets that are no one's, and roots that do not open. A device whose root goes
// this way writes it again.
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
		for dev, gone := range s.absent {
			if gone {
				delete(s.roots, dev)
				delete(s.absent, dev)
			}
		}
	}
	return errs
}

// mend writes the last good content of each bad item as its new revision.
func (r Repair) mend() (done Restored, err error) {
	for _, s := range r.c.vaults {
		var edits []edit
		for id, m := range s.index {
			if m.State == StateOK {
				continue
			}
			it, _, err := s.openHead(id, s.heads[id][0], true)
			if err != nil {
				return done, err
			}
			if it == nil {
				done.Lost = append(done.Lost, id)
				continue
			}
			defer it.Destroy() //nolint:gocritic // few, and all are needed until the write
			it.link.rev = s.heads[id][0].rev
			edits = append(edits, edit{item: it})
			done.Mended = append(done.Mended, id)
		}
		if len(edits) == 0 {
			continue
		}
		if err := s.commit(edits, commitOptions{force: true}); err != nil {
			return done, err
		}
	}
	return done, nil
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
