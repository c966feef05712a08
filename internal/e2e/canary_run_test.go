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

// canaryWorld is one where programs get values that are looked for everywhere.
type canaryWorld struct {
	*house
	token, key string
	temp       string // TMPDIR of everything in it
	search     *testkit.Search
	said       strings.Builder // all that agents saw
}

// newCanaryWorld stores a value that every encoding changes, and a key of several lines.
func newCanaryWorld(t *testing.T) *canaryWorld {
	t.Helper()
	w := start(t, person.Options{})
	c := &canaryWorld{temp: filepath.Join(w.Home(), "tmp")}
	if err := os.Mkdir(c.temp, 0o700); err != nil {
		t.Fatal(err)
	}
	c.house, _ = moveIn(t, w, w.Terminal(t, person.Shell{Env: []string{"TMPDIR=" + c.temp}}), "warder setup")
	c.token = token("ghp_") + `"\&<é> +%/` + token("")
	c.key = strings.TrimSpace(newKey(144)) // three whole lines
	c.add(t, c.token, "tok --type api-token --level use")
	c.add(t, c.key, "key --type api-token --level use")
	canaries := []testkit.Canary{{Name: "token", Value: []byte(c.token)}}
	for i, line := range strings.Split(strings.TrimSpace(c.key), "\n") {
		if !strings.HasPrefix(line, "---") {
			canaries = append(canaries, testkit.Canary{Name: fmt.Sprintf("line %d of the key", i), Value: []byte(line)})
		}
	}
	c.search = testkit.NewSearch(t, canaries...)
	return c
}

// use lets an agent use a value by a script, and wants a text in what comes back.
func (c *canaryWorld) use(t *testing.T, flags, script, want string) {
	t.Helper()
	argv := append(append([]string{c.Warder(), "run"}, strings.Fields(flags)...), "--", "bash", "-c", script)
	r := c.Run(t, person.Command{Argv: c.Under(t, "claude", argv...), Env: []string{"TMPDIR=" + c.temp}})
	_, _ = fmt.Fprint(&c.said, r.Stdout, r.Stderr)
	if !strings.Contains(r.Stdout+r.Stderr, want) {
		t.Errorf("%s: %q: no %q in %+v", flags, script, want, r)
	}
}

// shownInProc is what /proc shows of all processes of the world but those: arguments, environment and name.
func (c *canaryWorld) shownInProc(t *testing.T, but map[string]bool) []byte {
	t.Helper()
	var files []string
	for pid := range c.parents(t) {
		if !but[pid] {
			for _, name := range []string{"cmdline", "environ", "comm"} {
				files = append(files, filepath.Join("/proc", pid, name))
			}
		}
	}
	argv := append([]string{"sh", "-c", `cat "$@" 2>/dev/null; exit 0`, "sh"}, files...)
	text := c.Run(t, person.Command{Argv: argv}).Stdout
	if !strings.Contains(text, "WARDER_HOME=") || !strings.Contains(text, "kitty") || !strings.Contains(text, "claude") {
		t.Fatalf("the search of /proc saw too little: %q", text)
	}
	return []byte(text)
}

// parents are the processes of the world, with who started each.
func (c *canaryWorld) parents(t *testing.T) map[string]string {
	t.Helper()
	words := strings.Fields(c.Run(t, person.Command{Argv: []string{"ps", "-e", "-o", "pid=,ppid="}}).Stdout)
	all := map[string]string{}
	for i := 0; i+1 < len(words); i += 2 {
		all[words[i]] = words[i+1]
	}
	return all
}

// below are a process and all that it started.
func (c *canaryWorld) below(t *testing.T, top string) map[string]bool {
	t.Helper()
	all, found := c.parents(t), map[string]bool{}
	for pid := range all {
		for up := pid; up != ""; up = all[up] {
			if up == top {
				found[pid] = true
				break
			}
		}
	}
	return found
}

