package caller_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"warder/internal/caller"
	"warder/internal/platform"
)

// The trees of these tests are made of copies of this test binary: under the
// name of a program it plays that program. Its last argument, "@PLAN:STEP", says
// which part it plays; the plan is a file.

// step is one process of a tree. It starts the next one, and ends with it.
type step struct {
	Name string   // of the program file
	Argv []string // before the last argument; the name alone if empty
	Env  []string // added to what it inherits
	Via  []string // the command that starts it: setpriv, unshare, setsid

	Comm   string // what it calls itself
	Hide   bool   // makes itself unreadable
	Holds  bool   // tells the judge that it holds a lease
	Delete bool   // removes its program file
	Swap   string // exchanges its program file for another of that name
	Exec   bool   // becomes the next step and does not start it
	Orphan bool   // the next step's parent ends at once
	Leaves bool   // the next step is a daemon's: fork, setsid, fork, and the one between ends
	Script bool   // it is a copy of script(1): the next step gets a terminal of its own
	Sealed bool   // its program file may be run and not be read, which hides the process
	Alone  bool   // starts nothing but its judge
	Self   bool   // the last step judges itself
	Judge  *judge // started first, and waited for
}

// judge is the process that does what the daemon does.
type judge struct {
	Via    []string
	Second bool // judges the first caller when a second one has connected
}

// plan is what all processes of a tree read.
type plan struct {
	Bin, Sock, Holder string
	Steps             []step
}

// outcome is what the judge found.
type outcome struct {
	Identity caller.Identity
	Instance caller.Instance
	Err      string
	Gone     bool
	Reused   bool // the second caller has the pid of the first
}

