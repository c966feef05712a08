package audit_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"warder/internal/audit"
	"warder/internal/state"
	"warder/internal/testkit"
)

// This file lets tests work in a process of its own: one that dies with SIGKILL
// at a chosen step, or one with a small disk.

const childEnv = "WARDER_AUDIT_TEST_CHILD"

// job is what a child process does: open the log, append, and die.
type job struct {
	Path    string
	Records int
	MaxSize int64
	Step    int // of the operations that change files, counted from 1 when armed; 0 dies nowhere
	Part    int // bytes of a dying Write that reach the file
}

// TestChild is the process that other tests start. By itself it does nothing.
func TestChild(t *testing.T) {
	text := os.Getenv(childEnv)
	if text == "" {
		return
	}
	var j job
	must(t, json.Unmarshal([]byte(text), &j))
	dir, err := state.OpenDir(j.Path)
	must(t, err)
	opt := audit.Options{MaxSize: j.MaxSize, Generations: 1}
	step := 0
	opt.Inject(func(op, name string, data []byte) *audit.Fault {
		if step++; step != j.Step {
			return nil
		}
		fmt.Println("\nchild: died", op, name)
		if op == "Write" {
			f, err := os.OpenFile(j.Path+"/"+name, os.O_WRONLY|os.O_APPEND, 0)
			must(t, err)
			_, err = f.Write(data[:min(j.Part, len(data))])
			must(t, err)
		}
		killSelf()
		return nil
	})
	l, err := audit.Open(dir, opt)
	must(t, err)
	for range j.Records {
		seq, err := l.Append(t.Context(), event())
		must(t, err)
		fmt.Println("\nchild: acknowledged", seq)
	}
	must(t, l.Close())
	fmt.Println("\nchild: done")
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

// run does a job in a process of its own. It returns the last number that was
// acknowledged, where the process died, and whether it did.
func (j job) run(t *testing.T) (acknowledged uint64, died string, killed bool) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	text, err := json.Marshal(j)
	must(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestChild$", "-test.count=1", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	out, err := cmd.CombinedOutput()
	for _, line := range lines(out) {
		var seq uint64
		if n, _ := fmt.Sscanf(string(line), "child: acknowledged %d", &seq); n == 1 {
			acknowledged = seq
		}
		var op, name string
		if n, _ := fmt.Sscanf(string(line), "child: died %s %s", &op, &name); n == 2 {
			died = op + " " + name
		}
	}
	var exit *exec.ExitError
	if killed = errors.As(err, &exit) && exit.ExitCode() == -1; !killed && err != nil {
		t.Fatalf("child: %v\n%s", err, out)
	}
	return acknowledged, died, killed
}

// TestU_143_KilledAtEachStep kills a writer with SIGKILL before each operation
// that changes a file, and within each write, from the making of the log over
// rotations on.
func TestU_143_KilledAtEachStep(t *testing.T) {
	step := 0
	for killed := true; killed; {
		step++
		var died string
		died, killed = survives(t, step, 0)
		for _, part := range []int{1, 200, 1 << 20} {
			if strings.HasPrefix(died, "Write ") {
				survives(t, step, part)
			}
		}
	}
	if step < 20 {
		t.Errorf("there were only %d steps", step)
	}
}

// survives kills a writer at a step. No acknowledged record is lost, nothing is
// reported as damage, and the next writer goes on.
func survives(t *testing.T, step, part int) (died string, killed bool) {
	t.Helper()
	s := newScene(t)
	acknowledged, died, killed := job{Path: s.path, Records: 6, MaxSize: 2000, Step: step, Part: part}.run(t)
	s.wantReport("after dying at "+died, s.verify(), 0, "")
	l := s.open(audit.Options{MaxSize: 2000, Generations: 1})
	if seq, _ := l.Head(); seq < acknowledged {
		t.Fatalf("dying at %s lost records: %d of %d", died, seq, acknowledged)
	}
	s.add(l, 4)
	s.wantReport("going on after dying at "+died, s.verify(), 0, "")
	must(t, l.Checkpoint(s.root, s.account))
	s.add(l, 3)
	s.wantReport("going on after dying at "+died, s.full(), 0, "")
	must(t, l.Close())
	for _, name := range events(s) {
		if name != "permission.decided" && name != audit.EventTorn && name != audit.EventRotated {
			t.Errorf("dying at %s: event %s", died, name)
		}
	}
	return died, killed
}

// TestU_143_KilledWhileRecovering kills a writer at each step of going on after
// a torn line and after a lost record.
func TestU_143_KilledWhileRecovering(t *testing.T) {
	torn := newScene(t).fill(5)
	name := torn.segments()[0]
	data := torn.read(name)
	torn.write(name, append(data[:len(data):len(data)], `{"v":1,"seq":6,"ti`...))
	lost := torn.copy()
	lost.write(name, data[:len(data)-100])
	for what, c := range map[string]struct {
		from  *scene
		seq   uint64
		cause audit.Cause
	}{"torn": {torn, 0, ""}, "lost": {lost, 5, audit.Tear}} {
		for step := 1; ; step++ {
			s := c.from.copy()
			_, died, killed := job{Path: s.path, Records: 2, MaxSize: 1 << 20, Step: step, Part: 150}.run(t)
			s.wantReport(what+", after dying at "+died, s.full(), c.seq, c.cause)
			l := s.open(audit.Options{})
			s.add(l, 2)
			s.wantReport(what+", going on after dying at "+died, s.full(), c.seq, c.cause)
			must(t, l.Close())
			if !killed {
				break
			}
		}
	}
}

// onSmallDisk runs the calling test again with a file system of 256 KiB of its
// own on $DISK, in a user and mount namespace, or skips it with the reason.
func onSmallDisk(t *testing.T) (parent bool) {
	t.Helper()
	if os.Getenv("DISK") != "" {
		return false // in the namespace, as its root
	}
	if testkit.AsUser(t) {
		return true
	}
	if out, err := exec.CommandContext(t.Context(), "unshare", "-Urm", "true").CombinedOutput(); err != nil {
		t.Skipf("no user and mount namespace here: %v: %s", err, out)
	}
	self, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), "unshare", "-Urm", "sh", "-c",
		`mount -t tmpfs -o size=256k,mode=700 none "$DISK" && exec "$@"`, "sh", self, "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), "DISK="+t.TempDir())
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	must(t, err)
	return true
}
