package vault

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"warder/internal/seal"
	"warder/internal/secret"
)

// Put sets the field's value, which the field owns from here on. Strength and time are noted when the item is saved.
func (f *Field) Put(value secret.Value) {
	f.Value.Destroy()
	f.Value, f.Ref, f.Score, f.Set = value, "", 0, time.Time{}
}

// Save writes new revisions of the given items in one act: all or none. An item with a zero ID is added and gets one.
//
// Errors: *NameError, *SizeError, *ContentError, ErrExists, ErrChanged, *AlarmError, ErrLocked, and those of the file system; then nothing was changed.
func (v *Vault) Save(items ...*Item) error {
	edits := make([]edit, len(items))
	for i, it := range items {
		if it == nil {
			return errors.New("saving an item: it is nil")
		}
		edits[i] = edit{item: it}
	}
	return saveEdits(v, edits)
}

func saveEdits(v *Vault, edits []edit) error {
	if len(edits) == 0 {
		return nil
	}
	return v.s.c.writing(v.wait, func() error {
		if err := v.s.c.sync(); err != nil {
			return err
		}
		return v.s.commit(edits, commitOptions{})
	})
}

// Trash puts an item into the trash: its name is free again, its values stay until Purge.
func (v *Vault) Trash(id seal.ID, o Origin) error {
	return alter(v, id, func(it *Item) { it.Trashed, it.Origin = v.s.c.cfg.now(), o })
}

// Restore takes an item out of the trash. Its name may be taken by now: ErrExists.
func (v *Vault) Restore(id seal.ID, o Origin) error {
	return alter(v, id, func(it *Item) { it.Trashed, it.Origin = time.Time{}, o })
}

func alter(v *Vault, id seal.ID, change func(*Item)) error {
	it, err := v.Open(id)
	if err != nil {
		return err
	}
	defer it.Destroy()
	change(it)
	return v.Save(it)
}

// Purge ends items for good, in one act: their files go, and a tombstone keeps other devices from bringing them back.
func (v *Vault) Purge(ids ...seal.ID) error {
	edits := make([]edit, len(ids))
	for i, id := range ids {
		edits[i] = edit{end: id}
	}
	return saveEdits(v, edits)
}

// History lists the revisions of an item that are kept, newest first, without values. Of one whose file was changed nothing is known but
// that it was there: State says so.
func (v *Vault) History(id seal.ID) ([]Meta, error) {
	v.s.c.mu.RLock()
	defer v.s.c.mu.RUnlock()
	if v.s.c.locked {
		return nil, ErrLocked
	}
	if v.s.index[id] == nil {
		return nil, fmt.Errorf("item %s: %w", id, ErrNotFound)
	}
	var list []Meta
	err := v.s.c.shared.in(vaultPath(v.s.id, itemFolder(shardOf(id))), func(d folder) error {
		for _, rev := range v.s.revisions(id) {
			it, st, err := reader{v.s, d, false}.rev(id, rev)
			if err != nil {
				return err
			}
			switch {
			case st == StateOK:
				list = append(list, it.Meta)
			case st == StateDamaged:
				shown := v.s.index[id]
				m := Meta{ID: id, Kind: shown.Kind, Name: shown.Name, State: st, link: revision{rev: rev}}
				if len(list) > 0 {
					m.link.lamport = list[len(list)-1].link.lamport // its place among the others
				} else {
					m.link.lamport = shown.link.lamport
				}
				list = append(list, m)
			}
		}
		return nil
	})
	slices.SortStableFunc(list, func(a, b Meta) int { return -cmp.Compare(a.link.lamport, b.link.lamport) })
	return list, err
}

// OpenRevision opens a revision of the item's history with its values. The caller must Destroy it.
func (v *Vault) OpenRevision(id seal.ID, rev seal.Hash) (*Item, error) {
	v.s.c.mu.RLock()
	defer v.s.c.mu.RUnlock()
	if v.s.c.locked {
		return nil, ErrLocked
	}
	return v.s.openListed(id, rev)
}

// openListed opens a revision that the item's history lists.
func (s *shelf) openListed(id seal.ID, rev seal.Hash) (it *Item, err error) {
	listed := false
	for _, r := range s.revisions(id) {
		listed = listed || r == rev
	}
	if !listed {
		return nil, fmt.Errorf("revision %s of item %s: %w", rev.String()[:16], id, ErrNotFound)
	}
	var st ItemState
	err = s.c.shared.in(vaultPath(s.id, itemFolder(shardOf(id))), func(d folder) error {
		it, st, err = reader{s, d, true}.rev(id, rev)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		st, err = StateMissing, nil // its folder is gone too
	}
	if err == nil && st != StateOK {
		err = &revisionError{item: id, rev: rev, state: st}
	}
	return it, err
}

// revisionError says that a revision of the history can't be opened. It is an ErrDamaged whose sentence is about that one file.
type revisionError struct {
	item  seal.ID
	rev   seal.Hash
	state ItemState
}

func (e *revisionError) Error() string {
	fault := "was changed"
	if e.state == StateMissing {
		fault = "is not there any more"
	}
	return fmt.Sprintf("the file of revision %s of item %s %s", e.rev.String()[:16], e.item, fault)
}

func (e *revisionError) Is(target error) bool { return target == ErrDamaged }

// Revert makes a new revision with the content of an older one.
func (v *Vault) Revert(id seal.ID, rev seal.Hash, o Origin) error {
	it, err := v.OpenRevision(id, rev)
	if err != nil {
		return err
	}
	defer it.Destroy()
	current, err := metaOf(v, id)
	if err != nil {
		return err
	}
	it.link.rev, it.Origin = current.link.rev, o
	return v.Save(it)
}

func metaOf(v *Vault, id seal.ID) (Meta, error) {
	v.s.c.mu.RLock()
	defer v.s.c.mu.RUnlock()
	m := v.s.index[id]
	if m == nil {
		return Meta{}, fmt.Errorf("item %s: %w", id, ErrNotFound)
	}
	return m.clone(), nil
}
