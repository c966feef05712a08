package vault_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"warder/internal/state"
	"warder/internal/vault"
)

// holdWriteLock keeps the lock file of all that write, as any process of this user can, until the returned function is called.
func holdWriteLock(t *testing.T, cfg vault.Config) (release func()) {
	t.Helper()
	dir, err := state.OpenDir(cfg.StateDir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	lock, err := dir.TryLock("write.lock")
	if err != nil {
		t.Fatal(err)
	}
	release = func() { _ = lock.Release() }
	t.Cleanup(release)
	return release
}

// TestForeignLockEndsTheWait: a lock file that somebody keeps lets writes fail after their time, by name.
func TestForeignLockEndsTheWait(t *testing.T) {
	cfg, first, _ := newAccount(t)
	first.Lock()
	cfg.SetLockTime(time.Nanosecond)
	a := open(t, cfg)
	v := firstVault(t, a)
	release := holdWriteLock(t, cfg)
	for name, act := range map[string]func() error{
		"Save":  func() error { return v.Save(newItem(t, "some", "text")) },
		"Touch": a.Touch,
		"Open":  func() error { _, err := vault.Open(cfg, value(t, password)); return err },
	} {
		var locked *state.LockedError
		if err := act(); !errors.As(err, &locked) {
			t.Errorf("%s: %v", name, err)
		}
	}
	release()
	if err := v.Save(newItem(t, "some", "text")); err != nil {
		t.Errorf("after that: %v", err)
	}
}

// TestWhoWaitsHoldsNobodyUp: while a write waits for the lock file others read and lock, and the write ends with the account, or with
// whoever asked for it.
func TestWhoWaitsHoldsNobodyUp(t *testing.T) {
	for name, end := range map[string]struct {
		act  func(a *vault.Account, cancel func())
		want error
	}{
		"locked": {func(a *vault.Account, _ func()) { a.Lock() }, vault.ErrLocked},
		"gone":   {func(_ *vault.Account, cancel func()) { cancel() }, state.ErrLocked},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, first, _ := newAccount(t)
			first.Lock()
			cfg.SetLockTime(time.Hour)
			a := open(t, cfg)
			holdWriteLock(t, cfg)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			v := firstVault(t, vault.Until(ctx, a))
			const writers = 3
			started, ended := make(chan struct{}, writers), make(chan error, writers)
			for range writers {
				item := newItem(t, "some", "text")
				go func() {
					started <- struct{}{}
					ended <- v.Save(item)
				}()
			}
			for range writers {
				<-started
			}
			for range 100 { // the writers come to wait meanwhile
				if len(a.Vaults()) != 1 || v.Name() == "" || a.Findings() != nil {
					t.Fatal("it can't be read")
				}
			}
			end.act(a, cancel)
			for range writers {
				if err := <-ended; !errors.Is(err, end.want) && !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
			}
		})
	}
}
