package vault_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warder/internal/seal"
	"warder/internal/vault"
)

// calm reads the store again and wants nothing to be wrong with it.
func calm(t testing.TB, a *vault.Account) {
	t.Helper()
	found, err := a.Check()
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 0 {
		t.Fatalf("findings: %+v", found)
	}
}

// twins are two devices, each with its own copy of the account directory, and what both copies held when they last met.
type twins struct {
	t    *testing.T
	cfgs [2]vault.Config
	dev  [2]*vault.Account
	base map[string]string
}

func newTwins(t *testing.T) *twins {
	t.Helper()
	cfg, a, kit := newAccount(t)
	second := anotherDevice(t, cfg, kit)
	open(t, second).Lock()
	a.Lock()
	copied := filepath.Join(t.TempDir(), "account")
	copyTree(t, cfg.AccountDir, copied)
	second.AccountDir = copied
	w := &twins{t: t, cfgs: [2]vault.Config{cfg, second}}
	w.base = w.contents(0)
	for i := range w.cfgs {
		w.dev[i] = open(t, w.cfgs[i])
		calm(t, w.dev[i])
	}
	w.meet()
	return w
}

func (w *twins) vault(i int) *vault.Vault { return firstVault(w.t, w.dev[i]) }

func (w *twins) contents(i int) map[string]string {
	all := map[string]string{}
	for _, name := range files(w.t, w.cfgs[i].AccountDir) {
		all[name] = string(readFile(w.t, filepath.Join(w.cfgs[i].AccountDir, name)))
	}
	return all
}

// meet carries the changes of each copy over to the other one, as a cloud drive does. No file may have been changed on both sides: F1
// gives each file one writer.
func (w *twins) meet() {
	w.t.Helper()
	now := [2]map[string]string{w.contents(0), w.contents(1)}
	for from, to := range [2]int{1, 0} {
		paths := maps.Clone(now[from])
		maps.Copy(paths, w.base)
		for path := range paths {
			old, was := w.base[path]
			data, is := now[from][path]
			other, there := now[to][path]
			if data == old && is == was || data == other && is == there {
				continue
			}
			if other != old || there != was {
				w.t.Fatalf("both devices changed %s", path)
			}
			target := filepath.Join(w.cfgs[to].AccountDir, path)
			if is {
				writeFile(w.t, target, []byte(data))
			} else if err := os.Remove(target); err != nil {
				w.t.Fatal(err)
			}
		}
	}
	w.base = w.contents(0)
}

// agree wants both devices to find nothing wrong and to show the same.
func (w *twins) agree() {
	w.t.Helper()
	for _, a := range w.dev {
		calm(w.t, a)
	}
	if a, b := w.dev[0].StateCode(), w.dev[1].StateCode(); a != b {
		w.t.Fatalf("state codes %s and %s", a, b)
	}
}

// change opens an item by id, changes its first value and saves it.
func change(t testing.TB, v *vault.Vault, id seal.ID, text string) {
	t.Helper()
	it, err := v.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	defer it.Destroy()
	it.Fields[0].Put(value(t, text))
	save(t, v, it)
}

// meta is an item as the vault lists it.
func meta(t testing.TB, v *vault.Vault, id seal.ID) vault.Meta {
	t.Helper()
	for _, m := range v.List() {
		if m.ID == id {
			return m
		}
	}
	t.Fatalf("item %s is not listed", id)
	return vault.Meta{}
}

// kept are the first values of all kept revisions of an item, newest first.
func kept(t testing.TB, v *vault.Vault, id seal.ID) []string {
	t.Helper()
	list, err := v.History(id)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, m := range list {
		it, err := v.OpenRevision(id, m.Rev())
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(bytesOf(t, it.Fields[0].Value)))
		it.Destroy()
	}
	return texts
}

// itemFiles are the files of one item's revisions.
func itemFiles(t testing.TB, cfg vault.Config, id seal.ID) []string {
	t.Helper()
	return slices.DeleteFunc(files(t, cfg.AccountDir), func(path string) bool { return !strings.Contains(path, "/"+id.String()+"-") })
}

// TestEditsApart changes one item on two devices that don't see each other. Both revisions stay, one is shown on both devices, and the
// next write follows both.
func TestEditsApart(t *testing.T) {
	w := newTwins(t)
	for name, edits := range map[string][2][]string{
		"one each":              {{"a1"}, {"b1"}},
		"more on the first":     {{"a1", "a2", "a3"}, {"b1"}},
		"more on the second":    {{"a1"}, {"b1", "b2", "b3"}},
		"several on both":       {{"a1", "a2"}, {"b1", "b2"}},
		"many on both together": {{"a1", "a2", "a3", "a4"}, {"b1", "b2", "b3", "b4", "b5"}},
	} {
		t.Run(name, func(t *testing.T) {
			it := newItem(t, name, "start")
			save(t, w.vault(0), it)
			w.meet()
			w.agree()
			for i, texts := range edits {
				for _, text := range texts {
					change(t, w.vault(i), it.ID, text)
				}
			}
			w.meet()
			w.agree()
			w.conflictOf(it.ID, edits)
			w.resolve(it.ID, edits)
		})
	}
}

