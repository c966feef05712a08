package vault_test

import (
	"regexp"
	"testing"

	"warder/internal/vault"
)

// TestStateCode is equal where two devices see the same, and another after each change that one of them does not see.
func TestStateCode(t *testing.T) {
	w := newTwins(t)
	w.agree()
	form := regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$`)
	it := newItem(t, "item", "1")
	seen := map[string]string{w.dev[0].StateCode(): "at first"}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"an item", func() error { return w.vault(0).Save(it) }},
		{"a change", func() error { it.Fields[0].Put(value(t, "2")); return w.vault(0).Save(it) }},
		{"the same content again", func() error { return w.vault(0).Save(it) }},
		{"the trash", func() error { return w.vault(0).Trash(it.ID, vault.Origin{}) }},
		{"its end", func() error { return w.vault(0).Purge(it.ID) }},
		{"a vault", func() error { _, err := w.dev[0].CreateVault("work"); return err }},
	} {
		must(t, step.do())
		code := w.dev[0].StateCode()
		if !form.MatchString(code) {
			t.Errorf("%s: %q", step.name, code)
		}
		if before, ok := seen[code]; ok {
			t.Errorf("after %s the code is as %s", step.name, before)
		}
		if code == w.dev[1].StateCode() {
			t.Errorf("after %s the other device has the code already", step.name)
		}
		seen[code] = "after " + step.name
		w.meet()
		w.agree()
	}
	// What says nothing about content leaves it.
	code := w.dev[0].StateCode()
	must(t, w.dev[0].Touch())
	must(t, w.dev[0].ChangePassword(value(t, password), value(t, otherPassword)))
	if w.dev[0].StateCode() != code {
		t.Error("another code without another content")
	}
	w.meet()
	w.agree()
	w.dev[0].Lock()
	if got := w.dev[0].StateCode(); got != "" {
		t.Errorf("of a locked account: %q", got)
	}
}

// TestStateCodeOfRoster: a device more is a change too.
func TestStateCodeOfRoster(t *testing.T) {
	cfg, a, kit := newAccount(t)
	before := a.StateCode()
	b := open(t, anotherDevice(t, cfg, kit))
	if b.StateCode() == before {
		t.Error("the new device has the code from before it")
	}
	calm(t, a)
	if a.StateCode() != b.StateCode() {
		t.Error("the devices have different codes")
	}
}
