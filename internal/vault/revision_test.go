package vault_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/vault"
)

// TestSentenceOfALostRevision: what is said of an old revision's file is true of it. The item itself is well.
func TestSentenceOfALostRevision(t *testing.T) {
	cfg, a, _ := newAccount(t)
	v := firstVault(t, a)
	it := newItem(t, "item", "1")
	save(t, v, it)
	first := it.Rev()
	it.Fields[0].Put(value(t, "2"))
	save(t, v, it)
	for _, name := range itemFiles(t, cfg, it.ID) {
		if strings.HasSuffix(name, first.String()[:16]) {
			must(t, os.Remove(filepath.Join(cfg.AccountDir, name)))
		}
	}
	_, err := v.OpenRevision(it.ID, first)
	if !errors.Is(err, vault.ErrDamaged) || !strings.Contains(err.Error(), "is not there any more") || strings.Contains(err.Error(), "no intact") {
		t.Errorf("%v", err)
	}
}
