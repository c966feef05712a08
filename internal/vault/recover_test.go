package vault_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warder/internal/secret"
	"warder/internal/vault"
)

func TestKit(t *testing.T) {
	now := newClock()
	cfg := config(t.TempDir())
	cfg.Now = now.Now
	a, kit := create(t, cfg)
	if kit.Account != a.ID() || kit.StateCode != a.StateCode() || !kit.Created.Equal(now.now) {
		t.Errorf("kit of %s, %s, %s", kit.Account, kit.StateCode, kit.Created)
	}
	stored := strings.TrimSpace(string(readFile(t, filepath.Join(cfg.StateDir, "device", "secret"))))
	if string(bytesOf(t, kit.DeviceSecret)) != stored {
		t.Error("the kit has another device secret than this device")
	}
	if kit.DeviceSecret.Equal(kit.RecoveryCode) {
		t.Error("one text for two things")
	}
	for _, path := range append(files(t, cfg.AccountDir), files(t, cfg.StateDir)...) {
		if strings.Contains(path, "kit") {
			t.Errorf("file %s", path)
		}
	}
	kit.Destroy()
	for _, v := range []secret.Value{kit.DeviceSecret, kit.RecoveryCode} {
		if err := v.Use(func([]byte) {}); !errors.Is(err, secret.ErrDestroyed) {
			t.Errorf("after Destroy: %v", err)
		}
	}
}

