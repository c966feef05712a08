package vault_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"warder/internal/seal"
	"warder/internal/vault"
)

// freshPassword is what acts change the password to.
const freshPassword = "another Good passphrase 41 tulips"

// act is a write that is killed at each of its steps.
type act struct {
	name    string
	partly  bool                                       // its error tells of a part, and a part of it may wait for the next start
	long    bool                                       // each step is killed in one way only, by turns, not in all
	prepare func(t *testing.T, s scene)                // makes what is there before, once
	do      func(t *testing.T, s scene, l *life) error // the act
	look    func(t *testing.T, s scene) sight          // opens the account afterwards
	next    func(t *testing.T, s scene, was sight)     // the next write; nil for one to the account that look opened
}

// sight is what is to be seen of an account.
type sight struct {
	content  string // all that a person put there
	findings []string
	open     *vault.Account // nil if there is none
	cfg      vault.Config   // with which it was opened
}

// life is what happens to a process during an act: the act opens the account through what on returns, and calls begin when the steps that
// count begin.
type life struct {
	on    func(vault.Config) vault.Config
	begin func()
	spare func() // ends what befalls it; nil where that is death
}

// child runs the act in a process of its own, to the death that the job names.
func (a act) child(t *testing.T, j job) {
	r := &reaper{die: j.Die}
	must(t, a.do(t, sceneAt(j.Dir), &life{on: r.over, begin: r.begin}))
}

// inVault is an act on an account that is open. If it fails and the process lives on, the account goes on with it.
func inVault(do func(t *testing.T, a *vault.Account, v *vault.Vault) error) func(*testing.T, scene, *life) error {
	return func(t *testing.T, s scene, l *life) error {
		a := open(t, l.on(s.account()))
		defer a.Lock()
		v := firstVault(t, a)
		l.begin()
		err := do(t, a, v)
		if l.spare == nil {
			return err
		}
		l.spare()
		alarm := new(vault.AlarmError)
		if next := a.Touch(); next != nil && !errors.As(next, &alarm) {
			t.Errorf("after %v, the next write: %v", err, next)
		}
		return err
	}
}

// acts are all writes of the account.
func acts() []act {
	return slices.Concat(itemActs(), accountActs(), moreActs())
}

func itemActs() []act {
	return []act{{
		name: "saving a new item", prepare: prepareItems, look: lookAtAccount,
		do: inVault(func(t *testing.T, _ *vault.Account, v *vault.Vault) error {
			return v.Save(newItem(t, "fresh", "value of fresh"))
		}),
	}, {
		name: "saving an edit", prepare: prepareItems, look: lookAtAccount,
		do: inVault(func(t *testing.T, _ *vault.Account, v *vault.Vault) error { return tryEdit(t, v, "edited", "value 99") }),
	}, {
		name: "saving twenty items", long: true, prepare: prepareItems, look: lookAtAccount,
		do: inVault(func(t *testing.T, _ *vault.Account, v *vault.Vault) error {
			var items []*vault.Item
			for i := range 20 {
				it := newItem(t, fmt.Sprintf("batch %02d", i), fmt.Sprintf("batch value %d", i))
				it.ID = seal.ID{0: byte(i * 7 % 5 * 50), 15: byte(i + 1)} // five shards
				items = append(items, it)
			}
			return v.Save(items...)
		}),
	}, {
		name: "moving an item to the trash", long: true, prepare: prepareItems, look: lookAtAccount,
		do: inVault(func(t *testing.T, _ *vault.Account, v *vault.Vault) error {
			return v.Trash(find(t, v, "edited"), vault.Origin{By: vault.ByPerson})
		}),
	}, {
		name: "purging items", prepare: prepareItems, look: lookAtAccount,
		do: inVault(func(t *testing.T, _ *vault.Account, v *vault.Vault) error {
			return v.Purge(find(t, v, "edited"), find(t, v, "kept"))
		}),
	}, {
		name: "adopting an orphan", long: true, prepare: prepareOrphan, look: lookButOrphans, next: adoptAgain,
		do: inVault(func(_ *testing.T, a *vault.Account, _ *vault.Vault) error {
			list, err := a.Repair().Orphans()
			if err != nil || len(list) == 0 {
				return err
			}
			return a.Repair().Adopt(list[0])
		}),
	}, {
		name: "creating a vault", prepare: prepareItems, look: lookAtAccount,
		do: inVault(func(_ *testing.T, a *vault.Account, _ *vault.Vault) error {
			_, err := a.CreateVault("work")
			return err
		}),
	}}
}

