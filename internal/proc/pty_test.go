package proc_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"warder/internal/platform"
)

// screen is a terminal with a program in it, which leads its session.
type screen struct {
	t        *testing.T
	keyboard *os.File
	pid      int

	mu    sync.Mutex
	shown strings.Builder
	more  chan struct{}
	read  int // up to where await has looked
}

// patience is how long a test waits for what has to come: only a failing one does.
const patience = 20 * time.Second

func openScreen(t *testing.T, argv ...string) *screen {
	t.Helper()
	keyboard, tty, err := platform.OpenPTY()
	if errors.Is(err, platform.ErrUnsupported) || errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := platform.SetTerminalSize(keyboard, 24, 80); err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, keyboard: keyboard, more: make(chan struct{}, 1)}
	program, err := exec.LookPath(argv[0])
	if err != nil {
		t.Skip(err)
	}
	s.pid, err = platform.StartChild(program, argv, platform.ChildOptions{
		Env:   append(os.Environ(), "PS1=$ ", "TERM=xterm-256color", "HISTFILE=", "W="+strings.Join(wrapped(t), " ")),
		Files: []*os.File{tty, tty, tty}, Place: platform.ChildInOwnSession, Terminal: tty,
	})
	if err != nil {
		t.Fatal(err)
	}
	_ = tty.Close()
	go s.collect()
	t.Cleanup(func() {
		_ = platform.SignalProcess(s.pid, platform.SigKill)
		_, _ = platform.WaitChild(s.pid)
		_ = keyboard.Close()
	})
	return s
}

func (s *screen) collect() {
	buf := make([]byte, 4096)
	for {
		n, err := s.keyboard.Read(buf)
		s.mu.Lock()
		s.shown.Write(buf[:n])
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

func (s *screen) keys(text string) {
	s.t.Helper()
	if _, err := s.keyboard.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// await waits for a text to be shown after the last one that was waited for, and returns what came before it.
func (s *screen) await(text string) string {
	s.t.Helper()
	end := time.After(patience)
	for {
		s.mu.Lock()
		shown := s.shown.String()[s.read:]
		if i := strings.Index(shown, text); i >= 0 {
			s.read += i + len(text)
			s.mu.Unlock()
			return shown[:i]
		}
		s.mu.Unlock()
		select {
		case <-s.more:
		case <-end:
			s.t.Fatalf("%q was not shown, but %q", text, shown)
		}
	}
}

// shell is a screen with an interactive bash.
func shell(t *testing.T) *screen {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	s := openScreen(t, "bash", "--norc", "--noprofile", "-i")
	s.await("$ ")
	return s
}

// ways are the ones in which a program can be at a terminal.
var ways = map[string]string{"own terminal": "env:S=hush", "masked": "mask=hush env:S=hush"}

// TestU_32_terminal: the program has a terminal of the right size on all sides, and follows it.
func TestU_32_terminal(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			s := shell(t)
			s.keys("$W " + way + ` -- bash -c 'test -t 0 && test -t 1 && test -t 2 && echo T"T"; stty size; trap "stty size" WINCH; echo "<$S>"; read -r; echo end' ` + "\n")
			s.await("TT")
			s.await("24 80")
			hidden := s.await(">\r")
			if want := name == "masked"; strings.Contains(hidden, "hush") == want {
				t.Errorf("shown: %q", hidden)
			}
			if err := platform.SetTerminalSize(s.keyboard, 30, 100); err != nil {
				t.Fatal(err)
			}
			s.keys("\n")
			s.await("end")
			s.await("$ ")
		})
	}
}

// TestU_34_oneInterrupt: a key interrupts the program once.
func TestU_34_oneInterrupt(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			s := shell(t)
			s.keys("$W " + way + ` -- bash -c 'n=0; trap "n=\$((n+1)); echo c\"aught\"" INT; echo u"p"; while read -r x; do case $x in q) break; esac; done; echo n=$n; exit 3'; echo "status $?"` + "\n")
			s.await("up")
			s.keys("\x03\n") // bash acts on an interrupt that came before it reads when it has read
			s.await("caught")
			s.keys("q\n")
			s.await("n=1")
			s.await("status 3")
		})
	}
}

