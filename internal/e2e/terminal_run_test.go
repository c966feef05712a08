package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/e2e/person"
)

// Where a program runs at a terminal, nothing there is other than it would be without warder: in a person's own terminal, where it has
// that terminal itself, and in a multiplexer or beneath an agent, where what it shows is masked on its way there.

// withValue runs a program with the one value of a world of terminals.
const withValue = "warder run tok --env-var V -- "

// at is a terminal in which a run has to go unnoticed.
type at struct {
	*house
	*person.Terminal
	value  string
	masked bool
}

// atTerminals runs a test in each kind of terminal, beside one another in one world.
func atTerminals(t *testing.T, s person.Shell, test func(t *testing.T, p *at)) {
	t.Helper()
	h := newHouse(t, person.Options{})
	value := token("tok-")
	h.add(t, value, "tok --type api-token --level use")
	inTmux, agents := s, s
	inTmux.Terminal = "tmux"
	agents.Shell = h.Under(t, "codex", "bash", "--norc", "--noprofile", "--noediting", "-i")
	for _, row := range []struct {
		way   way
		shell person.Shell
	}{{ownTerminal, s}, {multiplexer, inTmux}, {agentTerminal, agents}} {
		t.Run(string(row.way), func(t *testing.T) {
			test(t, &at{house: h, Terminal: h.Terminal(t, row.shell), value: value, masked: row.way != ownTerminal})
		})
	}
}

// quiet runs a command that shows nothing of note.
func (p *at) quiet(t *testing.T, line string) string {
	t.Helper()
	return strings.TrimSpace(p.Terminal.Run(t, line).Output)
}

// unchanged remembers the modes of the terminal, and wants them again.
func (p *at) unchanged(t *testing.T) (check func()) {
	t.Helper()
	before := p.quiet(t, "stty -g")
	return func() {
		t.Helper()
		if after := p.quiet(t, "stty -g"); after != before {
			t.Errorf("the terminal is not as it was: %s, was %s", after, before)
		}
	}
}

// hidden waits until the terminal of a program does not show what is typed. The terminals of the machine are the world's too.
func (p *at) hidden(t *testing.T, tty string) {
	t.Helper()
	until(t, "the program's terminal hides what is typed", func() bool {
		r := p.house.Run(t, person.Command{Argv: []string{"stty", "-F", tty, "-a"}})
		return r.Status != 0 || strings.Contains(r.Stdout, "-echo ")
	})
}

// file is a path in the world that no other test has.
func (p *at) file(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(p.Home(), "t-")
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "f")
}

// TestU_32_size: the program's window has the size of the person's, from the start, after a change, and after one while it was stopped.
func TestU_32_size(t *testing.T) {
	atTerminals(t, person.Shell{Rows: 30, Cols: 101}, func(t *testing.T, p *at) {
		p.Begin(t, withValue+`bash -c 'trap "stty size" WINCH; stty size; test -t 0 && test -t 1 && test -t 2 && echo "tty <$V>"; while read -r x; do stty size; done'`)
		p.Expect(t, `(?m)^30 101\r?$`)
		shown := p.Expect(t, `tty <(.*)>`)[1]
		if want := map[bool]string{true: "****(V)", false: p.value}[p.masked]; shown != want {
			t.Errorf("shown as %q", shown)
		}
		p.Resize(t, 50, 132)
		until(t, "the size follows", func() bool {
			p.Type(t, "\n")
			return p.Expect(t, `(?m)^(\d+ \d+)\r?$`)[1] == "50 132"
		})
		p.Type(t, "\x1a")
		p.Finish(t)
		p.Resize(t, 41, 87)
		p.Begin(t, "fg")
		p.Type(t, "\n")
		p.Expect(t, `(?m)^41 87\r?$`)
		p.Type(t, "\x04")
		p.Finish(t)
	})
}

