package e2e_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/e2e/person"
)

// masks is a world with values of each kind that "warder mask" tells apart.
type masks struct {
	*lent
	bank  string // closed to agents
	short string // too short to be hidden where it was not lent
	word  string // too easy to guess for that
}

// masked makes one.
func masked(t *testing.T) *masks {
	t.Helper()
	m := &masks{lent: lending(t), bank: token("bank-"), short: token("")[:6], word: "dragonfly"}
	m.add(t, m.bank, "vaulted --type password --level none")
	m.add(t, m.short, "pin --type password --level use")
	m.add(t, m.word, "weak --type password --level use")
	return m
}

// all are the values, in one text.
func (m *masks) all() string {
	return fmt.Sprintf("open %s closed %s short %s word %s stage %s end\n", m.token, m.bank, m.short, m.word, m.stage)
}

// TestMask_person: a person's output is hidden by all that is stored, under its names, in a pipe and in a terminal.
func TestMask_person(t *testing.T) {
	m := masked(t)
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, []byte(m.all()+base64.StdEncoding.EncodeToString([]byte(m.token))+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = "open ****(github-token) closed ****(vaulted) short ****(pin) word ****(weak) stage ****(SHOP_KEY) end"
	for _, line := range []string{"warder mask < " + file, "cat " + file + " | warder mask", "warder mask -- cat " + file, "warder mask -- cat " + file + " | cat"} {
		r := m.door.Run(t, line)
		if r.Status != 0 || !strings.Contains(r.Output, want) {
			t.Errorf("%s: %+v", line, r)
		}
		lacks(t, line, r.Output, m.token, m.bank, m.short, m.stage, base64.StdEncoding.EncodeToString([]byte(m.token))[:40])
	}
	r := m.door.Run(t, "warder mask --set weak --set personal/pin -- cat "+file)
	if !strings.Contains(r.Output, "open "+m.token+" closed "+m.bank+" short ****(pin) word ****(weak) stage "+m.stage) {
		t.Errorf("of two items: %+v", r)
	}
	wantsShown(t, "an item that is not there", m.door.Run(t, "warder mask --set nothing -- true"), 125, `error\[not_found\]: there is no item "nothing"`)
	wantsShown(t, "the same in a pipe", m.door.Run(t, "true | warder mask --set nothing"), 7, `error\[not_found\]`)
}

// TestMask_agent: an agent's output is hidden by what it was lent, and by what says nothing; of what is closed to it there is no name.
func TestMask_agent(t *testing.T) {
	m := masked(t)
	r := m.agent(t, m.all(), "mask")
	if want := "open ****(github-token) closed **** short " + m.short + " word " + m.word + " stage ****(SHOP_KEY) end\n"; r.Stdout != want || r.Status != 0 {
		t.Errorf("%+v, want %q", r, want)
	}
	wants(t, "an item that is closed", m.agent(t, "", "mask", "--set", "vaulted"), 7, `there is no item "vaulted", or it is not open to you`)
	log := m.mustRun(t, "warder audit tail -n 200 --json")
	if !strings.Contains(log, `"hidden":3,"not_lent":3`) {
		t.Error("the log does not say how many values were hidden")
	}
	lacks(t, "the log", log, m.token, m.bank, m.stage)
}

// TestMask_streams: both streams are hidden, signals and statuses are the program's, and what is not hidden is as it was.
func TestMask_streams(t *testing.T) {
	m := masked(t)
	run := func(script string) person.Result {
		t.Helper()
		return m.Run(t, person.Command{Argv: m.Under(t, "claude", m.Warder(), "mask", "--", "bash", "-c", script)})
	}
	r := run(`echo "out ` + m.token + `"; echo "err ` + m.token + `" >&2; exit 7`)
	if r.Stdout != "out ****(github-token)\n" || r.Stderr != "err ****(github-token)\n" || r.Status != 7 {
		t.Errorf("%+v", r)
	}
	if r = run(`kill -TERM $$`); r.Status != 128+15 {
		t.Errorf("a signal: %+v", r)
	}
	if r = run(`printf 'a\0\377\r\n'; head -c 3000000 /dev/zero | tr '\0' x`); r.Stdout != "a\x00\xff\r\n"+strings.Repeat("x", 3000000) {
		t.Errorf("%d bytes, %q", len(r.Stdout), r.Stderr)
	}
	wants(t, "no such program", m.agent(t, "", "mask", "--", "no-such-program"), 127, `error\[not_found\]`)
	wants(t, "a directory", m.agent(t, "", "mask", "--", "/"), 126, `error\[not_found\]`)
	wants(t, "nothing", m.agent(t, "", "mask", "--"), 125, `error\[usage\]`)
}

// TestMask_locked: while the account is locked nothing passes, and nothing runs.
func TestMask_locked(t *testing.T) {
	m := masked(t)
	m.lock(t)
	r := m.agent(t, "text", "mask")
	wants(t, "a pipe", r, 6, `error\[locked\]`)
	if r.Stdout != "" {
		t.Errorf("%+v", r)
	}
	ran := filepath.Join(m.Home(), "ran")
	wants(t, "a program", m.agent(t, "", "mask", "--", "touch", ran), 125, `error\[locked\]`)
	if _, err := os.Stat(ran); err == nil {
		t.Error("it ran")
	}
}

// TestU_17_basicAuth: a user's name and the password in one word of base64, as HTTP has them, are hidden whole, by run and by mask.
func TestU_17_basicAuth(t *testing.T) {
	h := newHouse(t, person.Options{})
	password := token("pw-")
	h.add(t, password, "web --type login --field password --set username=someone@example.org --level use")
	word := base64.StdEncoding.EncodeToString([]byte("someone@example.org:" + password))
	const print = `echo "Authorization: Basic $(printf %s "someone@example.org:$V" | base64 -w0)" >&2`
	r := h.agent(t, "", "run", "web", "--env-var", "V=password", "--", "bash", "-c", print)
	if r.Status != 0 || !strings.HasPrefix(r.Stderr, "Authorization: Basic ****(V)") || len(r.Stderr) > len("Authorization: Basic ****(V)")+4 { // "A==" may be left: two bits
		t.Errorf("run: %+v", r)
	}
	r = h.agent(t, "Basic "+word+"\n", "mask")
	if r.Status != 0 || !strings.HasPrefix(r.Stdout, "Basic ****(web") || strings.Contains(r.Stdout, word[:8]) {
		t.Errorf("mask: %+v", r)
	}
}

// TestMask_terminal: at a terminal the program has one, and what is typed and shown there goes through. A prompt that might begin a value
// shows all the same.
func TestMask_terminal(t *testing.T) {
	h := newHouse(t, person.Options{})
	value := token("Enter it: ")
	h.add(t, value, "prompted --type password")
	h.door.Begin(t, `warder mask -- bash -c 'test -t 0 && test -t 1 && test -t 2 && echo all; read -rp "Enter it: " x; echo "got <$x>"; stty size'`)
	h.door.Expect(t, `all`)
	h.door.Expect(t, `Ente`)
	h.door.Type(t, value+"\n")
	h.door.Expect(t, `got <\*\*\*\*\(prompted\)>`)
	if r := h.door.Finish(t); r.Status != 0 {
		t.Errorf("%+v", r)
	}
	h.door.Begin(t, "warder mask -- sleep 1000")
	awaitProgram(t, h.World, "sleep")
	h.door.Type(t, "\x03")
	wantsShown(t, "^C", h.door.Finish(t), 130, ``)
	wantsShown(t, "no input", h.door.Run(t, "warder mask"), 2, `error\[usage\]: nothing is piped in`)
}

// TestMask_pipes: the filter ends when its reader or its writer does, and takes every byte however it comes.
func TestMask_pipes(t *testing.T) {
	m := masked(t)
	for _, row := range []struct{ name, line, want string }{
		{"the reader goes", `yes | warder mask | head -n 2; echo "${PIPESTATUS[@]}"`, `^y\s+y\s+141 141 0`},
		{"the reader of a program goes", `warder mask -- yes | head -n 1; echo "${PIPESTATUS[@]}"`, `^y\s+141 0`},
		{"no input", `warder mask < /dev/null; echo $?`, `^0`},
		{"many bytes", `head -c 30000000 /dev/zero | warder mask | cksum`, ``},
		{"one at a time", `(for i in a b c d; do printf %s $i; done; printf '\0\n') | warder mask | od -An -tx1`, `61 62 63 64 00 0a`},
	} {
		r := m.door.Run(t, row.line)
		wantsShown(t, row.name, r, 0, row.want)
		if strings.Contains(r.Output, "error") {
			t.Errorf("%s: %+v", row.name, r)
		}
	}
	a, b := m.door.Run(t, `head -c 30000000 /dev/urandom > rnd; warder mask < rnd | cmp - rnd && echo same`), "same"
	wantsShown(t, "any bytes", a, 0, b)
}

// TestMask_daemonKilled: when the daemon dies nothing more comes out, and that is told.
func TestMask_daemonKilled(t *testing.T) {
	m := masked(t)
	file := func(name string) string { return filepath.Join(m.Home(), name) }
	read := func(name string) string {
		text, _ := os.ReadFile(file(name))
		return string(text)
	}
	for name, text := range map[string]string{"value": m.token + "\n", "feed": "echo begun; until [ -e go ]; do sleep 0.1; done; cat value; echo after\n"} {
		if err := os.WriteFile(file(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pid := fmt.Sprint(m.status(t).Daemon.PID)
	for _, row := range []struct{ line, status string }{
		{`bash feed | warder mask > out 2> err; echo "ended ${PIPESTATUS[1]}"`, "ended 5"},
		{`warder mask -- bash feed > out 2> err; echo "ended $?"`, "ended 125"},
	} {
		m.door.Run(t, "cd; rm -f go out err")
		m.door.Begin(t, row.line)
		until(t, "it began", func() bool { return read("out") == "begun\n" })
		if r := m.Run(t, person.Command{Argv: []string{"kill", "-KILL", pid}}); r.Status != 0 {
			t.Fatalf("%+v", r)
		}
		if r := m.Run(t, person.Command{Argv: []string{"touch", file("go")}}); r.Status != 0 {
			t.Fatalf("%+v", r)
		}
		wantsShown(t, row.line, m.door.Finish(t), 0, row.status)
		if read("out") != "begun\n" || !strings.Contains(read("err"), "error[unreachable]") {
			t.Errorf("%s: %q came out, %q was said", row.line, read("out"), read("err"))
		}
		m.unlock(t)
		pid = fmt.Sprint(m.status(t).Daemon.PID)
	}
}

// TestMask_lockedMeanwhile: locking the account ends what is being masked.
func TestMask_lockedMeanwhile(t *testing.T) {
	m := masked(t)
	other := m.Terminal(t, person.Shell{})
	m.door.Begin(t, `(echo begun; read -r _ < /dev/tty; echo `+"after"+`) | warder mask; echo "ended ${PIPESTATUS[1]}"`)
	m.door.Expect(t, `begun`)
	if r := other.Run(t, "warder lock"); r.Status != 0 {
		t.Fatalf("%+v", r)
	}
	m.door.Type(t, "\n")
	r := m.door.Finish(t)
	wantsShown(t, "it", r, 0, `error\[locked\][\s\S]*ended 6`)
	lacks(t, "it", strings.ReplaceAll(r.Output, "echo after", ""), "after")
}
