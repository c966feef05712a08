package vault_test

import (
	"errors"
	"testing"

	"warder/internal/seal"
	"warder/internal/secret"
	"warder/internal/vault"
)

// calls are all calls of the API that can fail, on a vault and an item of it.
func calls(a *vault.Account, v *vault.Vault, id seal.ID, rev seal.Hash, pw secret.Value) map[string]func() error {
	stage := vault.StageChange{Project: "p", Stage: "s", Unset: []string{"A"}}
	repair := a.Repair()
	return map[string]func() error{
		"Open":           func() error { _, err := v.Open(id); return err },
		"Find":           func() error { _, err := v.Find(vault.KindItem, seal.ID{}, "unknown"); return err },
		"Trash":          func() error { return v.Trash(id, vault.Origin{}) },
		"Restore":        func() error { return v.Restore(id, vault.Origin{}) },
		"Purge":          func() error { return v.Purge(id) },
		"History":        func() error { _, err := v.History(id); return err },
		"OpenRevision":   func() error { _, err := v.OpenRevision(id, rev); return err },
		"Revert":         func() error { return v.Revert(id, rev, vault.Origin{}) },
		"Undo":           func() error { _, err := v.Undo("unknown", vault.Origin{}); return err },
		"PlanStage":      func() error { _, err := v.PlanStage(stage); return err },
		"ChangeStage":    func() error { _, err := v.ChangeStage(stage); return err },
		"Vault":          func() error { _, err := a.Vault("unknown"); return err },
		"Forget":         func() error { return repair.Forget(v, id) },
		"Adopt":          func() error { return repair.Adopt(vault.Orphan{Vault: v.ID(), Item: id}) },
		"Adopt nothing":  func() error { return repair.Adopt(vault.Orphan{}) },
		"ChangePassword": func() error { return a.ChangePassword(pw, pw) },
	}
}

func TestUnknownThingsAreNotFound(t *testing.T) {
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	it := newItem(t, "item", "1")
	save(t, v, it)
	for name, id := range map[string]seal.ID{"zero": {}, "unknown": seal.NewID()} {
		all := calls(a, v, id, seal.Hash{}, value(t, password))
		delete(all, "ChangePassword")
		for call, do := range all {
			if err := do(); !errors.Is(err, vault.ErrNotFound) {
				t.Errorf("%s of %s: %v", call, name, err)
			}
		}
	}
	if text, _ := firstValue(t, v, it.ID); text != "1" || len(v.List()) != 1 || len(vault.Tombstones(v)) != 0 {
		t.Error("something was changed")
	}
	calm(t, a)
}

func TestLockedAccount(t *testing.T) {
	cfg, a, _ := newAccount(t)
	v := firstVault(t, a)
	it := newItem(t, "item", "1")
	save(t, v, it)
	id, device, repair := a.ID(), a.Device(), a.Repair()
	a.Lock()
	a.Lock() // again
	all := calls(a, v, it.ID, it.Rev(), value(t, password))
	all["Save"] = func() error { return v.Save(it) }
	all["Save a new one"] = func() error { return v.Save(newItem(t, "new", "1")) }
	all["CreateVault"] = func() error { _, err := a.CreateVault("new"); return err }
	all["Check"] = func() error { _, err := a.Check(); return err }
	all["Touch"] = a.Touch
	all["AcceptRestore"] = func() error { _, err := repair.AcceptRestore(); return err }
	all["NewDevice"] = repair.NewDevice
	all["Orphans"] = func() error { _, err := repair.Orphans(); return err }
	before := files(t, cfg.AccountDir)
	for call, do := range all {
		if err := do(); !errors.Is(err, vault.ErrLocked) {
			t.Errorf("%s: %v", call, err)
		}
	}
	if got := files(t, cfg.AccountDir); len(got) != len(before) {
		t.Errorf("files %q, then %q", before, got)
	}
	if len(a.Vaults()) != 0 || len(v.List()) != 0 || len(a.Findings()) != 0 || a.StateCode() != "" {
		t.Error("it still tells what it holds")
	}
	if a.ID() != id || a.Device() != device || v.ID().IsZero() || v.Name() != v.ID().String() {
		t.Errorf("account %s, device %s, vault %s %q", a.ID(), a.Device(), v.ID(), v.Name())
	}
	// The caller's item is the caller's.
	if string(bytesOf(t, it.Fields[0].Value)) != "1" {
		t.Error("the caller's value is gone")
	}
	open(t, cfg)
}

