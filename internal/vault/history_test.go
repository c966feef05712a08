package vault_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warder/internal/seal"
	"warder/internal/vault"
)

func TestHistoryKeepsTen(t *testing.T) {
	cfg, a, _ := newAccount(t)
	v := firstVault(t, a)
	it := newItem(t, "item", "v0")
	save(t, v, it)
	for n := 1; n <= 13; n++ {
		former := it.Rev()
		it.Fields[0].Put(value(t, fmt.Sprintf("v%d", n)))
		save(t, v, it)
		var want []string
		for i := n; i >= max(0, n-10); i-- {
			want = append(want, fmt.Sprintf("v%d", i))
		}
		if got := kept(t, v, it.ID); !slices.Equal(got, want) {
			t.Fatalf("after %d changes %q are kept", n, got)
		}
		if got := itemFiles(t, cfg, it.ID); len(got) != len(want) {
			t.Fatalf("after %d changes the files are %q", n, got)
		}
		if m := meta(t, v, it.ID); !slices.Equal(m.Parents(), []seal.Hash{former}) {
			t.Fatalf("it follows %v, not %s", m.Parents(), former)
		}
	}
	calm(t, a)
	before := kept(t, v, it.ID)
	a.Lock()
	if after := kept(t, firstVault(t, open(t, cfg)), it.ID); !slices.Equal(before, after) {
		t.Errorf("after unlocking again %q are kept", after)
	}
}

func TestHistoryTellsRevisions(t *testing.T) {
	now := newClock()
	cfg := config(t.TempDir())
	cfg.Now = now.Now
	a, _ := create(t, cfg)
	v := firstVault(t, a)
	it := newItem(t, "first", "1")
	it.Origin = vault.Origin{By: vault.ByImport, Tag: "import"}
	save(t, v, it)
	made := now.now
	now.pass()
	it.Name, it.Origin = "second", vault.Origin{By: vault.ByAgent, Client: "client"}
	save(t, v, it)
	list, err := v.History(it.ID)
	must(t, err)
	if len(list) != 2 || list[0].Name != "second" || list[1].Name != "first" || list[0].Rev() != it.Rev() {
		t.Fatalf("%+v", list)
	}
	if list[1].Origin != (vault.Origin{By: vault.ByImport, Tag: "import"}) || list[0].Origin.Client != "client" {
		t.Errorf("origins %+v, %+v", list[0].Origin, list[1].Origin)
	}
	if !list[1].Modified.Equal(made) || !list[0].Modified.Equal(now.now) || !list[0].Created.Equal(made) {
		t.Errorf("times %s, %s", list[1].Modified, list[0].Modified)
	}
	for _, m := range list {
		if m.ID != it.ID || m.State != vault.StateOK {
			t.Errorf("%+v", m)
		}
		old, err := v.OpenRevision(it.ID, m.Rev())
		must(t, err)
		if old.Name != m.Name || old.Rev() != m.Rev() || old.ID != it.ID {
			t.Errorf("opened %+v", old.Meta)
		}
		old.Destroy()
	}
}

func TestOpenRevisionThatIsNotKept(t *testing.T) {
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	it, other := newItem(t, "item", "0"), newItem(t, "other", "0")
	save(t, v, it, other)
	first := it.Rev()
	for n := range 11 {
		it.Fields[0].Put(value(t, fmt.Sprint(n)))
		save(t, v, it)
	}
	for name, rev := range map[string]seal.Hash{"no revision": {}, "a cut one": first, "another item's": other.Rev(), "none": seal.HashOf(nil)} {
		if got, err := v.OpenRevision(it.ID, rev); !errors.Is(err, vault.ErrNotFound) || got != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := v.Revert(it.ID, rev, vault.Origin{}); !errors.Is(err, vault.ErrNotFound) {
			t.Errorf("reverting to %s: %v", name, err)
		}
	}
	if n := len(kept(t, v, it.ID)); n != 11 {
		t.Errorf("%d revisions", n)
	}
}