func TestSetDeviceSecretNeverReplaces(t *testing.T) {
	oneThread(t)
	cfg, _, kit := newAccount(t)
	_, _, other := newAccount(t)
	path := filepath.Join(cfg.StateDir, "device", "secret")
	before := string(readFile(t, path))
	for name, text := range map[string]secret.Value{"the same": kit.DeviceSecret, "another": other.DeviceSecret} {
		if err := vault.SetDeviceSecret(cfg, text); !errors.Is(err, vault.ErrExists) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if string(readFile(t, path)) != before {
		t.Error("it was replaced")
	}
	for name, text := range map[string]secret.Value{
		"a recovery code": kit.RecoveryCode, "nothing": {}, "one symbol less": value(t, before[:len(before)-2]),
	} {
		fresh := config(t.TempDir())
		if err := vault.SetDeviceSecret(fresh, text); err == nil || errors.Is(err, vault.ErrExists) {
			t.Errorf("%s: %v", name, err)
		}
		if left := files(t, fresh.StateDir); len(left) != 0 {
			t.Errorf("%s: wrote %q", name, left)
		}
	}
}

// lost is what a device may have left when its user turns to the recovery code.
func lost() map[string]func(t *testing.T, cfg vault.Config) {
	remove := func(t *testing.T, parts ...string) { must(t, os.RemoveAll(filepath.Join(parts...))) }
	return map[string]func(t *testing.T, cfg vault.Config){
		"only the password":     func(*testing.T, vault.Config) {},
		"the device's own keys": func(t *testing.T, cfg vault.Config) { remove(t, cfg.StateDir, "device", "keys") },
		"the memory":            func(t *testing.T, cfg vault.Config) { remove(t, cfg.StateDir, "device", "seen") },
		"the device secret":     func(t *testing.T, cfg vault.Config) { remove(t, cfg.StateDir, "device", "secret") },
		"the device folder":     func(t *testing.T, cfg vault.Config) { remove(t, cfg.StateDir, "device") },
		"the device":            func(t *testing.T, cfg vault.Config) { remove(t, cfg.StateDir) },
	}
}

func TestRecover(t *testing.T) {
	for name, lose := range lost() {
		t.Run(name, func(t *testing.T) {
			now := newClock()
			cfg := config(t.TempDir())
			cfg.Now = now.Now
			a, kit := create(t, cfg)
			save(t, firstVault(t, a), newItem(t, "kept", "value"))
			a.Lock()
			lose(t, cfg)
			if there, err := vault.Exists(cfg); !there || err != nil {
				t.Fatalf("exists: %v %v", there, err)
			}

			b, fresh, err := vault.Recover(cfg, kit.RecoveryCode, value(t, otherPassword))
			must(t, err)
			t.Cleanup(fresh.Destroy)
			v := firstVault(t, b)
			if text, _ := firstValue(t, v, found(t, v, "kept")); text != "value" {
				t.Errorf("read %q", text)
			}
			if name == "the memory" {
				mendDevice(t, b, "cloned!") // its own manifests are newer than what it remembers, as after a restored backup
			}
			recovered(t, cfg, b)
			b.Lock()
			now.pass()
			codesAfter(t, cfg, now, kit, fresh)
		})
	}
}

// mendDevice wants one finding, and gives the device a new id.
func mendDevice(t *testing.T, a *vault.Account, finding string) {
	t.Helper()
	if got := summaries(a.Findings()); len(got) != 1 || got[0] != finding {
		t.Fatalf("findings %q", got)
	}
	must(t, a.Repair().NewDevice())
}

// recovered wants an account that is as good as before.
func recovered(t *testing.T, cfg vault.Config, a *vault.Account) {
	t.Helper()
	calm(t, a)
	save(t, firstVault(t, a), newItem(t, "after", "value"))
	if info, err := os.Stat(filepath.Join(cfg.StateDir, "device", "secret")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("device secret: %v %v", info, err)
	}
}

// codesAfter wants the old password and code refused and the new ones taken, the new code once.
func codesAfter(t *testing.T, cfg vault.Config, now *clock, old, fresh *vault.Kit) {
	t.Helper()
	if err := opens(t, cfg, password); !errors.Is(err, vault.ErrWrongPassword) {
		t.Errorf("the old password: %v", err)
	}
	now.pass()
	if _, _, err := vault.Recover(cfg, old.RecoveryCode, value(t, password)); !errors.Is(err, vault.ErrWrongPassword) {
		t.Errorf("the used code: %v", err)
	}
	now.pass()
	must(t, opens(t, cfg, otherPassword))
	second := anotherDevice(t, cfg, fresh)
	must(t, opens(t, second, otherPassword))
	c, last, err := vault.Recover(cfg, fresh.RecoveryCode, value(t, password))
	must(t, err)
	last.Destroy()
	calm(t, c)
	c.Lock()
	must(t, opens(t, cfg, password))
}

func TestRecoverRefusals(t *testing.T) {
	now := newClock()
	cfg := config(t.TempDir())
	cfg.Now = now.Now
	a, kit := create(t, cfg)
	a.Lock()
	before := files(t, cfg.AccountDir)
	text := bytesOf(t, kit.RecoveryCode)
	var weak *vault.WeakPasswordError
	if _, _, err := vault.Recover(cfg, kit.RecoveryCode, value(t, "password1234")); !errors.As(err, &weak) {
		t.Errorf("a weak password: %v", err)
	}
	if err := vault.CheckRecovery(cfg, kit.RecoveryCode, value(t, "password1234")); !errors.As(err, &weak) {
		t.Errorf("a weak password beforehand: %v", err)
	}
	if err := vault.CheckRecovery(config(t.TempDir()), kit.RecoveryCode, value(t, otherPassword)); !errors.Is(err, vault.ErrNoAccount) {
		t.Errorf("without an account beforehand: %v", err)
	}
	mistyped := strings.NewReplacer("0", "2", "1", "3", "2", "4", "3", "5").Replace(string(text))
	if _, _, err := vault.Recover(cfg, value(t, mistyped), value(t, otherPassword)); err == nil || errors.Is(err, vault.ErrWrongPassword) {
		t.Errorf("a mistyped code: %v", err) // it can be told from a wrong one without trying it
	}
	if _, _, err := vault.Recover(cfg, kit.DeviceSecret, value(t, otherPassword)); err == nil {
		t.Error("the device secret in place of the code")
	}
	_, _, other := newAccount(t)
	if _, _, err := vault.Recover(cfg, other.RecoveryCode, value(t, otherPassword)); !errors.Is(err, vault.ErrWrongPassword) {
		t.Errorf("another account's code: %v", err)
	}
	var wait *vault.WaitError
	if _, _, err := vault.Recover(cfg, kit.RecoveryCode, value(t, otherPassword)); !errors.As(err, &wait) {
		t.Errorf("at once after a wrong one: %v", err)
	}
	if got := files(t, cfg.AccountDir); strings.Join(got, " ") != strings.Join(before, " ") {
		t.Errorf("files %q, then %q", before, got)
	}
	empty := config(t.TempDir())
	if _, _, err := vault.Recover(empty, kit.RecoveryCode, value(t, otherPassword)); !errors.Is(err, vault.ErrNoAccount) {
		t.Errorf("without an account: %v", err)
	}
	now.pass()
	must(t, opens(t, cfg, password))
}

// TestRecoverOnAnotherDevice uses the code on a device that never saw the account and has no device secret: it gets a new one, and the
// first device opens again once it has the new kit's.
func TestRecoverOnAnotherDevice(t *testing.T) {
	now := newClock()
	cfg := config(t.TempDir())
	cfg.Now = now.Now
	a, kit := create(t, cfg)
	save(t, firstVault(t, a), newItem(t, "kept", "value"))
	a.Lock()
	second := cfg
	second.StateDir = filepath.Join(t.TempDir(), "state")
	b, fresh, err := vault.Recover(second, kit.RecoveryCode, value(t, otherPassword))
	must(t, err)
	t.Cleanup(fresh.Destroy)
	calm(t, b)
	save(t, firstVault(t, b), newItem(t, "of the second", "value"))
	b.Lock()
	if kit.DeviceSecret.Equal(fresh.DeviceSecret) {
		t.Fatal("the device secret is the lost one")
	}
	if err := opens(t, cfg, otherPassword); !errors.Is(err, vault.ErrWrongPassword) {
		t.Errorf("with the former device secret: %v", err)
	}
	now.pass()
	must(t, os.Remove(filepath.Join(cfg.StateDir, "device", "secret")))
	must(t, vault.SetDeviceSecret(cfg, fresh.DeviceSecret))
	c, err := vault.Open(cfg, value(t, otherPassword))
	must(t, err)
	t.Cleanup(c.Lock)
	// Its own keys were sealed under the former device secret.
	mendDevice(t, c, "tampered!")
	calm(t, c)
	save(t, firstVault(t, c), newItem(t, "of the first", "value"))
}

// TestNewKit: a new kit's code works and the one before it does not.
func TestNewKit(t *testing.T) {
	cfg, a, old := newAccount(t)
	kit, err := a.NewKit()
	if err != nil {
		t.Fatal(err)
	}
	if kit.RecoveryCode.Equal(old.RecoveryCode) || !kit.DeviceSecret.Equal(old.DeviceSecret) || kit.StateCode != a.StateCode() {
		t.Error("the kit has the old code, another device secret or another state code")
	}
	if found := a.Findings(); len(found) > 0 {
		t.Errorf("findings %v", found)
	}
	a.Lock()
	if _, err := a.NewKit(); !errors.Is(err, vault.ErrLocked) {
		t.Errorf("locked: %v", err)
	}
	if _, err := vault.OpenByCode(cfg, old.RecoveryCode); !errors.Is(err, vault.ErrWrongPassword) {
		t.Errorf("the old code: %v", err)
	}
	cfg.Now = func() time.Time { return time.Now().Add(time.Minute) } // past the wait after the wrong one
	b, err := vault.OpenByCode(cfg, kit.RecoveryCode)
	if err != nil {
		t.Fatal(err)
	}
	b.Lock()
}

// TestC36_StateInsideTheAccount: where the device secret would be synced with the account, nothing is made or opened.
func TestC36_StateInsideTheAccount(t *testing.T) {
	outside, a, kit := newAccount(t)
	a.Lock()
	for _, below := range []string{"", "state", "a/b"} {
		cfg := outside
		cfg.StateDir = filepath.Join(cfg.AccountDir, below)
		if _, err := vault.Open(cfg, value(t, password)); err == nil || !strings.Contains(err.Error(), "inside the account directory") {
			t.Errorf("opening with the state in %q: %v", below, err)
		}
		if err := vault.SetDeviceSecret(cfg, kit.DeviceSecret); err == nil || !strings.Contains(err.Error(), "inside the account directory") {
			t.Errorf("storing the device secret in %q: %v", below, err)
		}
		cfg.AccountDir = filepath.Join(t.TempDir(), "account")
		cfg.StateDir = filepath.Join(cfg.AccountDir, below)
		if _, _, err := vault.Create(cfg, value(t, password)); err == nil || !strings.Contains(err.Error(), "inside the account directory") {
			t.Errorf("creating with the state in %q: %v", below, err)
		}
	}
}

// TestCheckRecovery says beforehand whether a code opens the account. The code works afterwards as it did before, and no file of the
// account is another.
func TestCheckRecovery(t *testing.T) {
	now := newClock()
	cfg := config(t.TempDir())
	cfg.Now = now.Now
	a, kit := create(t, cfg)
	a.Lock()
	before := files(t, cfg.AccountDir)
	for _, text := range []string{"ABC", "", "0000-1111"} {
		if err := vault.CheckRecoveryCode(value(t, text+" ")); !errors.Is(err, vault.ErrMistyped) {
			t.Errorf("%q: %v", text, err)
		}
		if err := vault.CheckRecovery(cfg, value(t, text+" "), value(t, otherPassword)); !errors.Is(err, vault.ErrMistyped) {
			t.Errorf("%q beforehand: %v", text, err)
		}
	}
	must(t, errors.Join(vault.CheckRecoveryCode(kit.RecoveryCode), vault.CheckDeviceSecret(config(t.TempDir()), kit.DeviceSecret), vault.CheckWait(cfg)))
	if err := vault.CheckDeviceSecret(cfg, kit.DeviceSecret); !errors.Is(err, vault.ErrExists) {
		t.Errorf("a device secret that is there: %v", err)
	}
	if err := vault.CheckDeviceSecret(cfg, kit.RecoveryCode); !errors.Is(err, vault.ErrMistyped) {
		t.Errorf("the code in place of the device secret: %v", err)
	}
	_, _, other := newAccount(t)
	if err := vault.CheckRecovery(cfg, other.RecoveryCode, value(t, otherPassword)); !errors.Is(err, vault.ErrWrongPassword) {
		t.Errorf("another account's code: %v", err)
	}
	var wait *vault.WaitError
	if err := vault.CheckWait(cfg); !errors.As(err, &wait) {
		t.Errorf("no wait after a wrong one: %v", err)
	}
	back := cfg
	back.Now = func() time.Time { return now.Now().Add(-time.Hour) }
	must(t, vault.CheckWait(back)) // or nobody would come to try, and the wait would last an hour
	now.pass()
	must(t, vault.CheckWait(cfg))
	must(t, vault.CheckRecovery(cfg, kit.RecoveryCode, value(t, otherPassword)))
	if wrong, err := vault.WrongPasswords(cfg); err != nil || wrong != 0 {
		t.Errorf("after the right one %d wrong ones are counted, %v", wrong, err)
	}
	if got := files(t, cfg.AccountDir); strings.Join(got, " ") != strings.Join(before, " ") {
		t.Errorf("files %q, then %q", before, got)
	}
	must(t, opens(t, cfg, password))
	a, fresh, err := vault.Recover(cfg, kit.RecoveryCode, value(t, otherPassword))
	must(t, err)
	fresh.Destroy()
	a.Lock()
}