func lasts(edits [2][]string) []string {
	return []string{edits[0][len(edits[0])-1], edits[1][len(edits[1])-1]}
}

// conflictOf wants both devices to show one and the same revision as a conflict, and to keep all.
func (w *twins) conflictOf(id seal.ID, edits [2][]string) {
	w.t.Helper()
	var want []string
	var shown [2]string
	for i := range w.dev {
		if m := meta(w.t, w.vault(i), id); !m.Conflict {
			w.t.Fatalf("device %d lists no conflict: %+v", i, m)
		}
		it, err := w.vault(i).Open(id)
		if err != nil {
			w.t.Fatal(err)
		}
		if !it.Conflict || it.State != vault.StateOK {
			w.t.Fatalf("device %d opens it as %s, conflict %v", i, it.State, it.Conflict)
		}
		shown[i] = string(bytesOf(w.t, it.Fields[0].Value))
		it.Destroy()
		want = append(want, edits[i]...)
	}
	if shown[0] != shown[1] || !slices.Contains(lasts(edits), shown[0]) {
		w.t.Fatalf("the devices show %q", shown)
	}
	want = append(want, "start")
	slices.Sort(want)
	for i := range w.dev {
		got := kept(w.t, w.vault(i), id)
		if got[0] != shown[0] {
			w.t.Fatalf("shown is %q, the newest of %q is another", shown[0], got)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			w.t.Fatalf("device %d keeps %q, want %q", i, got, want)
		}
	}
}

// resolve writes the item again on the second device.
func (w *twins) resolve(id seal.ID, edits [2][]string) {
	w.t.Helper()
	change(w.t, w.vault(1), id, "resolved")
	w.meet()
	w.agree()
	for i := range w.dev {
		if text, _ := firstValue(w.t, w.vault(i), id); text != "resolved" {
			w.t.Fatalf("device %d shows %q", i, text)
		}
		if m := meta(w.t, w.vault(i), id); m.Conflict {
			w.t.Fatalf("device %d still lists a conflict", i)
		}
		got := kept(w.t, w.vault(i), id)
		for _, head := range append(lasts(edits), "start") {
			if !slices.Contains(got, head) {
				w.t.Fatalf("device %d has lost %q, keeps %q", i, head, got)
			}
		}
		if len(got) != 2+len(edits[0])+len(edits[1]) {
			w.t.Fatalf("device %d keeps %q", i, got)
		}
		if files := itemFiles(w.t, w.cfgs[i], id); len(files) != len(got) {
			w.t.Fatalf("%d revisions, files %q", len(got), files)
		}
	}
}

// TestEditsApartBeyondTheHistory wants both heads kept where together they have more revisions than a history holds.
func TestEditsApartBeyondTheHistory(t *testing.T) {
	w := newTwins(t)
	it := newItem(t, "shared", "start")
	save(t, w.vault(0), it)
	w.meet()
	w.agree()
	for i, v := range [2]*vault.Vault{w.vault(0), w.vault(1)} {
		for n := range 12 {
			change(t, v, it.ID, fmt.Sprintf("%c%d", 'a'+i, n))
		}
	}
	w.meet()
	w.agree()
	change(t, w.vault(0), it.ID, "resolved")
	w.meet()
	w.agree()
	for i := range w.dev {
		got := kept(t, w.vault(i), it.ID)
		if len(got) != 11 || got[0] != "resolved" || !slices.Contains(got, "a11") || !slices.Contains(got, "b11") {
			t.Errorf("device %d keeps %q", i, got)
		}
		if files := itemFiles(t, w.cfgs[i], it.ID); len(files) != 11 {
			t.Errorf("device %d has files %q", i, files)
		}
	}
}

// TestEditBeatsPurge: what one device ended and another changed comes back, flagged.
func TestEditBeatsPurge(t *testing.T) {
	w := newTwins(t)
	it := newItem(t, "shared", "start")
	save(t, w.vault(0), it)
	w.meet()
	w.agree()
	must(t, w.vault(0).Purge(it.ID))
	change(t, w.vault(1), it.ID, "changed")
	w.meet()
	w.agree()
	for i := range w.dev {
		if text, _ := firstValue(t, w.vault(i), it.ID); text != "changed" || !meta(t, w.vault(i), it.ID).Conflict {
			t.Errorf("device %d shows %q, conflict %v", i, text, meta(t, w.vault(i), it.ID).Conflict)
		}
	}
	change(t, w.vault(0), it.ID, "kept")
	w.meet()
	w.agree()
	for i := range w.dev {
		if text, _ := firstValue(t, w.vault(i), it.ID); text != "kept" || meta(t, w.vault(i), it.ID).Conflict {
			t.Errorf("device %d shows %q", i, text)
		}
	}
}