// TestHistoryWithDamage: an older revision whose file was changed or is gone is left out of the history, and named when it is wanted.
func TestHistoryWithDamage(t *testing.T) {
	cfg, a, _ := newAccount(t)
	v := firstVault(t, a)
	it := newItem(t, "item", "1")
	save(t, v, it)
	first := it.Rev()
	it.Origin.Tag = "act"
	it.Fields[0].Put(value(t, "2"))
	save(t, v, it)
	path := ""
	for _, name := range itemFiles(t, cfg, it.ID) {
		if strings.HasSuffix(name, first.String()[:16]) {
			path = filepath.Join(cfg.AccountDir, name)
		}
	}
	data := readFile(t, path)
	data[len(data)-1] ^= 1
	for name, damage := range map[string]func(){
		"changed": func() { writeFile(t, path, data) }, "gone": func() { must(t, os.Remove(path)) },
	} {
		damage()
		if _, err := v.OpenRevision(it.ID, first); !errors.Is(err, vault.ErrDamaged) {
			t.Errorf("%s: opened: %v", name, err)
		}
		if err := v.Revert(it.ID, first, vault.Origin{}); !errors.Is(err, vault.ErrDamaged) {
			t.Errorf("%s: reverted: %v", name, err)
		}
		if n, err := v.Undo("act", vault.Origin{}); !errors.Is(err, vault.ErrDamaged) || n != 0 {
			t.Errorf("%s: %d taken back: %v", name, n, err)
		}
		historyTells(t, v, it, first, name == "changed")
	}
	if text, state := firstValue(t, v, it.ID); text != "2" || state != vault.StateOK {
		t.Errorf("the current one is %s, %q", state, text)
	}
}

// historyTells wants the item's only older revision in its history if it was changed, and not if it is gone.
func historyTells(t *testing.T, v *vault.Vault, it *vault.Item, older seal.Hash, changed bool) {
	t.Helper()
	list, err := v.History(it.ID)
	if err != nil || len(list) == 0 || list[0].Rev() != it.Rev() {
		t.Fatalf("%+v %v", list, err)
	}
	told := len(list) == 2 && list[1].Rev() == older && list[1].State == vault.StateDamaged && list[1].Name == it.Name
	if told != changed || !told && len(list) != 1 {
		t.Errorf("changed: %v, listed: %+v", changed, list)
	}
}

func TestRevert(t *testing.T) {
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	it := newItem(t, "old name", "old")
	it.Level = vault.LevelUse
	save(t, v, it)
	old := it.Rev()
	it.Name, it.Level = "new name", vault.LevelNone
	it.Fields[0].Put(value(t, "new"))
	it.Fields = append(it.Fields, vault.Field{Name: "more", Value: value(t, "more")})
	save(t, v, it)
	newer := it.Rev()
	must(t, v.Revert(it.ID, old, vault.Origin{By: vault.ByPerson, Tag: "back"}))
	m := meta(t, v, it.ID)
	if m.Name != "old name" || m.Level != vault.LevelUse || m.Origin.Tag != "back" || m.Rev() == old || !slices.Equal(m.Parents(), []seal.Hash{newer}) {
		t.Errorf("%+v", m)
	}
	if got := kept(t, v, it.ID); !slices.Equal(got, []string{"old", "new", "old"}) {
		t.Errorf("kept are %q", got)
	}
	got, err := v.Open(it.ID)
	must(t, err)
	defer got.Destroy()
	if len(got.Fields) != 1 {
		t.Errorf("%d fields", len(got.Fields))
	}
	// The name from before may be taken by now.
	must(t, v.Revert(it.ID, newer, vault.Origin{}))
	save(t, v, newItem(t, "old name", "x"))
	if err := v.Revert(it.ID, old, vault.Origin{}); !errors.Is(err, vault.ErrExists) {
		t.Errorf("to a name that is taken: %v", err)
	}
	calm(t, a)
}

