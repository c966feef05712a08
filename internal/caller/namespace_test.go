package caller_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warder/internal/testkit"
)

func TestNamespaces(t *testing.T) {
	if testkit.AsUser(t) {
		return
	}
	needNamespaces(t)
	inside := func(s *step) { s.Via = namespace("--mount-proc") }

	t.Run("a caller below is judged by the chain out here", func(t *testing.T) {
		o := newWorld(t, root, console, shell, agentic, shell.but(inside), leaf).run(t)
		o.check(t, isAgent("claude"))
		if first := o.Identity.Evidence[0]; !strings.Contains(first.Why, "pid namespace of its own") || first.PID < 5 {
			t.Errorf("the caller is %+v", first)
		}
	})
	t.Run("a person below stays one", func(t *testing.T) {
		newWorld(t, root, console, shell, shell.but(inside), leaf).run(t).check(t, isPerson(""))
	})
	t.Run("a caller outside is refused", func(t *testing.T) {
		o := newWorld(t, step{Name: "systemd", Judge: &judge{Via: namespace("--mount-proc")}}, console, shell, leaf).run(t)
		if !strings.Contains(o.Err, "outside of this pid namespace") || o.Gone {
			t.Errorf("error %q", o.Err)
		}
	})
	t.Run("under the /proc of another one nobody is known", func(t *testing.T) {
		w := newWorld(t, root, console, shell, leaf)
		w.newNamespace = namespace()
		w.run(t).check(t, isUnknown("/proc"))
	})
}

// TestNamespaces_entered: what enters a container from outside (nsenter, docker
// exec) has parent 0 there, and a shell in a session of its own is a person's.
func TestNamespaces_entered(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to enter a namespace and to take a terminal over")
	}
	needNamespaces(t)
	w := newWorld(t, root.but(func(s *step) { s.Alone = true }), shell, leaf)
	w.program(t, step{Name: "runner", Script: true})
	inner := w.start(t, w.newNamespace, 0)
	stdout, stderr := &bytes.Buffer{}, &bytes.Buffer{}
	inner.Stdout, inner.Stderr = stdout, stderr
	must(t, inner.Start())
	one := firstChild(t, inner.Process.Pid)
	await(t, func() bool { _, err := os.Stat(w.plan.Sock); return err == nil })

	enter := fmt.Sprintf("exec nsenter -t %d -p -m setsid --ctty %s @%s:1", one, filepath.Join(w.plan.Bin, "bash"), w.path)
	outer := exec.CommandContext(t.Context(), filepath.Join(w.plan.Bin, "runner"), "-qec", enter, os.DevNull)
	outer.Env = append(inner.Env, "SHELL=/bin/sh")
	if out, err := outer.CombinedOutput(); err != nil {
		t.Logf("entering: %v: %s", err, out)
	}
	if err := inner.Wait(); err != nil {
		t.Fatalf("the world failed: %v\n%s", err, stderr)
	}
	var o outcome
	must(t, json.Unmarshal(stdout.Bytes(), &o))
	o.check(t, isPerson(""))
	last := o.Identity.Evidence[len(o.Identity.Evidence)-1]
	if last.PPID != 0 || last.PID == 1 {
		t.Errorf("the topmost process is %+v", last)
	}
}

// firstChild waits for the first child of a process.
func firstChild(t *testing.T, pid int) int {
	t.Helper()
	child := 0
	await(t, func() bool {
		list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		if err != nil {
			t.Skip(err)
		}
		_, err = fmt.Sscan(string(list), &child)
		return err == nil
	})
	return child
}

// await asks until the answer is yes.
func await(t *testing.T, yes func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !yes(); {
		if time.Now().After(deadline) {
			t.Fatal("it did not come about")
		}
	}
}

// TestC43_reusedPid: a caller exits, and its pid goes to a program of a person.
// The connection stays the first one's.
func TestC43_reusedPid(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to choose the next pid")
	}
	needNamespaces(t)
	const reuse = `"$1" "@$2:call and end" & first=$!
wait $first
echo $((first - 1)) > /proc/sys/kernel/ns_last_pid || exit 1
"$1" "@$2:call"`
	for range 20 {
		w := newWorld(t, step{Name: "systemd", Judge: &judge{Second: true}}, leaf)
		w.plan.Steps[1].Via = []string{"sh", "-c", reuse, "sh", filepath.Join(w.plan.Bin, "warder"), w.path}
		text, err := json.Marshal(w.plan)
		must(t, err)
		must(t, os.WriteFile(w.path, text, 0o644))
		o := w.run(t)
		if !o.Reused {
			continue // a thread was quicker
		}
		if !o.Gone {
			t.Errorf("judged %s (%s), error %q", o.Identity.Verdict, o.Identity.Why, o.Err)
		}
		return
	}
	t.Skip("no pid could be made to come again")
}
