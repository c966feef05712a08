package vault_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"warder/internal/secret"
	"warder/internal/vault"
)

// This file lets tests do something in a process of its own, and lets that process die with SIGKILL at a chosen step of a write.

// childEnv holds the job of a process that a test started.
const childEnv = "WARDER_VAULT_TEST_CHILD"

// job is what a child process does.
type job struct {
	Name   string // of a function in childJobs
	Dir    string // a scene
	Die    death  // where to die; nowhere if zero
	Count  int    // how often, for jobs that repeat something
	Second bool   // on the second device
	Text   string // any more that the job must know
}

// death says at which step a process dies, counted from 1, and what it leaves of that step.
type death struct {
	Step int
	How  remains
}

// remains is what a kill can leave of one operation. That it was done entirely is the same as dying before the next one.
type remains string

const (
	nothing   remains = "nothing"
	halfTemp  remains = "half a temporary file"
	wholeTemp remains = "a whole temporary file"
	twoNames  remains = "both names" // where a rename that does not replace is made of link and unlink
)

// remainsOf are the ways in which one operation can be cut short.
func remainsOf(operation string) []remains {
	switch operation {
	case "Replace":
		return []remains{nothing, halfTemp, wholeTemp}
	case "WriteNew":
		return []remains{nothing, halfTemp, wholeTemp, twoNames}
	}
	return []remains{nothing}
}

// TestChild is the process that other tests start. By itself it does nothing.
func TestChild(t *testing.T) {
	text := os.Getenv(childEnv)
	if text == "" {
		return
	}
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		t.Fatal(err)
	}
	do, ok := childJobs()[j.Name]
	if !ok {
		t.Fatalf("no job %q", j.Name)
	}
	do(t, j)
	tell("done", j.Name)
}

// childJobs are the things that child processes do, by name.
func childJobs() map[string]func(*testing.T, job) {
	jobs := map[string]func(*testing.T, job){}
	for _, a := range acts() {
		jobs[a.name] = a.child
	}
	for name, do := range processJobs() {
		if jobs[name] != nil {
			panic("two jobs have the name " + name)
		}
		jobs[name] = do
	}
	return jobs
}

// tell sends the parent a line that lines of package testing can't be taken for.
func tell(word string, rest ...any) {
	fmt.Println("\nchild:", word, fmt.Sprint(rest...))
}

// child is a started process.
type child struct {
	t     testing.TB
	cmd   *exec.Cmd
	lines *bufio.Scanner
	other []string // what it wrote that was no report
}

// command is the process that will do a job.
func command(t testing.TB, j job) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	text, err := json.Marshal(j)
	must(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestChild$", "-test.count=1", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	return cmd
}

func startChild(t testing.TB, cmd *exec.Cmd) *child {
	t.Helper()
	out, err := cmd.StdoutPipe()
	must(t, err)
	cmd.Stderr = cmd.Stdout
	must(t, cmd.Start())
	return &child{t: t, cmd: cmd, lines: bufio.NewScanner(out)}
}

// next waits for the child's next report; ok is false when there are no more.
func (c *child) next() (word, rest string, ok bool) {
	for c.lines.Scan() {
		line, ok := strings.CutPrefix(c.lines.Text(), "child: ")
		if !ok {
			c.other = append(c.other, c.lines.Text())
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		return word, rest, true
	}
	return "", "", false
}

// await waits for a report and ends the test if another comes, or none.
func (c *child) await(want string) (rest string) {
	c.t.Helper()
	word, rest, ok := c.next()
	if !ok || word != want {
		c.t.Fatalf("waiting for %q, the child said %q %s\n%s", want, word, rest, strings.Join(c.other, "\n"))
	}
	return rest
}

// wait reads to the child's end. It reports what it died of: killed is true only for a signal.
func (c *child) wait() (reports map[string]string, killed bool) {
	c.t.Helper()
	reports = map[string]string{}
	for word, rest, ok := c.next(); ok; word, rest, ok = c.next() {
		reports[word] = rest
	}
	err := c.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == -1 {
		return reports, true
	}
	if err != nil {
		c.t.Fatalf("child: %v\n%s", err, strings.Join(c.other, "\n"))
	}
	if _, done := reports["done"]; !done {
		c.t.Fatalf("the child ended without doing its job\n%s", strings.Join(c.other, "\n"))
	}
	return reports, false
}

// runChild does a job in a process of its own to its end, or to its death.
func runChild(t testing.TB, j job) (reports map[string]string, killed bool) {
	t.Helper()
	return startChild(t, command(t, j)).wait()
}

// reaper stands between an account and its folders, and ends this process at one step of what changes them. Steps count from begin.
type reaper struct {
	die  death
	cfg  vault.Config
	mu   sync.Mutex
	on   bool
	step int
}

// over is cfg under the reaper's hand.
func (r *reaper) over(cfg vault.Config) vault.Config {
	r.cfg = cfg
	cfg.Wrap(func(path string, f vault.Folder) vault.Folder { return mortal{f, r, path} })
	return cfg
}

func (r *reaper) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on = true
}

