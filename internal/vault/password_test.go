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

// otherPassword is what tests change the password to.
const otherPassword = "nine purple submarines rehearse 41"

// clock is a time that tests move.
type clock struct{ now time.Time }

func newClock() *clock { return &clock{time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)} }

func (c *clock) Now() time.Time { return c.now }

// pass lets a back-off end.
func (c *clock) pass() { c.now = c.now.Add(2 * time.Minute) }

// opens says whether a password opens the account.
func opens(t testing.TB, cfg vault.Config, password string) error {
	t.Helper()
	a, err := vault.Open(cfg, value(t, password))
	if err == nil {
		a.Lock()
	}
	return err
}

func TestC36_WeakMasterPasswords(t *testing.T) {
	for name, row := range map[string]struct {
		password      string
		length, score int
	}{
		"empty":                           {"", 0, 0},
		"eleven characters":               {"kX9#vQ2!mZ7", 11, 0},
		"eleven characters of two bytes":  {"éèêëàâäôöûü", 11, 0},
		"eleven characters of four bytes": {strings.Repeat("😀", 11), 11, 0},
		"known":                           {"password1234", 12, 0},
		"one letter":                      {"aaaaaaaaaaaaaaaa", 16, 0},
		"a row of keys":                   {"qwertyuiop12", 12, 0},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t.TempDir())
			a, kit, err := vault.Create(cfg, value(t, row.password))
			var weak *vault.WeakPasswordError
			if !errors.As(err, &weak) || a != nil || kit != nil {
				t.Fatalf("made with it: %v", err)
			}
			if weak.Length != row.length || weak.MinLength != 12 || weak.MinScore != 3 || weak.Score >= 3 {
				t.Errorf("%+v", weak)
			}
			if len(files(t, filepath.Dir(cfg.AccountDir))) != 0 {
				t.Error("something was written")
			}
		})
	}
}

// TestC36_LeastMasterPassword is as short and as weak as a password may be.
func TestC36_LeastMasterPassword(t *testing.T) {
	oneThread(t)
	for name, password := range map[string]string{
		"twelve characters":              "kX9#vQ2!mZ7p",
		"twelve characters of two bytes": "éWêQàKäFöZüX",
		"with spaces at the ends":        "  kX9#vQ2!mZ7 ",
	} {
		t.Run(name, func(t *testing.T) {
			if n := secret.Strength([]byte(password)); n < 3 {
				t.Fatalf("its strength is %d", n)
			}
			cfg := config(t.TempDir())
			a, kit, err := vault.Create(cfg, value(t, password))
			must(t, err)
			kit.Destroy()
			a.Lock()
			must(t, opens(t, cfg, password))
			// Nothing is trimmed.
			if err := opens(t, cfg, strings.TrimSpace(password)+" "); !errors.Is(err, vault.ErrWrongPassword) {
				t.Error(err)
			}
		})
	}
}

// TestPasswordNormalForms: a password typed on another keyboard is the same one.
func TestPasswordNormalForms(t *testing.T) {
	oneThread(t)
	cfg := config(t.TempDir())
	a, kit, err := vault.Create(cfg, value(t, "Ångström über Weiß 7421"))
	must(t, err)
	kit.Destroy()
	a.Lock()
	must(t, opens(t, cfg, "A\u030angstro\u0308m u\u0308ber Weiß 7421"))
	if err := opens(t, cfg, "Angstrom uber Weiß 7421"); !errors.Is(err, vault.ErrWrongPassword) {
		t.Error(err)
	}
}

// TestPasswordThatIsNoText: bytes that are not UTF-8 have no normal form.
func TestPasswordThatIsNoText(t *testing.T) {
	cfg := config(t.TempDir())
	if _, _, err := vault.Create(cfg, value(t, "kX9#vQ2!mZ7p\xff\xfe")); err == nil {
		t.Fatal("made with it")
	}
	a, _ := create(t, cfg)
	a.Lock()
	if err := opens(t, cfg, "kX9#vQ2!mZ7p\xff\xfe"); !errors.Is(err, vault.ErrWrongPassword) {
		t.Error(err)
	}
}

