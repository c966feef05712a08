package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warder/internal/e2e/person"
)

// The rows of users' reports about programs that start others, where no case says it all: TestCases has those.

// oneItem is a world with one item that agents may use.
func oneItem(t *testing.T) (h *house, value string) {
	t.Helper()
	h = newHouse(t, person.Options{})
	value = token("tok-")
	h.add(t, value, "tok --type api-token --level use")
	return h, value
}

// detached is a run of an agent's that goes on beside the test.
type detached struct {
	h              *house
	stdout, stderr *stream
	pid            string
	began          time.Time
	wait           func(t testing.TB) person.Result
}

// detach starts one, and waits until its program says "up".
func detach(t *testing.T, h *house, argv ...string) *detached {
	t.Helper()
	return detachWith(t, h, []string{"tok", "--env-var", "V"}, "up\n", argv...)
}

// detachWith is detach with a source of values, and with what the program says when it is there.
func detachWith(t *testing.T, h *house, source []string, ready string, argv ...string) *detached {
	t.Helper()
	d := &detached{h: h, began: time.Now(), stdout: openStream(t, h.World), stderr: openStream(t, h.World)}
	file := filepath.Join(t.TempDir(), "pid")
	line := "echo $$ > " + file + "; exec warder run " + person.Line(source...) + " -- " + person.Line(argv...) + " >" + d.stdout.path + " 2>" + d.stderr.path
	d.wait = h.Background(t, person.Command{Argv: h.Under(t, "claude", "sh", "-c", line)})
	d.stdout.await(t, ready)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d.pid = strings.TrimSpace(string(text))
	return d
}

// signal sends warder a signal.
func (d *detached) signal(t *testing.T, name string) {
	t.Helper()
	d.h.Run(t, person.Command{Argv: []string{"kill", "-s", name, d.pid}})
}

// TestU_34_withoutATerminal, and U-35: a signal to warder is the program's, once each; what it makes of it is its own.
func TestU_34_withoutATerminal(t *testing.T) {
	h, _ := oneItem(t)
	const script = `for s in INT TERM HUP QUIT USR1 USR2; do trap "echo got-$s" $s; done; trap "echo end; exit 9" PIPE; echo up
		while :; do sleep 0.02; done`
	d := detach(t, h, "bash", "-c", script)
	names := []string{"INT", "TERM", "HUP", "QUIT", "USR1", "USR2"}
	for _, name := range names {
		d.signal(t, name)
		d.stdout.await(t, "got-"+name+"\n")
	}
	h.Run(t, person.Command{Argv: []string{"pkill", "-PIPE", "-f", "echo got-"}})
	r := d.wait(t)
	said, _ := d.stdout.all(d.began)
	for _, name := range names {
		if n := strings.Count(said, "got-"+name); n != 1 {
			t.Errorf("the program got %s %d times", name, n)
		}
	}
	if r.Status != 9 {
		t.Errorf("exit status %d: %q", r.Status, said)
	}
}

// TestU_35_killed: who kills warder kills the program.
func TestU_35_killed(t *testing.T) {
	h, _ := oneItem(t)
	d := detach(t, h, "sh", "-c", "echo up; exec sleep 98765")
	d.signal(t, "KILL")
	until(t, "the program is gone", func() bool {
		return h.Run(t, person.Command{Argv: []string{"pgrep", "-f", "^sleep 98765"}}).Status == 1
	})
	d.wait(t)
}