func TestMain(m *testing.M) {
	if last := os.Args[len(os.Args)-1]; strings.HasPrefix(last, "@") {
		path, part, _ := strings.Cut(last[1:], ":")
		if err := play(path, part); err != nil {
			fmt.Fprintf(os.Stderr, "%s %s: %v\n", os.Args[0], part, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(runTests(m))
}

// shared is the folder of this run, which all its trees take programs from.
var shared string

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "warder-caller-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	shared = dir
	return m.Run()
}

// play is the main function of every process of a tree.
func play(path, part string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var p plan
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	switch part {
	case "judge", "second":
		return p.judge(part == "second")
	case "call":
		return p.call(true)
	case "call and end":
		return p.call(false)
	}
	middle := strings.TrimSuffix(part, "-middle")
	i, err := strconv.Atoi(middle)
	if err != nil {
		return err
	}
	if middle != part {
		return p.command(path, i).Start() // and end, which orphans it
	}
	return p.run(path, i)
}

// command makes the command of a step.
func (p plan) command(path string, i int) *exec.Cmd {
	s := p.Steps[i]
	argv := append(s.argv(), fmt.Sprintf("@%s:%d", path, i))
	file := filepath.Join(p.Bin, s.Name)
	env := append(os.Environ(), s.Env...)
	if s.Script {
		next := p.command(path, i+1)
		words := append(append([]string{"exec", "env"}, p.Steps[i+1].Env...), next.Path)
		argv = append(s.argv(), "-qec", strings.Join(append(words, next.Args[1:]...), " "), os.DevNull)
		env = append(env, "SHELL=/bin/sh")
	}
	cmd := exec.Command(file)
	if len(s.Via) > 0 {
		cmd = exec.Command(s.Via[0], append(s.Via[1:], append([]string{file}, argv[1:]...)...)...)
	} else {
		cmd.Args = argv
	}
	cmd.Env, cmd.Stdout, cmd.Stderr = env, os.Stdout, os.Stderr
	return cmd
}

func (s step) argv() []string {
	if len(s.Argv) > 0 {
		return append([]string(nil), s.Argv...)
	}
	return []string{s.Name}
}

// run plays a step.
func (p plan) run(path string, i int) error {
	s := p.Steps[i]
	if err := s.disguise(p); err != nil {
		return err
	}
	for i > 0 && (p.Steps[i-1].Orphan || p.Steps[i-1].Leaves) && os.Getppid() != 1 {
		runtime.Gosched()
	}
	if s.Judge == nil {
		return p.next(path, i)
	}
	waits, err := p.startJudge(path, *s.Judge)
	if err != nil {
		return err
	}
	go func() {
		if s.Alone {
			return
		}
		if err := p.next(path, i); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", s.Name, err)
			_ = waits.Process.Kill() // nobody will call
		}
	}()
	return waits.Wait() // the rest ends with the world
}

// next goes on to the next step, or calls.
func (p plan) next(path string, i int) error {
	s := p.Steps[i]
	if i == len(p.Steps)-1 {
		if s.Self {
			return judgeSelf()
		}
		return p.call(true)
	}
	cmd := p.command(path, i+1)
	switch {
	case s.Exec:
		return syscall.Exec(cmd.Path, cmd.Args, cmd.Env)
	case s.Orphan, s.Leaves:
		cmd.Args[len(cmd.Args)-1] += "-middle"
		if err := s.runMiddle(cmd); err != nil {
			return err
		}
		return block()
	default:
		return cmd.Run()
	}
}

// runMiddle runs the process that leaves an orphan, in a session of its own if the step leaves this one.
func (s step) runMiddle(cmd *exec.Cmd) error {
	if !s.Leaves {
		return cmd.Run()
	}
	pid, err := platform.StartChild(cmd.Path, cmd.Args, platform.ChildOptions{
		Env: cmd.Environ(), Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Place: platform.ChildWithoutTerminal,
	})
	if err != nil {
		return err
	}
	state, err := platform.WaitChild(pid)
	if err == nil && (state.Kind != platform.ChildExited || state.Code != 0) {
		err = fmt.Errorf("the one in the middle ended by %+v", state)
	}
	return err
}

// disguise changes what can be seen of this process.
func (s step) disguise(p plan) error {
	self := filepath.Join(p.Bin, s.Name)
	var errs []error
	if s.Comm != "" {
		errs = append(errs, os.WriteFile("/proc/self/comm", []byte(s.Comm), 0))
	}
	if s.Delete {
		errs = append(errs, os.Remove(self))
	}
	if s.Swap != "" {
		errs = append(errs, os.Rename(filepath.Join(p.Bin, s.Swap), self))
	}
	if s.Holds {
		pidfd, err := platform.OpenPidfd(os.Getpid())
		if err != nil {
			return err
		}
		inode, err := platform.PidfdInode(pidfd)
		errs = append(errs, err, os.WriteFile(p.Holder, []byte(strconv.FormatUint(inode, 10)), 0o600))
	}
	if s.Hide {
		errs = append(errs, platform.DropDumps())
	}
	return errors.Join(errs...)
}

// block waits for the end of the world.
func block() error {
	c := make(chan os.Signal, 1)
	signal.Notify(c, os.Interrupt)
	<-c
	return nil
}

// call connects, as warder's client does, and stays until the other end closes.
func (p plan) call(stay bool) error {
	conn, err := net.Dial("unix", p.Sock)
	if err != nil || !stay {
		return err
	}
	_, err = io.Copy(io.Discard, conn)
	return err
}

// startJudge starts the judge and returns when it listens.
func (p plan) startJudge(path string, j judge) (*exec.Cmd, error) {
	part := "judge"
	if j.Second {
		part = "second"
	}
	argv := append(append([]string(nil), j.Via...), filepath.Join(p.Bin, "daemon"), "@"+path+":"+part)
	cmd := exec.Command(argv[0], argv[1:]...)
	ready, tell, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdout, os.Stderr, []*os.File{tell}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	tell.Close()
	_, err = io.ReadFull(ready, make([]byte, 1))
	return cmd, err
}

// judge plays the daemon: it listens, says so, and judges one caller.
func (p plan) judge(second bool) error {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: p.Sock, Net: "unix"})
	if err != nil {
		return err
	}
	if err := errors.Join(os.Chmod(p.Sock, 0o666), l.SetDeadline(time.Now().Add(20*time.Second))); err != nil {
		return err
	}
	if _, err := os.NewFile(3, "ready").Write([]byte{0}); err != nil {
		return err
	}
	conn, err := l.AcceptUnix()
	if err != nil {
		return err
	}
	var o outcome
	if second {
		if err := acceptSecond(&o, l, conn); err != nil {
			return err
		}
	}
	fill(&o, conn, p.Holder)
	return json.NewEncoder(os.Stdout).Encode(o)
}

// acceptSecond waits for another caller and compares the pids.
func acceptSecond(o *outcome, l *net.UnixListener, first *net.UnixConn) error {
	other, err := l.AcceptUnix()
	if err != nil {
		return err
	}
	a, errA := platform.PeerCredentials(first)
	b, errB := platform.PeerCredentials(other)
	o.Reused = a.PID == b.PID
	return errors.Join(errA, errB)
}

// fill judges the caller.
func fill(o *outcome, conn *net.UnixConn, holder string) {
	tables, _, err := caller.LoadTables(nil, "")
	if err != nil {
		o.Err = err.Error()
		return
	}
	peer, err := caller.PeerOf(conn)
	if err == nil {
		defer peer.Close()
		if o.Instance, err = peer.Instance(); err == nil {
			o.Identity, err = tables.Judge(peer, holderIn(holder))
			o.Instance = o.Identity.Instance
		}
	}
	if err != nil {
		o.Err, o.Gone = err.Error(), errors.Is(err, caller.ErrGone)
	}
}

// holderIn knows the one holder of a lease that a step may have written down.
func holderIn(path string) func(uint64) bool {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return func(inode uint64) bool { return string(text) == strconv.FormatUint(inode, 10) }
}

func judgeSelf() error {
	tables, _, err := caller.LoadTables(nil, "")
	if err != nil {
		return err
	}
	var o outcome
	if o.Identity, err = tables.JudgeSelf(os.Getenv); err != nil {
		o.Err = err.Error()
	}
	return json.NewEncoder(os.Stdout).Encode(o)
}
