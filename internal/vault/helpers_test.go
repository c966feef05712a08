package vault_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"warder/internal/seal"
	"warder/internal/secret"
	"warder/internal/vault"
)

// password opens every account that tests make.
const password = "correct horse battery staple 77"

// config is an account and a device's state below dir, at the lowest cost of the key derivation.
func config(dir string) vault.Config {
	return vault.Config{AccountDir: filepath.Join(dir, "account"), StateDir: filepath.Join(dir, "state"), KDF: seal.FloorKDF()}
}

// value makes a secret that is wiped at the end of the test.
func value(t testing.TB, s string) secret.Value {
	t.Helper()
	v, err := secret.New([]byte(s))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Destroy)
	return v
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bytesOf copies a secret out.
func bytesOf(t testing.TB, v secret.Value) []byte {
	t.Helper()
	var out []byte
	if err := v.Use(func(b []byte) { out = bytes.Clone(b) }); err != nil {
		t.Fatal(err)
	}
	return out
}

// oneThread is OneThread.
func oneThread(t testing.TB) {
	t.Helper()
	vault.OneThread(t)
}

// sampled says whether a row of a long table is among those that are tried: all, or with -short each third, under the race detector
// each ninth.
func sampled(row int) bool {
	switch {
	case !testing.Short():
		return true
	case vault.RaceDetector:
		return row%9 == 0
	}
	return row%3 == 0
}

// newAccount makes an account below a directory of its own, unlocked.
func newAccount(t testing.TB) (vault.Config, *vault.Account, *vault.Kit) {
	t.Helper()
	cfg := newScene(t).account()
	a, kit := create(t, cfg)
	return cfg, a, kit
}

func create(t testing.TB, cfg vault.Config) (*vault.Account, *vault.Kit) {
	t.Helper()
	a, kit, err := vault.Create(cfg, value(t, password))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Lock)
	t.Cleanup(kit.Destroy)
	return a, kit
}

// open unlocks an account with the tests' password.
func open(t testing.TB, cfg vault.Config) *vault.Account {
	t.Helper()
	a, err := vault.Open(cfg, value(t, password))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Lock)
	return a
}

// anotherDevice is the same account on a device that holds nothing but the device secret; opening it enrols it.
func anotherDevice(t testing.TB, cfg vault.Config, kit *vault.Kit) vault.Config {
	t.Helper()
	cfg.StateDir = filepath.Join(t.TempDir(), "state")
	if err := vault.SetDeviceSecret(cfg, kit.DeviceSecret); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// newItem is an item with one concealed value, not saved yet.
func newItem(t testing.TB, name, text string) *vault.Item {
	t.Helper()
	return &vault.Item{
		Meta:   vault.Meta{Kind: vault.KindItem, Name: name, Type: vault.TypePassword},
		Fields: []vault.Field{{Name: "password", Concealed: true, Value: value(t, text)}},
	}
}

func save(t testing.TB, v *vault.Vault, items ...*vault.Item) {
	t.Helper()
	if err := v.Save(items...); err != nil {
		t.Fatal(err)
	}
}

// firstVault is the account's default vault.
func firstVault(t testing.TB, a *vault.Account) *vault.Vault {
	t.Helper()
	v, err := a.Vault(vault.DefaultVault)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// firstValue opens an item and reads its first field.
func firstValue(t testing.TB, v *vault.Vault, id seal.ID) (string, vault.ItemState) {
	t.Helper()
	it, err := v.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	defer it.Destroy()
	return string(bytesOf(t, it.Fields[0].Value)), it.State
}

// files lists the regular files below dir, sorted, with forward slashes. A dir that is not there has none.
func files(t testing.TB, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		list = append(list, filepath.ToSlash(rel))
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

// copyTree copies the files below from to a new directory, with the modes that the vault wants.
func copyTree(t testing.TB, from, to string) {
	t.Helper()
	if err := os.MkdirAll(to, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range files(t, from) {
		data, err := os.ReadFile(filepath.Join(from, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(to, filepath.FromSlash(name)), data)
	}
}

// writeFile writes a file and its folders with the modes that the vault wants.
func writeFile(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// summaries are findings as "kind!" for alarms and "kind" for the rest, sorted.
func summaries(list []vault.Finding) []string {
	var out []string
	for _, f := range list {
		s := string(f.Kind)
		if f.Alarm {
			s += "!"
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}
