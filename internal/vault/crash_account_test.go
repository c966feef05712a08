package vault_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warder/internal/vault"
)

// accountActs are the writes that concern the account as a whole: its keys, devices and existence.
func accountActs() []act {
	return []act{{
		name: "changing the password", prepare: prepareItems, look: lookByPassword,
		do: inVault(func(t *testing.T, a *vault.Account, _ *vault.Vault) error {
			return a.ChangePassword(value(t, password), value(t, freshPassword))
		}),
	}, {
		name: "enrolling a second device", long: true, partly: true, prepare: prepareSecond, look: lookAtSecond, next: nextOfSecond,
		do: func(t *testing.T, s scene, l *life) error {
			cfg := l.on(s.second())
			l.begin()
			a, err := vault.Open(cfg, value(t, password))
			if err == nil {
				a.Lock()
			}
			return err
		},
	}, {
		name: "accepting a restored store", long: true, partly: true, prepare: prepareRestored, look: lookAtRestored, next: acceptAgain,
		do: inVault(func(_ *testing.T, a *vault.Account, _ *vault.Vault) error {
			_, err := a.Repair().AcceptRestore()
			return err
		}),
	}, {
		name: "creating an account", long: true, prepare: func(*testing.T, scene) {}, look: lookAtCreated, next: createAgain,
		do: func(t *testing.T, s scene, l *life) error {
			cfg := l.on(s.account())
			l.begin()
			return ended(vault.Create(cfg, value(t, password)))
		},
	}, {
		name: "recovering", long: true, prepare: prepareItems, look: lookByPassword, next: recoverAgain, do: doRecover,
	}, {
		name: "recovering without the device secret", long: true, prepare: prepareForgotten, look: lookByPassword, next: recoverAgain, do: doRecover,
	}}
}

// lookByPassword says which password opens the account, and what is in it. There must not be two.
func lookByPassword(t *testing.T, s scene) sight {
	t.Helper()
	cfg := s.later(s.account())
	var seen sight
	for _, pw := range []string{freshPassword, password} {
		a, err := vault.Open(cfg, value(t, pw))
		if err != nil {
			if !errors.Is(err, vault.ErrWrongPassword) && !errors.Is(err, vault.ErrNoDeviceSecret) {
				t.Errorf("opening: %v", err)
			}
			continue
		}
		if seen.open != nil {
			t.Errorf("both the old and the new password open the account")
			a.Lock()
			continue
		}
		seen = sight{"opens with " + pw + "\n" + contentOf(t, a), texts(a.Findings()), a, cfg}
	}
	must(t, os.RemoveAll(filepath.Join(cfg.StateDir, "device", "attempts"))) // of the other password
	return seen
}

func prepareSecond(t *testing.T, s scene) {
	prepareItems(t, s)
	must(t, vault.SetDeviceSecret(s.second(), s.kept(t, "secret")))
}

// lookAtSecond says how many devices the first one sees.
func lookAtSecond(t *testing.T, s scene) sight {
	t.Helper()
	seen := lookAtAccount(t, s)
	seen.content = fmt.Sprintf("%d devices\n%s", len(vault.Roster(seen.open)), seen.content)
	return seen
}

// nextOfSecond writes on the second device, then on the first.
func nextOfSecond(t *testing.T, s scene, was sight) {
	t.Helper()
	defer was.open.Lock()
	second := s.later(s.second())
	healed(t, second, lookThrough(t, second, password).open)
	first := was.open
	must(t, firstVault(t, first).Save(newItem(t, "by the first", "value by the first")))
	if n, found := len(vault.Roster(first)), first.Findings(); n != 2 || len(found) > 0 {
		t.Errorf("the first device sees %d devices and the findings %q", n, texts(found))
	}
	nothingLeftOver(t, was.cfg, first)
}

// prepareRestored makes an account whose directory was put back to an older state.
func prepareRestored(t *testing.T, s scene) {
	prepareItems(t, s)
	old := s.copy(t)
	a := open(t, s.account())
	editTo(t, firstVault(t, a), "kept", "value that the restore lost")
	a.Lock()
	must(t, os.RemoveAll(s.account().AccountDir))
	copyTree(t, old.account().AccountDir, s.account().AccountDir)
}

// lookAtRestored tells whether the rollback still stands, which is the only finding that there may be.
func lookAtRestored(t *testing.T, s scene) sight {
	t.Helper()
	seen := lookAtAccount(t, s)
	rolledBack := func(f string) bool { return strings.HasPrefix(f, string(vault.FindRollback)) }
	stands := slices.ContainsFunc(seen.findings, rolledBack)
	seen.content = fmt.Sprintf("rolled back: %v\n%s", stands, seen.content)
	seen.findings = slices.DeleteFunc(seen.findings, rolledBack)
	return seen
}

func acceptAgain(t *testing.T, _ scene, was sight) {
	t.Helper()
	if len(was.open.Findings()) > 0 {
		if _, err := was.open.Repair().AcceptRestore(); err != nil {
			t.Fatalf("accepting the restored store again: %v", err)
		}
	}
	healed(t, was.cfg, was.open)
}

// lookAtCreated opens the account: an unfinished one is none.
func lookAtCreated(t *testing.T, s scene) sight {
	t.Helper()
	there, err := vault.Exists(s.account())
	must(t, err)
	if !there {
		return sight{content: "no account"}
	}
	return lookAtAccount(t, s)
}

// createAgain creates the account again. A whole one is not touched by that.
func createAgain(t *testing.T, s scene, was sight) {
	t.Helper()
	if was.open == nil {
		was.cfg = s.later(s.account())
		if _, err := vault.Open(was.cfg, value(t, password)); !errors.Is(err, vault.ErrNoAccount) {
			t.Errorf("opening an account that was not finished: %v", err)
		}
		a, kit, err := vault.Create(was.cfg, value(t, password))
		if err != nil {
			t.Fatalf("creating again: %v", err)
		}
		kit.Destroy()
		a.Lock()
		was.open = lookAtAccount(t, s).open
	}
	if _, _, err := vault.Create(was.cfg, value(t, password)); !errors.Is(err, vault.ErrExists) {
		t.Fatalf("creating over a whole account: %v", err)
	}
	healed(t, was.cfg, was.open)
}

// prepareForgotten is an account whose device secret and password are lost.
func prepareForgotten(t *testing.T, s scene) {
	prepareItems(t, s)
	must(t, os.Remove(filepath.Join(s.account().StateDir, "device", "secret")))
}

func doRecover(t *testing.T, s scene, l *life) error {
	cfg := l.on(s.account())
	code := s.kept(t, "code")
	l.begin()
	return ended(vault.Recover(cfg, code, value(t, freshPassword)))
}

// ended gives up an account and its kit.
func ended(a *vault.Account, kit *vault.Kit, err error) error {
	if err == nil {
		kit.Destroy()
		a.Lock()
	}
	return err
}

// recoverAgain recovers again if the new password is not in force yet: the code on paper is then the old one still.
func recoverAgain(t *testing.T, s scene, was sight) {
	t.Helper()
	if !strings.HasPrefix(was.content, "opens with "+freshPassword) {
		if was.open != nil {
			was.open.Lock()
		}
		was.cfg = s.later(s.account())
		a, kit, err := vault.Recover(was.cfg, s.kept(t, "code"), value(t, freshPassword))
		must(t, err)
		kit.Destroy()
		was.open = a
	}
	healed(t, was.cfg, was.open)
}
