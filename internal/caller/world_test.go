package caller_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"warder/internal/caller"
	"warder/internal/testkit"
)

// ownCopy is a copy of this binary that this user may link.
var ownCopy = sync.OnceValues(func() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	path := filepath.Join(shared, "copy")
	return path, copyProgram(self, path)
})

func copyProgram(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(dst, src); err != nil {
		dst.Close()
		return err
	}
	if err := dst.Chmod(0o755); err != nil {
		return err
	}
	return dst.Close()
}

// world is a place for one tree: programs under their names, a socket, a plan.
type world struct {
	plan plan
	path string // of the plan
	// newNamespace is the command that starts the first process, as pid 1.
	newNamespace []string
}

// newWorld lays out the files of a tree.
func newWorld(t testing.TB, steps ...step) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "warder-world-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o777)) // an owner of the tree may be another than this test's
	w := &world{
		plan: plan{Bin: dir, Sock: filepath.Join(dir, "s"), Holder: filepath.Join(dir, "holder"), Steps: steps},
		path: filepath.Join(dir, "plan"), newNamespace: namespace("--mount-proc"),
	}
	w.program(t, step{Name: "daemon"})
	for _, s := range steps {
		w.program(t, s)
		if s.Swap != "" {
			w.program(t, step{Name: s.Swap})
		}
	}
	text, err := json.Marshal(w.plan)
	must(t, err)
	must(t, os.WriteFile(w.path, text, 0o644))
	return w
}

// program puts a copy of this binary, or of script(1), under the step's name.
func (w *world) program(t testing.TB, s step) {
	t.Helper()
	to := filepath.Join(w.plan.Bin, s.Name)
	if _, err := os.Lstat(to); err == nil {
		return
	}
	from, err := ownCopy()
	must(t, err)
	if s.Script {
		if from, err = exec.LookPath("script"); err != nil {
			t.Skipf("no script(1) to make a terminal with: %v", err)
		}
	}
	if !s.Script && !s.Sealed {
		must(t, os.Link(from, to))
		return
	}
	must(t, copyProgram(from, to))
	if s.Sealed {
		must(t, os.Chmod(to, 0o711))
	}
}

// namespace is the command that starts a program as pid 1 of a new namespace.
func namespace(options ...string) []string {
	command := []string{"unshare", "--pid", "--fork", "--kill-child"}
	if os.Getuid() != 0 {
		command = append(command, "--user", "--map-current-user")
	}
	return append(command, options...)
}

// needNamespaces skips where the machine forbids them.
func needNamespaces(t *testing.T) {
	t.Helper()
	command := append(namespace("--mount-proc"), "true")
	if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
		t.Skipf("no pid namespaces for uid %d here: %v: %s", os.Getuid(), err, bytes.TrimSpace(out))
	}
}

// run starts the tree and returns what was found.
func (w *world) run(t *testing.T) outcome {
	t.Helper()
	cmd := w.start(t, w.newNamespace, 0)
	stdout, stderr := &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("the tree failed: %v\n%s%s", err, stdout, stderr)
	}
	var o outcome
	if err := json.Unmarshal(stdout.Bytes(), &o); err != nil {
		t.Fatalf("the tree said %q, %q: %v", stdout, stderr, err)
	}
	return o
}

