package vault

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/seal"
	"warder/internal/secret"
)

// sample is one file of a kind, and the function that must refuse every other bytes in its place.
type sample struct {
	kind string
	path string
	open func(file []byte) error
}

// fixtureSamples opens a copy of the committed store and picks a file of each kind.
func fixtureSamples(t *testing.T) []sample {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/v1")); err != nil {
		t.Fatal(err)
	}
	makePrivate(t, dir)
	cfg := Config{AccountDir: filepath.Join(dir, "account"), StateDir: filepath.Join(dir, "state"), KDF: seal.FloorKDF()}
	password, err := secret.New([]byte("correct horse battery staple 77"))
	if err != nil {
		t.Fatal(err)
	}
	defer password.Destroy()
	a, err := Open(cfg, password)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Lock)
	v, err := a.Vault(DefaultVault)
	if err != nil {
		t.Fatal(err)
	}
	return append(accountSamples(t, a.c), vaultSamples(t, v.s)...)
}

// makePrivate gives a tree the modes that the vault wants.
func makePrivate(t *testing.T, dir string) {
	t.Helper()
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		if info.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func accountSamples(t *testing.T, c *core) []sample {
	t.Helper()
	dir, local, own := c.cfg.AccountDir, filepath.Join(c.cfg.StateDir, "device"), c.dev.id
	return []sample{
		{"format", filepath.Join(dir, "format"), func(file []byte) error {
			if err := os.WriteFile(filepath.Join(dir, "format"), file, 0o600); err != nil {
				t.Fatal(err)
			}
			id, err := readFormat(c.shared)
			if err == nil && id != c.account {
				return seal.ErrOpen // nothing else of the account opens
			}
			return err
		}},
		{"keyset", filepath.Join(dir, "keysets", keysetName(c.keyset)), func(file []byte) error {
			k, err := parseKeyset(c.account, file)
			if err == nil && !k.authentic(c.root) {
				return seal.ErrOpen
			}
			return err
		}},
		{"card", filepath.Join(dir, "devices", own.String()), func(file []byte) error {
			_, err := openCard(c.account, own, c.root, file)
			return err
		}},
		{"device keys", filepath.Join(local, keysFile), func(file []byte) error {
			if err := os.WriteFile(filepath.Join(local, keysFile), file, 0o600); err != nil {
				t.Fatal(err)
			}
			dev, err := readDevice(c.local, c.account, c.root, c.ds)
			dev.keys.Destroy()
			return err
		}},
		{"device secret", filepath.Join(local, secretFile), func(file []byte) error {
			if err := os.WriteFile(filepath.Join(local, secretFile), file, 0o600); err != nil {
				t.Fatal(err)
			}
			ds, err := readDeviceSecret(c.local)
			defer ds.Destroy()
			if err == nil && !ds.Equal(c.ds) {
				return seal.ErrOpen // it opens no slot
			}
			return err
		}},
	}
}

func vaultSamples(t *testing.T, s *shelf) []sample {
	t.Helper()
	c, own := s.c, s.c.dev.id
	dir := filepath.Join(c.cfg.AccountDir, "vaults", s.id.String())
	place := seal.ManifestPlace{Account: c.account, Vault: s.id, Device: own, Part: rootPart}
	item, number := seal.ID{}, uint8(0)
	for id, m := range s.index {
		if m.Kind == KindItem && m.Type == TypeCard {
			item, number = id, shardOf(id)
		}
	}
	shardPlace := place
	shardPlace.Part = uint16(number)
	signer := c.dev.keys.Public().Sign
	return []sample{
		{"vault header", filepath.Join(dir, headerName(1)), func(file []byte) error {
			vk, err := c.openHeader(s.id, 1, file)
			vk.Destroy()
			return err
		}},
		{"item", filepath.Join(dir, "items", shardName(number), itemFile(item, s.heads[item][0].rev)), func(file []byte) error {
			it, err := openItem(s.keys, s.id, item, file, true)
			if it != nil {
				it.Destroy()
			}
			return err
		}},
		{"root", filepath.Join(dir, "man", own.String()), func(file []byte) error {
			_, _, err := openPart(s.keys, signer, place, file)
			return err
		}},
		{"shard", filepath.Join(dir, "man", own.String()+".d", shardFile(number, s.roots[own].root.shards[number])), func(file []byte) error {
			_, _, err := openPart(s.keys, signer, shardPlace, file)
			return err
		}},
	}
}

// TestNoBitOfAFileIsFree changes each bit of a file of each kind: it must not open any more.
func TestNoBitOfAFileIsFree(t *testing.T) {
	OneThread(t)
	for _, s := range fixtureSamples(t) {
		t.Run(s.kind, func(t *testing.T) {
			file, err := os.ReadFile(s.path)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.open(file); err != nil {
				t.Fatalf("unchanged: %v", err)
			}
			for bit := range 8 * len(file) {
				changed := append([]byte(nil), file...)
				changed[bit/8] ^= 1 << (bit % 8)
				if s.kind == "device secret" && sameCode(file, changed) {
					continue
				}
				if err := s.open(changed); err == nil {
					t.Errorf("opens with bit %d of byte %d of %d changed", bit%8, bit/8, len(file))
				}
			}
		})
	}
}

// sameCode says that two texts are spellings of one code: people may type capitals or not, and read some letters as digits.
func sameCode(a, b []byte) bool {
	fold := strings.NewReplacer("O", "0", "I", "1", "L", "1", "-", "", " ", "", "\n", "", "\r", "", "\t", "")
	return fold.Replace(strings.ToUpper(string(a))) == fold.Replace(strings.ToUpper(string(b)))
}

// TestNoFileOpensCutOrGrown cuts each kind of file at every length and lets it grow: it must not open.
func TestNoFileOpensCutOrGrown(t *testing.T) {
	OneThread(t)
	for _, s := range fixtureSamples(t) {
		t.Run(s.kind, func(t *testing.T) {
			file, err := os.ReadFile(s.path)
			if err != nil {
				t.Fatal(err)
			}
			for n := range len(file) {
				if s.kind == "device secret" && n == len(file)-1 {
					continue // the line's end
				}
				if s.open(file[:n:n]) == nil {
					t.Errorf("opens with %d of %d bytes", n, len(file))
				}
			}
			for _, tail := range []byte{0, 'x'} {
				if s.open(append(file[:len(file):len(file)], tail)) == nil {
					t.Errorf("opens with a byte %#x after its end", tail)
				}
			}
		})
	}
}

// TestNewerVersionsAreRefusedByName bumps the version of each kind of file.
func TestNewerVersionsAreRefusedByName(t *testing.T) {
	for _, s := range fixtureSamples(t) {
		if s.kind == "device secret" {
			continue // it has none
		}
		t.Run(s.kind, func(t *testing.T) {
			file, err := os.ReadFile(s.path)
			if err != nil {
				t.Fatal(err)
			}
			binary.BigEndian.PutUint16(file[8:], 2)
			var newer *FormatError
			if err := s.open(file); !errors.As(err, &newer) {
				t.Fatalf("opening version 2 says: %v", err)
			}
			if newer.Have != 2 || newer.Max != 1 || newer.Object == "" {
				t.Errorf("it is named %+v", newer)
			}
		})
	}
}

// TestNewerItemsThatAreListedAreRefusedByName puts a revision of a newer version where its hash is listed, as a newer warder would.
func TestNewerItemsThatAreListedAreRefusedByName(t *testing.T) {
	var path string
	for _, s := range fixtureSamples(t) {
		if s.kind == "item" {
			path = s.path
		}
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	binary.BigEndian.PutUint16(file[8:], 2)
	id, err := seal.ParseID(filepath.Base(path)[:32])
	if err != nil {
		t.Fatal(err)
	}
	rev := seal.HashOf(file)
	d := memFolder{itemFile(id, rev): file}
	_, st, err := reader{&shelf{}, d, true}.rev(id, rev)
	var newer *FormatError
	if !errors.As(err, &newer) || st == StateOK {
		t.Errorf("state %s, error %v", st, err)
	}
}

// memFolder is a folder in memory that can be read.
type memFolder map[string][]byte

func (m memFolder) Read(name string, _ int64) ([]byte, error) {
	if b, ok := m[name]; ok {
		return b, nil
	}
	return nil, os.ErrNotExist
}
func (memFolder) List() ([]string, error)       { return nil, nil }
func (memFolder) WriteNew(string, []byte) error { return os.ErrPermission }
func (memFolder) Replace(string, []byte) error  { return os.ErrPermission }
func (memFolder) Remove(string) error           { return os.ErrPermission }
