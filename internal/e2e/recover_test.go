package e2e_test

import (
	"regexp"
	"strings"
	"testing"

	"warder/internal/e2e/person"
)

// recoveryCode finds the code in a recovery kit.
func recoveryCode(t *testing.T, kit string) string {
	t.Helper()
	found := regexp.MustCompile(`Recovery code +(.+)`).FindStringSubmatch(kit)
	if found == nil {
		t.Fatalf("no recovery code in %q", kit)
	}
	return strings.TrimSpace(found[1])
}

// TestRecovery: the password is lost, the kit is not. Its code sets a new
// password, once.
func TestRecovery(t *testing.T) {
	w := start(t, person.Options{})
	h, kit := moveIn(t, w, w.Terminal(t, person.Shell{}), "warder setup")
	value := token("kept-")
	h.add(t, value, "github --type api-token --level use")
	h.lock(t)
	code := recoveryCode(t, kit)
	h.password = token("battery staple ")
	r := recoverWith(t, h, code)
	wantsShown(t, "recovery", r, 0, `unlocked`)
	if next := recoveryCode(t, r.Output); next == code {
		t.Error("the recovery code is still the old one")
	}
	wantsShown(t, "what was stored is there", h.prove(t, "warder item show github --reveal"), 0, value)
	h.lock(t)
	wantsShown(t, "the same code again", recoverWith(t, h, code), 1, `error\[wrong_password\]`)
}

// recoverWith opens the account with a recovery code and the house's password as
// the new one.
func recoverWith(t *testing.T, h *house, code string) person.Shown {
	t.Helper()
	h.door.Begin(t, "warder unlock --recovery")
	h.door.Answer(t, `Recovery code \(not shown\): `, code)
	h.door.Answer(t, askNew, h.password)
	h.door.Answer(t, askAgain, h.password)
	return h.door.Finish(t)
}
