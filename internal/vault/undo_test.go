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

// undone is what an item holds when an act on it is taken back, which has to be what was said before.
func undone(t *testing.T, a *vault.Account, id seal.ID, tag string) string {
	t.Helper()
	v := firstVault(t, a)
	list, err := vault.Reversals(v, tag)
	must(t, err)
	if len(list) != 1 {
		t.Fatalf("%d items to take back", len(list))
	}
	said, err := v.OpenRevision(id, list[0].Before.Rev())
	must(t, err)
	defer said.Destroy()
	want := string(bytesOf(t, said.Fields[0].Value))
	n, err := v.Undo(tag, vault.Origin{By: vault.ByPerson})
	must(t, err)
	text, _ := firstValue(t, v, id)
	if n != 1 || text != want {
		t.Errorf("%d taken back, to %q, and %q was said", n, text, want)
	}
	return text
}

// tagged changes an item as a part of an act.
func tagged(t *testing.T, v *vault.Vault, id seal.ID, tag string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		it, err := v.Open(id)
		must(t, err)
		it.Origin = vault.Origin{By: vault.ByPerson, Tag: tag}
		it.Fields[0].Put(value(t, text))
		save(t, v, it)
		it.Destroy()
	}
}

// TestUndoBesideAnotherDevice: what another device wrote beside the act stays, though the act's revisions are newer and follow another
// one.
func TestUndoBesideAnotherDevice(t *testing.T) {
	for name, first := range map[string]int{"here": 0, "there": 1} {
		t.Run(name, func(t *testing.T) {
			w := newTwins(t)
			it := newItem(t, "x", "before")
			save(t, w.vault(0), it)
			w.meet()
			w.agree()
			tagged(t, w.vault(0), it.ID, "act", "acted", "acted on")
			tagged(t, w.vault(1), it.ID, "", "theirs")
			w.meet()
			w.agree()
			if text, _ := firstValue(t, w.vault(first), it.ID); text != "acted on" || !meta(t, w.vault(first), it.ID).Conflict {
				t.Fatalf("%q is shown", text)
			}
			if text := undone(t, w.dev[first], it.ID, "act"); text != "theirs" {
				t.Errorf("it went back to %q", text)
			}
			w.meet()
			w.agree()
		})
	}
}

// TestUndoOfAMerge: an act on top of two heads goes back to the one that was shown.
func TestUndoOfAMerge(t *testing.T) {
	w := newTwins(t)
	it := newItem(t, "x", "before")
	save(t, w.vault(0), it)
	w.meet()
	w.agree()
	tagged(t, w.vault(0), it.ID, "", "older")
	tagged(t, w.vault(1), it.ID, "", "newer", "newest")
	w.meet()
	w.agree()
	tagged(t, w.vault(0), it.ID, "act", "merged")
	w.meet()
	w.agree()
	if text := undone(t, w.dev[1], it.ID, "act"); text != "newest" {
		t.Errorf("it went back to %q", text)
	}
	w.meet()
	w.agree()
}

// TestReverseDoesWhatWasSaid: an item that was changed since is not touched.
func TestReverseDoesWhatWasSaid(t *testing.T) {
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	it := newItem(t, "x", "before")
	save(t, v, it)
	tagged(t, v, it.ID, "act", "acted")
	list, err := vault.Reversals(v, "act")
	must(t, err)
	tagged(t, v, it.ID, "", "since")
	if err := vault.Reverse(v, list, vault.Origin{}); !errors.Is(err, vault.ErrChanged) {
		t.Errorf("it was taken back: %v", err)
	}
	if text, _ := firstValue(t, v, it.ID); text != "since" {
		t.Errorf("it holds %q", text)
	}
}
