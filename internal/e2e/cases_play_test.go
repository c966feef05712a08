package e2e_test

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"warder/internal/e2e/person"
)

// maxField is how much a field of an item holds.
const maxField = 65535

// item is what a value of a case is called as an item.
func (c *userCase) item(name string) string {
	return strings.ToLower(c.ID + "-" + strings.ReplaceAll(name, "_", "-"))
}

// source are the words that take injected values from where they are.
func (c *userCase) source(names []string) []string {
	switch {
	case c.valuesFile != "":
		return []string{"--env-file", c.valuesFile}
	case len(names) == 1:
		return []string{c.item(names[0]), "--env-var", names[0]}
	}
	return []string{"--project", strings.ToLower(c.ID), "--stage", "test"}
}

// store puts the values of a case into the vault.
func (c *userCase) store(t *testing.T, h *house) {
	t.Helper()
	c.temp = t.TempDir()
	file := filepath.Join(c.temp, "values.env")
	var text strings.Builder
	for name, value := range c.Setup.Vault {
		text.WriteString(name + "='" + string(value) + "'\n")
		if len(value) > maxField {
			c.valuesFile = file
		} else if len(c.Setup.Vault) == 1 {
			h.add(t, string(value), c.item(name)+" --type api-token --level use")
			return
		}
	}
	if text.Len() == 0 {
		return
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if c.valuesFile != "" {
		return
	}
	h.mustRun(t, "warder import "+file+" --project "+strings.ToLower(c.ID)+" --stage test --level use --yes")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

// files makes the files of a case in a folder of their own.
func (c *userCase) files(t *testing.T, h *house) (dir string) {
	t.Helper()
	dir, err := os.MkdirTemp(h.Home(), "case-")
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range c.Setup.Files {
		path := filepath.Join(dir, name)
		if f.dir {
			err = os.Mkdir(path, 0o700)
		} else {
			err = os.WriteFile(path, f.text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// player plays the steps of a case.
type player struct {
	t    *testing.T
	c    *userCase
	h    *house
	dir  string
	door *person.Terminal // nil with pipes
	p    *played

	now  *running
	last *outcome
}

// running is a program that a step left running.
type running struct {
	began  time.Time
	pid    string // file with its pid
	stdout *stream
	stderr *stream
	wait   func(t testing.TB) person.Result
	typed  []string
	shown  int // of the screen, before the program
}

// play runs the steps of a case once.
func (c *userCase) play(t *testing.T, h *house, w way) *played {
	t.Helper()
	r := &player{t: t, c: c, h: h, dir: c.files(t, h)}
	r.p = &played{c: c, way: w, dir: r.dir, state: h.WarderHome()}
	if c.Setup.Locked {
		h.lock(t)
	}
	if r.p.terminal() {
		r.door = c.openDoor(t, h, w)
		if got := r.door.Run(t, "cd "+r.dir); got.Status != 0 {
			t.Fatalf("cd: %+v", got)
		}
	}
	for i := range c.Action {
		r.step(&c.Action[i])
		r.p.steps = append(r.p.steps, nil)
		if r.now == nil {
			for j := range r.p.steps { // also of those that it went on from
				if r.p.steps[j] == nil {
					r.p.steps[j] = r.last
				}
			}
		}
	}
	if r.now != nil {
		t.Fatal("the last step leaves a program running")
	}
	r.p.processes = strings.Fields(h.Run(t, person.Command{Argv: []string{"ps", "-e", "-o", "stat="}}).Stdout)
	if c.Setup.Locked {
		h.unlock(t)
	}
	if r.door != nil {
		r.p.echo = regexp.MustCompile(`(^|\s)echo\s`).MatchString(r.door.Run(t, "stty -a").Output)
		r.door.Close()
	}
	return r.p
}

// openDoor opens the terminal that a case is in.
func (c *userCase) openDoor(t *testing.T, h *house, w way) *person.Terminal {
	t.Helper()
	s := person.Shell{Env: c.environ()}
	if c.Setup.TTY != nil {
		s.Rows, s.Cols = c.Setup.TTY.Rows, c.Setup.TTY.Cols
	}
	switch w {
	case multiplexer:
		s.Terminal = "tmux"
	case agentTerminal:
		s.Shell = h.Under(t, "codex", "bash", "--norc", "--noprofile", "--noediting", "-i")
	case agentPipes, ownTerminal:
	}
	return h.Terminal(t, s)
}

func (c *userCase) environ() (env []string) {
	for name, value := range c.Setup.Env {
		env = append(env, name+"="+c.fill(value))
	}
	return env
}

// step does one step.
func (r *player) step(s *caseStep) {
	r.t.Helper()
	switch s.Do {
	case "exec":
		argv := append([]string{"warder", "run"}, r.c.source(s.Inject)...)
		r.start(s, append(append(argv, "--"), s.Argv...))
		if !s.Background {
			r.end()
		}
	case "cli":
		r.start(s, r.command(s))
		r.end()
	case "shell_keys":
		line := strings.TrimSuffix(s.Keys, "\n")
		r.enter(strings.Replace(line, "warder run --", "warder run "+r.c.item("S1")+" --env-var S1 --", 1))
	case "keys":
		r.await(s)
		if s.Keys == "^Z" {
			awaitProgram(r.t, r.h.World, "sleep")
		}
		r.door.Type(r.t, string(rune(s.Keys[1]-'@'))) // "^C" is what the key C makes with Ctrl
		if s.Keys == "^Z" {
			r.door.Expect(r.t, `Stopped`)
			r.door.Finish(r.t)
			return
		}
	case "signal":
		r.await(s)
		if s.To != "wrapper" {
			r.t.Fatalf("nobody is called %q", s.To)
		}
		pid, err := os.ReadFile(r.now.pid)
		if err != nil {
			r.t.Fatal(err)
		}
		r.h.Run(r.t, person.Command{Argv: []string{"kill", "-s", s.Sig, strings.TrimSpace(string(pid))}})
	case "wait":
		r.end()
	default:
		r.t.Fatalf("nobody knows how to %q", s.Do)
	}
	if s.Do == "shell_keys" && len(r.now.typed) > 1 { // what was stopped goes on to its end
		r.end()
	}
}

// awaitProgram waits until a program of that name runs. A key that stops comes to nothing while sh starts a program, with warder and
// without: what is to become the program stops, and sh waits for it.
func awaitProgram(t *testing.T, w *person.World, name string) {
	t.Helper()
	until(t, name+" runs", func() bool {
		running := w.Run(t, person.Command{Argv: []string{"ps", "-e", "-o", "comm="}}).Stdout
		return slices.Contains(strings.Fields(running), name)
	})
}

// command is what a command in the words of a case is in warder's.
func (r *player) command(s *caseStep) []string {
	r.t.Helper()
	switch s.Argv[0] {
	case "init":
		return []string{"warder", "setup", "--headless", "--no-install"}
	case "add":
		return []string{"warder", "item", "add", r.c.item(s.Argv[1]), "--type", "api-token"}
	}
	r.t.Fatalf("no command of warder's is what %q is", s.Argv)
	return nil
}

// start starts a command of warder's.
func (r *player) start(s *caseStep, argv []string) {
	r.t.Helper()
	pid := filepath.Join(r.c.temp, "pid")
	line := "echo $$ > " + pid + "; exec " + person.Line(argv...)
	if s.StdinFrom != "" {
		line += " <" + filepath.Join(r.dir, s.StdinFrom)
	}
	out := ""
	if s.StdoutTo != "" {
		out = filepath.Join(r.dir, s.StdoutTo)
	}
	if r.door != nil {
		if s.Stdin != "" {
			r.t.Fatal("a step in a terminal can't be given standard input")
		}
		if out != "" {
			line += " >" + out
		}
		script := filepath.Join(r.c.temp, "script") // a terminal would show the text of the program
		if err := os.WriteFile(script, []byte(line+"\n"), 0o600); err != nil {
			r.t.Fatal(err)
		}
		r.enter("sh " + script)
		r.now.pid = pid
		return
	}
	r.now = &running{pid: pid, began: time.Now(), stdout: openStream(r.t, r.h.World), stderr: openStream(r.t, r.h.World)}
	line += " >" + cmp.Or(out, r.now.stdout.path) + " 2>" + r.now.stderr.path
	r.now.wait = r.h.Background(r.t, person.Command{
		Argv: r.h.Under(r.t, "claude", "sh", "-c", line), Dir: r.dir, Stdin: r.c.fill(s.Stdin), Env: r.c.environ(),
	})
}

// enter types a line to the shell.
func (r *player) enter(line string) {
	r.t.Helper()
	if r.now == nil {
		r.now = &running{began: time.Now(), shown: len(r.door.Screen())}
	}
	r.now.typed = append(r.now.typed, line)
	r.door.Begin(r.t, line)
}

// await waits until the program that runs has said what a step is to come after.
func (r *player) await(s *caseStep) {
	r.t.Helper()
	switch {
	case s.AfterPrompt:
		r.door.Asked(r.t, askProof)
	case s.AfterText != "" && r.door != nil:
		r.door.Expect(r.t, `(?m)^`+regexp.QuoteMeta(s.AfterText)+`\r?$`)
	case s.AfterText != "":
		r.now.stdout.await(r.t, s.AfterText)
	}
}

// end waits for the end of the program that runs.
func (r *player) end() {
	r.t.Helper()
	now := r.now
	r.now, r.last = nil, &outcome{}
	if r.door != nil {
		r.last.status = r.door.Finish(r.t).Status
		r.last.took = time.Since(now.began)
		screen := strings.ReplaceAll(r.door.Screen()[now.shown:], "\r\n", "\n")
		screen = screen[:strings.LastIndex(screen, "<<ready ")]
		for _, line := range now.typed {
			screen = strings.ReplaceAll(screen, line+"\n", "")
		}
		r.last.screen = screen
		return
	}
	r.last.status = now.wait(r.t).Status
	r.last.took = time.Since(now.began)
	r.last.stdout, r.last.arrivals = now.stdout.all(now.began)
	r.last.stderr, _ = now.stderr.all(now.began)
}

// stream is a pipe with a name that the test reads as it is written.
type stream struct {
	path string
	done chan struct{}

	mu   sync.Mutex
	text []byte
	came []time.Time // of each piece
	size []int       // of text with it
	more chan struct{}
}

// openStream makes one and begins to read it.
func openStream(t *testing.T, w *person.World) *stream {
	t.Helper()
	s := &stream{path: filepath.Join(t.TempDir(), "pipe"), done: make(chan struct{}), more: make(chan struct{}, 1)}
	if r := w.Run(t, person.Command{Argv: []string{"mkfifo", s.path}}); r.Status != 0 {
		t.Fatalf("mkfifo: %+v", r)
	}
	go s.read()
	return s
}

// read reads until the last writer is gone.
func (s *stream) read() {
	defer close(s.done)
	f, err := os.Open(s.path) // waits for a writer
	if err != nil {
		return
	}
	defer f.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := f.Read(buf)
		s.mu.Lock()
		if s.text = append(s.text, buf[:n]...); n > 0 {
			s.came, s.size = append(s.came, time.Now()), append(s.size, len(s.text))
		}
		s.mu.Unlock()
		select {
		case s.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// await waits for a text.
func (s *stream) await(t *testing.T, text string) {
	t.Helper()
	late := time.After(time.Minute)
	for {
		s.mu.Lock()
		there := bytes.Contains(s.text, []byte(text))
		s.mu.Unlock()
		if there {
			return
		}
		select {
		case <-s.more:
		case <-s.done:
			t.Fatalf("%q never came, but %q", text, s.text)
		case <-late:
			t.Fatalf("%q never came", text)
		}
	}
}

// sofar is what has come.
func (s *stream) sofar() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.text)
}

// all is what came until the end, and when.
func (s *stream) all(began time.Time) (string, []arrival) {
	// A stream that nobody ever opened would be waited for.
	if f, err := os.OpenFile(s.path, os.O_RDWR, 0); err == nil {
		_ = f.Close()
	}
	<-s.done
	var arrivals []arrival
	for i, at := range s.came {
		arrivals = append(arrivals, arrival{s.size[i], at.Sub(began)})
	}
	return string(s.text), arrivals
}
