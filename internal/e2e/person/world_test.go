package person_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"warder/internal/e2e/person"
	"warder/internal/testkit"
)

func TestTerminal(t *testing.T) {
	w := person.Start(t, person.Options{})
	p := w.Terminal(t, person.Shell{})
	if r := p.Run(t, "warder version"); r.Status != 0 || !strings.HasPrefix(r.Output, "warder ") {
		t.Errorf("warder version: %+v", r)
	}
	if r := p.Run(t, "false"); r.Status != 1 || r.Output != "" {
		t.Errorf("false: %+v", r)
	}
	if r := p.Run(t, person.Line("printf", `%s\n`, "it's", "two")); r.Output != "it's\ntwo\n" {
		t.Errorf("printf: %+v", r)
	}
	if r := p.Run(t, "ps -o comm= -p 1; env | grep -c CLAUDE"); r.Output != "init\n0\n" {
		t.Errorf("the first process and the marks of agents: %+v", r)
	}

	p.Begin(t, `read -rsp "secret: " s; echo "[${#s}]"`)
	p.Answer(t, "secret: ", "hidden word")
	if r := p.Finish(t); r.Status != 0 || strings.TrimSpace(r.Output) != "[11]" {
		t.Errorf("read: %+v", r)
	}
	if strings.Contains(p.Screen(), "hidden word") {
		t.Errorf("the screen shows a hidden answer:\n%s", p.Screen())
	}

	p.Begin(t, `sh -c 'echo $((6*7)); exec sleep 1000'`)
	p.Expect(t, "42\r\n")
	p.Interrupt(t)
	if r := p.Finish(t); r.Status != 130 {
		t.Errorf("interrupted: %+v", r)
	}

	if r := p.Run(t, "stty size"); r.Output != "24 80\n" {
		t.Errorf("size: %+v", r)
	}
	p.Begin(t, `sh -c 'trap "stty size" WINCH; echo $((6*7)); while :; do sleep 0.01; done'`)
	p.Expect(t, "42\r\n")
	p.Resize(t, 50, 132)
	p.Expect(t, "50 132\r\n")
	p.Interrupt(t)
	p.Finish(t)
}

// TestEnd: what was left behind in a world, out of reach of its terminal, ends
// with it.
func TestEnd(t *testing.T) {
	if err := person.Missing(); err != nil {
		t.Skip(err)
	}
	w, err := person.New(t.Context(), person.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.End()
	pipe := t.TempDir() + "/pipe"
	run := func(line string) {
		t.Helper()
		if r := w.Run(t, person.Command{Argv: []string{"sh", "-c", line}}); r.Status != 0 {
			t.Fatalf("%s: %+v", line, r)
		}
	}
	run("mkfifo " + pipe)
	run("setsid sh -c 'exec sleep 1000 >" + pipe + "' </dev/null >/dev/null 2>&1 &")
	reader, err := os.Open(pipe) // waits for the sleeper
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := w.End(); err != nil {
		t.Error(err)
	}
	if n, err := reader.Read(make([]byte, 1)); n != 0 || err == nil { // the end, which only comes with the sleeper's
		t.Errorf("read %d, %v", n, err)
	}
	if _, err := os.Stat(w.Dir()); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func TestRun(t *testing.T) {
	w := person.Start(t, person.Options{Env: []string{"A=world"}})
	r := w.Run(t, person.Command{Argv: []string{"sh", "-c", `cat; echo "$A $B" >&2; pwd; exit 7`}, Env: []string{"B=own"}, Stdin: "in\n"})
	if want := (person.Result{Stdout: "in\n" + w.Home() + "\n", Stderr: "world own\n", Status: 7}); r != want {
		t.Errorf("got %+v, want %+v", r, want)
	}
	r = w.Run(t, person.Command{Argv: []string{"sh", "-c", "ps -o ppid= -p $PPID; exit 3"}, Orphan: true})
	if r.Status != 3 || strings.TrimSpace(r.Stdout) != "1" {
		t.Errorf("an orphan: %+v", r)
	}
}

// TestReaping: an orphan that has ended leaves nothing.
func TestReaping(t *testing.T) {
	w := person.Start(t, person.Options{})
	for range 5 {
		w.Run(t, person.Command{Argv: []string{"sh", "-c", "true & true & exit 0"}, Orphan: true})
	}
	left := ""
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		left = w.Run(t, person.Command{Argv: []string{"ps", "-e", "-o", "stat=,comm="}}).Stdout
		if !strings.Contains(left, "Z") {
			return
		}
	}
	t.Errorf("left: %s", left)
}

func TestOtherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to be another user")
	}
	w := person.Start(t, person.Options{UID: testkit.UID})
	if r := w.Terminal(t, person.Shell{}).Run(t, "id -u; touch ~/f; echo $?"); r.Output != "12345\n0\n" {
		t.Errorf("got %+v", r)
	}
	if r := w.Run(t, person.Command{Argv: []string{"id", "-u"}, UID: 12346}); r.Stdout != "12346\n" {
		t.Errorf("got %+v", r)
	}
}
