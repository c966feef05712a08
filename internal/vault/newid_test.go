package vault_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/vault"
)

// snapshotting is a folder that lets something happen after the first new item file.
type snapshotting struct {
	vault.Folder
	path string
	take *func()
}

func (s snapshotting) WriteNew(name string, data []byte) error {
	err := s.Folder.WriteNew(name, data)
	if take := *s.take; take != nil && strings.Contains(s.path, "/items") {
		*s.take = nil
		take()
	}
	return err
}

// TestNewDeviceAfterASnapshotInTheMiddleOfAWrite restores the state directory as a backup took it while an item was written. It names the
// item's files as those of a write that did not end, but that write and others after it came to their end.
func TestNewDeviceAfterASnapshotInTheMiddleOfAWrite(t *testing.T) {
	oneThread(t)
	for name, write := range map[string]func(t *testing.T, a *vault.Account){
		"an item": func(t *testing.T, a *vault.Account) {
			t.Helper()
			save(t, firstVault(t, a), newItem(t, "precious", "1"))
		},
		"a vault": func(t *testing.T, a *vault.Account) {
			t.Helper()
			v, err := a.CreateVault("precious")
			must(t, err)
			save(t, v, newItem(t, "in it", "1"))
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			cfg, a, _ := newAccount(t)
			a.Lock()
			backup := filepath.Join(t.TempDir(), "backup")
			take := func() { copyTree(t, cfg.StateDir, backup) }
			watched := cfg
			watched.Wrap(func(path string, f vault.Folder) vault.Folder { return snapshotting{f, path, &take} })
			a = open(t, watched)
			write(t, a)
			save(t, firstVault(t, a), newItem(t, "later", "1"))
			want := contentOf(t, a)
			a.Lock()
			must(t, os.RemoveAll(cfg.StateDir))
			copyTree(t, backup, cfg.StateDir)

			b := open(t, cfg)
			if found := summaries(b.Findings()); len(found) == 0 || found[0] != "cloned!" {
				t.Fatalf("findings: %q", texts(b.Findings()))
			}
			must(t, b.Repair().NewDevice())
			save(t, firstVault(t, b), newItem(t, "new", "1"))
			must(t, firstVault(t, b).Purge(find(t, firstVault(t, b), "new")))
			if got := contentOf(t, b); got != want {
				t.Errorf("after the repair:\n%s\nwant:\n%s", got, want)
			}
			c := open(t, cfg)
			if got := contentOf(t, c); got != want || len(c.Findings()) > 0 {
				t.Errorf("after a restart:\n%s\nwith %q, want:\n%s", got, texts(c.Findings()), want)
			}
		})
	}
}

// TestANewIDInAnotherProcess: a process goes on under the id that another one gave the device, and neither takes the other for a copy.
func TestANewIDInAnotherProcess(t *testing.T) {
	for name, renew := range map[string]func(a *vault.Account) error{
		"NewDevice":     func(a *vault.Account) error { return a.Repair().NewDevice() },
		"AcceptRestore": func(a *vault.Account) error { _, err := a.Repair().AcceptRestore(); return err },
	} {
		t.Run(name, func(t *testing.T) {
			cfg, a, _ := newAccount(t)
			v := firstVault(t, a)
			save(t, v, newItem(t, "old", "1"))
			b := open(t, cfg)
			former := b.Device()
			must(t, renew(b))
			save(t, v, newItem(t, "x", "1"))
			if a.Device() != b.Device() || a.Device() == former {
				t.Errorf("one process is %s, the other %s, both were %s", a.Device(), b.Device(), former)
			}
			save(t, firstVault(t, b), newItem(t, "y", "1"))
			save(t, v, newItem(t, "z", "1"))
			quiet(t, a, 4)
			quiet(t, b, 4)
			quiet(t, open(t, cfg), 4)
			nothingLeftOver(t, cfg, a)
		})
	}
}

// TestAnIDThatIsNotTakenUp: a new id that came to nothing leaves the former one with its memory.
func TestAnIDThatIsNotTakenUp(t *testing.T) {
	cfg, a, _ := newAccount(t)
	a.Lock()
	fail := false
	failing := cfg
	failing.Wrap(func(path string, f vault.Folder) vault.Folder { return noKeysets{f, path, &fail} })
	a = open(t, failing)
	save(t, firstVault(t, a), newItem(t, "x", "1"))
	former := a.Device()
	fail = true
	for name, renew := range map[string]func() error{
		"NewDevice":     a.Repair().NewDevice,
		"AcceptRestore": func() error { _, err := a.Repair().AcceptRestore(); return err },
	} {
		if renew() == nil || a.Device() != former {
			t.Errorf("%s: the device is %s, was %s", name, a.Device(), former)
		}
		quiet(t, open(t, cfg), 1)
	}
	fail = false
	save(t, firstVault(t, a), newItem(t, "y", "1"))
	quiet(t, open(t, cfg), 2)
}

// noKeysets is a folder that takes no new keyset.
type noKeysets struct {
	vault.Folder
	path string
	fail *bool
}

func (f noKeysets) WriteNew(name string, data []byte) error {
	if *f.fail && strings.HasSuffix(f.path, "keysets") {
		return os.ErrInvalid
	}
	return f.Folder.WriteNew(name, data)
}
