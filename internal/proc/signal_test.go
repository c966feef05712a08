package proc_test

import (
	"errors"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"warder/internal/platform"
)

// TestU_35_forwarded: who ends the wrapper ends the program, in its own way, and the wrapper waits for it.
func TestU_35_forwarded(t *testing.T) {
	for _, mask := range []string{"mask=x", "env:X=1"} {
		b := begin(t, mask, "--", "sh", "-c", "trap 'echo bye; exit 9' TERM; echo up; while :; do sleep 0.1; done")
		b.line()
		b.signal(platform.SigTerminate)
		if rest, status := b.end(); rest != "bye\n" || status != 9 {
			t.Errorf("%s: %q, %d", mask, rest, status)
		}
	}
}

// TestU_34_withoutTerminal: an interrupt arrives once, whether it is sent to the wrapper or to its group.
func TestU_34_withoutTerminal(t *testing.T) {
	const script = `n=0; trap 'n=$((n+1)); echo one' INT; trap 'echo n=$n; exit' USR1; echo up; while :; do sleep 0.1; done`
	for name, send := range map[string]func(pid, signal int) error{"process": platform.SignalProcess, "group": platform.SignalGroup} {
		b := begin(t, "mask=x", "--", "bash", "-c", script)
		b.line()
		if err := send(b.pid, platform.SigInterrupt); err != nil {
			t.Fatal(err)
		}
		b.line()
		b.signal(platform.SigUser1)
		if rest, _ := b.end(); rest != "n=1\n" {
			t.Errorf("%s: %q", name, rest)
		}
	}
}

// TestStoppedByOthers: without a terminal, who stops the program alone and lets it go on gets it on with its output.
func TestStoppedByOthers(t *testing.T) {
	b := begin(t, "mask=x", "--", "bash", "-c", "trap 'echo on; exit 4' USR1; echo $$; while :; do sleep 0.01; done")
	pid, err := strconv.Atoi(strings.TrimSpace(b.line()))
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		for _, signal := range []int{platform.SigStop, platform.SigContinue} {
			if err := platform.SignalProcess(pid, signal); err != nil {
				t.Fatal(err)
			}
			for stopped := signal == platform.SigStop; ; runtime.Gosched() {
				if stat, err := platform.ReadProcStat(pid); errors.Is(err, platform.ErrUnsupported) {
					t.Skip(err)
				} else if err != nil {
					t.Fatal(err)
				} else if (stat.State == 'T') == stopped {
					break
				}
			}
		}
	}
	if err := platform.SignalProcess(pid, platform.SigUser1); err != nil {
		t.Fatal(err)
	}
	if rest, status := b.end(); rest != "on\n" || status != 4 {
		t.Errorf("%q, %d", rest, status)
	}
}

// TestU_35_killed: a wrapper that is killed outright takes the program along.
func TestU_35_killed(t *testing.T) {
	b := begin(t, "mask=x", "--", "sh", "-c", "echo $$; exec sleep 600")
	pid := b.line()
	b.signal(platform.SigKill)
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
	out, err := exec.Command("bash", "-c", `"$0" wrap mask=zzz -- yes | head -1; echo ${PIPESTATUS[0]}`, wrapped(t)[0]).Output()
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
