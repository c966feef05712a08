package vault_test

import (
	"errors"
	"testing"
	"time"

	"warder/internal/vault"
)

// TestVerifyPasswordSharesTheBackOff: a proof of presence is no second door for guessing.
func TestVerifyPasswordSharesTheBackOff(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	cfg := config(t.TempDir())
	cfg.Now = func() time.Time { return now }
	a, _ := create(t, cfg)

	must(t, a.VerifyPassword(value(t, password)))
	for _, failures := range []int{1, 2} {
		if err := a.VerifyPassword(value(t, "not the password at all 9")); !errors.Is(err, vault.ErrWrongPassword) {
			t.Fatalf("wrong password %d: %v", failures, err)
		}
		// The right one has to wait as well, here and at the other door.
		var wait *vault.WaitError
		if err := a.VerifyPassword(value(t, password)); !errors.As(err, &wait) || wait.Wait > time.Duration(failures)*time.Second {
			t.Fatalf("after %d wrong passwords: %v", failures, err)
		}
		if _, err := vault.Open(cfg, value(t, password)); !errors.As(err, &wait) {
			t.Fatalf("opening after %d wrong passwords: %v", failures, err)
		}
		now = now.Add(wait.Wait)
	}
	must(t, a.VerifyPassword(value(t, password)))
	must(t, a.VerifyPassword(value(t, password)))

	a.Lock()
	if err := a.VerifyPassword(value(t, password)); !errors.Is(err, vault.ErrLocked) {
		t.Fatalf("locked: %v", err)
	}
}
