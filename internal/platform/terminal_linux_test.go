package platform_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"warder/internal/platform"
)

// terminal is a pseudo terminal: what is written to keyboard is typed at tty,
// and what tty shows is read from keyboard.
type terminal struct {
	keyboard, tty *os.File
	shown         bytes.Buffer
	done          chan struct{}
}

func openPTY(t *testing.T) *terminal {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	raw, err := keyboard.SyscallConn()
	must(t, err)
	var number uint32
	must(t, raw.Control(func(fd uintptr) {
		must(t, unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0))
		number, err = unix.IoctlGetUint32(int(fd), unix.TIOCGPTN)
	}))
	must(t, err)
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	must(t, err)
	p := &terminal{keyboard: keyboard, tty: tty, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_, _ = io.Copy(&p.shown, keyboard) // ends with EIO when all ends of tty are closed
	}()
	t.Cleanup(func() { tty.Close(); <-p.done; keyboard.Close() })
	return p
}

// screen closes the terminal and returns all that it showed.
func (p *terminal) screen() string {
	p.tty.Close()
	<-p.done
	return p.shown.String()
}

func (p *terminal) lflag(t *testing.T) uint32 {
	t.Helper()
	raw, err := p.tty.SyscallConn()
	must(t, err)
	var modes *unix.Termios
	must(t, raw.Control(func(fd uintptr) { modes, err = unix.IoctlGetTermios(int(fd), unix.TCGETS) }))
	must(t, err)
	return modes.Lflag
}

// await waits until the terminal is hidden or not.
func (p *terminal) await(t *testing.T, hidden bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for (p.lflag(t)&unix.ECHO == 0) != hidden {
		if time.Now().After(deadline) {
			t.Fatalf("the terminal did not become hidden=%v", hidden)
		}
	}
}

func (p *terminal) typeKeys(t *testing.T, keys string) {
	t.Helper()
	_, err := p.keyboard.WriteString(keys)
	must(t, err)
}

// hiddenResult is what one ReadHidden came to.
type hiddenResult struct {
	line string
	buf  []byte
	err  error
}

// readHidden reads in the background and returns once the terminal is hidden.
func (p *terminal) readHidden(t *testing.T) <-chan hiddenResult {
	t.Helper()
	result := make(chan hiddenResult, 1)
	go func() {
		buf := make([]byte, platform.MaxHidden)
		n, err := platform.ReadHidden(p.tty, "", buf)
		result <- hiddenResult{string(buf[:n]), buf, err}
	}()
	p.await(t, true)
	return result
}

// TestReadHiddenBeforeItAsks: whoever types as soon as the prompt shows is not shown.
func TestReadHiddenBeforeItAsks(t *testing.T) {
	for range 20 {
		keyboard, tty, err := platform.OpenPTY()
		if err != nil {
			t.Skipf("no pseudo terminals here: %v", err)
		}
		t.Cleanup(func() { tty.Close(); keyboard.Close() })
		p := &terminal{keyboard: keyboard, tty: tty} // nobody else reads what it shows
		done := make(chan error, 1)
		go func() {
			_, err := platform.ReadHidden(p.tty, "ask: ", make([]byte, 10))
			done <- err
		}()
		var shown [5]byte
		_, err = io.ReadFull(p.keyboard, shown[:])
		must(t, err)
		if p.lflag(t)&unix.ECHO != 0 || string(shown[:]) != "ask: " {
			t.Fatalf("the terminal shows what is typed by when it shows %q", shown)
		}
		p.typeKeys(t, "x\n")
		must(t, <-done)
	}
}

func TestReadHidden(t *testing.T) {
	for _, row := range []struct {
		name, keys, want string
		err              error
	}{
		{"a line", "correct horse\n", "correct horse", nil},
		{"enter sends a carriage return", "horse\r", "horse", nil},
		{"edited", "wrong\x15horsee\x7f\n", "horse", nil},
		{"control C", "hor\x03", "", platform.ErrInterrupted},
		{"control backslash", "hor\x1c", "", platform.ErrInterrupted},
		{"control D", "\x04", "", io.EOF},
		{"4096 bytes", strings.Repeat("h", 4096) + "\n", strings.Repeat("h", 4096), nil},
		{"4097 bytes", strings.Repeat("h", 4097) + "\n", "", platform.ErrLineTooLong},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := openPTY(t)
			before := p.lflag(t)
			result := p.readHidden(t)
			p.typeKeys(t, row.keys)
			got := <-result
			if got.line != row.want || !errors.Is(got.err, row.err) {
				t.Errorf("got %q, %v; want %q, %v", got.line, got.err, row.want, row.err)
			}
			if rest := got.buf[len(got.line):]; !bytes.Equal(rest, make([]byte, len(rest))) {
				t.Errorf("beyond the line stays %q", bytes.TrimRight(rest, "\x00"))
			}
			if after := p.lflag(t); after != before {
				t.Errorf("modes are %#x, were %#x", after, before)
			}
			if screen := p.screen(); screen != "" {
				t.Errorf("the terminal showed %q", screen)
			}
		})
	}
}

// TestReadHidden_givenUpLine: what was typed of a line that was given up must
// not become the next reader's command.
func TestReadHidden_givenUpLine(t *testing.T) {
	p := openPTY(t)
	result := p.readHidden(t)
	p.typeKeys(t, "hor\x03se staple\n")
	if got := <-result; !errors.Is(got.err, platform.ErrInterrupted) {
		t.Fatal(got.err)
	}
	p.typeKeys(t, "next\n")
	buf := make([]byte, 100)
	n, err := p.tty.Read(buf)
	if err != nil || string(buf[:n]) != "next\n" {
		t.Errorf("the next reader got %q, %v", buf[:n], err)
	}
}

