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
