package daemon

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"warder/internal/vault"
)

// A reference names an item, and a name can come to stand for another item. What a person wrote must not come to mean what an agent
// stores: so a name is taken for an agent as long as anything is known to have used it, and a person's rename takes the references along.

// spokenFor says whether a name is another's for an agent that wants it for an item, though no item has it now: one in the trash has
// it, one had it and may get it back, or a reference names it.
func spokenFor(r *request, v *vault.Vault, name string) (bool, error) {
	for _, m := range v.List(vault.KindItem) {
		if r.mine(&m) {
			continue
		}
		if had, err := everCalled(v, &m, name); had || err != nil {
			return had, err
		}
	}
	for _, w := range r.account.Vaults() {
		for _, m := range w.List(vault.KindStage) {
			if named, err := othersName(r, found{w, m}, v.Name(), name); named || err != nil {
				return named, err
			}
		}
	}
	return false, nil
}

// everCalled says whether an item has a name, or had it in a revision that is kept.
func everCalled(v *vault.Vault, m *vault.Meta, name string) (bool, error) {
	if vault.SameName(m.Name, name) {
		return true, nil
	}
	if len(m.Parents()) == 0 && !m.Conflict {
		return false, nil
	}
	history, err := v.History(m.ID)
	return slices.ContainsFunc(history, func(old vault.Meta) bool { return vault.SameName(old.Name, name) }), err
}

// othersName says whether a stage has a reference to an item of that name that is not of the agent that asks. One of which nothing can be
// read has none.
func othersName(r *request, s found, vaultName, name string) (bool, error) {
	it, err := s.vault.Open(s.ID)
	switch {
	case errors.Is(err, vault.ErrDamaged):
		return false, nil
	case err != nil:
		return false, err
	}
	defer it.Destroy()
	at := slices.IndexFunc(it.Fields, func(f vault.Field) bool { return refersTo(f.Ref, vaultName, name) })
	if at < 0 {
		return false, nil
	}
	if s.Conflict {
		return true, nil
	}
	makers, err := makersOf(s, it)
	if err != nil {
		return false, err
	}
	for i := at; i < len(it.Fields); i++ {
		if refersTo(it.Fields[i].Ref, vaultName, name) && !owns(&r.lookup, makers[i]) {
			return true, nil
		}
	}
	return false, nil
}

// refersTo says whether a reference names an item.
func refersTo(ref, vaultName, name string) bool {
	if ref == "" {
		return false
	}
	a, err := vault.ParseReference(ref)
	return err == nil && vault.SameName(a.Vault, vaultName) && vault.SameName(a.Item, name)
}

// following are the stages whose references go along with a renamed item, in the same act.
type following struct {
	stages []*vault.Item
	count  int
	went   []string // PROJECT/STAGE of them
	stayed []string // of those that name the item and can't go along
}

// follow points the references to an item at its new name. Another vault is written by itself, and where two devices wrote apart or a
// file is damaged a person has to look first: what names the item there is told instead.
func follow(r *request, item found, to string, skip ...vault.Meta) (*following, error) {
	f := &following{}
	for _, w := range r.account.Vaults() {
		for _, m := range w.List(vault.KindStage) {
			if !m.Trashed.IsZero() || slices.ContainsFunc(skip, func(s vault.Meta) bool { return s.ID == m.ID }) {
				continue
			}
			if err := f.take(r, found{w, m}, item, to); err != nil {
				f.destroy()
				return nil, err
			}
		}
	}
	return f, nil
}

// take looks at one stage.
func (f *following) take(r *request, s, item found, to string) error {
	it, err := s.vault.Open(s.ID)
	switch {
	case errors.Is(err, vault.ErrDamaged):
		return nil
	case err != nil:
		return err
	}
	count := 0
	for i := range it.Fields {
		field := &it.Fields[i]
		if !refersTo(field.Ref, item.vault.Name(), item.Name) {
			continue
		}
		count++
		a, _ := vault.ParseReference(field.Ref) // refersTo read it
		a.Item = to
		field.Ref = a.Reference()
	}
	name := r.levels(s.vault).metas[s.Project].Name + "/" + s.Name
	switch {
	case count > 0 && s.vault.ID() == item.vault.ID() && !s.Conflict && it.State == vault.StateOK:
		it.Origin = r.origin()
		f.stages, f.count, f.went = append(f.stages, it), f.count+count, append(f.went, name)
		return nil
	case count > 0:
		f.stayed = append(f.stayed, name)
	}
	it.Destroy()
	return nil
}

// warnings tell which stages were changed along with the item, and which were not.
func (f *following) warnings(from, to string) (list []string) {
	if f == nil {
		return nil
	}
	if f.count > 0 {
		list = append(list, fmt.Sprintf("references to %s in %s name %s now: %d", from, strings.Join(f.went, ", "), to, f.count))
	}
	if len(f.stayed) > 0 {
		list = append(list, fmt.Sprintf("references to %s in %s could not follow to %s: set them anew with warder project set --ref",
			from, strings.Join(f.stayed, ", "), to))
	}
	return list
}

func (f *following) destroy() {
	if f == nil {
		return
	}
	for _, it := range f.stages {
		it.Destroy()
	}
}

// metas are the stages without values.
func (f *following) metas() (list []vault.Meta) {
	for _, it := range f.stages {
		list = append(list, it.Meta)
	}
	return list
}

// items are an item and what is saved with it.
func (f *following) items(it *vault.Item) []*vault.Item {
	if f == nil {
		return []*vault.Item{it}
	}
	return append([]*vault.Item{it}, f.stages...)
}