func TestChangePassword(t *testing.T) {
	oneThread(t)
	now := newClock()
	cfg := config(t.TempDir())
	cfg.Now = now.Now
	a, kit := create(t, cfg)
	save(t, firstVault(t, a), newItem(t, "kept", "value"))
	before := files(t, filepath.Join(cfg.AccountDir, "keysets"))
	must(t, a.ChangePassword(value(t, password), value(t, otherPassword)))
	after := files(t, filepath.Join(cfg.AccountDir, "keysets"))
	if len(before) != 1 || len(after) != 1 || before[0] == after[0] {
		t.Errorf("keysets %q, then %q", before, after)
	}
	save(t, firstVault(t, a), newItem(t, "after", "value"))
	calm(t, a)
	a.Lock()

	if err := opens(t, cfg, password); !errors.Is(err, vault.ErrWrongPassword) {
		t.Errorf("the old password: %v", err)
	}
	now.pass()
	b, err := vault.Open(cfg, value(t, otherPassword))
	must(t, err)
	t.Cleanup(b.Lock)
	calm(t, b)
	if text, _ := firstValue(t, firstVault(t, b), found(t, firstVault(t, b), "kept")); text != "value" {
		t.Errorf("read %q", text)
	}
	b.Lock()
	// The recovery code is not used up by that.
	c, fresh, err := vault.Recover(cfg, kit.RecoveryCode, value(t, password))
	must(t, err)
	fresh.Destroy()
	calm(t, c)
	c.Lock()
}

// TestChangePasswordOfOldKeyset puts the old keyset back: an old password must not work again, and the newer keyset's is not told apart
// from a wrong one.
func TestChangePasswordOfOldKeyset(t *testing.T) {
	oneThread(t)
	now := newClock()
	cfg := config(t.TempDir())
	cfg.Now = now.Now
	a, _ := create(t, cfg)
	keysets := filepath.Join(cfg.AccountDir, "keysets")
	name := files(t, keysets)[0]
	old := readFile(t, filepath.Join(keysets, name))
	must(t, a.ChangePassword(value(t, password), value(t, otherPassword)))
	a.Lock()
	writeFile(t, filepath.Join(keysets, name), old)
	if err := opens(t, cfg, password); !errors.Is(err, vault.ErrWrongPassword) {
		t.Errorf("the old password beside the new keyset: %v", err)
	}
	now.pass()
	must(t, opens(t, cfg, otherPassword))
}

func TestChangePasswordRefusals(t *testing.T) {
	oneThread(t)
	now := newClock()
	cfg := config(t.TempDir())
	cfg.Now = now.Now
	a, _ := create(t, cfg)
	keysets := files(t, cfg.AccountDir)

	var weak *vault.WeakPasswordError
	if err := a.ChangePassword(value(t, password), value(t, "password1234")); !errors.As(err, &weak) {
		t.Errorf("a weak new one: %v", err)
	}
	// Not counted, as it is no guess.
	if err := a.ChangePassword(value(t, otherPassword), value(t, otherPassword)); !errors.Is(err, vault.ErrWrongPassword) {
		t.Errorf("a wrong old one: %v", err)
	}
	var wait *vault.WaitError
	if err := a.ChangePassword(value(t, password), value(t, otherPassword)); !errors.As(err, &wait) || wait.Wait != time.Second {
		t.Errorf("the right one at once after a wrong one: %v", err)
	}
	if err := opens(t, cfg, password); !errors.As(err, &wait) {
		t.Errorf("unlocking at once after a wrong one: %v", err)
	}
	if got := files(t, cfg.AccountDir); strings.Join(got, " ") != strings.Join(keysets, " ") {
		t.Errorf("files %q, then %q", keysets, got)
	}
	now.pass()
	must(t, opens(t, cfg, password))
	must(t, a.ChangePassword(value(t, password), value(t, otherPassword)))
	a.Lock()
	if err := a.ChangePassword(value(t, otherPassword), value(t, password)); !errors.Is(err, vault.ErrLocked) {
		t.Errorf("on a locked account: %v", err)
	}
}

// TestC36_KeysetAlone is an account directory in a stranger's hands: the right password is worth nothing without the device secret.
func TestC36_KeysetAlone(t *testing.T) {
	oneThread(t)
	cfg, a, kit := newAccount(t)
	a.Lock()
	stranger := cfg
	stranger.StateDir = filepath.Join(t.TempDir(), "state")
	if err := opens(t, stranger, password); !errors.Is(err, vault.ErrNoDeviceSecret) {
		t.Errorf("without a state directory: %v", err)
	}
	must(t, os.Mkdir(stranger.StateDir, 0o700))
	if err := opens(t, stranger, password); !errors.Is(err, vault.ErrNoDeviceSecret) {
		t.Errorf("without a device secret: %v", err)
	}
	_, other, otherKit := newAccount(t)
	other.Lock()
	must(t, vault.SetDeviceSecret(stranger, otherKit.DeviceSecret))
	if err := opens(t, stranger, password); !errors.Is(err, vault.ErrWrongPassword) {
		t.Errorf("with another device secret: %v", err)
	}
	right := anotherDevice(t, cfg, kit)
	must(t, opens(t, right, password))
}
