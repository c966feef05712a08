package vault_test

import (
	"errors"
	"testing"

	"warder/internal/seal"
	"warder/internal/vault"
)

func TestUndo(t *testing.T) {
	now := newClock()
	cfg := config(t.TempDir())
	cfg.Now = now.Now
	a, _ := create(t, cfg)
	v := firstVault(t, a)
	byPerson, byImport := vault.Origin{By: vault.ByPerson}, vault.Origin{By: vault.ByImport, Tag: "import 1"}
	item := func(name string, o vault.Origin) *vault.Item {
		it := newItem(t, name, "before")
		it.Origin = o
		return it
	}
	changed, again, kept, trashed, renamed := item("changed", byPerson), item("again", byPerson), item("kept", byPerson), item("trashed", byPerson),
		item("from", byPerson)
	save(t, v, changed, again, kept, trashed, renamed)

	added, addedAgain := item("added", byImport), item("added again", byImport)
	for _, it := range []*vault.Item{changed, again, renamed} {
		it.Fields[0].Put(value(t, "imported"))
		it.Origin = byImport
	}
	renamed.Name = "to"
	save(t, v, added, addedAgain, changed, again, renamed)
	must(t, v.Trash(trashed.ID, byImport))
	for _, it := range []*vault.Item{again, addedAgain} {
		it.Fields[0].Put(value(t, "by hand"))
		it.Origin = byPerson
		save(t, v, it)
	}
	now.pass()
	n, err := v.Undo("import 1", vault.Origin{By: vault.ByPerson, Tag: "undo"})
	must(t, err)
	if n != 4 { // added, changed, renamed, trashed
		t.Errorf("%d taken back", n)
	}
	for it, want := range map[*vault.Item]struct {
		text, name, tag string
		trashed         bool
	}{
		changed:    {"before", "changed", "undo", false},
		again:      {"by hand", "again", "", false},
		kept:       {"before", "kept", "", false},
		trashed:    {"before", "trashed", "undo", false},
		renamed:    {"before", "from", "undo", false},
		added:      {"before", "added", "undo", true},
		addedAgain: {"by hand", "added again", "", false},
	} {
		m := meta(t, v, it.ID)
		text, _ := firstValue(t, v, it.ID)
		if text != want.text || m.Name != want.name || m.Origin.Tag != want.tag || m.Trashed.IsZero() == want.trashed {
			t.Errorf("%s: %q as %q, origin %+v, trashed %s", want.name, text, m.Name, m.Origin, m.Trashed)
		}
	}
	if _, err := v.Undo("import 1", byPerson); !errors.Is(err, vault.ErrNotFound) {
		t.Errorf("a second time: %v", err)
	}
	calm(t, a)

	// An undo is an act like any other, and may be taken back.
	n, err = v.Undo("undo", byPerson)
	must(t, err)
	if text, _ := firstValue(t, v, changed.ID); n != 4 || text != "imported" || !meta(t, v, added.ID).Trashed.IsZero() {
		t.Errorf("%d taken back, %q", n, text)
	}
}

// TestUndoOfSeveralSteps: one act may write an item more than once.
func TestUndoOfSeveralSteps(t *testing.T) {
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	old, fresh := newItem(t, "old", "before"), newItem(t, "new", "1")
	save(t, v, old)
	fresh.Origin = vault.Origin{By: vault.ByAgent, Client: "c", Tag: "act"}
	old.Origin = fresh.Origin
	for _, text := range []string{"1", "2", "3"} {
		for _, it := range []*vault.Item{old, fresh} {
			it.Fields[0].Put(value(t, text))
			save(t, v, it)
		}
	}
	n, err := v.Undo("act", vault.Origin{By: vault.ByPerson})
	must(t, err)
	if text, _ := firstValue(t, v, old.ID); n != 2 || text != "before" {
		t.Errorf("%d taken back, %q", n, text)
	}
	if text, _ := firstValue(t, v, fresh.ID); text != "3" || meta(t, v, fresh.ID).Trashed.IsZero() {
		t.Errorf("the new one holds %q and is not in the trash", text)
	}
}

// TestUndoIsAllOrNone: a name that was taken since stops it before anything is changed.
func TestUndoIsAllOrNone(t *testing.T) {
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	it, other := newItem(t, "name", "before"), newItem(t, "other", "before")
	save(t, v, it, other)
	for _, x := range []*vault.Item{it, other} {
		x.Origin = vault.Origin{By: vault.ByAgent, Client: "client", Tag: "act"}
		x.Fields[0].Put(value(t, "after"))
	}
	it.Name = "another name"
	save(t, v, it, other)
	save(t, v, newItem(t, "name", "taken"))
	code := a.StateCode()
	if n, err := v.Undo("act", vault.Origin{}); !errors.Is(err, vault.ErrExists) || n != 0 {
		t.Errorf("%d taken back: %v", n, err)
	}
	if a.StateCode() != code {
		t.Error("something was changed")
	}
}

func TestUndoOfNothing(t *testing.T) {
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	save(t, v, newItem(t, "untagged", "1"))
	for _, tag := range []string{"", "unknown"} {
		if n, err := v.Undo(tag, vault.Origin{}); !errors.Is(err, vault.ErrNotFound) || n != 0 {
			t.Errorf("%q: %d, %v", tag, n, err)
		}
	}
	if !meta(t, v, found(t, v, "untagged")).Trashed.IsZero() {
		t.Error("what has no tag was taken back")
	}
	if m, err := v.Find(vault.KindItem, seal.ID{}, "untagged"); err != nil || m.Origin != (vault.Origin{}) {
		t.Errorf("%+v %v", m, err)
	}
}
