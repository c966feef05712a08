package vault

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warder/internal/seal"
	"warder/internal/secret"
)

// testPassword opens the accounts of tests that see the vault's insides.
const testPassword = "correct horse battery staple 77"

// testValue makes a secret that is wiped at the end of the test.
func testValue(t testing.TB, s string) secret.Value {
	t.Helper()
	v, err := secret.New([]byte(s))
	v = must(t, v, err)
	t.Cleanup(v.Destroy)
	return v
}

// testAccount makes an account below a directory of its own.
func testAccount(t testing.TB, change func(*Config)) (Config, *Account, *Kit) {
	t.Helper()
	dir := t.TempDir()
	cfg := Config{AccountDir: filepath.Join(dir, "account"), StateDir: filepath.Join(dir, "state"), KDF: seal.FloorKDF()}
	change(&cfg)
	a, kit, err := Create(cfg, testValue(t, testPassword))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Lock)
	t.Cleanup(kit.Destroy)
	return cfg, a, kit
}

func reopen(t testing.TB, cfg Config, a *Account) *Account {
	t.Helper()
	a.Lock()
	a, err := Open(cfg, testValue(t, testPassword))
	a = must(t, a, err)
	t.Cleanup(a.Lock)
	return a
}

// onDisk opens the root of this device in a vault from its file, as another reader would.
func onDisk(t testing.TB, cfg Config, a *Account, id seal.ID) *root {
	t.Helper()
	path := filepath.Join(cfg.AccountDir, "vaults", id.String(), "man", a.Device().String())
	file, err := os.ReadFile(path) // #nosec G304 -- a test's own files
	file = must(t, file, err)
	place := seal.ManifestPlace{Account: a.ID(), Vault: id, Device: a.Device(), Part: rootPart}
	plain, seq, err := openPart(a.c.vaults[id].keys, a.c.dev.keys.Public().Sign, place, file)
	plain = must(t, plain, err)
	r, err := decodeRoot(plain)
	r = must(t, r, err)
	if r.seq != seq {
		t.Fatalf("seq %d inside, %d outside", r.seq, seq)
	}
	return r
}

// TestAuditHeadIsSigned: each root names the head of the audit log when it was written, in each vault.
func TestAuditHeadIsSigned(t *testing.T) {
	var head mark
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	cfg, a, _ := testAccount(t, func(c *Config) {
		c.AuditHead = func() (uint64, seal.Hash) { return head.seq, head.hash }
		c.Now = func() time.Time { return now }
	})
	second, err := a.CreateVault("work")
	second = must(t, second, err)
	var vaults []*Vault
	for _, v := range a.Vaults() {
		vaults = append(vaults, v)
		if r := onDisk(t, cfg, a, v.ID()); r.audit != (mark{}) {
			t.Errorf("a head before there is one: %v", r.audit)
		}
	}
	for n, act := range []func() error{
		func() error { return second.Save(&Item{Meta: Meta{Kind: KindItem, Name: "one"}}) },
		a.Touch,
		func() error { return a.ChangePassword(testValue(t, testPassword), testValue(t, testPassword+"!")) },
		a.Touch,
	} {
		head = mark{uint64(n + 1), seal.HashOf([]byte{byte(n)})} // #nosec G115 -- few
		now = now.Add(time.Hour)
		before := map[seal.ID]*root{}
		for _, v := range vaults {
			before[v.ID()] = onDisk(t, cfg, a, v.ID())
		}
		if err := act(); err != nil {
			t.Fatal(err)
		}
		for _, v := range vaults {
			if n == 0 && v.ID() != second.ID() {
				continue // not written by that act
			}
			r := onDisk(t, cfg, a, v.ID())
			if r.audit != head || !r.time.Equal(now) || r.seq != before[v.ID()].seq+1 || r.prev == before[v.ID()].prev {
				t.Errorf("act %d, vault %s: %+v", n, v.Name(), r)
			}
		}
	}
}

// TestTouch writes each root again and nothing else.
func TestTouch(t *testing.T) {
	cfg, a, _ := testAccount(t, func(*Config) {})
	if err := a.Vaults()[0].Save(&Item{Meta: Meta{Kind: KindItem, Name: "one"}}); err != nil {
		t.Fatal(err)
	}
	code, names := a.StateCode(), namesBelow(t, cfg.AccountDir)
	before := onDisk(t, cfg, a, a.Vaults()[0].ID())
	if err := a.Touch(); err != nil {
		t.Fatal(err)
	}
	after := onDisk(t, cfg, a, a.Vaults()[0].ID())
	if after.seq != before.seq+1 || !cmp.Equal(after.shards, before.shards) || !cmp.Equal(after.keyset, before.keyset, same()) {
		t.Errorf("%+v, then %+v", before, after)
	}
	if a.StateCode() != code {
		t.Error("the state code is another")
	}
	if got := namesBelow(t, cfg.AccountDir); !slices.Equal(got, names) {
		t.Errorf("files %q, then %q", names, got)
	}
	a = reopen(t, cfg, a)
	if f := a.Findings(); len(f) != 0 {
		t.Errorf("%+v", f)
	}
}

func namesBelow(t testing.TB, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		names = append(names, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestC36_DeviceSecretIsInTheKey: the root key is wrapped under password and device secret, and no others open it.
func TestC36_DeviceSecretIsInTheKey(t *testing.T) {
	_, a, _ := testAccount(t, func(*Config) {})
	s := a.c.keyset.slot(passwordSlot)
	if !s.ds {
		t.Fatal("the slot does without a device secret")
	}
	other, err := secret.Random(deviceSecretLen)
	other = must(t, other, err)
	zeros := testValue(t, strings.Repeat("\x00", deviceSecretLen))
	for name, ds := range map[string]secret.Value{"another": other, "zeros": zeros, "none": {}} {
		root, err := s.open(a.ID(), testValue(t, testPassword), ds)
		if !errors.Is(err, seal.ErrOpen) {
			t.Errorf("opens with %s: %v", name, err)
			root.Destroy()
		}
	}
	without := *s
	without.ds = false
	if root, err := without.open(a.ID(), testValue(t, testPassword), secret.Value{}); !errors.Is(err, seal.ErrOpen) {
		t.Errorf("opens when the file says that none is needed: %v", err)
		root.Destroy()
	}
	root, err := s.open(a.ID(), testValue(t, testPassword), a.c.ds)
	root = must(t, root, err)
	root.Destroy()
}