// TestU_32_redirected: only the stream that is redirected is no terminal, and it is masked as well.
func TestU_32_redirected(t *testing.T) {
	atTerminals(t, person.Shell{}, func(t *testing.T, p *at) {
		file := p.file(t)
		r := p.Terminal.Run(t, withValue+`sh -c 'test -t 1 && echo T1 || echo P1; echo "<$V>"; test -t 2 && echo "T2 <$V>" >&2; test -t 0 && echo T0 >&2' > `+file)
		shown := map[bool]string{true: "****(V)", false: p.value}[p.masked]
		if want := "T2 <" + shown + ">\nT0\n"; r.Output != want || r.Status != 0 {
			t.Errorf("shown: %+v, want %q", r, want)
		}
		if text, err := os.ReadFile(file); err != nil || string(text) != "P1\n<"+shown+">\n" {
			t.Errorf("the file has %q, %v", text, err)
		}
		r = p.Terminal.Run(t, withValue+`sh -c 'test -t 2 && echo T2 >&2 || echo P2 >&2; test -t 1 && echo "T1 <$V>"' 2> `+file)
		if r.Output != "T1 <"+shown+">\n" {
			t.Errorf("shown: %q, want %q", r.Output, shown)
		}
		if text, err := os.ReadFile(file); err != nil || string(text) != "P2\n" {
			t.Errorf("the file has %q, %v", text, err)
		}
	})
}

// TestU_33_prompts: a program that asks for a password gets it, and the terminal never shows it; a key at its prompt is the program's.
func TestU_33_prompts(t *testing.T) {
	rows := []struct{ name, needs, script string }{
		{"read -s", "bash", `bash -c 'tty; read -rsp "secret: " s; echo "[${#s}]"'`},
		{"stty -echo", "sh", `sh -c 'tty; stty -echo; printf "secret: "; read -r s; stty echo; echo "[${#s}]"'`},
		{"from /dev/tty", "bash", `bash -c 'tty; exec 0</dev/null; read -rsp "secret: " s < /dev/tty; echo "[${#s}]"'`},
		{"getpass", "python3", `python3 -c 'import os, getpass; print(os.ttyname(0), flush=True); print("[%d]" % len(getpass.getpass("secret: ")))'`},
	}
	atTerminals(t, person.Shell{}, func(t *testing.T, p *at) {
		same := p.unchanged(t)
		for _, row := range rows {
			if p.quiet(t, "command -v "+row.needs) == "" {
				t.Logf("%s: there is no %s", row.name, row.needs)
				continue
			}
			typed := token("typed-")
			p.Begin(t, withValue+row.script)
			tty := p.Expect(t, `(/dev/pts/\d+)\r?\n`)[1]
			p.Expect(t, `secret: `)
			p.hidden(t, tty)
			p.Type(t, typed+"\n")
			wantsShown(t, row.name, p.Finish(t), 0, fmt.Sprintf(`\[%d\]`, len(typed)))
			lacks(t, row.name, p.Screen(), typed)

			p.Begin(t, withValue+row.script)
			tty = p.Expect(t, `(/dev/pts/\d+)\r?\n`)[1]
			p.Expect(t, `secret: `)
			p.hidden(t, tty)
			p.Interrupt(t)
			if r := p.Finish(t); r.Status != 130 && r.Status != 1 { // Python turns it into an error of its own
				t.Errorf("%s, interrupted: %+v", row.name, r)
			}
		}
		same()
	})
}

