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

// moreActs are writes that are made of others' steps; each step of them is killed in one way only.
func moreActs() []act {
	person := vault.Origin{By: vault.ByPerson}
	return []act{{
		name: "making a new kit", long: true, prepare: prepareItems, look: lookByCode,
		do: inVault(func(_ *testing.T, a *vault.Account, _ *vault.Vault) error {
			kit, err := a.NewKit()
			if err == nil {
				kit.Destroy()
			}
			return err
		}),
	}, {
		name: "undoing an act", long: true, prepare: prepareTagged, look: lookAtAccount,
		do: inVault(func(_ *testing.T, _ *vault.Account, v *vault.Vault) error {
			_, err := v.Undo("act", person)
			return err
		}),
	}, {
		name: "changing a stage", long: true, prepare: prepareItems, look: lookAtAccount,
		do: inVault(func(t *testing.T, _ *vault.Account, v *vault.Vault) error {
			_, err := v.ChangeStage(vault.StageChange{Project: "shop", Stage: "dev", Set: variables(t, "A", "value of A", "B.c", "value of B"), Origin: person})
			return err
		}),
	}, {
		name: "reverting an item", long: true, prepare: prepareItems, look: lookAtAccount,
		do: inVault(func(t *testing.T, _ *vault.Account, v *vault.Vault) error {
			history, err := v.History(find(t, v, "edited"))
			must(t, err)
			return v.Revert(find(t, v, "edited"), history[5].Rev(), person)
		}),
	}, {
		name: "restoring an item", long: true, prepare: prepareTrashed, look: lookAtAccount,
		do: inVault(func(_ *testing.T, _ *vault.Account, v *vault.Vault) error {
			at := slices.IndexFunc(v.List(), func(m vault.Meta) bool { return m.Name == "kept" })
			return v.Restore(v.List()[at].ID, person)
		}),
	}, {
		name: "taking a new device id", long: true, partly: true, prepare: prepareCloned, look: lookAtCloned, next: newDeviceAgain,
		do: inVault(func(_ *testing.T, a *vault.Account, _ *vault.Vault) error { return a.Repair().NewDevice() }),
	}}
}

// lookByCode says whether the first kit's code opens the account, and what is in it.
func lookByCode(t *testing.T, s scene) sight {
	t.Helper()
	cfg := s.later(s.account())
	a, err := vault.OpenByCode(cfg, s.kept(t, "code"))
	if err == nil {
		a.Lock()
	} else if !errors.Is(err, vault.ErrWrongPassword) {
		t.Errorf("opening by the code: %v", err)
	}
	seen := lookAtAccount(t, s)
	must(t, os.RemoveAll(filepath.Join(cfg.StateDir, "device", "attempts"))) // of the code
	seen.content = fmt.Sprintf("the first code opens: %v\n%s", err == nil, seen.content)
	return seen
}

// prepareTagged makes an account in which one act added an item and changed another.
func prepareTagged(t *testing.T, s scene) {
	prepareItems(t, s)
	a := open(t, s.account())
	defer a.Lock()
	v := firstVault(t, a)
	changed, err := v.Open(find(t, v, "kept"))
	must(t, err)
	defer changed.Destroy()
	added := newItem(t, "added", "value of added")
	added.Origin = vault.Origin{By: vault.ByImport, Tag: "act"}
	changed.Origin = added.Origin
	changed.Fields[0].Put(value(t, "value by the act"))
	save(t, v, added, changed)
}

func prepareTrashed(t *testing.T, s scene) {
	prepareItems(t, s)
	a := open(t, s.account())
	defer a.Lock()
	v := firstVault(t, a)
	must(t, v.Trash(find(t, v, "kept"), vault.Origin{By: vault.ByPerson}))
}

// prepareCloned makes an account whose device was put back to an older state, but not the account.
func prepareCloned(t *testing.T, s scene) {
	prepareItems(t, s)
	old := s.copy(t)
	a := open(t, s.account())
	editTo(t, firstVault(t, a), "kept", "value that the device forgot")
	a.Lock()
	must(t, os.RemoveAll(s.account().StateDir))
	copyTree(t, old.account().StateDir, s.account().StateDir)
}

// lookAtCloned tells whether the device is still taken for a copy, which is the only finding that there may be.
func lookAtCloned(t *testing.T, s scene) sight {
	t.Helper()
	seen := lookAtAccount(t, s)
	cloned := func(f string) bool { return strings.HasPrefix(f, string(vault.FindCloned)) }
	stands := slices.ContainsFunc(seen.findings, cloned)
	seen.content = fmt.Sprintf("cloned: %v, %d devices\n%s", stands, len(vault.Roster(seen.open)), seen.content)
	seen.findings = slices.DeleteFunc(seen.findings, cloned)
	return seen
}

func newDeviceAgain(t *testing.T, _ scene, was sight) {
	t.Helper()
	if len(was.open.Findings()) > 0 {
		if err := was.open.Repair().NewDevice(); err != nil {
			t.Fatalf("taking a new id again: %v", err)
		}
	}
	if was.open.Device() == (seal.ID{}) {
		t.Error("the device has no id")
	}
	healed(t, was.cfg, was.open)
}
