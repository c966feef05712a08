package proc_test

import (
	"bufio"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// background is a wrapped program whose output is read line by line.
type background struct {
	t   *testing.T
	cmd *exec.Cmd
	out *bufio.Reader
}

func begin(t *testing.T, args ...string) *background {
	t.Helper()
	cmd := wrapped(t, args...)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := &background{t, cmd, bufio.NewReader(pipe)}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return b
}

func (b *background) line() string {
	b.t.Helper()
	line, err := b.out.ReadString('\n')
	if err != nil {
		b.t.Fatalf("after %q: %v", line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

func (b *background) signal(to int, s syscall.Signal) {
	b.t.Helper()
	if err := syscall.Kill(to, s); err != nil {
		b.t.Fatal(err)
	}
}

// end is what is left of the output, and the status.
func (b *background) end() (string, int) {
	b.t.Helper()
	rest, err := io.ReadAll(b.out)
	if err != nil {
		b.t.Fatal(err)
	}
	_ = b.cmd.Wait()
	return string(rest), b.cmd.ProcessState.ExitCode()
}

// TestU_35_forwarded: who ends the wrapper ends the program, in its own way, and the wrapper waits for it.
func TestU_35_forwarded(t *testing.T) {
	for _, mask := range []string{"mask=x", "env:X=1"} {
		b := begin(t, mask, "--", "sh", "-c", "trap 'echo bye; exit 9' TERM; echo up; while :; do sleep 0.1; done")
		b.line()
		b.signal(b.cmd.Process.Pid, syscall.SIGTERM)
		if rest, status := b.end(); rest != "bye\n" || status != 9 {
			t.Errorf("%s: %q, %d", mask, rest, status)
		}
	}
}

// TestU_34_withoutTerminal: an interrupt arrives once, whether it is sent to the wrapper or to its group.
func TestU_34_withoutTerminal(t *testing.T) {
	const script = `n=0; trap 'n=$((n+1)); echo one' INT; trap 'echo n=$n; exit' USR1; echo up; while :; do sleep 0.1; done`
	for name, sign := range map[string]int{"process": 1, "group": -1} {
		b := begin(t, "mask=x", "--", "bash", "-c", script)
		b.line()
		b.signal(sign*b.cmd.Process.Pid, syscall.SIGINT)
		b.line()
		b.signal(b.cmd.Process.Pid, syscall.SIGUSR1)
		if rest, _ := b.end(); rest != "n=1\n" {
			t.Errorf("%s: %q", name, rest)
		}
	}
}

// TestU_35_killed: a wrapper that is killed outright takes the program along.
func TestU_35_killed(t *testing.T) {
	b := begin(t, "mask=x", "--", "sh", "-c", "echo $$; exec sleep 600")
	pid := b.line()
	b.signal(b.cmd.Process.Pid, syscall.SIGKILL)
	if _, status := b.end(); status != -1 {
		t.Errorf("status %d", status)
	}
	// The kernel kills it as the wrapper dies; the last of its group holds nothing open by then.
	out, _ := exec.Command("sh", "-c", "while kill -0 "+pid+" 2>/dev/null && ! grep -q '^State:.Z' /proc/"+pid+"/status 2>/dev/null; do sleep 0.05; done; echo gone").Output()
	if string(out) != "gone\n" {
		t.Errorf("%q", out)
	}
}

// TestReaderGone: a program whose output nobody reads learns of it.
func TestReaderGone(t *testing.T) {
	self := wrapped(t).Path
	out, err := exec.Command("bash", "-c", `"$0" wrap mask=zzz -- yes | head -1; echo ${PIPESTATUS[0]}`, self).Output()
	if err != nil || string(out) != "y\n141\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// TestLeftBehind: something that the program left behind does not keep the wrapper.
func TestLeftBehind(t *testing.T) {
	b := begin(t, "mask=x", "--", "sh", "-c", "sleep 600 & echo $!")
	pid := b.line()
	if rest, status := b.end(); rest != "" || status != 0 {
		t.Errorf("%q, %d", rest, status)
	}
	if err := exec.Command("kill", pid).Run(); err != nil {
		t.Errorf("what was left behind is gone: %v", err)
	}
}
