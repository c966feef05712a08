package e2e_test

import (
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"warder/internal/e2e/person"
)

// Questions that warder asks a person.
const (
	askNew    = `New master password: `
	askAgain  = `The same again: `
	askProof  = `Master password: `
	askStored = `\(not shown\): `

	wrong = `(?i)wrong|not the right` // what it says of a password
)

// house is a world with an account in it, and the person whose it is.
type house struct {
	*person.World
	door     *person.Terminal
	password string
}

// start makes a world for a test of the executable.
func start(t *testing.T, o person.Options) *person.World {
	t.Helper()
	notWithRace(t)
	return person.Start(t, o)
}

// notWithRace skips where the executable would be tested a second time: it is
// built without the race detector, and the run without has this test as well.
func notWithRace(t *testing.T) {
	t.Helper()
	if raceDetector {
		t.Skip("the executable is the same one as in the run without the race detector")
	}
}

// newHouse makes a world and sets warder up in it, as a person does.
func newHouse(t *testing.T, o person.Options) *house {
	t.Helper()
	w := start(t, o)
	h, _ := moveIn(t, w, w.Terminal(t, person.Shell{}), "warder setup")
	return h
}

// moveIn sets warder up at a terminal, by a command that asks for nothing but the
// password, and returns what the terminal showed, which holds the recovery kit.
func moveIn(t *testing.T, w *person.World, door *person.Terminal, command string) (h *house, kit string) {
	t.Helper()
	h = &house{World: w, door: door, password: token("correct horse ")}
	door.Begin(t, command)
	door.Answer(t, askNew, h.password)
	door.Answer(t, askAgain, h.password)
	r := door.Finish(t)
	if r.Status != 0 {
		t.Fatalf("%s: %+v", command, r)
	}
	return h, r.Output
}

// token makes a value that is nowhere else.
func token(prefix string) string { return prefix + rand.Text() }

// mustRun types a command that has to succeed.
func (h *house) mustRun(t *testing.T, line string) string {
	t.Helper()
	r := h.door.Run(t, line)
	if r.Status != 0 {
		t.Fatalf("%s: %+v", line, r)
	}
	return r.Output
}

// prove types a command, and the master password when it is asked for.
func (h *house) prove(t *testing.T, line string) person.Shown {
	t.Helper()
	h.door.Begin(t, line)
	h.door.Answer(t, askProof, h.password)
	return h.door.Finish(t)
}

// mistype types a command and a wrong password, is told so, and gives up.
func (h *house) mistype(t *testing.T, line string) {
	t.Helper()
	h.door.Begin(t, line)
	h.door.Answer(t, askProof, h.password+"x")
	h.door.Expect(t, wrong)
	h.door.Answer(t, askProof, "\x03") // Ctrl-C
	wantsShown(t, "giving up", h.door.Finish(t), 130, ``)
}

// add stores a value by standard input, from a file that no terminal shows.
func (h *house) add(t *testing.T, value, args string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "value")
	if err := os.WriteFile(file, []byte(value+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.mustRun(t, "warder item add "+args+" < "+file)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

// lock locks, and unlock opens the account again.
func (h *house) lock(t *testing.T) {
	t.Helper()
	h.mustRun(t, "warder lock")
}

func (h *house) unlock(t *testing.T) {
	t.Helper()
	if r := h.prove(t, "warder unlock"); r.Status != 0 {
		t.Fatalf("unlock: %+v", r)
	}
}

// agent runs warder beneath claude, without a terminal.
func (h *house) agent(t *testing.T, stdin string, args ...string) person.Result {
	t.Helper()
	argv := h.Under(t, "claude", append([]string{h.Warder()}, args...)...)
	return h.Run(t, person.Command{Argv: argv, Stdin: stdin})
}

// nobody runs warder as an orphan.
func (h *house) nobody(t *testing.T, stdin string, args ...string) person.Result {
	t.Helper()
	return h.Run(t, person.Command{Argv: append([]string{h.Warder()}, args...), Stdin: stdin, Orphan: true})
}

// decode reads the one JSON object that a command printed.
func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%q is no JSON: %v", text, err)
	}
	return v
}

// statusReport is the part of "warder status --json" that these tests read.
type statusReport struct {
	Daemon struct {
		Running    bool   `json:"running"`
		PID        int    `json:"pid"`
		StartedBy  string `json:"started_by"`
		SameBinary bool   `json:"same_binary"`
	} `json:"daemon"`
	Account struct {
		State      string `json:"state"`
		Unattended bool   `json:"unattended"`
	} `json:"account"`
	Audit struct {
		Seq uint64 `json:"seq"`
		OK  bool   `json:"ok"`
	} `json:"audit"`
	Findings []struct{ Kind, Text string } `json:"findings"`
}

// status asks for the state of the daemon, whatever the exit status.
func (h *house) status(t *testing.T) statusReport {
	t.Helper()
	return decode[statusReport](t, h.door.Run(t, "warder status --json").Output)
}

// wants compares what a program of warder's said and how it ended. Text is
// a regular expression for both streams together.
func wants(t *testing.T, what string, got person.Result, status int, text string) {
	t.Helper()
	both := got.Stdout + got.Stderr
	if got.Status != status || !regexp.MustCompile(text).MatchString(both) {
		t.Errorf("%s: exit status %d and %q; want %d and %q", what, got.Status, both, status, text)
	}
}

// wantsShown is wants for a terminal.
func wantsShown(t *testing.T, what string, got person.Shown, status int, text string) {
	t.Helper()
	wants(t, what, person.Result{Stdout: got.Output, Status: got.Status}, status, text)
}

// lacks fails where a secret stands in a text.
func lacks(t *testing.T, what, text string, secrets ...string) {
	t.Helper()
	for i, s := range secrets {
		if strings.Contains(text, s) {
			t.Errorf("%s shows secret %d", what, i)
		}
	}
}

// until asks until the answer is yes.
func until(t *testing.T, what string, yes func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !yes(); {
		if time.Now().After(end) {
			t.Fatalf("it did not come about: %s", what)
		}
	}
}
