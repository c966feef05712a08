package vault_test

import (
	"errors"
	"testing"

	"warder/internal/seal"
	"warder/internal/vault"
)

// TestStamp: it is another one after each change, and only then.
func TestStamp(t *testing.T) {
	cfg := config(t.TempDir())
	a, _ := create(t, cfg)
	v := firstVault(t, a)
	seen := map[seal.Hash]string{}
	stamp := func(after string) {
		t.Helper()
		s, err := vault.Stamp(a)
		must(t, err)
		if before, again := seen[s]; again {
			t.Errorf("after %s as after %s", after, before)
		}
		seen[s] = after
		if again, err := vault.Stamp(a); err != nil || again != s {
			t.Errorf("after %s: not the same twice, %v", after, err)
		}
	}
	stamp("nothing")
	it := fullItem(t)
	save(t, v, it)
	stamp("adding")
	opened, err := v.Open(it.ID)
	must(t, err)
	defer opened.Destroy()
	opened.Level = vault.LevelNone
	save(t, v, opened)
	stamp("changing a level")
	must(t, v.Trash(it.ID, vault.Origin{}))
	stamp("removing")
	a.Lock()
	if _, err := vault.Stamp(a); !errors.Is(err, vault.ErrLocked) {
		t.Errorf("locked: %v", err)
	}
}