// TestU_37_jobs: a job can be stopped, listed, left in the background, brought back and ended.
func TestU_37_jobs(t *testing.T) {
	atTerminals(t, person.Shell{}, func(t *testing.T, p *at) {
		p.Begin(t, withValue+`bash -c 'echo up; while read -r x; do echo "got $x <$V>"; done; exit 3'`)
		p.Expect(t, `(?m)^up\r?$`)
		p.Type(t, "\x1a")
		p.Expect(t, `Stopped`)
		p.Finish(t)
		wantsShown(t, "jobs", p.Terminal.Run(t, "jobs"), 0, `\[1\]\+\s+Stopped\s+warder run tok`)
		p.Begin(t, "fg")
		p.Type(t, "one\n")
		if shown := p.Expect(t, `got one <(.*)>`)[1]; (shown == p.value) == p.masked {
			t.Errorf("shown as %q", shown)
		}
		p.Type(t, "\x1a")
		p.Expect(t, `Stopped`)
		p.Finish(t)
		p.Terminal.Run(t, "bg") // it reads the terminal, which stops it again
		until(t, "it stops again", func() bool { return strings.Contains(p.Terminal.Run(t, "jobs").Output, "Stopped") })
		p.Begin(t, "fg")
		p.Type(t, "two\n")
		p.Expect(t, `got two`) // a key for the end that comes before it has the terminal is none
		p.Type(t, "\x04")
		wantsShown(t, "its end", p.Finish(t), 3, ``)

		file := p.file(t)
		p.Terminal.Run(t, withValue+`sh -c 'trap "touch `+file+`; exit 0" TERM; echo up; while :; do sleep 0.05; done' > `+file+`.out &`)
		until(t, "it runs in the background", func() bool {
			return exists(file+".out") && !strings.Contains(p.quiet(t, "cat "+file+".out"), "none") && p.quiet(t, "cat "+file+".out") == "up"
		})
		wantsShown(t, "jobs", p.Terminal.Run(t, "jobs"), 0, `Running\s+warder run tok`)
		p.Terminal.Run(t, "kill %1")
		p.Terminal.Run(t, "wait %1")
		if !exists(file) {
			t.Error("the program was not told to end")
		}
		p.Terminal.Run(t, withValue+`sleep 1000 &`)
		until(t, "it runs", func() bool { return strings.Contains(p.Terminal.Run(t, "jobs").Output, "Running") })
		p.Begin(t, "kill -KILL %1; wait %1; echo status $?")
		p.Expect(t, `status 137`)
		p.Finish(t)
	})
}

// TestKeys: the keys that end, hold and let go on mean the program, and one that it reads as a byte is a byte.
func TestKeys(t *testing.T) {
	atTerminals(t, person.Shell{}, func(t *testing.T, p *at) {
		p.Begin(t, withValue+`bash -c 'trap "echo quit; exit 5" QUIT; echo up; while :; do sleep 0.05; done'`)
		p.Expect(t, `(?m)^up\r?$`)
		p.Type(t, "\x1c") // Ctrl-\
		wantsShown(t, "Ctrl-\\", p.Finish(t), 5, `quit`)
		p.Begin(t, withValue+`bash -c 'read -r x; echo "[${#x}]"'`)
		p.Type(t, "\x13a\x11b\n") // Ctrl-S, Ctrl-Q
		wantsShown(t, "Ctrl-S and Ctrl-Q", p.Finish(t), 0, `\[2\]`)
		p.Begin(t, withValue+`bash -c 'stty raw -echo; printf "ready\r\n"; head -c 4 | od -An -tx1; stty sane'`)
		p.Expect(t, `ready\r\n`)
		p.Type(t, "\x03\x13\x1a\x1c")
		wantsShown(t, "as bytes", p.Finish(t), 0, `03 13 1a 1c`)
	})
}

// TestVim: an editor works, and leaves the terminal as it was.
func TestVim(t *testing.T) {
	atTerminals(t, person.Shell{}, func(t *testing.T, p *at) {
		if p.quiet(t, "command -v vim") == "" {
			t.Skip("there is no vim")
		}
		same := p.unchanged(t)
		file := p.file(t)
		p.Begin(t, withValue+"vim -u NONE -i NONE -n "+file)
		p.Expect(t, `~`)
		p.Type(t, "ihello\x1b")
		p.Type(t, ":put =$V\r:put =&lines\r:wq\r")
		p.Finish(t)
		if text, err := os.ReadFile(file); err != nil || string(text) != "hello\n"+p.value+"\n24\n" {
			t.Errorf("the file has %q, %v", text, err)
		}
		if p.masked {
			lacks(t, "the screen", p.Screen(), p.value)
		}
		same()
	})
}