// TestRunCanary uses values in all ways from an agent's tree, and looks for them everywhere but in the programs that got them.
func TestRunCanary(t *testing.T) {
	c := newCanaryWorld(t)
	sum := func(s string) string { h := sha256.Sum256([]byte(s)); return hex.EncodeToString(h[:]) }
	const tok, key = "tok --env-var V", "key --env-var V"
	c.use(t, tok, `printf %s "$V" | sha256sum`, sum(c.token))    // it really has it
	c.use(t, key, `printf %s "$V" | sha256sum`, sum(c.key+"\n")) // of several lines, it is kept to the last newline
	c.use(t, "tok --file V", `sha256sum < "$V"`, sum(c.token))
	c.use(t, "tok --stdin", `sha256sum`, sum(c.token))
	c.use(t, tok, `printf %s "$V"; printf '%s\n' "$V" >&2`, "****(V)")
	c.use(t, tok, `set -x; : "$V"; printf '%s' "$V" >/dev/null`, "")
	c.use(t, tok, `printf %s "${V:0:9}"; sleep 0.3; printf %s "${V:9}"`, "****(V)")
	c.use(t, key, `while read -r line; do echo "[$line]"; done <<<"$V"`, "****(V)")
	c.use(t, "tok --file V", `cat "$V"; cat "$V" >&2`, "****(V)")
	c.use(t, "tok --stdin", `cat`, "****")
	c.use(t, tok, `kill -QUIT $$`, "")
	c.use(t, tok, `cd -- "$V"`, "****(V)")
	if n := len(c.said.String()); n == 0 {
		t.Fatal("the agent saw nothing")
	}
	c.search.RequireCleanBytes(t, "what the agent saw", []byte(c.said.String()))

	t.Run("while it runs", func(t *testing.T) { canaryWhileItRuns(t, c) })
	t.Run("core files", func(t *testing.T) { canaryInCores(t, c) })
	for _, place := range []string{c.Dir(), c.WarderHome(), filepath.Join(c.WarderHome(), "state"), filepath.Join(c.WarderHome(), "data"), c.Home(), c.temp} {
		if err := os.WriteFile(filepath.Join(c.temp, "some-file"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		c.search.RequireClean(t, place)
	}
	for _, place := range []string{"/dev/shm", "/var/tmp"} {
		hits, _, err := c.search.Tree(place)
		if err != nil {
			t.Logf("not all of %s can be read: %v", place, err)
		}
		for _, hit := range hits {
			t.Errorf("canary found: %s", hit)
		}
	}
	c.mustRun(t, "warder audit verify")
}

// canaryWhileItRuns looks at every process while a program has a value, after it has found one there that hides nothing.
func canaryWhileItRuns(t *testing.T, c *canaryWorld) {
	argv := []string{"bash", "-c", `echo "pid $$ up"; sleep 12345 & printf %s "$V" | sha256sum; echo "ready"; wait`}
	d := detachWith(t, c.house, []string{"tok", "--env-var", "V"}, "ready\n", argv...)
	child := ""
	if _, err := fmt.Sscanf(d.stdout.sofar(), "pid %s up", &child); err != nil {
		t.Fatalf("%q: %v", d.stdout.sofar(), err)
	}
	own := c.below(t, child)
	if len(own) < 2 {
		t.Fatalf("below the program are %v", own)
	}
	if hits := c.search.Bytes("the program", c.shownInProc(t, nil)); len(hits) == 0 {
		t.Error("the search does not see the environment of the program itself, so it would see none")
	}
	stop := filepath.Join(c.temp, "stop")
	const held = `until [ -e "$1" ]; do sleep 0.1; done`
	inEnviron := c.Background(t, person.Command{Argv: []string{"sh", "-c", held, "sh", stop}, Env: []string{"HELD=" + c.token}})
	inArgs := c.Background(t, person.Command{Argv: []string{"sh", "-c", held, "sh", stop, strings.Fields(c.key)[4]}})
	until(t, "planted leaks in an environment and in arguments are found", func() bool {
		found := map[string]bool{}
		for _, hit := range c.search.Bytes("planted", c.shownInProc(t, own)) {
			found[hit.Canary[:4]] = true
		}
		return found["toke"] && found["line"]
	})
	if err := os.WriteFile(stop, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	inEnviron(t)
	inArgs(t)
	c.search.RequireCleanBytes(t, "/proc while it runs", c.shownInProc(t, own))
	c.search.RequireClean(t, c.Dir()) // the files too
	c.Run(t, person.Command{Argv: []string{"sh", "-c", `kill -TERM "$@"`, "sh", child, other(own, child)}})
	d.wait(t)
	said, _ := d.stdout.all(d.began)
	c.search.RequireCleanBytes(t, "what the agent saw", []byte(said))
}

// canaryInCores lets warder's own processes crash where cores are written, and finds the core of a program that holds a value openly.
func canaryInCores(t *testing.T, c *canaryWorld) {
	dir := filepath.Join(c.Home(), "cores")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	crash := func(argv ...string) person.Result {
		line := "ulimit -c unlimited; exec " + person.Line(argv...)
		return c.Run(t, person.Command{Argv: c.Under(t, "claude", "sh", "-c", line), Dir: dir})
	}
	// Where the machine writes cores elsewhere, or none, this says so and the rest proves less.
	c.Run(t, person.Command{Argv: []string{"sh", "-c", `ulimit -c unlimited; sh -c 'kill -SEGV $$'; exit 0`}, Dir: dir, Env: []string{"HELD=" + c.token}})
	hits, files, err := c.search.Tree(dir)
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Log("this machine writes no cores into the folder of a process")
	} else if len(hits) == 0 {
		t.Error("a core of a program that holds a value openly is not seen to hold it")
	}
	cores, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, core := range cores {
		if err := os.Remove(core); err != nil {
			t.Fatal(err)
		}
	}
	// The program's parent is warder, which still has the values' forms to hide them.
	for _, name := range []string{"SEGV", "ABRT", "QUIT", "ILL", "BUS"} {
		crash(c.Warder(), "run", "tok", "--env-var", "V", "--", "sh", "-c", "ulimit -c 0; kill -"+name+" $PPID; sleep 0.2")
	}
	if cores, err = filepath.Glob(filepath.Join(dir, "*")); err != nil || len(cores) > 0 {
		t.Errorf("warder left %q, %v", cores, err)
	}
}

// other is the one of two that is not this.
func other(pids map[string]bool, this string) string {
	for pid := range pids {
		if pid != this {
			return pid
		}
	}
	return this
}
