package person

import (
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Shell is how a terminal and the shell in it are made. The zero value is bash
// below kitty.
type Shell struct {
	Terminal string   // name of the program with the terminal
	Shell    []string // the shell; it has to show PS1
	Env      []string // added to the world's
	UID      int      // where the test runs as root, another user than the world's
	Rows     uint16   // of the window: 24 if 0
	Cols     uint16   // 80 if 0
}

// bash starts without the files of a user, and leaves the editing of lines to
// the terminal: what is shown is then what was typed.
func bash() []string {
	return []string{"bash", "--norc", "--noprofile", "--noediting", "-i"}
}

// prompt is what PS1 is set to: it tells the status of the last command, and
// nobody types it.
const prompt = "<<ready $?>> "

// ready matches a prompt.
const ready = `<<ready (\d+)>> `

// Terminal is a terminal with a person before it, who is the test.
type Terminal struct {
	tty string // its path

	to     io.WriteCloser
	cancel context.CancelFunc
	screen screen
}

// Terminal opens a terminal in the world and waits for the shell's prompt.
func (w *World) Terminal(t testing.TB, s Shell) *Terminal {
	t.Helper()
	s = s.withDefaults()
	argv := append([]string{w.Program(t, s.Terminal), partPTY}, s.size()...)
	argv = append(append(argv, "setsid", "--ctty", "--wait"), s.Shell...)
	conn, err := w.ask(t.Context(), Command{Env: append(s.Env, "PS1="+prompt), UID: s.UID}, argv, true)
	if err != nil {
		t.Fatalf("person: opening a terminal: %v", err)
	}
	p := attach(t, conn, conn)
	p.begin(t)
	return p
}

func (s Shell) withDefaults() Shell {
	if s.Terminal == "" {
		s.Terminal = "kitty"
	}
	if len(s.Shell) == 0 {
		s.Shell = bash()
	}
	if s.Rows == 0 {
		s.Rows, s.Cols = 24, 80
	}
	return s
}

func (s Shell) size() []string {
	return []string{strconv.Itoa(int(s.Rows)), strconv.Itoa(int(s.Cols))}
}

// attach watches what a terminal shows until it is closed.
func attach(t testing.TB, shown io.Reader, to io.WriteCloser) *Terminal {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	p := &Terminal{to: to, screen: screen{more: make(chan struct{}, 1)}}
	stop := context.AfterFunc(ctx, func() { to.Close() })
	p.cancel = func() { stop(); cancel() }
	go p.screen.watch(shown)
	t.Cleanup(func() { p.Close() })
	return p
}

// begin waits for the first prompt and learns which terminal this is.
func (p *Terminal) begin(t testing.TB) {
	t.Helper()
	p.Expect(t, ready)
	r := p.Run(t, "tty")
	if p.tty = strings.TrimSpace(r.Output); r.Status != 0 || !strings.HasPrefix(p.tty, "/dev/pts/") {
		t.Fatalf("person: tty says %q", r.Output)
	}
}

// Screen is everything that the terminal has shown.
func (p *Terminal) Screen() string {
	return p.screen.all()
}

// send sends a message to the program with the terminal.
func (p *Terminal) send(t testing.TB, k keys) {
	t.Helper()
	text, err := json.Marshal(k)
	if err == nil {
		_, err = p.to.Write(text)
	}
	if err != nil {
		t.Fatalf("person: typing: %v; the screen shows:\n%s", err, p.Screen())
	}
}

// Type types keys.
func (p *Terminal) Type(t testing.TB, text string) {
	t.Helper()
	p.send(t, keys{Type: []byte(text)})
}

// Interrupt types Ctrl-C.
func (p *Terminal) Interrupt(t testing.TB) {
	t.Helper()
	p.Type(t, "\x03")
}

// Resize changes the size of the window.
func (p *Terminal) Resize(t testing.TB, rows, cols uint16) {
	t.Helper()
	p.send(t, keys{Rows: rows, Cols: cols})
}

// Close closes the window: the shell and what runs in it get a hang-up.
func (p *Terminal) Close() {
	p.cancel()
	p.to.Close()
}

// Expect waits until what was shown since the last wait matches the regular
// expression, and returns the match and its groups. Where it never does, the
// test ends.
func (p *Terminal) Expect(t testing.TB, pattern string) []string {
	t.Helper()
	_, match := p.until(t, pattern)
	return match
}

// until is Expect that returns what stood before the match, too.
func (p *Terminal) until(t testing.TB, pattern string) (before string, match []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	re := regexp.MustCompile(pattern)
	for {
		before, match, closed := p.screen.find(re)
		switch {
		case match != nil:
			return before, match
		case closed:
			t.Fatalf("person: the terminal ended before it showed %q; it showed:\n%s", pattern, p.Screen())
		}
		select {
		case <-p.screen.more:
		case <-ctx.Done():
			t.Fatalf("person: the terminal never showed %q; it showed:\n%s", pattern, p.Screen())
		}
	}
}

// Shown is what a command showed and its status.
type Shown struct {
	Output string // with plain line ends
	Status int
}

// Run types a command to the shell and waits for its end.
func (p *Terminal) Run(t testing.TB, line string) Shown {
	t.Helper()
	p.Begin(t, line)
	return p.Finish(t)
}

// Begin types a command and waits until the terminal has shown it. What the
// command asks for comes next, and then Finish.
func (p *Terminal) Begin(t testing.TB, line string) {
	t.Helper()
	p.Type(t, line+"\n")
	p.Expect(t, regexp.QuoteMeta(line)+"\r\n")
}

// Finish waits for the shell's next prompt and returns what was shown before it
// since the last wait.
func (p *Terminal) Finish(t testing.TB) Shown {
	t.Helper()
	output, match := p.until(t, ready)
	status, err := strconv.Atoi(match[1])
	if err != nil {
		t.Fatalf("person: %v", err)
	}
	return Shown{Output: strings.ReplaceAll(output, "\r\n", "\n"), Status: status}
}

// Answer waits for a question of the command that runs, and then until the terminal shows no more what is
// typed, and answers. Typed before that, the answer would be on the screen, and
// it would be the person's haste and no fault of the program.
func (p *Terminal) Answer(t testing.TB, question, answer string) {
	t.Helper()
	p.Asked(t, question)
	p.Type(t, answer+"\n")
}

// Asked is Answer without an answer: what to type next is up to the test.
func (p *Terminal) Asked(t testing.TB, question string) {
	t.Helper()
	if match := p.Expect(t, "(?:"+question+")|"+ready); strings.HasPrefix(match[0], "<<ready ") {
		t.Fatalf("person: the command ended and did not ask %q; the terminal showed:\n%s", question, p.Screen())
	}
	p.awaitHidden(t)
}

// awaitHidden waits until the terminal does not echo.
func (p *Terminal) awaitHidden(t testing.TB) {
	t.Helper()
	for end := time.Now().Add(patience); ; {
		// The terminals of this machine are the world's, too.
		modes, err := exec.CommandContext(t.Context(), "stty", "-F", p.tty, "-a").CombinedOutput()
		if err != nil {
			t.Fatalf("person: the modes of %s: %v: %s", p.tty, err, modes)
		}
		if strings.Contains(string(modes), "-echo ") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("person: the terminal still shows what is typed; it showed:\n%s", p.Screen())
		}
	}
}

// Line is what to type for a command: each argument is quoted.
func Line(argv ...string) string {
	quoted := make([]string, len(argv))
	for i, arg := range argv {
		quoted[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}