// TestTerminalRestored: whatever a program did to its terminal and however it or warder ends, the shell has its own back.
func TestTerminalRestored(t *testing.T) {
	atTerminals(t, person.Shell{}, func(t *testing.T, p *at) {
		same := p.unchanged(t)
		warder := "$PPID"
		if p.masked { // and the monitor in between
			warder += " $(ps -o ppid= -p $PPID)"
		}
		for _, killed := range []string{"$$", warder} {
			p.Terminal.Run(t, withValue+"sh -c 'stty raw -echo; kill -KILL "+killed+"'")
			same()
		}
		if p.masked { // without warder a shell keeps what a program leaves behind that ends by itself
			p.Terminal.Run(t, withValue+"stty raw -echo")
			same()
		}
	})
}

// TestOutlives: what a program leaves behind lives on, and the shell does not wait for it.
func TestOutlives(t *testing.T) {
	atTerminals(t, person.Shell{}, func(t *testing.T, p *at) {
		go1, done := p.file(t), p.file(t)
		r := p.Terminal.Run(t, withValue+`sh -c '(until [ -e `+go1+` ]; do sleep 0.05; done; touch `+done+`) & echo first; exit 4'`)
		wantsShown(t, "the program", r, 4, `first`)
		if err := os.WriteFile(go1, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		until(t, "what was left behind goes on", func() bool { return exists(done) })
	})
}

// TestWindowClosed: a program is told that its terminal is closed.
func TestWindowClosed(t *testing.T) {
	atTerminals(t, person.Shell{}, func(t *testing.T, p *at) {
		file := p.file(t)
		p.Begin(t, withValue+`bash -c 'trap "touch `+file+`; exit 0" HUP; echo up; while :; do sleep 0.05; done'`)
		p.Expect(t, `(?m)^up\r?$`)
		p.Close()
		until(t, "the program was hung up", func() bool { return exists(file) })
	})
}

// TestBursts: what a program writes last, and what it left behind writes at once, is not lost.
func TestBursts(t *testing.T) {
	atTerminals(t, person.Shell{}, func(t *testing.T, p *at) {
		r := p.Terminal.Run(t, withValue+`bash -c 'for i in {1..30000}; do echo "line $i $V"; done'`)
		if n := strings.Count(r.Output, "line "); n != 30000 || !strings.HasSuffix(r.Output, "\n") {
			t.Errorf("%d lines came back", n)
		}
		if p.masked == strings.Contains(r.Output, p.value) {
			t.Error("masked where it should not be, or not where it should")
		}
		if p.masked {
			r = p.Terminal.Run(t, withValue+`bash -c '(for i in {1..30000}; do echo "line $i"; done) & exit 0'`)
			if n := strings.Count(r.Output, "line "); n != 30000 {
				t.Errorf("%d lines of what was left behind came back", n)
			}
		}
	})
}

// TestNested: a run within a run is one terminal, one interrupt and one job.
func TestNested(t *testing.T) {
	atTerminals(t, person.Shell{}, func(t *testing.T, p *at) {
		p.Begin(t, withValue+withValue+`bash -c 'n=0; trap "n=\$((n+1)); echo caught" INT; test -t 0 && test -t 1 && echo up; while read -r x || [ $n = 1 ]; do [ "$x" = q ] && break; done; echo "n=$n"; exit 3'`)
		p.Expect(t, `(?m)^up\r?$`)
		p.Interrupt(t)
		p.Expect(t, `(?m)^(\^C)?caught\r?$`)
		p.Type(t, "\x1a")
		p.Expect(t, `Stopped`)
		p.Finish(t)
		p.Begin(t, "fg")
		p.Type(t, "q\n")
		wantsShown(t, "its end", p.Finish(t), 3, `n=1`)
	})
}
