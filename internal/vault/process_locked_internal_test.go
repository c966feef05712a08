package vault

import (
	"testing"

	"warder/internal/seal"
	"warder/internal/secret"
)

// TestLockWipesTheKeys takes copies of every key of an open account, as code would that kept one, and tries them after Lock.
func TestLockWipesTheKeys(t *testing.T) {
	dir := t.TempDir()
	password, err := secret.New([]byte("correct horse battery staple 77"))
	if err != nil {
		t.Fatal(err)
	}
	defer password.Destroy()
	a, kit, err := Create(Config{AccountDir: dir + "/account", StateDir: dir + "/state", KDF: seal.FloorKDF()}, password)
	if err != nil {
		t.Fatal(err)
	}
	defer kit.Destroy()
	if _, err := a.CreateVault("second"); err != nil {
		t.Fatal(err)
	}
	c := a.c
	root, ds, dev := c.root, c.ds, c.dev
	uses := map[string]func() error{
		"root key":      func() error { _, err := seal.MACKeyset(root, []byte("file")); return err },
		"device secret": func() error { return ds.Use(func([]byte) {}) },
		"device keys":   func() error { _, err := dev.keys.SignManifest([]byte("file")); return err },
		"sealed device keys": func() error {
			_, err := seal.SealDeviceKeys(root, ds, c.account, dev.id, dev.keys)
			return err
		},
	}
	for id, s := range c.vaults {
		key := s.keys[s.epoch]
		uses["key of vault "+id.String()] = func() error {
			_, err := seal.SealManifest(key, seal.ManifestPlace{Account: c.account, Vault: id, Device: dev.id, Seq: 1}, []byte("x"))
			return err
		}
	}
	if len(uses) != 6 {
		t.Fatalf("%d keys", len(uses))
	}
	for name, use := range uses {
		if err := use(); err != nil {
			t.Errorf("%s before Lock: %v", name, err)
		}
	}
	a.Lock()
	for name, use := range uses {
		if use() == nil {
			t.Errorf("%s works after Lock", name)
		}
	}
}
