package daemon

import (
	"warder/internal/api"
	"warder/internal/vault"
)

// maker says whose act something is.
func maker(o vault.Origin) api.Maker { return api.Maker{By: string(o.By), Client: o.Client} }

// makersOf says of each variable of a stage whose act set it, from the revisions that are kept: the one that has it as it is, and
// the one before does not. A stage that only one had a hand in needs no reading of values.
func makersOf(s found, now *vault.Item) ([]api.Maker, error) {
	history, err := s.vault.History(s.ID) // the newest first
	if err != nil {
		return nil, err
	}
	list := make([]api.Maker, len(now.Fields))
	if len(history) == 0 {
		return list, nil
	}
	oldest := &history[len(history)-1]
	whole := oldest.Created.Equal(oldest.Modified) // no revision went
	if whole && sameMaker(history) {
		for i := range list {
			list[i] = maker(oldest.Origin)
		}
		return list, nil
	}
	open := make(map[int]bool, len(list)) // variables that are in all revisions so far as they are now
	for i := range list {
		open[i] = true
		list[i] = maker(history[0].Origin)
	}
	for _, m := range history[1:] {
		if err := earlier(s, now, &m, open, list); err != nil {
			return nil, err
		}
	}
	for i := range open {
		if f := &now.Fields[i]; !whole && !f.Set.Equal(oldest.Modified) {
			list[i] = api.Maker{} // it is older than what is kept
		}
	}
	return list, nil
}

// earlier passes on to one more revision the variables that it has as they are now. Behind one that can't be read
// nobody can say.
func earlier(s found, now *vault.Item, m *vault.Meta, open map[int]bool, list []api.Maker) error {
	if m.State != vault.StateOK {
		for i := range open {
			list[i] = api.Maker{}
		}
		clear(open)
		return nil
	}
	then, err := s.vault.OpenRevision(s.ID, m.Rev())
	if err != nil {
		return err
	}
	defer then.Destroy()
	for i := range open {
		f := &now.Fields[i]
		if old := variable(then, f.Name); old == nil || old.Ref != f.Ref || old.Concealed != f.Concealed || !old.Value.Equal(f.Value) {
			delete(open, i)
			continue
		}
		list[i] = maker(m.Origin)
	}
	return nil
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

// sameMaker says whether all revisions are of one hand.
func sameMaker(history []vault.Meta) bool {
	for _, m := range history {
		if m.State != vault.StateOK || maker(m.Origin) != maker(history[0].Origin) {
			return false
		}
	}
	return true
}
