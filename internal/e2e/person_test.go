package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/e2e/person"
)

// TestDone1_person is what a person does with warder, from nothing on, at one
// terminal.
func TestDone1_person(t *testing.T) {
	w := start(t, person.Options{})
	h := &house{World: w, door: w.Terminal(t, person.Shell{}), password: token("correct horse ")}
	t.Run("setup", func(t *testing.T) { setUp(t, h) })
	if t.Failed() {
		return
	}
	typed, piped, imported := token("typed-"), token("piped-"), token("imported-")
	t.Run("item add", func(t *testing.T) { addItems(t, h, typed, piped) })
	t.Run("import", func(t *testing.T) { importFile(t, h, imported) })
	t.Run("reveal", func(t *testing.T) { reveal(t, h, typed, piped) })
	t.Run("export", func(t *testing.T) { export(t, h, piped, imported) })
	t.Run("who", func(t *testing.T) { whoAndHow(t, h) })
	t.Run("trust", func(t *testing.T) { trust(t, h) })
	t.Run("lock", func(t *testing.T) { lockAndUnlock(t, h, piped) })
	t.Run("passwd", func(t *testing.T) { passwd(t, h, piped) })
}

// setUp wants the kit once, and a second setup to say that there is one.
func setUp(t *testing.T, h *house) {
	wantsShown(t, "before", h.door.Run(t, "warder item list"), 1, `(?s)error\[no_account\].*warder setup`)
	h.door.Begin(t, "warder setup")
	h.door.Answer(t, askNew, "short")
	h.door.Answer(t, askNew, h.password) // the first one was too short
	h.door.Answer(t, askAgain, h.password+"?")
	h.door.Answer(t, askNew, h.password) // the two were not the same
	h.door.Answer(t, askAgain, h.password)
	r := h.door.Finish(t)
	wantsShown(t, "setup", r, 0, `(?i)recovery`)
	if s := h.status(t); s.Account.State != "unlocked" || s.Daemon.StartedBy != "person" || !s.Daemon.SameBinary || len(s.Findings) > 0 {
		t.Errorf("status after setup: %+v", s)
	}
	again := h.door.Run(t, "warder setup")
	wantsShown(t, "a second setup", again, 0, `(?i)already`)
	for line := range strings.Lines(r.Output) { // the kit's codes are the long words of capitals and digits
		if word := strings.TrimSpace(line); len(word) > 40 && strings.ToUpper(word) == word && strings.Contains(again.Output, word) {
			t.Errorf("the second setup shows a line of the kit again")
		}
	}
}

// addItems stores one value from a hidden prompt and one from a pipe.
func addItems(t *testing.T, h *house, typed, piped string) {
	h.door.Begin(t, "warder item add mail --type password")
	h.door.Answer(t, askStored, typed)
	wantsShown(t, "add from a prompt", h.door.Finish(t), 0, `level unset`)
	h.add(t, piped, "github --type api-token --host api.github.com --level use")
	wantsShown(t, "add over a name", h.door.Run(t, "echo x | warder item add github --type api-token"), 1, `error\[exists\]`)
	wantsShown(t, "list", h.door.Run(t, "warder item list"), 0, `(?s)github.*mail|mail.*github`)
	lacks(t, "the screen", h.door.Screen(), typed, piped, h.password)
}