// prepareItems makes an account with an item whose history is full, another one, and a second vault.
func prepareItems(t *testing.T, s scene) {
	a, kit := create(t, s.account())
	s.keep(t, "secret", kit.DeviceSecret)
	s.keep(t, "code", kit.RecoveryCode)
	v := firstVault(t, a)
	save(t, v, newItem(t, "kept", "value of kept"), newItem(t, "edited", "value 0"))
	for i := range 12 {
		editTo(t, v, "edited", fmt.Sprint("value ", i+1))
	}
	other, err := a.CreateVault("other")
	must(t, err)
	save(t, other, newItem(t, "elsewhere", "value elsewhere"))
	a.Lock()
}

// prepareOrphan makes an account in which nothing lists a good file: it was put back after its item had been purged.
func prepareOrphan(t *testing.T, s scene) {
	prepareItems(t, s)
	before := s.copy(t)
	a := open(t, s.account())
	v := firstVault(t, a)
	must(t, v.Purge(find(t, v, "kept")))
	must(t, a.Touch()) // forgets which files the purge put out of use
	a.Lock()
	has := files(t, s.account().AccountDir)
	for _, name := range files(t, before.account().AccountDir) {
		if strings.Contains(name, "/items/") && !slices.Contains(has, name) {
			writeFile(t, s.account().AccountDir+"/"+name, readFile(t, before.account().AccountDir+"/"+name))
		}
	}
}

// find is the id of an item by its name.
func find(t testing.TB, v *vault.Vault, name string) seal.ID {
	t.Helper()
	m, err := v.Find(vault.KindItem, seal.ID{}, name)
	must(t, err)
	return m.ID
}

// editTo gives an item's first field another value.
func editTo(t testing.TB, v *vault.Vault, name, text string) {
	t.Helper()
	must(t, tryEdit(t, v, name, text))
}

func tryEdit(t testing.TB, v *vault.Vault, name, text string) error {
	t.Helper()
	it, err := v.Open(find(t, v, name))
	must(t, err)
	defer it.Destroy()
	it.Fields[0].Put(value(t, text))
	return v.Save(it)
}

// lookAtAccount opens the account and tells all that is in it.
func lookAtAccount(t *testing.T, s scene) sight {
	t.Helper()
	return lookThrough(t, s.later(s.account()), password)
}

func lookThrough(t *testing.T, cfg vault.Config, pw string) sight {
	t.Helper()
	a, err := vault.Open(cfg, value(t, pw))
	must(t, err)
	return sight{contentOf(t, a), texts(a.Findings()), a, cfg}
}

// lookButOrphans is lookAtAccount where an orphan is expected.
func lookButOrphans(t *testing.T, s scene) sight {
	t.Helper()
	seen := lookAtAccount(t, s)
	seen.findings = slices.DeleteFunc(seen.findings, func(f string) bool { return strings.HasPrefix(f, string(vault.FindOrphan)) })
	return seen
}

// adoptAgain adopts what is still an orphan.
func adoptAgain(t *testing.T, _ scene, was sight) {
	t.Helper()
	for {
		list, err := was.open.Repair().Orphans()
		must(t, err)
		if len(list) == 0 {
			break
		}
		must(t, was.open.Repair().Adopt(list[0])) // with that, left-overs of the first try are gone
	}
	healed(t, was.cfg, was.open)
}

// contentOf is everything an account holds that a person put there: vaults, items, trash, values and values of the history.
func contentOf(t testing.TB, a *vault.Account) string {
	t.Helper()
	var b strings.Builder
	for _, v := range a.Vaults() {
		fmt.Fprintf(&b, "vault %s\n", v.Name())
		for _, m := range v.List() {
			fmt.Fprintf(&b, "  %s %s trashed=%v conflict=%v:", m.Kind, m.Name, !m.Trashed.IsZero(), m.Conflict)
			if m.Kind == vault.KindProject { // it has no fields
				b.WriteByte('\n')
				continue
			}
			text, state := firstValue(t, v, m.ID)
			fmt.Fprintf(&b, " %s %q", state, text)
			revisions, err := v.History(m.ID)
			must(t, err)
			for _, r := range revisions {
				it, err := v.OpenRevision(m.ID, r.Rev())
				must(t, err)
				fmt.Fprintf(&b, " %q", bytesOf(t, it.Fields[0].Value))
				it.Destroy()
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// texts are findings for a message.
func texts(list []vault.Finding) []string {
	var out []string
	for _, f := range list {
		out = append(out, fmt.Sprintf("%s (alarm=%v): %s", f.Kind, f.Alarm, f.Text))
	}
	return out
}
