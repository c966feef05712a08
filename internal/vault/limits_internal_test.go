package vault

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"warder/internal/seal"
	"warder/internal/secret"
)

// TestTooLargeToBeRead: what no reader would read is not written. A keyset of that kind would lock everybody out.
func TestTooLargeToBeRead(t *testing.T) {
	OneThread(t)
	dir := t.TempDir()
	cfg := Config{AccountDir: filepath.Join(dir, "account"), StateDir: filepath.Join(dir, "state"), KDF: seal.FloorKDF()}
	password, err := secret.New([]byte("correct horse battery staple 77"))
	if err != nil {
		t.Fatal(err)
	}
	defer password.Destroy()
	a, kit, err := Create(cfg, password)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Lock()
	kit.Destroy()
	c, v := a.c, a.Vaults()[0]
	many := func(n int) map[seal.ID]seal.Hash {
		roster := map[seal.ID]seal.Hash{}
		for range n {
			roster[seal.NewID()] = seal.Hash{1}
		}
		return roster
	}
	for name, grow := range map[string]func() error{
		"keyset": func() error {
			return (roster{c}).advance(func(k *keyset) error {
				for id, card := range many(650) {
					k.roster[id] = card
				}
				return nil
			}, commitOptions{})
		},
		"seen state": func() error {
			was := c.seen.gone
			defer func() { c.seen.gone = was }()
			c.seen.gone = &staleFiles{files: []string{string(make([]byte, limitLocal))}}
			return memory{c}.save()
		},
		"manifest": func() error {
			d := &draft{s: v.s, root: &deviceRoot{root: &root{seq: 9}}}
			_, err := d.seal(rootPart, make([]byte, limitManifest))
			return err
		},
	} {
		before := treeOf(t, dir)
		err := c.writing(t.Context(), grow)
		var size *SizeError
		if !errors.As(err, &size) || size.Have <= size.Max {
			t.Errorf("%s: %v", name, err)
		}
		for path, text := range treeOf(t, dir) {
			if before[path] != text {
				t.Errorf("%s: %s was written", name, path)
			}
		}
	}
	b, err := Open(cfg, password)
	if err != nil {
		t.Fatal(err)
	}
	b.Lock()
}

// treeOf is every file below a directory with its bytes.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