// importFile runs dry first, and stores after a yes.
func importFile(t *testing.T, h *house, value string) {
	file := filepath.Join(t.TempDir(), ".env")
	if err := os.WriteFile(file, []byte("API_KEY="+value+"\nPORT=8080\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	command := "warder import " + file + " --project shop --stage test"
	wantsShown(t, "dry run", h.door.Run(t, command+" --dry-run"), 0, `would add 2, change 0`)
	h.door.Begin(t, command)
	h.door.Expect(t, `\[y/N\] `)
	h.door.Type(t, "n\n")
	wantsShown(t, "no", h.door.Finish(t), 0, `nothing was stored`)
	wantsShown(t, "after no", h.door.Run(t, "warder project show shop"), 7, `error\[not_found\]`)
	h.door.Begin(t, command)
	h.door.Expect(t, `\[y/N\] `)
	h.door.Type(t, "y\n")
	wantsShown(t, "yes", h.door.Finish(t), 0, `2 added`)
	wantsShown(t, "again", h.door.Run(t, command+" --yes"), 0, `0 added, 0 changed, 2 unchanged`)
	wantsShown(t, "project show", h.door.Run(t, "warder project show shop"), 0, `API_KEY`)
	lacks(t, "the screen", h.door.Screen(), value)
}

// reveal shows values to whoever knows the password, and to nobody else.
func reveal(t *testing.T, h *house, typed, piped string) {
	show := "warder item show github --reveal --field token"
	wantsShown(t, "without --reveal", h.door.Run(t, "warder item show github"), 0, `\(secret\)`)

	h.door.Begin(t, show)
	h.door.Answer(t, askProof, "\x03") // Ctrl-C
	wantsShown(t, "given up", h.door.Finish(t), 130, ``)

	h.mistype(t, show)

	// Out of its terminal's session the same program is nobody.
	wantsShown(t, "without a terminal", h.door.Run(t, "setsid --wait "+show), 3, `error\[denied\]`)
	lacks(t, "the screen", h.door.Screen(), typed, piped)

	proveLater(t, h, show, piped)
	wantsShown(t, "the typed one", h.prove(t, "warder item show mail --reveal"), 0, typed)
}

// proveLater is prove after a wrong password, which has to be waited for.
func proveLater(t *testing.T, h *house, line, want string) {
	t.Helper()
	var r person.Shown
	until(t, "the wait is over", func() bool {
		r = h.prove(t, line)
		return !strings.Contains(r.Output, "wait")
	})
	wantsShown(t, line, r, 0, want)
}

func export(t *testing.T, h *house, stored, value string) {
	wantsShown(t, "env", h.prove(t, "warder export --format env --project shop --stage test"), 0, `API_KEY=['"]?`+value)
	for what, want := range map[string]string{"": stored, " --project shop --stage test": value} {
		file := filepath.Join(t.TempDir(), "all.json")
		wantsShown(t, "json"+what, h.prove(t, "warder export --format json"+what+" > "+file), 0, `exported`)
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("the export%s lacks a value: %v", what, err)
		}
	}
}

func whoAndHow(t *testing.T, h *house) {
	type who struct {
		Verdict  string
		Masked   bool
		Presence bool
		Evidence []struct{ Role string }
	}
	id := decode[who](t, h.mustRun(t, "warder whoami --json"))
	if id.Verdict != "person" || id.Masked || id.Presence || len(id.Evidence) < 3 {
		t.Errorf("whoami: %+v", id)
	}
	s := h.status(t)
	if !s.Daemon.Running || s.Account.State != "unlocked" || s.Account.Unattended || !s.Audit.OK || s.Audit.Seq == 0 {
		t.Errorf("status: %+v", s)
	}
}

func trust(t *testing.T, h *house) {
	dir := filepath.Join(h.Home(), "src")
	h.mustRun(t, "mkdir "+dir)
	wantsShown(t, "trust", h.prove(t, "warder trust "+dir), 0, `trusted`)
	wantsShown(t, "list", h.door.Run(t, "warder trust list"), 0, dir)
	wantsShown(t, "rm", h.door.Run(t, "warder trust rm "+dir), 0, ``)
	for _, dir := range []string{"/", h.Dir(), h.WarderHome(), h.WarderHome() + "/state"} {
		wantsShown(t, "trust "+dir, h.door.Run(t, "warder trust "+dir), 3, `error\[denied\]`) // without asking for a proof first
	}
}

func lockAndUnlock(t *testing.T, h *house, value string) {
	before := h.status(t).Daemon.PID
	h.lock(t)
	if s := h.status(t); s.Account.State != "locked" || s.Daemon.PID != before {
		t.Errorf("locked: %+v", s)
	}
	wantsShown(t, "locked, without a terminal", h.door.Run(t, "setsid --wait warder item list"), 6, `error\[locked\]`)

	h.mistype(t, "warder unlock")
	if s := h.status(t); s.Account.State != "locked" || s.Daemon.PID != before {
		t.Errorf("after a wrong password: %+v, the daemon was %d", s, before)
	}
	proveLater(t, h, "warder unlock", ``)
	if s := h.status(t); s.Account.State != "unlocked" || s.Daemon.PID == before {
		t.Errorf("unlocked: %+v, the daemon was %d", s, before)
	}
	// A command asks by itself where it has a person before it.
	h.lock(t)
	wantsShown(t, "asked by the way", h.prove(t, "warder item list"), 0, `github`)
	wantsShown(t, "what was stored is there", h.prove(t, "warder item show github --reveal"), 0, value)
}

func passwd(t *testing.T, h *house, value string) {
	next := token("battery staple ")
	h.door.Begin(t, "warder passwd")
	h.door.Answer(t, `(?i)password: `, h.password)
	h.door.Answer(t, askNew, next)
	h.door.Answer(t, askAgain, next)
	wantsShown(t, "passwd", h.door.Finish(t), 0, ``)
	h.lock(t)
	h.door.Begin(t, "warder unlock")
	h.door.Answer(t, askProof, h.password)
	h.door.Expect(t, wrong)
	h.door.Answer(t, askProof, "\x03")
	wantsShown(t, "the old one", h.door.Finish(t), 130, ``)
	h.password = next
	proveLater(t, h, "warder unlock", ``)
	wantsShown(t, "what was stored is there", h.prove(t, "warder item show github --reveal"), 0, value)
}
