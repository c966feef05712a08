package vault_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"warder/internal/seal"
	"warder/internal/vault"
)

func TestNamesAreUniqueWithoutCase(t *testing.T) {
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	save(t, v, newItem(t, "GitHub", "1"))
	for name, same := range map[string]bool{
		"github": true, "GITHUB": true, "GitHub": true, "git-hub": false, "GitHub ☃": false, "gıthub": true,
	} {
		err := v.Save(newItem(t, name, "2"))
		if same && !errors.Is(err, vault.ErrExists) || !same && err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if same && found(t, v, name) != found(t, v, "GitHub") {
			t.Errorf("%q finds another", name)
		}
	}
	project := &vault.Item{Meta: vault.Meta{Kind: vault.KindProject, Name: "github"}}
	save(t, v, project) // of another kind
	shop := &vault.Item{Meta: vault.Meta{Kind: vault.KindProject, Name: "shop"}}
	save(t, v, shop)
	stage := func(of *vault.Item, name string) *vault.Item {
		return &vault.Item{Meta: vault.Meta{Kind: vault.KindStage, Project: of.ID, Name: name}}
	}
	save(t, v, stage(shop, "dev"), stage(project, "Dev")) // of another project
	if err := v.Save(stage(shop, "DEV")); !errors.Is(err, vault.ErrExists) {
		t.Errorf("a stage twice in its project: %v", err)
	}
	m, err := v.Find(vault.KindStage, project.ID, "dEV")
	must(t, err)
	if m.Name != "Dev" || m.Project != project.ID {
		t.Errorf("found %+v", m)
	}
	work, err := a.CreateVault("work")
	must(t, err)
	save(t, work, newItem(t, "GitHub", "in another vault"))
}

func TestRename(t *testing.T) {
	cfg, a, _ := newAccount(t)
	v := firstVault(t, a)
	it, other := newItem(t, "one", "1"), newItem(t, "two", "2")
	save(t, v, it, other)
	rename(t, v, it.ID, "ONE") // its own name in other letters
	if meta(t, v, it.ID).Name != "ONE" || found(t, v, "one") != it.ID {
		t.Error("not renamed")
	}
	rename(t, v, it.ID, "three")
	if _, err := v.Find(vault.KindItem, seal.ID{}, "one"); !errors.Is(err, vault.ErrNotFound) {
		t.Errorf("the former name: %v", err)
	}
	got, err := v.Open(it.ID)
	must(t, err)
	defer got.Destroy()
	got.Name = "Two"
	if err := v.Save(got); !errors.Is(err, vault.ErrExists) {
		t.Errorf("to a name that is taken: %v", err)
	}
	if found(t, v, "three") != it.ID || found(t, v, "two") != other.ID {
		t.Error("a refused name took effect")
	}
	save(t, v, newItem(t, "one", "free again"))
	a.Lock()
	v = firstVault(t, open(t, cfg))
	if found(t, v, "three") != it.ID || found(t, v, "one") == it.ID {
		t.Error("after unlocking again it is not so")
	}
}

// TestNamesInOneSave moves names between items in one act, which is right if it is right in the end.
func TestNamesInOneSave(t *testing.T) {
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		var names []string
		for i := range 5 {
			names = append(names, fmt.Sprintf("name %d of round %d", i, round))
		}
		moved(t, rt, v, names)
	})
}

// moved names four items anew, with five names for four.
func moved(t *testing.T, rt *rapid.T, v *vault.Vault, names []string) {
	var items []*vault.Item
	for _, name := range names[:4] {
		items = append(items, newItem(t, name, "of "+name))
	}
	save(t, v, items...)
	names = rapid.Permutation(names).Draw(rt, "names")
	order := rapid.Permutation(items).Draw(rt, "order")
	want := map[string]seal.ID{}
	for i, it := range items {
		it.Name = strings.ToUpper(names[i])
		want[names[i]] = it.ID
	}
	if err := v.Save(order...); err != nil {
		rt.Fatal(err)
	}
	for _, name := range names {
		m, err := v.Find(vault.KindItem, seal.ID{}, name)
		if id, ok := want[name]; ok && (err != nil || m.ID != id) || !ok && err == nil {
			rt.Fatalf("%q finds %s (%v), want %s", name, m.ID, err, want[name])
		}
	}
	if err := v.Save(newItem(t, names[0], "x")); !errors.Is(err, vault.ErrExists) {
		rt.Fatalf("a name of a moved item is free: %v", err)
	}
	if err := v.Save(newItem(t, names[4], "x")); err != nil {
		rt.Fatalf("the name that is left over: %v", err)
	}
}

