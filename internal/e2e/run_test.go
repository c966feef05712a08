package e2e_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/e2e/person"
	"warder/internal/testkit"
)

// lent is a world with values that programs may have.
type lent struct {
	*house
	token, key, stage string
}

// lending makes one.
func lending(t *testing.T) *lent {
	t.Helper()
	l := &lent{house: newHouse(t, person.Options{}), token: token("ghp_"), stage: token("stage-")}
	l.add(t, l.token, "github-token --type api-token --level use")
	l.add(t, token("asks-"), "cloud --type api-token --level ask")
	l.add(t, token("closed-"), "bank --type password")
	l.key = "-----BEGIN KEY-----\n" + token("first-line-of-") + "\n" + token("second-line-of-") + "\n-----END KEY-----"
	l.add(t, l.key, "deploy-key --type note --field key --level use")
	file := filepath.Join(t.TempDir(), ".env")
	if err := os.WriteFile(file, []byte("SHOP_KEY="+l.stage+"\nMODE=development\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.mustRun(t, "warder import "+file+" --project shop --stage test --level use --yes")
	return l
}

// run runs a script as an agent would.
func (l *lent) script(t *testing.T, flags, script string) person.Result {
	t.Helper()
	args := append([]string{"run"}, strings.Fields(flags)...)
	return l.agent(t, "", append(args, "--", "bash", "-c", script)...)
}

// TestRunByAgent: the program gets the value, proved by its hash, and the agent sees none of it.
func TestRunByAgent(t *testing.T) {
	l := lending(t)
	l.mustRun(t, "warder project stage other linked --level use")
	l.add(t, "zero\x00"+token("-"), "zero --type other --level use")
	l.mustRun(t, "warder project set other linked --ref LINKED=warder://personal/bank/password")
	sum := func(s string) string { h := sha256.Sum256([]byte(s)); return hex.EncodeToString(h[:]) }
	hash := `printf %s "$V" | sha256sum`
	const item = "github-token --env-var V"
	rows := []struct {
		name, flags, script string
		status              int
		out, err            string // parts of what comes back
	}{
		{"it has it", item, hash, 0, sum(l.token), ""},
		{"printed", item, `printf %s "$V"; exit 7`, 7, "****(V)", ""},
		{"set -x", item, `set -x; : "$V"`, 0, "", "****(V)"},
		{"split", item, `printf %s "${V:0:9}"; sleep 0.3; printf %s "${V:9}"`, 0, "****(V)", ""},
		{"by map", "github-token --map token=V", hash, 0, sum(l.token), ""},
		{"a file", "github-token --file F", `sha256sum < "$F"; cat "$F"`, 0, sum(l.token), ""},
		{"standard input", "github-token --stdin", `sha256sum`, 0, sum(l.token), ""},
		{"the field behind it", "github-token --stdin token", `sha256sum`, 0, sum(l.token), ""},
		{"in front of the item", "--stdin token github-token", `sha256sum`, 0, sum(l.token), ""},
		{"the item behind it", "--stdin github-token", `sha256sum`, 0, sum(l.token), ""},
		{"a key by line", "deploy-key --env-var V", `while read -r line; do echo "[$line]"; done <<<"$V"`, 0, "****(V)", ""},
		{"a key", "deploy-key --env-var V=key", hash, 0, sum(l.key + "\n"), ""},
		{"a stage", "--project shop --stage test", `printf %s "$SHOP_KEY" | sha256sum; echo "$SHOP_KEY $MODE"`, 0, sum(l.stage), ""},
		{"of a stage", "--project shop --only MODE", `echo "<$SHOP_KEY$MODE>"`, 0, "<****(MODE)>", ""},
		{"renamed", "--project shop --map SHOP_KEY=V --only SHOP_KEY", hash, 0, sum(l.stage), ""},
		{"a variable as a file", "--project shop --file SHOP_KEY", `sha256sum < "$SHOP_KEY"`, 0, sum(l.stage), ""},
		{"a variable as standard input", "--project shop --stdin=SHOP_KEY", `sha256sum`, 0, sum(l.stage), ""},
		{"a variable behind a space", "--project shop --stdin SHOP_KEY", `sha256sum`, 0, sum(l.stage), ""},
		{"a variable in two ways", "--project shop --env-var SHOP_KEY --file F=SHOP_KEY", `test "$SHOP_KEY" = "$(cat "$F")" && sha256sum < "$F"`, 0, sum(l.stage), ""},
		{"several of a stage", "--project shop --only SHOP_KEY MODE", `echo "<$SHOP_KEY$MODE>"`, 0, "<****(SHOP_KEY)****(MODE)>", ""},
		{"no such variable", "--project shop --file NOTHING", "true", 125, "", `no variable "NOTHING"`},
		{"no variable at all", "--project shop --stdin", "true", 125, "", "error[usage]"},
		{"what stands for something hidden", "--project other --stage linked", "true", 125, "", `no value "LINKED"`},
		{"the child of its child", item, `bash -c 'env | grep ^V='`, 0, "V=****(V)", ""},

		{"nothing said", "github-token", "true", 125, "", "--env-var GITHUB_TOKEN"},
		{"asked for", "cloud --env-var V", "true", 125, "", "error[needs_approval]"},
		{"closed", "bank --env-var V", "true", 125, "", `no item "bank", or it is not open to you`},
		{"not there", "nothing --env-var V", "true", 125, "", `no item "nothing", or it is not open to you`},
		{"no field", "github-token --env-var V=nothing", "true", 125, "", "error[not_found]"},
		{"a variable twice", "github-token --env-var V --file V", "true", 125, "", "error[usage]: the variable V is set twice"},
		{"a zero byte", "zero --env-var V", "true", 125, "", "hint: give it as a file: --file V"},
		{"a zero byte in a file", "zero --file V", `tr '\0' 0 < "$V"`, 0, "zero0-", ""},
		{"no variable", "github-token --env-var V-W", "true", 125, "", "error[usage]"},
	}
	for _, row := range rows {
		r := l.script(t, row.flags, row.script)
		if r.Status != row.status || !strings.Contains(r.Stdout, row.out) || !strings.Contains(r.Stderr, row.err) {
			t.Errorf("%s: %+v", row.name, r)
		}
		if strings.Contains(row.flags, "linked") && strings.Contains(r.Stderr, "bank") {
			t.Errorf("%s: the agent learned a name: %+v", row.name, r)
		}
		for _, v := range []string{l.token, l.stage, l.key} {
			for line := range strings.Lines(v) {
				if part := strings.TrimSpace(line); !strings.HasPrefix(part, "---") && strings.Contains(r.Stdout+r.Stderr, part) {
					t.Errorf("%s: the agent saw a value: %+v", row.name, r)
				}
			}
		}
	}
}

// TestRunByAgent_manyVariables: a stage may have more variables than one reply of the daemon has values.
func TestRunByAgent_manyVariables(t *testing.T) {
	l := lending(t)
	const count = 150
	text := &strings.Builder{}
	for i := range count {
		fmt.Fprintf(text, "MANY_%d=%s\n", i, token("many-"))
	}
	file := filepath.Join(t.TempDir(), ".env")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	l.mustRun(t, "warder import "+file+" --project many --stage test --level use --yes")
	r := l.script(t, "--project many", `env | grep ^MANY_ | sort -t_ -k2n | sha256sum; echo "$MANY_149"`)
	sum := sha256.Sum256([]byte(text.String()))
	if want := hex.EncodeToString(sum[:]) + "  -\n****(MANY_149)\n"; r.Status != 0 || r.Stdout != want {
		t.Errorf("got %+v, want %s", r, want)
	}
}

// TestRunByAgent_programs: what an agent may not run with a value.
func TestRunByAgent_programs(t *testing.T) {
	l := lending(t)
	l.add(t, token("only-"), "only-sha --type api-token --level use --command sha256sum")
	fake := filepath.Join(t.TempDir(), "sha256sum")
	if err := os.WriteFile(fake, []byte("#!/bin/sh\necho fake\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	rows := []struct {
		name   string
		argv   []string
		status int
		err    string
	}{
		{"env", []string{"github-token", "--env-var", "V", "--", "env"}, 125, "error[denied]"},
		{"printenv", []string{"github-token", "--env-var", "V", "--", "printenv", "V"}, 125, "error[denied]"},
		{"env with a program", []string{"github-token", "--env-var", "V", "--", "env", "true"}, 0, ""},
		{"its environment's file", []string{"github-token", "--env-var", "V", "--", "cat", "/proc/self/environ"}, 125, "error[denied]"},
		{"the listed program", []string{"only-sha", "--stdin", "--", "sha256sum"}, 0, ""},
		{"another one", []string{"only-sha", "--stdin", "--", "cat"}, 125, "error[denied]"},
		{"one of its name", []string{"only-sha", "--stdin", "--", fake}, 125, "error[denied]"},
		{"set", []string{"github-token", "--env-var", "V", "--", "set"}, 125, "error[denied]"},
		{"export -p", []string{"github-token", "--env-var", "V", "--", "export", "-p"}, 125, "error[denied]"},
		{"not there", []string{"github-token", "--env-var", "V", "--", "no-such-program-x"}, 127, "no-such-program-x"},
	}
	for _, row := range rows {
		if r := l.agent(t, "", append([]string{"run"}, row.argv...)...); r.Status != row.status || !strings.Contains(r.Stderr, row.err) {
			t.Errorf("%s: %+v", row.name, r)
		}
	}
	argv := l.Under(t, "claude", l.Warder(), "run", "only-sha", "--stdin", "--", "sha256sum")
	r := l.Run(t, person.Command{Argv: argv, Env: []string{"PATH=" + filepath.Dir(fake) + ":/usr/bin:/bin"}})
	if r.Status != 125 || !strings.Contains(r.Stderr, "error[denied]") {
		t.Errorf("by PATH: %+v", r)
	}
}

// TestRunByPerson: a person keeps the terminal, and sees what the program prints; in a multiplexer it is hidden.
func TestRunByPerson(t *testing.T) {
	l := lending(t)
	const line = `warder run github-token --env-var V -- sh -c 'test -t 0 && test -t 1 && test -t 2 && echo "tty $V"'`
	wantsShown(t, "own terminal", l.door.Run(t, line), 0, "tty "+l.token)
	wantsShown(t, "with --mask", l.door.Run(t, strings.Replace(line, " -- ", " --mask -- ", 1)), 0, `tty \*\*\*\*\(V\)`)
	multi := l.Terminal(t, person.Shell{Terminal: "tmux"})
	wantsShown(t, "in tmux", multi.Run(t, line), 0, `tty \*\*\*\*\(V\)`)

	bank := `warder run bank --env-var V -- sh -c 'echo "got $V"'`
	r := l.prove(t, bank)
	wantsShown(t, "a closed item, after presence", r, 0, "got closed-")
	other := l.Terminal(t, person.Shell{}) // where nobody has proved anything yet
	other.Begin(t, "warder run bank --env-var V -- touch started")
	other.Answer(t, askProof, "\x03") // Ctrl-C
	wantsShown(t, "U-38 given up at the prompt", other.Finish(t), 130, ``)
	wantsShown(t, "it was not started", other.Run(t, "ls started"), 2, `No such file`)
}

// TestReadByPerson: one value on a person's own terminal; anywhere else after presence alone, and never to an agent.
func TestReadByPerson(t *testing.T) {
	l := lending(t)
	const line = "warder read warder://personal/github-token/token"
	wantsShown(t, "own terminal", l.door.Run(t, line), 0, l.token)
	wantsShown(t, "into a pipe", l.prove(t, line+" | cat"), 0, l.token)
	wantsShown(t, "of a closed item", l.prove(t, "warder read personal/bank/password"), 0, "closed-")
	if r := l.agent(t, "", "read", "personal/github-token/token"); r.Status != 3 || !strings.Contains(r.Stderr, "warder run") || strings.Contains(r.Stdout, l.token) {
		t.Errorf("an agent: %+v", r)
	}
}

// TestRunEnvFile: the references of an env file count only as a person has confirmed them.
func TestRunEnvFile(t *testing.T) {
	l := lending(t)
	file := filepath.Join(l.Dir(), "app.env")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	argv := []string{"run", "--env-file", file, "--", "sh", "-c", `echo "$TOKEN $MODE"`}
	write("TOKEN=warder://personal/github-token/token\nMODE=x\n")
	if r := l.agent(t, "", argv...); r.Status != 125 || !strings.Contains(r.Stderr, "error[denied]") {
		t.Errorf("unconfirmed: %+v", r)
	}
	wantsShown(t, "confirmed", l.prove(t, "warder "+person.Line(argv...)), 0, l.token+" x")
	if r := l.agent(t, "", argv...); r.Status != 0 || r.Stdout != "****(TOKEN) x\n" {
		t.Errorf("confirmed: %+v", r)
	}
	only := append([]string{"run", "--env-file", file, "--only", "MODE"}, argv[3:]...)
	if r := l.agent(t, "", only...); r.Status != 0 || r.Stdout != " x\n" {
		t.Errorf("only what the file sets itself: %+v", r)
	}
	inFile := append([]string{"run", "--env-file", file, "--file", "TOKEN", "--"}, "sh", "-c", `cat "$TOKEN"`)
	if r := l.agent(t, "", inFile...); r.Status != 0 || r.Stdout != "****(TOKEN)" {
		t.Errorf("a reference as a file: %+v", r)
	}
	write("MODE=x\nPATH=/usr/bin:/bin\n")
	wantsShown(t, "what steers programs is confirmed", l.prove(t, "warder "+person.Line(argv...)), 0, " x")
	if r := l.agent(t, "", argv...); r.Status != 0 {
		t.Errorf("what steers programs, confirmed: %+v", r)
	}
	for _, text := range []string{
		"MODE=x\nPATH=/tmp:/usr/bin:/bin\n",
		"TOKEN=warder://personal/github-token/token\nMODE=x\nPATH=/tmp\n", "TOKEN=warder://personal/deploy-key/key\nMODE=x\n",
		"OTHER=warder://personal/github-token/token\nMODE=x\n",
	} {
		write(text)
		if r := l.agent(t, "", argv...); r.Status != 125 || !strings.Contains(r.Stderr, "error[denied]") {
			t.Errorf("changed to %q: %+v", text, r)
		}
	}
}

// TestRunOutcome: the log says how each run ended, and says so if nobody knows.
func TestRunOutcome(t *testing.T) {
	l := lending(t)
	l.script(t, "github-token --env-var V", "exit 3")
	wantsShown(t, "a status", l.door.Run(t, "warder audit tail -n 1 --json"), 0, `"outcome":"exit 3","reported_by":"client"`)
	const lost = `warder run github-token --mask --env-var V -- sh -c 'echo "$V"; echo "$V" >&2; exit 4' >/dev/full`
	wantsShown(t, "output that got lost", l.door.Run(t, lost), 125, `error\[internal\]: not all that the program printed is here`)
	wantsShown(t, "its status", l.door.Run(t, "warder audit tail -n 1 --json"), 0, `"outcome":"exit 4","reported_by":"client"`)
	l.script(t, "github-token --env-var V", "kill -TERM $$")
	wantsShown(t, "a signal", l.door.Run(t, "warder audit tail -n 1 --json"), 0, `"outcome":"signal 15","reported_by":"client"`)
	l.script(t, "github-token --env-var V", "kill -KILL $PPID")
	until(t, "the death is noted", func() bool {
		// Among several: a look that came too soon is itself what the next one finds last.
		return strings.Contains(l.door.Run(t, "warder audit tail -n 9 --json").Output, `"outcome":"unknown"`)
	})
}

// TestRunBelowRun: a run hides itself, and who is below it is judged as if it were not there.
func TestRunBelowRun(t *testing.T) {
	uid := 0
	if os.Getuid() == 0 {
		uid = testkit.UID // root reads what hides itself
	}
	h := newHouse(t, person.Options{UID: uid})
	h.mustRun(t, "echo "+token("ghp_")+" | warder item add github-token --type api-token --level use")
	const run = "warder run github-token --env-var V -- "
	wantsShown(t, "below one", h.door.Run(t, run+"warder whoami"), 0, "person")
	wantsShown(t, "below two", h.door.Run(t, run+run+"warder whoami"), 0, "person")
	wantsShown(t, "a value below one", h.door.Run(t, run+run+`sh -c 'echo "<$V>"'`), 0, "<ghp_")
}

// TestAgentIsNotAsked: an agent that has a terminal is refused, and not led to ask for the password.
func TestAgentIsNotAsked(t *testing.T) {
	l := lending(t)
	argv := l.Under(t, "codex", l.Warder(), "run", "cloud", "--env-var", "V", "--", "true")
	wantsShown(t, "level ask", l.door.Run(t, person.Line(argv...)), 125, `error\[needs_approval\]`)
}

// TestU_42_relativeScript: a script is told the path by which it was called, as without warder, and a shell's word is no program.
func TestU_42_relativeScript(t *testing.T) {
	l := lending(t)
	dir := filepath.Join(l.Home(), "scripts")
	l.mustRun(t, "mkdir -p "+dir+"/sub; printf '#!/bin/sh\\necho \"$0 <$V>\"\\n' > "+dir+"/sub/scr; chmod +x "+dir+"/sub/scr; ln -s sub "+dir+"/link")
	for line, want := range map[string]string{
		"cd " + dir + "/sub && warder run github-token --env-var V -- ./scr":               `(?m)^\./scr <ghp_`,
		"cd " + dir + " && warder run github-token --env-var V -- link/scr":                `(?m)^link/scr <ghp_`,
		"cd " + dir + "/sub && warder run github-token --env-var V -- ../link/scr":         `(?m)^/.*/scripts/link/scr <ghp_`,
		"cd " + dir + " && PATH=$PWD/sub:$PATH warder run github-token --env-var V -- scr": `(?m)^/.*/scripts/sub/scr <ghp_`,
	} {
		wantsShown(t, line, l.door.Run(t, line), 0, want)
	}
	wantsShown(t, "a shell's word", l.door.Run(t, "warder run github-token --env-var V -- set"), 127, `there is no program "set"`)
}