// TestNothingIsThere uses the package where there is no account, and where there is no place for one.
func TestNothingIsThere(t *testing.T) {
	pw := value(t, password)
	empty := config(t.TempDir())
	if there, err := vault.Exists(empty); there || err != nil {
		t.Errorf("exists: %v %v", there, err)
	}
	if _, err := vault.Open(empty, pw); !errors.Is(err, vault.ErrNoAccount) {
		t.Error(err)
	}
	if list := append(files(t, empty.AccountDir), files(t, empty.StateDir)...); len(list) != 0 {
		t.Errorf("asking left %q", list)
	}
	var none vault.Config
	if _, err := vault.Open(none, pw); err == nil {
		t.Error("opened nowhere")
	}
	if _, _, err := vault.Create(none, pw); err == nil {
		t.Error("made nowhere")
	}
	if there, _ := vault.Exists(none); there {
		t.Error("an account is nowhere")
	}
	if _, _, err := vault.Recover(none, pw, pw); err == nil {
		t.Error("recovered nowhere")
	}
	if err := vault.SetDeviceSecret(none, secret.Value{}); err == nil {
		t.Error("a device secret of nothing")
	}
	(&vault.Kit{}).Destroy()
	(&vault.Item{}).Destroy()
	if f := (&vault.Item{}).Field("", ""); f != nil {
		t.Errorf("a field of nothing: %v", f)
	}
}

// TestPasswordsOfNothing gives values that hold nothing wherever a secret is wanted.
func TestPasswordsOfNothing(t *testing.T) {
	pw := value(t, password)
	for name, v := range map[string]secret.Value{"zero": {}, "destroyed": destroyed(t)} {
		if _, _, err := vault.Create(config(t.TempDir()), v); err == nil {
			t.Errorf("%s: made with it", name)
		}
		cfg, a, _ := newAccount(t)
		if err := a.ChangePassword(v, pw); err == nil {
			t.Errorf("%s: changed from it", name)
		}
		if err := a.ChangePassword(pw, v); err == nil {
			t.Errorf("%s: changed to it", name)
		}
		a.Lock()
		if _, err := vault.Open(cfg, v); err == nil {
			t.Errorf("%s: opened with it", name)
		}
		if _, _, err := vault.Recover(cfg, v, pw); err == nil {
			t.Errorf("%s: recovered with it", name)
		}
	}
}

func destroyed(t testing.TB) secret.Value {
	v := value(t, password)
	v.Destroy()
	return v
}

// TestCreateTwice leaves the first account alone.
func TestCreateTwice(t *testing.T) {
	cfg, a, _ := newAccount(t)
	save(t, firstVault(t, a), newItem(t, "item", "1"))
	a.Lock()
	if _, _, err := vault.Create(cfg, value(t, otherPassword)); !errors.Is(err, vault.ErrExists) {
		t.Errorf("over an account: %v", err)
	}
	elsewhere := cfg
	elsewhere.StateDir = t.TempDir() + "/state"
	if _, _, err := vault.Create(elsewhere, value(t, otherPassword)); !errors.Is(err, vault.ErrExists) {
		t.Errorf("over an account, from another device: %v", err)
	}
	other := cfg
	other.AccountDir = t.TempDir() + "/account"
	if _, _, err := vault.Create(other, value(t, otherPassword)); !errors.Is(err, vault.ErrExists) {
		t.Errorf("with a device secret of another account: %v", err)
	}
	b := open(t, cfg)
	calm(t, b)
	found(t, firstVault(t, b), "item")
}

func TestVaults(t *testing.T) {
	cfg, a, _ := newAccount(t)
	v, err := a.CreateVault("Work")
	must(t, err)
	for _, name := range []string{"work", "WORK", "Personal", "", "a/b", "-x", "work "} {
		if _, err := a.CreateVault(name); err == nil {
			t.Errorf("%q: made", name)
		}
	}
	if _, err := a.CreateVault("work"); !errors.Is(err, vault.ErrExists) {
		t.Error(err)
	}
	save(t, v, newItem(t, "item", "in work"))
	save(t, firstVault(t, a), newItem(t, "item", "in personal"))
	names := func(a *vault.Account) (list []string) {
		for _, v := range a.Vaults() {
			list = append(list, v.Name())
		}
		return list
	}
	a.Lock()
	a = open(t, cfg)
	calm(t, a)
	if got := names(a); len(got) != 2 || got[0] != "Work" || got[1] != vault.DefaultVault {
		t.Errorf("vaults %q", got)
	}
	work, err := a.Vault("wORK")
	must(t, err)
	if work.ID() != v.ID() {
		t.Error("another vault")
	}
	if text, _ := firstValue(t, work, found(t, work, "item")); text != "in work" {
		t.Errorf("it holds %q", text)
	}
	// Its name is an item's.
	own, err := work.Open(work.ID())
	must(t, err)
	defer own.Destroy()
	own.Name = "PERSONAL"
	if err := work.Save(own); !errors.Is(err, vault.ErrExists) {
		t.Errorf("renamed to another vault's name: %v", err)
	}
	own.Name = "Büro"
	save(t, work, own)
	if work.Name() != "Büro" || len(work.List()) != 1 {
		t.Errorf("it is called %q", work.Name())
	}
	calm(t, a)
}