func TestReadHidden_nextLineIsLeft(t *testing.T) {
	p := openPTY(t)
	result := p.readHidden(t)
	p.typeKeys(t, "one\ntwo\n")
	first := <-result
	buf := make([]byte, platform.MaxHidden)
	n, err := platform.ReadHidden(p.tty, "", buf)
	if first.line != "one" || string(buf[:n]) != "two" || err != nil {
		t.Errorf("got %q, then %q, %v", first.line, buf[:n], err)
	}
}

// TestReadHidden_panic: the deferred part must run when the reading panics,
// here on a buffer that can't be written to.
func TestReadHidden_panic(t *testing.T) {
	p := openPTY(t)
	before := p.lflag(t)
	readOnly, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON)
	must(t, err)
	defer func() { must(t, unix.Munmap(readOnly)) }()
	recovered := make(chan any, 1)
	go func() {
		defer func() { recovered <- recover() }()
		debug.SetPanicOnFault(true)
		_, _ = platform.ReadHidden(p.tty, "", readOnly)
	}()
	p.await(t, true)
	p.typeKeys(t, "h")
	if cause := <-recovered; cause == nil {
		t.Fatal("no panic: the test shows nothing")
	}
	if after := p.lflag(t); after != before {
		t.Errorf("modes are %#x, were %#x", after, before)
	}
}

func TestReadHidden_noTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	must(t, err)
	defer r.Close()
	defer w.Close()
	if _, err := platform.ReadHidden(r, "", make([]byte, 10)); err == nil {
		t.Error("a pipe was read as a terminal")
	}
}

// hiddenChild is set in the environment of a process that the tests below start
// on a terminal of its own.
const hiddenChild = "WARDER_TEST_HIDDEN_CHILD"

// TestHiddenChild is that process: it prints what it read.
func TestHiddenChild(t *testing.T) {
	if os.Getenv(hiddenChild) == "" {
		t.Skip("started by other tests only")
	}
	tty, err := platform.OpenTerminal()
	if err != nil {
		fmt.Printf("no terminal\n")
		return
	}
	buf := make([]byte, platform.MaxHidden)
	n, err := platform.ReadHidden(tty, "", buf)
	fmt.Printf("line=%q interrupted=%v\n", buf[:n], errors.Is(err, platform.ErrInterrupted))
}

// startHidden starts TestHiddenChild with tty as its controlling terminal and
// its streams elsewhere.
func startHidden(t *testing.T, p *terminal) (cmd *exec.Cmd, output *bytes.Buffer) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHiddenChild$")
	cmd.Env = append(os.Environ(), hiddenChild+"=1")
	output = &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if p != nil {
		cmd.ExtraFiles = []*os.File{p.tty}
		cmd.SysProcAttr.Setctty, cmd.SysProcAttr.Ctty = true, 3
	}
	must(t, cmd.Start())
	return cmd, output
}

func TestOpenTerminal_none(t *testing.T) {
	cmd, output := startHidden(t, nil)
	must(t, cmd.Wait())
	if !strings.Contains(output.String(), "no terminal") {
		t.Errorf("got %q", output)
	}
}

func TestOpenTerminal_reads(t *testing.T) {
	p := openPTY(t)
	cmd, output := startHidden(t, p)
	p.await(t, true)
	p.typeKeys(t, "horse\n")
	must(t, cmd.Wait())
	if !strings.Contains(output.String(), `line="horse" interrupted=false`) {
		t.Errorf("got %q", output)
	}
}

func TestReadHidden_signals(t *testing.T) {
	for _, s := range []syscall.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT} {
		t.Run(unix.SignalName(s), func(t *testing.T) {
			if signal.Ignored(s) {
				t.Skip("whoever started the tests ignores this signal, as nohup does, and so does the child")
			}
			p := openPTY(t)
			before := p.lflag(t)
			cmd, output := startHidden(t, p)
			p.await(t, true)
			must(t, cmd.Process.Signal(s))
			must(t, cmd.Wait())
			if !strings.Contains(output.String(), `line="" interrupted=true`) {
				t.Errorf("got %q", output)
			}
			if after := p.lflag(t); after != before {
				t.Errorf("modes are %#x, were %#x", after, before)
			}
		})
	}
}

// TestReadHidden_stopped: while the process is stopped somebody else uses the
// terminal, so it has to be as it was, and hidden again afterwards.
func TestReadHidden_stopped(t *testing.T) {
	p := openPTY(t)
	cmd, output := startHidden(t, p)
	p.await(t, true)
	p.typeKeys(t, "hor")
	must(t, cmd.Process.Signal(unix.SIGTSTP))
	var status unix.WaitStatus
	_, err := unix.Wait4(cmd.Process.Pid, &status, unix.WUNTRACED, nil)
	must(t, err)
	if !status.Stopped() || p.lflag(t)&unix.ECHO == 0 {
		t.Fatalf("stopped %v, modes %#x", status.Stopped(), p.lflag(t))
	}
	must(t, cmd.Process.Signal(unix.SIGCONT))
	p.await(t, true)
	p.typeKeys(t, "se\n")
	must(t, cmd.Wait())
	if !strings.Contains(output.String(), `line="horse"`) {
		t.Errorf("got %q", output)
	}
}