// mortal is one folder of a process that dies.
type mortal struct {
	vault.Folder
	r    *reaper
	path string
}

func (m mortal) WriteNew(name string, data []byte) error {
	m.r.pass(m.path, "WriteNew", name, data)
	return m.Folder.WriteNew(name, data)
}

func (m mortal) Replace(name string, data []byte) error {
	m.r.pass(m.path, "Replace", name, data)
	return m.Folder.Replace(name, data)
}

func (m mortal) Remove(name string) error {
	m.r.pass(m.path, "Remove", name, nil)
	return m.Folder.Remove(name)
}

// pass counts a step and dies at the chosen one.
func (r *reaper) pass(path, operation, name string, data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.on {
		return
	}
	if r.step++; r.step != r.die.Step {
		return
	}
	tell("died", operation, " ", path, "/", name)
	top := r.cfg.AccountDir
	if path == "device" {
		top = r.cfg.StateDir
	}
	how := r.die.How
	if how == twoNames && operation != "WriteNew" {
		how = wholeTemp // vaults come in any order, and with them the operations of a step
	}
	leave(filepath.Join(top, filepath.FromSlash(path)), name, data, how)
	killSelf()
}

// leave puts on disk what a kill leaves of writing a file.
func leave(dir, name string, data []byte, how remains) {
	temp := filepath.Join(dir, ".tmp-00112233aabbccdd")
	var err error
	switch how {
	case halfTemp:
		err = os.WriteFile(temp, data[:len(data)/2], 0o600)
	case wholeTemp:
		err = os.WriteFile(temp, data, 0o600)
	case twoNames:
		err = errors.Join(os.WriteFile(temp, data, 0o600), os.Link(temp, filepath.Join(dir, name)))
	}
	if err != nil {
		panic(err)
	}
}

// killSelf ends this process as kill -9 does.
func killSelf() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {} // until the signal arrives
}

// scene is a directory with an account and the states of its devices.
type scene struct {
	dir  string
	late *lateClock
}

func sceneAt(dir string) scene { return scene{dir, newLateClock()} }

func (s scene) account() vault.Config { return config(s.dir) }

// second is the same account on another device.
func (s scene) second() vault.Config {
	cfg := s.account()
	cfg.StateDir = filepath.Join(s.dir, "second")
	return cfg
}

// later is cfg on another day: what a crash left is not young any more, and no back-off is under way.
func (s scene) later(cfg vault.Config) vault.Config {
	cfg.Now = s.late.now
	return cfg
}

// lateClock is hours ahead and goes on by two minutes whenever it is asked.
type lateClock struct {
	mu sync.Mutex
	at time.Time
}

func newLateClock() *lateClock { return &lateClock{at: time.Now().Add(3 * time.Hour)} }

func (c *lateClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(2 * time.Minute)
	return c.at
}

// newScene makes an empty scene, in memory where that is possible: what is tested is the order of steps, not the disk.
func newScene(t testing.TB) scene {
	t.Helper()
	const shm = "/dev/shm"
	if fi, err := os.Stat(shm); err != nil || !fi.IsDir() {
		return sceneAt(t.TempDir())
	}
	dir, err := os.MkdirTemp(shm, "warder-vault-")
	if err != nil {
		return sceneAt(t.TempDir())
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return sceneAt(dir)
}

// copy is the scene as it is now in another directory, which the caller may spoil.
func (s scene) copy(t testing.TB) scene {
	t.Helper()
	to := newScene(t)
	copyTree(t, s.dir, to.dir)
	return to
}

// keep stores a secret text for a child of the same scene, and for the parent to read again.
func (s scene) keep(t testing.TB, name string, v secret.Value) {
	t.Helper()
	writeFile(t, filepath.Join(s.dir, name), bytesOf(t, v))
}

// kept reads what keep stored.
func (s scene) kept(t testing.TB, name string) secret.Value {
	t.Helper()
	return value(t, string(readFile(t, filepath.Join(s.dir, name))))
}
