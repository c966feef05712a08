package vault_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/seal"
	"warder/internal/testkit"
	"warder/internal/vault"
)

// These tests let a process meet an error half way through reading what others wrote. What it wrote then on what it had half read would
// drop the rest without a word.

// loosen opens what fits a pattern below the account to others, which refuses it, and returns what takes that back.
func loosen(t *testing.T, cfg vault.Config, pattern string, mode os.FileMode) (tighten func()) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(cfg.AccountDir, pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("nothing fits %s (%v)", pattern, err)
	}
	was := map[string]os.FileMode{}
	for _, path := range found {
		fi, err := os.Stat(path)
		must(t, err)
		was[path] = fi.Mode().Perm()
		must(t, os.Chmod(path, mode))
	}
	return func() {
		for path, mode := range was {
			must(t, os.Chmod(path, mode))
		}
	}
}

// TestAWriteAfterAHalfReadAccount lets another process add items, hides a part of that behind an error, and writes before and after the
// error is gone: it refuses first and loses nothing then.
func TestAWriteAfterAHalfReadAccount(t *testing.T) {
	needModes(t)
	if testkit.AsUser(t) {
		return
	}
	for name, part := range map[string]struct {
		pattern string
		mode    os.FileMode
	}{
		"shards":       {"vaults/*/man/*.d/*", 0o644},
		"shard folder": {"vaults/*/man/*.d", 0o755},
		"root":         {"vaults/*/man/*[0-9a-f]", 0o644},
		"item folders": {"vaults/*/items/*", 0o755},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			cfg, a, _ := newAccount(t)
			v := firstVault(t, a)
			save(t, v, newItem(t, "old", "1"))
			var items []*vault.Item
			for i := range 20 {
				items = append(items, newItem(t, fmt.Sprint("of b ", i), "1"))
			}
			b := open(t, cfg)
			save(t, firstVault(t, b), items...)

			tighten := loosen(t, cfg, part.pattern, part.mode)
			for range 2 {
				if err := v.Save(newItem(t, "refused", "1")); err == nil {
					t.Fatal("it wrote on what it had half read")
				}
			}
			tighten()
			save(t, v, newItem(t, "written", "1"))
			if got := len(v.List()); got != 22 {
				t.Errorf("%d items are listed, want 22", got)
			}
			quiet(t, open(t, cfg), 22)
		})
	}
}

// TestAStaleItemAfterAHalfReadAccount: the error must not hide that another process changed the item meanwhile.
func TestAStaleItemAfterAHalfReadAccount(t *testing.T) {
	needModes(t)
	if testkit.AsUser(t) {
		return
	}
	cfg, a, _ := newAccount(t)
	v := firstVault(t, a)
	save(t, v, newItem(t, "x", "one"))
	mine, err := v.Open(find(t, v, "x"))
	must(t, err)
	defer mine.Destroy()
	editTo(t, firstVault(t, open(t, cfg)), "x", "two")
	tighten := loosen(t, cfg, "vaults/*/items/"+mine.ID.String()[:2], 0o755)
	if v.Save(newItem(t, "other", "1")) == nil {
		t.Fatal("it wrote")
	}
	tighten()
	mine.Fields[0].Put(value(t, "three"))
	if err := v.Save(mine); !errors.Is(err, vault.ErrChanged) {
		t.Errorf("a stale item: %v", err)
	}
}

// TestANewItemBesideOneThatWasHalfRead writes into the shard of an item whose folder could not be read before.
func TestANewItemBesideOneThatWasHalfRead(t *testing.T) {
	needModes(t)
	if testkit.AsUser(t) {
		return
	}
	s, first, second := twoDevices(t)
	it := newItem(t, "of the second", "1")
	it.ID = seal.NewID()
	save(t, firstVault(t, second), it)
	v := firstVault(t, first)
	tighten := loosen(t, s.account(), "vaults/*/items/"+it.ID.String()[:2], 0o755)
	if v.Save(newItem(t, "other", "1")) == nil {
		t.Fatal("it wrote")
	}
	tighten()
	beside := newItem(t, "of the first", "1")
	beside.ID = it.ID
	beside.ID[15]++
	save(t, v, beside)
	sameForBoth(t, s, first, second, 2)
}

// TestACardThatCouldNotBeRead: what an enrolled device wrote must not be left out without a finding.
func TestACardThatCouldNotBeRead(t *testing.T) {
	needModes(t)
	if testkit.AsUser(t) {
		return
	}
	s := newScene(t)
	first, kit := create(t, s.account())
	must(t, vault.SetDeviceSecret(s.second(), kit.DeviceSecret))
	second := open(t, s.second())
	save(t, firstVault(t, second), newItem(t, "of the second", "1"))
	v := firstVault(t, first)
	tighten := loosen(t, s.account(), "devices/"+second.Device().String(), 0o644)
	if v.Save(newItem(t, "a", "1")) == nil {
		t.Fatal("it wrote")
	}
	tighten()
	save(t, v, newItem(t, "b", "1"))
	if len(v.List()) != 2 || len(first.Findings()) > 0 {
		t.Errorf("%d items are listed, want 2; findings: %q", len(v.List()), texts(first.Findings()))
	}
}

// TestACardThatCameLater counts from the next write on.
func TestACardThatCameLater(t *testing.T) {
	s, first, second := twoDevices(t)
	card := filepath.Join(s.account().AccountDir, "devices", second.Device().String())
	file := readFile(t, card)
	must(t, os.Remove(card))
	first.Lock()
	again := open(t, s.account())
	save(t, firstVault(t, second), newItem(t, "of the second", "1"))
	writeFile(t, card, file)
	v := firstVault(t, again)
	save(t, v, newItem(t, "a", "1"))
	if len(v.List()) != 2 || len(again.Findings()) > 0 {
		t.Errorf("%d items are listed, want 2; findings: %q", len(v.List()), texts(again.Findings()))
	}
}

// panicking is a folder that panics once, as a fault of ours would.
type panicking struct {
	vault.Folder
	path string
	now  *bool
}

func (p panicking) Replace(name string, data []byte) error {
	if *p.now && strings.HasSuffix(p.path, "/man") {
		*p.now = false
		panic("a fault of ours")
	}
	return p.Folder.Replace(name, data)
}

// TestAPanicLeavesNoLock: a daemon survives a panic of one call, and then the other writers of the device must go on, and it itself too.
func TestAPanicLeavesNoLock(t *testing.T) {
	cfg, a, _ := newAccount(t)
	a.Lock()
	now := false
	faulty := cfg
	faulty.Wrap(func(path string, f vault.Folder) vault.Folder { return panicking{f, path, &now} })
	a = open(t, faulty)
	v := firstVault(t, a)
	now = true
	func() {
		defer func() {
			if recover() == nil {
				t.Error("it did not panic")
			}
		}()
		_ = v.Save(newItem(t, "lost", "1"))
	}()
	save(t, firstVault(t, open(t, cfg)), newItem(t, "x", "1"))
	save(t, v, newItem(t, "y", "1"))
	quiet(t, open(t, cfg), 2)
}
