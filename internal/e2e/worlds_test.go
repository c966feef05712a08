package e2e_test

import (
	"encoding/json"
	"os"
	"testing"

	"warder/internal/caller"
	"warder/internal/e2e/person"
	"warder/internal/testkit"
)

// worldRow is one way of being somebody, and what is made of it.
type worldRow struct {
	name    string // as .ci prints it: letters, digits and hyphens
	verdict caller.Verdict
	client  string
	masked  bool
	// judge builds the world and returns the judgement of a program in it on
	// itself, as JSON.
	judge func(t *testing.T) string
}

// inTerminal judges in a terminal; below is what the person starts in it, and
// the judgement is its last line.
func inTerminal(s person.Shell, below ...string) func(t *testing.T) string {
	return func(t *testing.T) string {
		w := person.Start(t, person.Options{})
		return judgeIn(t, w, w.Terminal(t, s), below...)
	}
}

// judgeIn types the judge's command below programs of those names.
func judgeIn(t *testing.T, w *person.World, p *person.Terminal, below ...string) string {
	t.Helper()
	argv := w.Judge(t)
	for _, name := range below {
		argv = w.Under(t, name, argv...)
	}
	r := p.Run(t, person.Line(argv...))
	if r.Status != 0 {
		t.Fatalf("the judge: %+v", r)
	}
	return r.Output
}

// without judges a program without a terminal.
func without(o person.Options, orphan bool, below ...string) func(t *testing.T) string {
	return func(t *testing.T) string {
		w := person.Start(t, o)
		argv := w.Judge(t)
		for _, name := range below {
			argv = w.Under(t, name, argv...)
		}
		r := w.Run(t, person.Command{Argv: argv, Orphan: orphan})
		if r.Status != 0 {
			t.Fatalf("the judge: %+v", r)
		}
		return r.Stdout
	}
}

func worldRows() []worldRow {
	return []worldRow{
		{"person", caller.Person, "", false, inTerminal(person.Shell{})},
		{"person-in-xterm", caller.Person, "", false, inTerminal(person.Shell{Terminal: "xterm", Shell: []string{"sh", "-i"}})},
		{"tmux", caller.Person, "", true, inTerminal(person.Shell{Terminal: "tmux"})},
		{"pid-1-shell", caller.Person, "", false, func(t *testing.T) string {
			w := person.Start(t, person.Options{First: "bash"})
			return judgeIn(t, w, w.Terminal(t, person.Shell{Terminal: "runner"}))
		}},
		{"container", caller.Person, "", false, func(t *testing.T) string {
			w, p := person.Container(t, person.Shell{Terminal: "runner"})
			return judgeIn(t, w, p)
		}},
		{"nsenter", caller.Person, "", false, func(t *testing.T) string {
			w := person.Start(t, person.Options{})
			return judgeIn(t, w, w.Enter(t, person.Shell{Terminal: "runner"}))
		}},
		{"uid-12345", caller.Person, "", false, func(t *testing.T) string {
			if os.Getuid() != 0 {
				t.Skip("world uid-12345: not here: it needs root, and without root every world is an ordinary user's")
			}
			w := person.Start(t, person.Options{UID: testkit.UID})
			return judgeIn(t, w, w.Terminal(t, person.Shell{}))
		}},
		{"agent", caller.Agent, "claude", true, without(person.Options{}, false, "bash", "claude")},
		{"agent-in-a-terminal", caller.Agent, "codex", true, inTerminal(person.Shell{}, "bash", "codex")},
		{"marks-of-an-agent", caller.Agent, "gemini", true, inTerminal(person.Shell{Env: []string{"GEMINI_CLI=1"}})},
		{"orphan", caller.Unknown, "", true, without(person.Options{}, true)},
		{"cron", caller.Unknown, "", true, without(person.Options{}, false, "sh", "cron")},
		{"unlisted-terminal", caller.Unknown, "", true, inTerminal(person.Shell{Terminal: "myterm"})},
	}
}

// TestWorlds says which worlds this machine lets tests build, and wants each to
// be judged as what it is.
func TestWorlds(t *testing.T) {
	for _, row := range worldRows() {
		t.Run(row.name, func(t *testing.T) {
			if err := person.Missing(); err != nil {
				t.Skipf("world %s: not here: %v", row.name, err)
			}
			var id caller.Identity
			text := row.judge(t)
			if err := json.Unmarshal([]byte(text), &id); err != nil {
				t.Fatalf("the judge printed %q: %v", text, err)
			}
			if id.Verdict != row.verdict || id.Client != row.client || id.Masked != row.masked {
				t.Errorf("judged %s %q, masked %v (%s); want %s %q, masked %v",
					id.Verdict, id.Client, id.Masked, id.Why, row.verdict, row.client, row.masked)
				for _, p := range id.Evidence {
					t.Logf("%+v", p)
				}
				return
			}
			t.Logf("world %s: built", row.name)
		})
	}
}
