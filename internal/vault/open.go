package vault

import (
	"errors"
	"io/fs"
	"strings"

	"warder/internal/seal"
)

// openHead opens the revision that an entry names, or the newest intact one before it. The item is nil if there is none.
func (s *shelf) openHead(id seal.ID, h entry, values bool) (it *Item, st ItemState, err error) {
	err = s.c.shared.in(vaultPath(s.id, itemFolder(shardOf(id))), func(d folder) error {
		it, st, err = reader{s, d, values}.head(id, h)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, StateMissing, nil
	}
	return it, st, err
}

// reader opens revisions of items that lie in one folder, with or without their values.
type reader struct {
	s      *shelf
	d      folder
	values bool
}

func (r reader) head(id seal.ID, h entry) (*Item, ItemState, error) {
	it, st, err := r.rev(id, h.rev)
	if err != nil || st == StateOK {
		return it, st, err
	}
	it, err = r.lastGood(id, h.vec)
	return it, st, err
}

// rev opens one revision by its full hash. A newer format is an error by name; all else that is wrong is a state.
func (r reader) rev(id seal.ID, rev seal.Hash) (*Item, ItemState, error) {
	file, err := r.d.Read(itemFile(id, rev), limitItem)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, StateMissing, nil
	}
	if err != nil {
		return nil, StateDamaged, nil //nolint:nilerr // a file that can't be read harms itself, not the others: the finding names it
	}
	if seal.HashOf(file) != rev {
		return nil, StateDamaged, nil
	}
	it, err := openItem(r.s.keys, r.s.id, id, file, r.values)
	if isNewer(err) {
		return nil, StateDamaged, err
	}
	if err != nil {
		return nil, StateDamaged, nil //nolint:nilerr // as above
	}
	return it, StateOK, nil
}

// fault says what is wrong with the file of a damaged revision.
func (r reader) fault(id seal.ID, rev seal.Hash) string {
	if _, err := r.d.Read(itemFile(id, rev), limitItem); err != nil {
		return "can't be read: " + err.Error()
	}
	return "was changed"
}

// lastGood looks for the newest intact revision of an item that vec has seen. It reads what lies there, and the seal of each file says
// whether it is one: so a replay of a revision that was never listed, or is newer than the listed one, is not served.
func (r reader) lastGood(id seal.ID, vec vector) (best *Item, err error) {
	names, err := r.d.List()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, id.String()+"-") {
			continue
		}
		file, err := r.d.Read(name, limitItem)
		if err != nil || itemFile(id, seal.HashOf(file)) != name {
			continue
		}
		it, err := openItem(r.s.keys, r.s.id, id, file, r.values)
		if err != nil {
			continue
		}
		if order := it.link.vec.compare(vec); order != before && order != equal || best != nil && it.link.lamport <= best.link.lamport {
			it.Destroy()
			continue
		}
		if best != nil {
			best.Destroy()
		}
		best = it
	}
	return best, nil
}
