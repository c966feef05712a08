package vault_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"warder/internal/vault"
)

// TestWritingOnAnOlderRevision: another device changed an item and its file has not come. What is served meanwhile is older, and saving
// that again must not take the other's change out of sight: both stand when the file comes, whatever was saved in between.
func TestWritingOnAnOlderRevision(t *testing.T) {
	oneThread(t)
	for name, change := range changesOfX() {
		t.Run(name, func(t *testing.T) { writeOnAnOlderRevision(t, change) })
	}
}

// changeOfX is what somebody saves on the older revision.
type changeOfX func(t *testing.T, v *vault.Vault, it *vault.Item)

func changesOfX() map[string]changeOfX {
	return map[string]changeOfX{
		"a tag": func(t *testing.T, v *vault.Vault, it *vault.Item) {
			t.Helper()
			it.Tags = []string{"tagged"}
			save(t, v, it)
		},
		"a tag and then another": func(t *testing.T, v *vault.Vault, it *vault.Item) {
			t.Helper()
			it.Tags = []string{"tagged"}
			save(t, v, it)
			it.Tags = append(it.Tags, "again")
			save(t, v, it)
		},
		"a value": func(t *testing.T, v *vault.Vault, it *vault.Item) {
			t.Helper()
			it.Fields[0].Put(value(t, "three"))
			save(t, v, it)
		},
		"to the trash": func(t *testing.T, v *vault.Vault, it *vault.Item) {
			t.Helper()
			must(t, v.Trash(it.ID, vault.Origin{By: vault.ByPerson}))
		},
		"back to an older one": func(t *testing.T, v *vault.Vault, it *vault.Item) {
			t.Helper()
			history, err := v.History(it.ID)
			must(t, err)
			must(t, v.Revert(it.ID, history[len(history)-1].Rev(), vault.Origin{By: vault.ByPerson}))
		},
	}
}

func writeOnAnOlderRevision(t *testing.T, change changeOfX) {
	t.Helper()
	s, first, second := twoDevices(t)
	v, w := firstVault(t, first), firstVault(t, second)
	save(t, v, newItem(t, "x", "zero"))
	editTo(t, v, "x", "one")
	id := find(t, v, "x")
	_, err := second.Check()
	must(t, err)
	editTo(t, w, "x", "two")
	history, err := w.History(id)
	must(t, err)
	path := filepath.Join(s.account().AccountDir, "vaults", v.ID().String(), "items", id.String()[:2],
		id.String()+"-"+history[0].Rev().String()[:16])
	file := readFile(t, path)
	must(t, os.Remove(path))

	_, err = first.Check()
	must(t, err)
	it, err := v.Open(id)
	must(t, err)
	defer it.Destroy()
	if got := string(bytesOf(t, it.Fields[0].Value)); got != "one" || it.State != vault.StateMissing {
		t.Fatalf("served: %q, %s", got, it.State)
	}
	change(t, v, it)
	if got := summaries(first.Findings()); !slices.Equal(got, []string{"missing"}) {
		t.Errorf("findings while the file is absent: %q", texts(first.Findings()))
	}
	code := first.StateCode()
	if again := open(t, s.account()); again.StateCode() != code {
		t.Error("another process sees another state")
	}
	writeFile(t, path, file)

	for _, a := range []*vault.Account{first, second} {
		if found, err := a.Check(); err != nil || len(found) > 0 {
			t.Errorf("findings: %q, %v", texts(found), err)
		}
		v := firstVault(t, a)
		list := v.List()
		if len(list) != 1 || !list[0].Conflict {
			t.Fatalf("listed: %+v", list)
		}
		history, err := v.History(id)
		must(t, err)
		if !slices.ContainsFunc(history, func(m vault.Meta) bool { return revisionText(t, v, m) == "two" }) {
			t.Error("what the other device wrote is gone")
		}
	}
	if first.StateCode() != second.StateCode() {
		t.Error("the devices see different states")
	}
	both, err := v.Open(id)
	must(t, err)
	defer both.Destroy()
	both.Trashed = time.Time{}
	both.Fields[0].Put(value(t, "settled"))
	save(t, v, both) // after that the two are one again
	quiet(t, first, 1)
	quiet(t, second, 1)
}

func revisionText(t *testing.T, v *vault.Vault, m vault.Meta) string {
	t.Helper()
	it, err := v.OpenRevision(m.ID, m.Rev())
	must(t, err)
	defer it.Destroy()
	return string(bytesOf(t, it.Fields[0].Value))
}
