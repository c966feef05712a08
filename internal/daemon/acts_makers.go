package daemon

import (
	"slices"

	"warder/internal/api"
	"warder/internal/seal"
	"warder/internal/vault"
)

// maker says whose act something is.
func maker(o vault.Origin) api.Maker { return api.Maker{By: string(o.By), Client: o.Client} }

// owns says whether something is of the agent that asks: of the same client, as with items.
func owns(l *lookup, by api.Maker) bool {
	return !l.isPerson() && by.By == string(vault.ByAgent) && by.Client == l.who.Client
}

// madeAlone says whether an object is of the agent that asks alone: it made it, as the history still tells, and no other hand is in it.
func madeAlone(l *lookup, f found) bool {
	if l.isPerson() || f.Conflict {
		return false
	}
	history, err := f.vault.History(f.ID)
	if err != nil || len(history) == 0 || len(history[len(history)-1].Parents()) > 0 {
		return false
	}
	return !slices.ContainsFunc(history, func(m vault.Meta) bool { return !owns(l, maker(m.Origin)) })
}

// trail are the revisions of an object that are kept. It tells of each part of the object, a variable or a link, whose act put it
// there as it is: that of a revision that has the part as it is now while none that it followed has it so.
type trail struct {
	object found
	list   []vault.Meta // the newest first
	by     map[seal.Hash]*vault.Meta
}

// newTrail reads the history of an object.
func newTrail(f found) (*trail, error) {
	list, err := f.vault.History(f.ID)
	if err != nil {
		return nil, err
	}
	t := &trail{object: f, list: list, by: make(map[seal.Hash]*vault.Meta, len(list))}
	for i := range list {
		t.by[list[i].Rev()] = &list[i]
	}
	return t, nil
}

// whole says whether every revision that there was is kept and can be read.
func (t *trail) whole() bool {
	for i := range t.list {
		m := &t.list[i]
		if m.State != vault.StateOK || slices.ContainsFunc(m.Parents(), func(p seal.Hash) bool { return t.by[p] == nil }) {
			return false
		}
	}
	return len(t.list) > 0
}

// one is the maker of all of it if there was only one.
func (t *trail) one() (hand api.Maker, only bool) {
	for _, m := range t.list {
		if maker(m.Origin) != maker(t.list[0].Origin) {
			return api.Maker{}, false
		}
	}
	if len(t.list) > 0 {
		hand = maker(t.list[0].Origin)
	}
	return hand, true
}

// carries says of a revision which of the parts it has as they are now.
type carries func(m *vault.Meta) ([]bool, error)

// makers says of each of n parts whose act put it there. Whoever's act it is must be known for sure: of what is older than what is
// kept, of what hides behind a revision that can't be read, and of what two hands made alike on two devices it says nobody, or
// whoever of the two is no agent.
func (t *trail) makers(n int, has carries) ([]api.Maker, error) {
	if hand, only := t.one(); only && t.whole() {
		return slices.Repeat([]api.Maker{hand}, n), nil
	}
	held := map[seal.Hash][]bool{}
	for i := range t.list {
		m := &t.list[i]
		if m.State != vault.StateOK {
			continue
		}
		list, err := has(m)
		if err != nil {
			return nil, err
		}
		held[m.Rev()] = list
	}
	list := make([]api.Maker, n)
	for i := range list {
		list[i] = t.maker(i, held)
	}
	return list, nil
}

// maker follows one part back from the present revision.
func (t *trail) maker(part int, held map[seal.Hash][]bool) api.Maker {
	var hands []api.Maker
	open := []seal.Hash{t.object.Rev()}
	for seen := map[seal.Hash]bool{}; len(open) > 0; {
		rev := open[0]
		if open = open[1:]; seen[rev] {
			continue
		}
		seen[rev] = true
		if held[rev] == nil {
			hands = append(hands, api.Maker{}) // it is not kept, or can't be read
			continue
		}
		m, from := t.by[rev], len(open)
		for _, p := range m.Parents() {
			if list, known := held[p]; !known || list[part] {
				open = append(open, p)
			}
		}
		if len(open) == from {
			hands = append(hands, maker(m.Origin))
		}
	}
	return joined(hands)
}

// joined is whom a part belongs to that several hands made alike: the one that is no agent, or nobody.
func joined(hands []api.Maker) (hand api.Maker) {
	for i, h := range hands {
		switch {
		case h.By != string(vault.ByAgent):
			return h
		case i > 0 && h != hand:
			return api.Maker{}
		}
		hand = h
	}
	return hand
}

// makersOf says of each variable of a stage whose act set it. A stage that only one had a hand in needs no reading of values.
func makersOf(s found, now *vault.Item) ([]api.Maker, error) {
	t, err := newTrail(s)
	if err != nil {
		return nil, err
	}
	return t.makers(len(now.Fields), func(m *vault.Meta) ([]bool, error) {
		then, err := s.vault.OpenRevision(s.ID, m.Rev())
		if err != nil {
			return nil, err
		}
		defer then.Destroy()
		list := make([]bool, len(now.Fields))
		for i := range now.Fields {
			f := &now.Fields[i]
			old := variable(then, f.Name)
			list[i] = old != nil && old.Ref == f.Ref && old.Concealed == f.Concealed && old.Value.Equal(f.Value)
		}
		return list, nil
	})
}

// linkMaker says whose act linked an item to a project.
func linkMaker(p found, item seal.ID) (api.Maker, error) {
	t, err := newTrail(p)
	if err != nil {
		return api.Maker{}, err
	}
	list, err := t.makers(1, func(m *vault.Meta) ([]bool, error) { return []bool{slices.Contains(m.Links, item)}, nil })
	if err != nil {
		return api.Maker{}, err
	}
	return list[0], nil
}

// variable finds a variable; their names differ by case.
func variable(stage *vault.Item, name string) *vault.Field {
	for i := range stage.Fields {
		if stage.Fields[i].Name == name {
			return &stage.Fields[i]
		}
	}
	return nil
}
