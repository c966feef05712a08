package vault

import (
	"fmt"
	"slices"

	"warder/internal/seal"
)

// Reversal is what taking back an act does to one item: from Now it goes to Before.
type Reversal struct {
	Now    Meta
	Before Meta // what was shown without the act; for an item that the act made, Now in the trash
}

// made says whether the act made the item.
func (r *Reversal) made() bool { return r.Before.link.rev == r.Now.link.rev }

// Reversals says what taking back the revisions with a tag would do: what they made goes to the trash, what they changed gets its
// content from before. Items that were changed again since are left alone. Whoever decides whether it may be done decides about these, and has Reverse do just them: what
// another device writes meanwhile can't put other content in their place.
func Reversals(v *Vault, tag string) ([]Reversal, error) {
	list := v.List()
	if v.s.c.isLocked() {
		return nil, ErrLocked
	}
	var reversals []Reversal
	for _, m := range list {
		if tag == "" || m.Origin.Tag != tag {
			continue
		}
		r, err := reversal(v, m)
		if err != nil {
			return nil, fmt.Errorf("undoing %s %q: %w", m.Kind, m.Name, err)
		}
		reversals = append(reversals, r)
	}
	return reversals, nil
}

// Reverse does what Reversals said, all of it or none, and saves what has to go along with that in the same act. An item that was changed
// since is ErrChanged.
func Reverse(v *Vault, list []Reversal, o Origin, along ...*Item) error {
	var items []*Item
	defer func() {
		for _, it := range items {
			it.Destroy()
		}
	}()
	for i := range list {
		it, err := openReversal(v, &list[i])
		if err != nil {
			return fmt.Errorf("undoing %s %q: %w", list[i].Now.Kind, list[i].Now.Name, err)
		}
		it.link.rev, it.Origin = list[i].Now.link.rev, o
		items = append(items, it)
	}
	return v.Save(slices.Concat(items, along)...)
}

func openReversal(v *Vault, r *Reversal) (*Item, error) {
	if !r.made() {
		return v.OpenRevision(r.Now.ID, r.Before.link.rev)
	}
	it, err := v.Open(r.Now.ID)
	if err == nil {
		it.Trashed = r.Before.Trashed
	}
	return it, err
}

// reversal finds what an item goes back to: what would be shown if the revisions with its tag had never been. Behind each head that is
// the nearest revision without the tag, and of these the one that heads are ordered by. Another device may have written beside the act,
// so the first parent alone is not it.
func reversal(v *Vault, m Meta) (Reversal, error) {
	history, err := v.History(m.ID)
	if err != nil {
		return Reversal{}, err
	}
	known := make(map[seal.Hash]*Meta, len(history))
	for i := range history {
		known[history[i].link.rev] = &history[i]
	}
	var before *Meta
	seen := map[seal.Hash]bool{}
	for next := readableHeads(v, &m, known); len(next) > 0; next = next[1:] {
		rev := next[0]
		if seen[rev] {
			continue
		}
		seen[rev] = true
		switch r := known[rev]; {
		case r == nil:
			return Reversal{}, fmt.Errorf("revision %s, which it came from: %w", rev.String()[:16], whyUnknown(v, m.ID, rev))
		case r.State != StateOK:
			return Reversal{}, &revisionError{item: m.ID, rev: rev, state: r.State}
		case r.Origin.Tag == m.Origin.Tag:
			next = append(next, r.link.parents...)
		case before == nil || shownFirst(r, before) < 0:
			before = r
		}
	}
	if before != nil {
		return Reversal{m, before.clone()}, nil
	}
	gone := m.clone()
	gone.Trashed = v.s.c.cfg.now()
	return Reversal{m, gone}, nil
}

// whyUnknown is the error of a revision that the history does not have: it is damaged, or was dropped.
func whyUnknown(v *Vault, id seal.ID, rev seal.Hash) error {
	it, err := v.OpenRevision(id, rev)
	if err == nil {
		it.Destroy()
		return ErrNotFound
	}
	return err
}

// readableHeads are the heads of an item that can be read, and what is served in the place of one that can't.
func readableHeads(v *Vault, m *Meta, known map[seal.Hash]*Meta) []seal.Hash {
	v.s.c.mu.RLock()
	defer v.s.c.mu.RUnlock()
	var list []seal.Hash
	for _, h := range v.s.heads[m.ID] {
		if r := known[h.rev]; r != nil && r.State == StateOK {
			list = append(list, h.rev)
		}
	}
	if m.State != StateOK && len(m.link.history) > 0 {
		list = append(list, m.link.history[0])
	}
	return list
}