func TestNamesInOneSaveThatClash(t *testing.T) {
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	first, second := newItem(t, "a", "1"), newItem(t, "b", "2")
	save(t, v, first, second)
	mine := func(it *vault.Item, name string) *vault.Item {
		got, err := v.Open(it.ID)
		must(t, err)
		t.Cleanup(got.Destroy)
		got.Name = name
		return got
	}
	for name, batch := range map[string][]*vault.Item{
		"two new ones":                 {newItem(t, "x", "1"), newItem(t, "X", "2")},
		"one takes, none gives":        {mine(first, "b")},
		"one takes what another keeps": {mine(first, "b"), mine(second, "B")},
		"both to one new name":         {mine(first, "c"), mine(second, "C")},
		"one new, one renamed":         {newItem(t, "c", "1"), mine(second, "c")},
		"two take what one gives":      {mine(first, "c"), newItem(t, "a", "1"), newItem(t, "A", "1")},
	} {
		if err := v.Save(batch...); !errors.Is(err, vault.ErrExists) {
			t.Errorf("%s: %v", name, err)
		}
		if len(v.List()) != 2 || found(t, v, "a") != first.ID || found(t, v, "b") != second.ID {
			t.Fatalf("%s: something was changed", name)
		}
	}
	trashed := mine(first, "a")
	trashed.Trashed = first.Created
	save(t, v, newItem(t, "A", "takes it over"), trashed)
	if found(t, v, "a") == first.ID {
		t.Error("the one in the trash has the name")
	}
}

// TestSaveIsAllOrNone puts one bad item at each place of a batch.
func TestSaveIsAllOrNone(t *testing.T) {
	cfg, a, _ := newAccount(t)
	v := firstVault(t, a)
	it, stale := newItem(t, "here", "1"), newItem(t, "stale", "1")
	save(t, v, it, stale)
	change(t, v, stale.ID, "2")
	bad := map[string]*vault.Item{
		"a bad name": newItem(t, "a/b", "x"), "too large": newItem(t, "large", strings.Repeat("x", 65536)), "a taken name": newItem(t, "HERE", "x"),
		"a stale item": stale, "nil": nil,
	}
	before, code, all := files(t, cfg.AccountDir), a.StateCode(), v.List()
	for name, wrong := range bad {
		for at := range 3 {
			good := []*vault.Item{newItem(t, "new", "x"), it}
			if err := v.Save(slices.Insert(good, at, wrong)...); err == nil {
				t.Errorf("%s at %d: saved", name, at)
			}
			if now := files(t, cfg.AccountDir); !slices.Equal(now, before) {
				t.Fatalf("%s at %d: files %q, then %q", name, at, before, now)
			}
			if a.StateCode() != code || len(v.List()) != len(all) {
				t.Fatalf("%s at %d: something was changed", name, at)
			}
		}
	}
	save(t, v, newItem(t, "new", "x"), it) // neither is spoiled by the failures
	calm(t, a)
}

func TestSaveOfNothing(t *testing.T) {
	_, a, _ := newAccount(t)
	code := a.StateCode()
	must(t, firstVault(t, a).Save())
	if a.StateCode() != code {
		t.Error("something was changed")
	}
}

func TestSaveTwiceInOneBatch(t *testing.T) {
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	it := newItem(t, "twin", "1")
	if err := v.Save(it, it); err == nil {
		t.Error("one item twice in a batch")
	}
	save(t, v, it)
	again, err := v.Open(it.ID)
	must(t, err)
	defer again.Destroy()
	if err := v.Save(it, again); err == nil {
		t.Error("two copies of one item in a batch")
	}
	if got := kept(t, v, it.ID); len(got) != 1 {
		t.Errorf("kept are %q", got)
	}
	calm(t, a)
}

func TestErrChanged(t *testing.T) {
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	it := newItem(t, "item", "1")
	save(t, v, it)
	first, err := v.Open(it.ID)
	must(t, err)
	t.Cleanup(first.Destroy)
	second, err := v.Open(it.ID)
	must(t, err)
	t.Cleanup(second.Destroy)
	first.Fields[0].Put(value(t, "by the first"))
	second.Fields[0].Put(value(t, "by the second"))
	save(t, v, first)
	if err := v.Save(second); !errors.Is(err, vault.ErrChanged) {
		t.Errorf("saved over a change: %v", err)
	}
	if text, _ := firstValue(t, v, it.ID); text != "by the first" {
		t.Errorf("it holds %q", text)
	}
	save(t, v, first) // who wrote last may go on
	gone := newItem(t, "gone", "1")
	save(t, v, gone)
	must(t, v.Purge(gone.ID))
	if err := v.Save(gone); !errors.Is(err, vault.ErrChanged) {
		t.Errorf("saved after its end: %v", err)
	}
	unknown := newItem(t, "from elsewhere", "1")
	work, err := a.CreateVault("work")
	must(t, err)
	save(t, work, unknown)
	if err := v.Save(unknown); !errors.Is(err, vault.ErrChanged) {
		t.Errorf("an item of another vault: %v", err)
	}
}

// TestItemsAtOnce writes from several goroutines: the account serialises them.
func TestItemsAtOnce(t *testing.T) {
	cfg, a, _ := newAccount(t)
	v := firstVault(t, a)
	errs := make(chan error)
	const writers, each = 4, 5
	for w := range writers {
		go func() {
			var err error
			for n := range each {
				it := newItem(t, fmt.Sprintf("item %d of %d", n, w), "1")
				err = errors.Join(err, v.Save(it))
				it.Fields[0].Put(value(t, "2"))
				err = errors.Join(err, v.Save(it))
				v.List()
				a.StateCode()
				_, opened := v.History(it.ID)
				err = errors.Join(err, opened)
			}
			errs <- err
		}()
	}
	for range writers {
		must(t, <-errs)
	}
	calm(t, a)
	a.Lock()
	if n := len(firstVault(t, open(t, cfg)).List()); n != writers*each {
		t.Errorf("%d items", n)
	}
}