// TestPurgeOfAConflict leaves nothing of either side.
func TestPurgeOfAConflict(t *testing.T) {
	w := newTwins(t)
	it := newItem(t, "shared", "start")
	save(t, w.vault(0), it)
	w.meet()
	w.agree()
	for i := range w.dev {
		change(t, w.vault(i), it.ID, "once")
		change(t, w.vault(i), it.ID, "twice")
	}
	w.meet()
	w.agree()
	must(t, w.vault(0).Purge(it.ID))
	w.meet()
	w.agree()
	for i := range w.dev {
		if left := itemFiles(t, w.cfgs[i], it.ID); len(left) != 0 {
			t.Errorf("device %d still has %q", i, left)
		}
		if _, err := w.vault(i).Open(it.ID); !errors.Is(err, vault.ErrNotFound) {
			t.Errorf("device %d: %v", i, err)
		}
	}
}

// TestOneNameMadeApart: two items of one name are both there. One has the name, the other is found by id, and may be changed or renamed.
func TestOneNameMadeApart(t *testing.T) {
	w := newTwins(t)
	made := [2]*vault.Item{newItem(t, "GitHub", "a"), newItem(t, "github", "b")}
	save(t, w.vault(0), made[0])
	save(t, w.vault(1), made[1])
	w.meet()
	w.agree()
	first, second := made[0].ID, made[1].ID
	if bytes.Compare(first[:], second[:]) > 0 {
		first, second = second, first
	}
	v := w.vault(0)
	if got := found(t, v, "GITHUB"); got != first {
		t.Errorf("found %s, not the lower id %s", got, first)
	}
	change(t, v, first, "a2")
	change(t, v, second, "b2")
	if err := v.Save(newItem(t, "gitHub", "c")); !errors.Is(err, vault.ErrExists) {
		t.Errorf("a third one: %v", err)
	}
	rename(t, v, first, "forge")
	if got := found(t, v, "github"); got != second {
		t.Errorf("found %s, not the one that still has the name", got)
	}
	if err := v.Save(newItem(t, "github", "c")); !errors.Is(err, vault.ErrExists) {
		t.Errorf("a third one: %v", err)
	}
	must(t, v.Trash(second, vault.Origin{}))
	save(t, v, newItem(t, "github", "c"))
	w.meet()
	w.agree()
}

// found is the id of the item that has a name.
func found(t testing.TB, v *vault.Vault, name string) seal.ID {
	t.Helper()
	m, err := v.Find(vault.KindItem, seal.ID{}, name)
	must(t, err)
	return m.ID
}

func rename(t testing.TB, v *vault.Vault, id seal.ID, name string) {
	t.Helper()
	it, err := v.Open(id)
	must(t, err)
	defer it.Destroy()
	it.Name = name
	save(t, v, it)
}

// TestWritesOfAnotherDeviceAreTaken: a device that is unlocked takes over what others write, keyset and roster too, with its next write.
func TestWritesOfAnotherDeviceAreTaken(t *testing.T) {
	cfg, a, kit := newAccount(t)
	b := open(t, anotherDevice(t, cfg, kit))
	save(t, firstVault(t, b), newItem(t, "of b", "b"))
	save(t, firstVault(t, a), newItem(t, "of a", "a"))
	found(t, firstVault(t, a), "of b")
	must(t, b.ChangePassword(value(t, password), value(t, otherPassword)))
	save(t, firstVault(t, a), newItem(t, "of a 2", "a"))
	if f := a.Findings(); len(f) != 0 {
		t.Errorf("findings %+v", f)
	}
	it := newItem(t, "stale", "1")
	save(t, firstVault(t, a), it)
	calm(t, b)
	change(t, firstVault(t, b), it.ID, "2")
	it.Fields[0].Put(value(t, "3"))
	if err := firstVault(t, a).Save(it); !errors.Is(err, vault.ErrChanged) {
		t.Errorf("saved over another device's change: %v", err)
	}
	if text, _ := firstValue(t, firstVault(t, a), it.ID); text != "2" {
		t.Errorf("shown is %q", text)
	}
	calm(t, a)
	calm(t, b)
	if a.StateCode() != b.StateCode() {
		t.Error("the state codes differ")
	}
}
