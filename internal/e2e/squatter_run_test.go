package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/e2e/person"
	"warder/internal/testkit"
)

// squatted lets the squatter take the socket's place, from a terminal of its
// own, so that it looks like a person's program. It returns the file of what
// the squatter has heard.
func (h *house) squatted(t *testing.T, more ...string) (heard string) {
	t.Helper()
	socket := filepath.Join(h.WarderHome(), "run", "warder.sock")
	heard = filepath.Join(h.Home(), "heard")
	argv := append([]string{h.Program(t, "squatter"), squatterPart, socket, heard}, more...)
	own := h.Terminal(t, person.Shell{Terminal: "xterm"})
	own.Run(t, person.Line(argv...)+" &")
	until(t, "the squatter listens", func() bool {
		if strings.Contains(own.Screen(), "squatter: ") {
			t.Fatal(own.Screen())
		}
		_, err := os.Stat(heard)
		return err == nil
	})
	return heard
}

// requireDeaf wants the squatter to have been brought a proof, so that it was
// asked what a person proved, and to have heard none of the secrets.
func requireDeaf(t *testing.T, heard, op string, secrets ...testkit.Canary) {
	t.Helper()
	text, err := os.ReadFile(heard)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), op) || !strings.Contains(string(text), `"presence":true`) {
		t.Fatalf("the squatter was brought no proof for %s, so this shows nothing; it heard %q", op, text)
	}
	testkit.NewSearch(t, secrets...).RequireCleanBytes(t, "what the squatter heard", text)
}

// TestASquatterHearsNoPassword: a program of the same user that has taken the
// socket's place and asks for presence gets no byte of the password that a
// person types, nor of a mistyped one, nor of a new one.
func TestASquatterHearsNoPassword(t *testing.T) {
	h := newHouse(t, person.Options{})
	next := token("battery staple ")
	daemon := h.status(t).Daemon.PID
	heard := h.squatted(t)

	show := "warder item show mail --reveal"
	h.door.Begin(t, show)
	h.door.Answer(t, askProof, h.password+"x")
	h.door.Expect(t, wrong)
	h.door.Answer(t, askProof, "\x03")
	wantsShown(t, "a mistyped one", h.door.Finish(t), 130, ``)
	// The squatter is never satisfied: the person gives up after some times.
	h.door.Begin(t, show)
	for range 3 {
		h.door.Expect(t, squatterAct)
		h.door.Answer(t, askProof, h.password)
	}
	wantsShown(t, "reveal", h.door.Finish(t), 4, `error\[needs_approval\]`)
	requireDeaf(t, heard, "item.show", testkit.Canary{Name: "password", Value: []byte(h.password)})

	h.door.Begin(t, "warder passwd")
	h.door.Answer(t, `Present master password: `, h.password)
	h.door.Answer(t, askNew, next)
	h.door.Answer(t, askAgain, next)
	for range 2 {
		h.door.Answer(t, `Present master password: `, h.password)
	}
	wantsShown(t, "passwd", h.door.Finish(t), 4, `error\[needs_approval\]`)
	requireDeaf(t, heard, "passwd",
		testkit.Canary{Name: "password", Value: []byte(h.password)}, testkit.Canary{Name: "new password", Value: []byte(next)})

	// The daemon that nobody reaches any more has to go; unlocking takes the place back then, and the password is the old one.
	wantsShown(t, "unlock", h.prove(t, "warder unlock"), 5, fmt.Sprintf("kill -9 %d", daemon))
	h.mustRun(t, fmt.Sprintf("kill -9 %d", daemon))
	h.unlock(t)
	if s := h.status(t); s.Account.State != "unlocked" || !s.Daemon.SameBinary {
		t.Errorf("after unlocking: %+v", s)
	}
}

// TestAPassedOnProofServesNobody: a program that stands between a person and the
// daemon, and looks like a person's itself, passes everything on. It gets the
// person's proof, for exactly the act that the daemon asked about, and the
// daemon does nothing for it: the proof is the other process's.
func TestAPassedOnProofServesNobody(t *testing.T) {
	h := newHouse(t, person.Options{})
	value := token("piped-")
	h.add(t, value, "github --type api-token --level use")
	run := filepath.Join(h.WarderHome(), "run")
	moved := filepath.Join(run, "moved.sock")
	heard := h.squatted(t, moved)
	wantsShown(t, "what needs no proof", h.door.Run(t, "warder item list"), 0, `github`) // so that it does pass on

	r := h.prove(t, "warder item show github --reveal")
	wantsShown(t, "reveal", r, 3, `error\[denied\].*no proof of presence`)
	lacks(t, "the screen", h.door.Screen(), value)
	requireDeaf(t, heard, "item.show", testkit.Canary{Name: "password", Value: []byte(h.password)})

	h.mustRun(t, person.Line("mv", moved, filepath.Join(run, "warder.sock")))
	wantsShown(t, "at the daemon itself", h.prove(t, "warder item show github --reveal"), 0, value)
}

// TestUnlockPastASquatter: where no daemon runs, a program that plays one keeps
// nobody from unlocking, and hears no password then either.
func TestUnlockPastASquatter(t *testing.T) {
	h := newHouse(t, person.Options{})
	h.mustRun(t, "warder daemon stop")
	heard := h.squatted(t)

	wantsShown(t, "status", h.door.Run(t, "warder status"), 0, `another program \(pid \d+\) listens`)
	h.unlock(t)
	if s := h.status(t); s.Account.State != "unlocked" || !s.Daemon.SameBinary {
		t.Errorf("after unlocking: %+v", s)
	}
	text, err := os.ReadFile(heard)
	if err != nil {
		t.Fatal(err)
	}
	testkit.NewSearch(t, testkit.Canary{Name: "password", Value: []byte(h.password)}).RequireCleanBytes(t, "what the squatter heard", text)
}