// TestU_33_innerPrompt: a program that gives up at the key does so by itself.
func TestU_33_innerPrompt(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			s := shell(t)
			s.keys("$W " + way + ` -- sh -c 'stty -echo; printf "Pass""word: "; read -r p; stty echo; echo "got $p"'` + "\n")
			s.await("Password: ")
			s.keys("typed\n")
			if between := s.await("got typed"); strings.Contains(between, "typed") {
				t.Errorf("it was shown: %q", between)
			}
			s.await("$ ")
			s.keys("stty -a | tr ' ' '\\n' | grep -x -e '-*echo'\n")
			s.await("l\recho\r")
		})
	}
}

// TestU_37_jobControl: the key stops the job, and the shell lets it go on.
func TestU_37_jobControl(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			s := shell(t)
			s.keys("$W " + way + ` -- sh -c 'echo u"p"; read -r x; echo f"in" $x'; echo "status $?"` + "\n")
			s.await("up")
			s.keys("\x1a")
			s.await("topped")
			s.await("$ ")
			s.keys("jobs; echo the she\"ll\"\n")
			s.await("topped")
			s.await("the shell")
			s.keys("fg\n")
			s.await("sh -c")
			s.keys("again\n")
			s.await("fin again")
			s.await("$ ")
			s.keys("bg; jobs; echo no\"ne\"\n")
			s.await("none")
		})
	}
}

// TestStopWithoutJobControl: where no shell would let the job go on, a key does not stop it.
func TestStopWithoutJobControl(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			s := openScreen(t, "bash", "-c", "$W "+way+` -- sh -c 'echo u"p"; while read -r x; do echo "<$x>"; done'; true`)
			s.await("up")
			for _, key := range []string{"one", "two"} {
				s.keys("\x1a" + key + "\n")
				s.await("<" + key + ">")
			}
			s.keys("\x04")
		})
	}
}

// TestBackground: a job in the background shows what it has to, and takes no key.
func TestBackground(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			s := shell(t)
			s.keys("$W " + way + ` -- sh -c 'kill -STOP $$; echo f"in"'` + "\n")
			s.await("topped")
			s.await("$ ")
			s.keys("bg\n")
			s.await("fin")
			s.keys("echo the she\"ll\"\n")
			s.await("the shell")
		})
	}
}

// TestU_32_redirected: only the stream that is redirected is no terminal.
func TestU_32_redirected(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			s := shell(t)
			file := t.TempDir() + "/o"
			s.keys("$W " + way + ` -- sh -c 'test -t 1 && echo T1 || echo P1; test -t 2 && echo T"2" >&2; test -t 0 && echo T"0" >&2' >` + file + "\n")
			s.await("T2\r\n")
			s.await("T0\r\n")
			s.await("$ ")
			if text, err := os.ReadFile(file); err != nil || string(text) != "P1\n" {
				t.Errorf("%q, %v", text, err)
			}
			s.keys("echo from | $W " + way + ` -- sh -c 'cat; test -t 1 && echo T"1"'` + "\n")
			s.await("from\r\n")
			s.await("T1\r\n")
		})
	}
}

// TestVim: an editor works and the terminal is as before.
func TestVim(t *testing.T) {
	editor, err := exec.LookPath("vim")
	if err != nil {
		if editor, err = exec.LookPath("vi"); err != nil {
			t.Skip(err)
		}
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			s := shell(t)
			file := t.TempDir() + "/f"
			s.keys("$W " + way + " -- " + editor + " " + file + "\n")
			s.await("~")
			s.keys("ihello\x1b:wq\r")
			s.await("$ ")
			if text, err := os.ReadFile(file); err != nil || string(text) != "hello\n" {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}