// start makes the command of a step, with a clean environment.
func (w *world) start(t testing.TB, via []string, i int) *exec.Cmd {
	t.Helper()
	cmd := w.plan.command(w.path, i)
	argv := append(append(append([]string(nil), via...), cmd.Path), cmd.Args[1:]...)
	cmd = exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/", "GOMAXPROCS=1"}
	return cmd
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// want is what a tree should be judged as.
type want struct {
	verdict caller.Verdict
	client  string
	depth   int
	masked  bool
	why     string
}

func (o outcome) check(t *testing.T, w want) {
	t.Helper()
	id := o.Identity
	got := want{id.Verdict, id.Client, id.Depth, id.Masked, w.why}
	if got != w || !strings.Contains(id.Why, w.why) || o.Err != "" {
		t.Errorf("judged %+v, %q, error %q; want %+v", got, id.Why, o.Err, w)
	}
	if t.Failed() {
		for _, p := range id.Evidence {
			t.Logf("%+v", p)
		}
	}
}

// Parts of trees.
var (
	root    = step{Name: "systemd", Judge: &judge{}} // pid 1
	console = step{Name: "kitty", Script: true}
	shell   = step{Name: "bash"}
	program = step{Name: "make"}
	agentic = step{Name: "claude"}
	leaf    = step{Name: "warder"}
)

// but is a changed copy of a step.
func (s step) but(change func(*step)) step {
	change(&s)
	return s
}

func isPerson(why string) want { return want{verdict: caller.Person, why: why} }
func isMasked(why string) want { return want{verdict: caller.Person, masked: true, why: why} }
func isUnknown(why string) want {
	return want{verdict: caller.Unknown, masked: true, why: why}
}

func isAgent(client string) want {
	return want{verdict: caller.Agent, client: client, depth: 1, masked: true}
}

// tree is a row of the tables below.
type tree struct {
	name  string
	steps []step
	want  want
}

func runTrees(t *testing.T, trees []tree) {
	t.Helper()
	needNamespaces(t)
	for i, tr := range trees {
		t.Run(tr.name, func(t *testing.T) {
			if raceDetector && i%8 != 0 {
				t.Skip("starting so many processes takes minutes under the race detector")
			}
			newWorld(t, tr.steps...).run(t).check(t, tr.want)
		})
	}
}

func TestS2_31_realPersons(t *testing.T) {
	if testkit.AsUser(t) {
		return
	}
	hides := func(s *step) { s.Hide = true }
	runTrees(t, []tree{
		{"a terminal", []step{root, console, shell, leaf}, isPerson("")},
		{"programs between", []step{root, console, shell, program, {Name: "go"}, leaf}, isPerson("")},
		{"below a shell of the container", []step{shell.but(func(s *step) { s.Judge = &judge{} }), {Name: "runner", Script: true}, shell, leaf}, isPerson("")},
		{"a multiplexer", []step{root, {Name: "tmux", Script: true}, shell, leaf}, isMasked("multiplexer")},
		{"script in a terminal", []step{root, console, shell, {Name: "script", Script: true}, shell, leaf}, isMasked("automation")},
		{"script alone", []step{root, {Name: "script", Script: true}, shell, leaf}, isUnknown("above the shell")},
		{"an unlisted terminal", []step{root, {Name: "myterm", Script: true}, shell, leaf}, isUnknown("above the shell")},
		{"no shell", []step{root, console, leaf}, isUnknown("no known shell")},
		{"a shell that became the caller", []step{root, console, shell.but(func(s *step) { s.Exec = true }), leaf}, isUnknown("no known shell")},
		{"no terminal", []step{root, {Name: "kitty"}, shell, leaf}, isUnknown("no controlling terminal")},
		{"a new session", []step{root, console, shell, leaf.but(func(s *step) { s.Via = []string{"setsid", "--fork", "--wait"} })}, isUnknown("no controlling terminal")},
		{"an orphan in the same session", []step{root, console, shell.but(func(s *step) { s.Orphan = true }), leaf}, isUnknown("leader of its session")},
		{"an orphan's shell", []step{root, console, shell.but(func(s *step) { s.Orphan = true }), {Name: "zsh"}, leaf}, isUnknown("above the shell")},
		{"a double fork", []step{root, console, shell.but(func(s *step) { s.Leaves = true }), leaf}, isUnknown("no controlling terminal")},
		{"a double fork below a shell", []step{root, console, shell.but(func(s *step) { s.Leaves = true }), {Name: "zsh"}, leaf}, isUnknown("no controlling terminal")},
		{"a hidden program", []step{root, console, shell, program.but(hides), leaf}, isUnknown("can't be read")},
		{"a hidden caller", []step{root, console, shell, leaf.but(hides)}, isUnknown("can't be read")},
		{"a hidden lease holder", []step{root, console, shell, {Name: "warder", Hide: true, Holds: true}, leaf}, isPerson("")},
		{"a holder beside a hidden program", []step{root, console, shell, {Name: "warder", Hide: true, Holds: true}, program.but(hides), leaf}, isUnknown("can't be read")},
	})
}

func TestS2_31_realAgents(t *testing.T) {
	if testkit.AsUser(t) {
		return
	}
	node := func(script string, options ...string) step {
		return step{Name: "node", Argv: append(append([]string{"node"}, options...), script)}
	}
	leaves := func(s *step) { s.Leaves = true }
	marked := func(s *step) { s.Env = []string{"CLAUDECODE=1"} }
	second := isAgent("codex")
	second.depth = 2
	runTrees(t, []tree{
		{"claude", []step{root, console, shell, agentic, shell, leaf}, isAgent("claude")},
		{"codex", []step{root, console, shell, node("/x/@openai/codex/bin/codex.js"), {Name: "codex"}, shell, leaf}, isAgent("codex")},
		{"gemini, twice", []step{root, console, shell, node("/usr/bin/gemini"), node("/usr/bin/gemini", "--max-old-space-size=8192"), shell, leaf}, isAgent("gemini")},
		{"codex below claude", []step{root, console, shell, agentic, shell, {Name: "codex"}, shell, leaf}, second},
		{"without a terminal", []step{root, agentic, leaf}, isAgent("claude")},
		{"in a tmux of its own", []step{root, console, shell, agentic, {Name: "tmux", Script: true}, shell, leaf}, isAgent("claude")},
		{"as pid 1", []step{agentic.but(func(s *step) { s.Judge = &judge{} }), {Name: "script", Script: true}, shell, leaf}, isAgent("claude")},
		{"a shell that became it", []step{root, console, shell.but(func(s *step) { s.Exec = true }), agentic, shell, leaf}, isAgent("claude")},
		{"a script that is gone on", []step{root, console, shell, node("server.js"), leaf}, isPerson("")},
		{"hidden", []step{root, console, shell, agentic.but(func(s *step) { s.Hide = true }), shell, leaf}, isAgent("claude")},
		{"a double fork", []step{root, console, shell, agentic.but(leaves), shell, leaf}, isUnknown("no controlling terminal")},
		{"a double fork with its marks", []step{root, console, shell, agentic.but(leaves), shell.but(marked), leaf}, isAgent("claude")},
		{"a double fork into a terminal of its own", []step{root, console, shell, agentic.but(leaves), program, {Name: "script", Script: true}, shell, leaf}, isUnknown("above the shell")},
		{"its program deleted", []step{root, console, shell, agentic.but(func(s *step) { s.Delete = true }), shell, leaf}, isAgent("claude")},
		{"its program replaced", []step{root, console, shell, agentic.but(func(s *step) { s.Swap = "newer" }), shell, leaf}, isAgent("claude")},
		{"with the first argument of a shell", []step{root, console, shell, agentic.but(func(s *step) { s.Argv = []string{"-bash"} }), leaf}, isAgent("claude")},
		{"with the comm of a shell", []step{root, console, shell, agentic.but(func(s *step) { s.Comm = "bash" }), leaf}, isAgent("claude")},
		{"a shell with its first argument", []step{root, console, shell.but(func(s *step) { s.Exec = true }), {Name: "zsh", Argv: []string{"claude"}}, leaf}, isPerson("")},
		{"a shell with its comm", []step{root, console, shell.but(func(s *step) { s.Comm = "claude" }), leaf}, isPerson("")},
		{"a program with its first argument", []step{root, console, shell, program.but(func(s *step) { s.Argv = []string{"/opt/claude"} }), leaf}, isAgent("claude")},
		// The limits: nothing tells these.
		{"a renamed copy", []step{root, console, shell, {Name: "notes"}, shell, leaf}, isPerson("")},
		{"a tmux that it left behind", []step{root, {Name: "tmux", Script: true}, shell, leaf}, isMasked("multiplexer")},
	})
}

// TestS2_31_sixteenLevels: an agent is found as the 16th ancestor. What has more
// above it is nobody's, as whoever is there can't be told.
func TestS2_31_sixteenLevels(t *testing.T) {
	if testkit.AsUser(t) {
		return
	}
	chain := func(top step, between int) []step {
		steps := []step{root, console.but(func(s *step) { s.Name = "runner" }), top, console}
		return append(append(steps, slices.Repeat([]step{shell}, between)...), leaf)
	}
	runTrees(t, []tree{
		{"an agent as the 16th", chain(agentic, 14), isAgent("claude")},
		{"an agent as the 17th", chain(agentic, 15), isUnknown("more than 16")},
		{"a person with 16", append([]step{root, console}, append(slices.Repeat([]step{shell}, 14), leaf)...), isPerson("")},
		{"a person with 17", append([]step{root, console}, append(slices.Repeat([]step{shell}, 15), leaf)...), isUnknown("more than 16")},
	})
}

func TestS2_30_realMarks(t *testing.T) {
	if testkit.AsUser(t) {
		return
	}
	env := func(entry string) func(*step) { return func(s *step) { s.Env = []string{entry} } }
	unnamed := isAgent("")
	runTrees(t, []tree{
		{"inherited", []step{root, console, shell.but(env("CLAUDECODE=1")), leaf}, isAgent("claude")},
		{"cleaned by the caller alone", []step{root, console, shell.but(env("CLAUDECODE=1")), leaf.but(func(s *step) {
			s.Via = []string{"env", "-i"}
		})}, isAgent("claude")},
		{"cleaned and hidden", []step{root, console, shell.but(env("CLAUDECODE=1")), leaf.but(func(s *step) {
			s.Via, s.Hide = []string{"env", "-i"}, true
		})}, isAgent("claude")},
		{"behind a large environment", []step{root, console, shell.but(func(s *step) {
			s.Env = []string{"A=" + strings.Repeat("x", 90<<10), "CODEX_CI=1"}
		}), leaf}, isAgent("codex")},
		{"the caller's word", []step{root, console, shell, leaf.but(env("WARDER_CALLER=agent"))}, unnamed},
		{"another word", []step{root, console, shell, leaf.but(env("WARDER_CALLER=person"))}, isPerson("")},
		{"a word without anything else", []step{root, leaf.but(env("WARDER_CALLER=person"))}, isUnknown("no controlling terminal")},
	})
}

func TestJudgeSelf(t *testing.T) {
	if testkit.AsUser(t) {
		return
	}
	self := func(s *step) { s.Self = true }
	root := step{Name: "systemd"}
	runTrees(t, []tree{
		{"a person", []step{root, console, shell, leaf.but(self)}, isPerson("")},
		{"an agent", []step{root, console, shell, agentic, leaf.but(self)}, isAgent("claude")},
		{"hidden itself", []step{root, console, shell, leaf.but(func(s *step) { s.Self, s.Hide = true, true })}, isPerson("")},
		{"a mark", []step{root, console, shell, leaf.but(func(s *step) { s.Self, s.Env = true, []string{"GEMINI_CLI=1"} })}, isAgent("gemini")},
	})
}