// TestU_36_status: each status is what a shell would give, without a terminal and at one.
func TestU_36_status(t *testing.T) {
	h, _ := oneItem(t)
	plain := filepath.Join(h.Home(), "plain")
	if err := os.WriteFile(plain, []byte("no program\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(h.Home(), "text")
	if err := os.WriteFile(text, []byte("no program\n"), 0o700); err != nil { // #nosec G306 -- it has to be executable
		t.Fatal(err)
	}
	rows := []struct {
		name   string
		argv   []string
		status int
	}{
		{"success", []string{"true"}, 0},
		{"its own", []string{"sh", "-c", "exit 255"}, 255},
		{"as if warder's", []string{"sh", "-c", "exit 125"}, 125},
		{"hung up", []string{"sh", "-c", "kill -HUP $$"}, 129},
		{"killed", []string{"sh", "-c", "kill -KILL $$"}, 137},
		{"crashed", []string{"sh", "-c", "ulimit -c 0; kill -SEGV $$"}, 139},
		{"not found", []string{"no-such-program-x"}, 127},
		{"not found by path", []string{"./no-such-program-x"}, 127},
		{"not executable", []string{plain}, 126},
		{"a folder", []string{h.Home()}, 126},
		{"no program", []string{text}, 126},
	}
	tmux := h.Terminal(t, person.Shell{Terminal: "tmux"})
	for _, row := range rows {
		argv := append([]string{"run", "tok", "--env-var", "V", "--"}, row.argv...)
		got := map[string]int{
			"an agent":      h.agent(t, "", argv...).Status,
			"a person":      h.door.Run(t, "warder "+person.Line(argv...)).Status,
			"a multiplexer": tmux.Run(t, "warder "+person.Line(argv...)).Status,
		}
		for who, status := range got {
			if status != row.status {
				t.Errorf("%s, %s: %d, want %d", row.name, who, status, row.status)
			}
		}
	}
}

// TestU_38_agentIsNotAsked: an agent that has a terminal is told that the account is locked, and no password is asked for there.
func TestU_38_agentIsNotAsked(t *testing.T) {
	h, _ := oneItem(t)
	h.lock(t)
	argv := h.Under(t, "codex", "sh", "-c", withValue+"touch started")
	wantsShown(t, "locked", h.door.Run(t, person.Line(argv...)), 125, `error\[locked\]`)
	if exists(filepath.Join(h.Home(), "started")) {
		t.Error("it was started")
	}
}

// TestU_39_input: what is typed or piped is the program's, once, to its end, and no more of it than it reads.
func TestU_39_input(t *testing.T) {
	h, _ := oneItem(t)
	for _, row := range []struct{ name, stdin, script, want string }{
		{"a pipe to its end", "one\ntwo", `warder run tok --env-var V -- cat`, "one\ntwo"},
		{"no more than it reads", "one\ntwo\n", `warder run tok --env-var V -- head -c 4; cat`, "one\ntwo\n"},
		{"nothing", "", `warder run tok --env-var V -- cat`, ""},
		{"closed", "x", `warder run tok --env-var V -- sh -c 'read -r x || echo none' <&-`, "none\n"},
	} {
		argv := h.Under(t, "claude", "sh", "-c", row.script)
		if r := h.Run(t, person.Command{Argv: argv, Stdin: row.stdin}); r.Stdout != row.want || r.Status != 0 {
			t.Errorf("%s: %+v, want %q", row.name, r, row.want)
		}
	}
	for _, terminal := range []string{"kitty", "tmux"} {
		p := h.Terminal(t, person.Shell{Terminal: terminal})
		p.Begin(t, withValue+`sh -c 'echo up; exec cat'`)
		p.Expect(t, `(?m)^up\r?$`)
		p.Type(t, "typed\n")
		p.Expect(t, `(?s)typed\r\n.*typed\r\n`) // the terminal's, and the program's
		p.Type(t, "\x04")
		wantsShown(t, terminal+": its end", p.Finish(t), 0, `^$`)
		wantsShown(t, terminal+": piped", p.Run(t, `printf 'a\nb\n' | { `+withValue+`head -c 2; cat; }`), 0, `^a\nb\n$`)
	}
}

// TestU_40_tooLarge: what the system does not take is named, with a way out that works, and nothing is started.
func TestU_40_tooLarge(t *testing.T) {
	h, _ := oneItem(t)
	ran := filepath.Join(h.Home(), "ran")
	file := filepath.Join(t.TempDir(), "app.env")
	big := letters(204800)
	if err := os.WriteFile(file, []byte("SMALL=s\nBIG="+big+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := h.agent(t, "", "run", "--env-file", file, "--", "touch", ran)
	if r.Status != 125 || !strings.Contains(r.Stderr, "BIG") || !strings.Contains(r.Stderr, "131067") || !strings.Contains(r.Stderr, "--file BIG") {
		t.Errorf("one variable: %+v", r)
	}
	lacks(t, "the refusal", r.Stderr, big[:8])
	r = h.agent(t, "", "run", "--env-file", file, "--file", "BIG", "--map", "SMALL=OTHER", "--", "sh", "-c", `wc -c < "$BIG"; echo "$OTHER$SMALL"`)
	if r.Status != 0 || strings.TrimSpace(r.Stdout) != "204800\ns" {
		t.Errorf("as a file: %+v", r)
	}
	r = h.agent(t, "", "run", "--env-file", file, "--stdin=BIG", "--", "wc", "-c")
	if r.Status != 0 || strings.TrimSpace(r.Stdout) != "204800" {
		t.Errorf("as standard input: %+v", r)
	}

	// All together: what warder itself was still given, and what is added to it.
	var given []string
	for i := range 14 {
		given = append(given, fmt.Sprintf("GIVEN_%d=%s", i, letters(120000)))
	}
	var text strings.Builder
	for i := range 8 {
		fmt.Fprintf(&text, "MORE_%d=%s\n", i, letters(100000))
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	argv := h.Under(t, "claude", h.Warder(), "run", "--env-file", file, "--", "touch", ran)
	r = h.Run(t, person.Command{Argv: argv, Env: given})
	if r.Status != 125 || !strings.Contains(r.Stderr, "error[too_large]") || !strings.Contains(r.Stderr, "GIVEN_") || !strings.Contains(r.Stderr, "--file") {
		t.Errorf("the whole environment: status %d, %.500s", r.Status, r.Stderr)
	}
	if exists(ran) {
		t.Error("a program was started")
	}
	wantsShown(t, "the log", h.door.Run(t, "warder audit tail -n 1 --json"), 0, `"outcome":"too_large"`)
}

// TestU_41_windows: the report is about Windows, where a person tries it by hand. That all compiles there is checked with the
// linters; a run is refused there until a masked program can be started.
func TestU_41_windows(t *testing.T) {
	t.Skip("Ctrl-C on Windows is tried by hand; internal/proc and internal/platform compile for it, and say that they can't start a program")
}

// TestU_42_tree: nothing is between warder and the program but, at a masked terminal, warder's monitor; and any argument arrives as it is.
func TestU_42_tree(t *testing.T) {
	h, _ := oneItem(t)
	const script = `p=$PPID; for i in 1 2 3; do ps -o comm= -p $p; p=$(ps -o ppid= -p $p); done`
	rows := map[string]string{
		"an agent":      h.agent(t, "", "run", "tok", "--env-var", "V", "--", "sh", "-c", script).Stdout,
		"a person":      h.door.Run(t, withValue+"sh -c '"+script+"'").Output,
		"a multiplexer": h.Terminal(t, person.Shell{Terminal: "tmux"}).Run(t, withValue+"sh -c '"+script+"'").Output,
	}
	for who, want := range map[string]string{"an agent": "warder claude init", "a person": "warder bash kitty", "a multiplexer": "warder warder bash"} {
		if got := strings.Join(strings.Fields(strings.ReplaceAll(rows[who], "setsid", "kitty")), " "); got != want {
			t.Errorf("%s: above the program are %q, want %q", who, got, want)
		}
	}
	odd := []string{"a\nb", "", "--help", "-", "é", "$(touch x)", "`id`", "'", `"`, `\`, "a=b", "--"}
	argv := append([]string{"run", "tok", "--env-var", "V", "--", "printf", "<%s>"}, odd...)
	if r := h.agent(t, "", argv...); r.Stdout != "<"+strings.Join(odd, "><")+">" {
		t.Errorf("the arguments came as %q", r.Stdout)
	}
	bytes := h.Under(t, "claude", "sh", "-c", withValue+`printf %s "$(printf '\377\376')" | od -An -tx1`)
	if r := h.Run(t, person.Command{Argv: bytes}); strings.TrimSpace(r.Stdout) != "ff fe" {
		t.Errorf("an argument that is no text came as %q", r.Stdout)
	}
}
