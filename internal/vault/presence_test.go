package vault_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"warder/internal/secret"
	"warder/internal/vault"
)

func somePresence() vault.Presence {
	return vault.Presence{Act: "hash", Challenge: "once", Shown: "show a value", Caller: "process"}
}

// proves makes a proof and wants it to succeed.
func proves(t testing.TB, cfg vault.Config, text string, p vault.Presence) []byte {
	t.Helper()
	proof, err := vault.Prove(cfg, value(t, text), value(t, "carried"), p)
	must(t, err)
	return proof
}

// noProof wants a proof not to open.
func noProof(t testing.TB, what string, a *vault.Account, p vault.Presence, proof []byte) {
	t.Helper()
	if _, err := vault.OpenProof(a, p, proof); !errors.Is(err, vault.ErrNoProof) {
		t.Errorf("%s: %v", what, err)
	}
}

// TestProofIsForOneThing: a proof opens for what it was made, and carries its load hidden; changed in any way it is none.
func TestProofIsForOneThing(t *testing.T) {
	cfg, a, _ := newAccount(t)
	proof := proves(t, cfg, password, somePresence())
	if bytes.Contains(proof, []byte("carried")) || bytes.Contains(proof, []byte(password)) {
		t.Error("the proof shows what it carries")
	}
	carried, err := vault.OpenProof(a, somePresence(), proof)
	must(t, err)
	if got := string(bytesOf(t, carried)); got != "carried" {
		t.Errorf("carried %q", got)
	}
	carried.Destroy()
	for what, change := range map[string]func(p *vault.Presence){
		"another act":       func(p *vault.Presence) { p.Act = "hasH" },
		"another challenge": func(p *vault.Presence) { p.Challenge += "x" },
		"another text":      func(p *vault.Presence) { p.Shown = "show another value" },
		"another process":   func(p *vault.Presence) { p.Caller = "" },
		"parts that moved":  func(p *vault.Presence) { p.Act, p.Challenge = "hasho", "nce" },
	} {
		p := somePresence()
		change(&p)
		noProof(t, what, a, p, proof)
	}
	for _, at := range []int{0, 23, 24, len(proof) - 1} {
		changed := bytes.Clone(proof)
		changed[at] ^= 1
		noProof(t, "a changed one", a, somePresence(), changed)
	}
	noProof(t, "the password itself", a, somePresence(), []byte(password))
	noProof(t, "nothing", a, somePresence(), nil)
	_, other, _ := newAccount(t)
	noProof(t, "another account", other, somePresence(), proof)

	empty, err := vault.Prove(cfg, value(t, password), secret.Value{}, somePresence())
	must(t, err)
	carried, err = vault.OpenProof(a, somePresence(), empty)
	must(t, err)
	if carried.Len() != 0 {
		t.Errorf("a proof without a load carries %d bytes", carried.Len())
	}
	a.Lock()
	if _, err := vault.OpenProof(a, somePresence(), proof); !errors.Is(err, vault.ErrLocked) {
		t.Errorf("locked: %v", err)
	}
}

// TestProofOfAnOldPassword: what the old password proved before the change is void, and it proves nothing after it. A change of
// the roster voids nothing.
func TestProofOfAnOldPassword(t *testing.T) {
	cfg, a, _ := newAccount(t)
	before := proves(t, cfg, password, somePresence())
	must(t, a.Repair().NewDevice()) // the keyset gets a successor
	carried, err := vault.OpenProof(a, somePresence(), before)
	must(t, err)
	carried.Destroy()

	b := open(t, cfg) // as another process would
	must(t, b.SetPassword(value(t, otherPassword)))
	noProof(t, "an old password's", a, somePresence(), before) // a has not read the new keyset yet
	if _, err := vault.Prove(cfg, value(t, password), secret.Value{}, somePresence()); !errors.Is(err, vault.ErrWrongPassword) {
		t.Errorf("the old password: %v", err)
	}
}

// TestProofNeedsAnAccount: without one, or without the device secret, nothing is proved.
func TestProofNeedsAnAccount(t *testing.T) {
	if _, err := vault.Prove(config(t.TempDir()), value(t, password), secret.Value{}, somePresence()); !errors.Is(err, vault.ErrNoAccount) {
		t.Errorf("nowhere: %v", err)
	}
	cfg, _, _ := newAccount(t)
	cfg.StateDir = config(t.TempDir()).StateDir
	if _, err := vault.Prove(cfg, value(t, password), secret.Value{}, somePresence()); !errors.Is(err, vault.ErrNoDeviceSecret) {
		t.Errorf("without the device secret: %v", err)
	}
}

// TestProvingSharesTheBackOff: a proof of presence is no second door for guessing.
func TestProvingSharesTheBackOff(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	cfg := config(t.TempDir())
	cfg.Now = func() time.Time { return now }
	create(t, cfg)
	prove := func(text string) error {
		_, err := vault.Prove(cfg, value(t, text), secret.Value{}, somePresence())
		return err
	}
	must(t, prove(password))
	for _, failures := range []int{1, 2} {
		if err := prove("not the password at all 9"); !errors.Is(err, vault.ErrWrongPassword) {
			t.Fatalf("wrong password %d: %v", failures, err)
		}
		// The right one has to wait as well, here and at the other door.
		var wait *vault.WaitError
		if err := prove(password); !errors.As(err, &wait) || wait.Wait > time.Duration(failures)*time.Second {
			t.Fatalf("after %d wrong passwords: %v", failures, err)
		}
		if _, err := vault.Open(cfg, value(t, password)); !errors.As(err, &wait) {
			t.Fatalf("opening after %d wrong passwords: %v", failures, err)
		}
		now = now.Add(wait.Wait)
	}
	must(t, prove(password))
	must(t, prove(password))
}