func TestTrashAndRestore(t *testing.T) {
	now := newClock()
	cfg := config(t.TempDir())
	cfg.Now = now.Now
	a, _ := create(t, cfg)
	v := firstVault(t, a)
	it := newItem(t, "item", "value")
	save(t, v, it)
	now.pass()
	must(t, v.Trash(it.ID, vault.Origin{By: vault.ByPerson, Tag: "away"}))
	m := meta(t, v, it.ID)
	if !m.Trashed.Equal(now.now) || m.Origin.Tag != "away" {
		t.Errorf("%+v", m)
	}
	if _, err := v.Find(vault.KindItem, seal.ID{}, "item"); !errors.Is(err, vault.ErrNotFound) {
		t.Errorf("found in the trash: %v", err)
	}
	if text, _ := firstValue(t, v, it.ID); text != "value" {
		t.Errorf("in the trash it holds %q", text)
	}
	second := newItem(t, "ITEM", "second")
	save(t, v, second)
	if err := v.Restore(it.ID, vault.Origin{}); !errors.Is(err, vault.ErrExists) {
		t.Errorf("restored to a name that is taken: %v", err)
	}
	if m := meta(t, v, it.ID); m.Trashed.IsZero() {
		t.Error("it was restored")
	}
	must(t, v.Trash(second.ID, vault.Origin{}))
	must(t, v.Restore(it.ID, vault.Origin{By: vault.ByPerson}))
	if found(t, v, "item") != it.ID || !meta(t, v, it.ID).Trashed.IsZero() {
		t.Error("it was not restored")
	}
	a.Lock()
	a = open(t, cfg)
	calm(t, a)
	v = firstVault(t, a)
	if found(t, v, "item") != it.ID || meta(t, v, second.ID).Trashed.IsZero() {
		t.Error("after unlocking again it is not so")
	}
}

// purged wants nothing left of the first items but tombstones, and one item as it was.
func purged(t *testing.T, cfg vault.Config, v *vault.Vault, gone []*vault.Item, kept *vault.Item) {
	t.Helper()
	for _, it := range gone {
		if left := itemFiles(t, cfg, it.ID); len(left) != 0 {
			t.Errorf("left are %q", left)
		}
		if _, err := v.Open(it.ID); !errors.Is(err, vault.ErrNotFound) {
			t.Errorf("opened: %v", err)
		}
		if _, err := v.History(it.ID); !errors.Is(err, vault.ErrNotFound) {
			t.Errorf("history: %v", err)
		}
	}
	if list := v.List(); len(list) != 1 || list[0].ID != kept.ID {
		t.Errorf("listed are %+v", list)
	}
	if got := vault.Tombstones(v); len(got) != 2 || !slices.Contains(got, gone[0].ID) || !slices.Contains(got, gone[1].ID) {
		t.Errorf("tombstones %v", got)
	}
}

func TestPurge(t *testing.T) {
	cfg, a, _ := newAccount(t)
	v := firstVault(t, a)
	gone, kept := []*vault.Item{newItem(t, "a", "1"), newItem(t, "b", "1")}, newItem(t, "c", "1")
	save(t, v, append(gone, kept)...)
	for _, it := range gone {
		change(t, v, it.ID, "2")
		change(t, v, it.ID, "3")
	}
	must(t, v.Trash(gone[0].ID, vault.Origin{}))
	must(t, v.Purge(gone[0].ID, gone[1].ID)) // in the trash or not
	purged(t, cfg, v, gone, kept)
	a.Lock()
	a = open(t, cfg)
	calm(t, a)
	v = firstVault(t, a)
	purged(t, cfg, v, gone, kept)
	if err := v.Purge(gone[0].ID); !errors.Is(err, vault.ErrNotFound) {
		t.Errorf("a second time: %v", err)
	}
	if err := v.Save(gone[0]); !errors.Is(err, vault.ErrChanged) {
		t.Errorf("saved after its end: %v", err)
	}
	save(t, v, newItem(t, "a", "new"), newItem(t, "b", "new"))
	if list := v.List(); len(list) != 3 {
		t.Errorf("the names are not free: %+v", list)
	}
}

func TestPurgeIsAllOrNone(t *testing.T) {
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	it := newItem(t, "a", "1")
	save(t, v, it)
	for name, id := range map[string]seal.ID{"unknown": seal.NewID(), "zero": {}, "the vault's own": v.ID()} {
		if err := v.Purge(it.ID, id); err == nil {
			t.Errorf("%s: ended", name)
		}
		if text, _ := firstValue(t, v, it.ID); text != "1" || len(vault.Tombstones(v)) != 0 {
			t.Fatalf("%s: the item is gone, tombstones %v", name, vault.Tombstones(v))
		}
	}
	if a.Vaults()[0].Name() != vault.DefaultVault {
		t.Error("the vault has lost its name")
	}
	if err := v.Trash(v.ID(), vault.Origin{}); err == nil {
		t.Error("the vault's own item is in the trash")
	}
	must(t, v.Purge())
	calm(t, a)
}
