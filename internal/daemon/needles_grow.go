package daemon

import (
	"errors"
	"maps"

	"warder/internal/credential"
	"warder/internal/mask"
	"warder/internal/seal"
	"warder/internal/vault"
)

// storedItem names an item.
type storedItem struct{ vault, item seal.ID }

// fill puts values into a new set. One that can't be filled is destroyed.
func (s *needleSet) fill(l *lookup, stamp seal.Hash, lent map[storedField]bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revision = map[storedItem]seal.Hash{}
	err := s.add(l, lent)
	if err != nil {
		s.Destroy()
	}
	s.now, s.nowLent = stamp, len(lent)
	return err
}

// follow lets a set in use grow by what was stored, changed or lent since: a program that goes on for days must not print what was stored
// yesterday. What was there stays hidden. A set that has grown is not used again, since it may hold what is stored no more.
func (n *needles) follow(l *lookup, s *needleSet) error {
	stamp, err := vault.Stamp(l.account)
	if errors.Is(err, vault.ErrLocked) {
		return mask.ErrNoSet
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == stamp && s.nowLent == n.lent.count(s.key) {
		return nil
	}
	lent := n.lent.of(s.key)
	if err := s.add(&lookup{who: l.who, account: l.account, known: map[string]*levels{}}, lent); err != nil {
		return err
	}
	s.now, s.nowLent = stamp, len(lent)
	return nil
}

// add adds what the set has not: items of another revision, and those of which something new was lent. mu is held.
func (s *needleSet) add(l *lookup, lent map[storedField]bool) error {
	missing := maps.Clone(lent)
	for _, is := range s.is {
		if is.lent {
			delete(missing, is.storedField)
		}
	}
	again := map[storedItem]bool{}
	for f := range missing {
		again[storedItem{f.vault, f.item}] = true
	}
	m := needleMaker{l, s, lent}
	for _, v := range l.account.Vaults() {
		for _, meta := range v.List(vault.KindItem, vault.KindStage) {
			id := storedItem{v.ID(), meta.ID}
			known, has := s.revision[id]
			if !s.takes(id) || has && known == meta.Rev() && !again[id] {
				continue
			}
			if err := m.addItem(found{v, meta}); err != nil {
				return err
			}
		}
	}
	return nil
}

// takes says whether the set is of an item.
func (s *needleSet) takes(id storedItem) bool {
	if s.items == nil {
		return true
	}
	for _, f := range s.items {
		if id == (storedItem{f.vault.ID(), f.ID}) {
			return true
		}
	}
	return false
}

// needle is what a value is.
func (s *needleSet) needle(value int) needleOf {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.is[value]
}

// needleMaker puts values into a set.
type needleMaker struct {
	*lookup
	set  *needleSet // its mu is held
	lent map[storedField]bool
}

// addItem opens an item or a stage and adds its concealed values. One that can't be read has no value to hide.
func (m needleMaker) addItem(f found) error {
	it, err := f.vault.Open(f.ID)
	switch {
	case errors.Is(err, vault.ErrDamaged) || errors.Is(err, vault.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	defer it.Destroy()
	m.set.revision[storedItem{f.vault.ID(), f.ID}] = f.Rev()
	named := m.sees(f)
	for i := range it.Fields {
		field := &it.Fields[i]
		is := fieldIn(f.vault, f.ID, field.Section, field.Name)
		lent := m.lent[is]
		if !lent && (!field.Concealed || !m.isPerson() && !isStrong(field)) {
			continue
		}
		name := ""
		if named {
			name = needleName(it, field)
		}
		err := m.set.Add(name, field.Value, mask.ValueOptions{User: credential.UserOf(it)})
		if errors.Is(err, mask.ErrShort) {
			continue
		}
		if err != nil {
			return err
		}
		m.set.is = append(m.set.is, needleOf{is, lent})
	}
	return nil
}
