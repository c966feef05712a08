package platform_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"warder/internal/platform"
	"warder/internal/testkit"
)

// child is a process that lives until it is told to end.
type child struct {
	cmd   *exec.Cmd
	stdin io.Closer
}

// startChild starts cat, which ends with its standard input. The start is
// complete when /proc shows an environment: in the middle of an exec there is none.
func startChild(t *testing.T, env ...string) *child {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "cat")
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	stdin, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	c := &child{cmd, stdin}
	t.Cleanup(func() { c.stdin.Close(); _ = c.cmd.Wait() })
	for started := false; !started; {
		must(t, platform.ReadProcEnviron(c.pid(), make([]byte, 4096), func([]byte) bool { started = true; return false }))
	}
	return c
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// exit ends the child and leaves a zombie.
func (c *child) exit(t *testing.T) {
	t.Helper()
	must(t, c.stdin.Close())
	must(t, unix.Waitid(unix.P_PID, c.pid(), nil, unix.WEXITED|unix.WNOWAIT, nil))
}

func openPidfd(t *testing.T, pid int) *platform.Pidfd {
	t.Helper()
	pidfd, err := platform.OpenPidfd(pid)
	if errors.Is(err, platform.ErrUnsupported) {
		t.Skip(err)
	}
	must(t, err)
	t.Cleanup(func() { pidfd.Close() })
	return pidfd
}

func TestPidfd_lifeOfAProcess(t *testing.T) {
	c := startChild(t)
	pidfd := openPidfd(t, c.pid())
	exited := make(chan error, 1)
	go func() { exited <- platform.WaitPidfd(t.Context(), pidfd) }()
	if !platform.PidfdAlive(pidfd) {
		t.Error("dead though it runs")
	}
	c.exit(t)
	if platform.PidfdAlive(pidfd) {
		t.Error("a zombie passes as alive")
	}
	if err := <-exited; err != nil {
		t.Errorf("waiting: %v", err)
	}
	must(t, c.cmd.Wait())
	if platform.PidfdAlive(pidfd) {
		t.Error("alive though it was waited for")
	}
	if _, err := platform.PidfdInfo(pidfd); !platform.IsNoProcess(err) && !errors.Is(err, platform.ErrUnsupported) {
		t.Errorf("asking for a dead process: %v", err)
	}
	if _, err := platform.OpenPidfd(c.pid()); !platform.IsNoProcess(err) {
		t.Errorf("opening a dead process: %v", err)
	}
}

func TestPidfd_waitingIsGivenUp(t *testing.T) {
	c := startChild(t)
	pidfd := openPidfd(t, c.pid())
	ctx, cancel := context.WithCancel(t.Context())
	exited := make(chan error, 1)
	go func() { exited <- platform.WaitPidfd(ctx, pidfd) }()
	cancel()
	if err := <-exited; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if !platform.PidfdAlive(pidfd) {
		t.Error("giving up closed the descriptor")
	}
}

func TestPidfd_closed(t *testing.T) {
	pidfd := openPidfd(t, startChild(t).pid())
	must(t, pidfd.Close())
	if err := pidfd.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closing it again: %v", err)
	}
	if platform.PidfdAlive(pidfd) {
		t.Error("a closed descriptor shows a living process")
	}
	if err := platform.WaitPidfd(t.Context(), pidfd); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("waiting: %v", err)
	}
}

// kernelHas reports whether this kernel is of a version or later.
func kernelHas(t *testing.T, major, minor int) bool {
	t.Helper()
	var name unix.Utsname
	must(t, unix.Uname(&name))
	var x, y int
	_, err := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &x, &y)
	must(t, err)
	return x > major || x == major && y >= minor
}

func TestPidfdInfo(t *testing.T) {
	c := startChild(t)
	got, err := platform.PidfdInfo(openPidfd(t, c.pid()))
	if errors.Is(err, platform.ErrUnsupported) && !kernelHas(t, 6, 13) {
		t.Skip(err)
	}
	want := platform.ProcessInfo{PID: c.pid(), PPID: os.Getpid(), UID: uint32(os.Getuid()), EUID: uint32(os.Geteuid())}
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestPidfdInode_isOfTheProcess(t *testing.T) {
	a, b := startChild(t), startChild(t)
	inode := func(pid int) uint64 {
		n, err := platform.PidfdInode(openPidfd(t, pid))
		if errors.Is(err, platform.ErrUnsupported) && !kernelHas(t, 6, 9) {
			t.Skip(err)
		}
		must(t, err)
		return n
	}
	first, again, other := inode(a.pid()), inode(a.pid()), inode(b.pid())
	if first != again || first == other || first == 0 {
		t.Errorf("one process has %d and %d, another %d", first, again, other)
	}
}

func TestReadProc(t *testing.T) {
	c := startChild(t)
	stat, err := platform.ReadProcStat(c.pid())
	must(t, err)
	session, err := unix.Getsid(0)
	must(t, err)
	if stat.PID != c.pid() || stat.PPID != os.Getpid() || stat.Session != session || stat.Start == 0 {
		t.Errorf("stat is %+v", stat)
	}
	want := platform.ProcessInfo{PID: c.pid(), PPID: os.Getpid(), UID: uint32(os.Getuid()), EUID: uint32(os.Geteuid())}
	if info, err := platform.ReadProcInfo(c.pid()); err != nil || info != want {
		t.Errorf("info %+v, %v; want %+v", info, err, want)
	}
	args, err := platform.ReadProcCmdline(c.pid())
	if err != nil || fmt.Sprint(args) != fmt.Sprint(c.cmd.Args) {
		t.Errorf("args %q, %v", args, err)
	}
	path, err := filepath.EvalSymlinks(c.cmd.Path)
	must(t, err)
	if exe, err := platform.ReadProcExe(c.pid()); err != nil || exe != path {
		t.Errorf("exe %q, %v; want %q", exe, err, path)
	}
	if group, err := platform.ReadProcCgroup(c.pid()); err != nil || !strings.Contains(group, ":") {
		t.Errorf("cgroup %q, %v", group, err)
	}
	if id, err := platform.BootID(); err != nil || len(id) != 36 {
		t.Errorf("boot id %q, %v", id, err)
	}
	if own, err := platform.ProcIsOwn(); err != nil || !own {
		t.Errorf("/proc is own: %v, %v", own, err)
	}
	if same, err := platform.SamePidNamespace(c.pid()); err != nil || !same {
		t.Errorf("child in the same pid namespace: %v, %v", same, err)
	}
}

func TestReadProc_noProcess(t *testing.T) {
	c := startChild(t)
	c.exit(t)
	must(t, c.cmd.Wait())
	_, errStat := platform.ReadProcStat(c.pid())
	_, errInfo := platform.ReadProcInfo(c.pid())
	_, errExe := platform.ReadProcExe(c.pid())
	_, errArgs := platform.ReadProcCmdline(c.pid())
	_, errSame := platform.SamePidNamespace(c.pid())
	errEnv := platform.ReadProcEnviron(c.pid(), make([]byte, 4096), func([]byte) bool { return true })
	for i, err := range []error{errStat, errInfo, errExe, errArgs, errSame, errEnv} {
		if !platform.IsNoProcess(err) {
			t.Errorf("reader %d: %v", i, err)
		}
	}
}

func TestReadProcCmdline_long(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "cat", "-", strings.Repeat("x", 100<<10))
	stdin, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { stdin.Close(); _ = cmd.Wait() })
	args, err := platform.ReadProcCmdline(cmd.Process.Pid)
	for err == nil && len(args) == 0 {
		args, err = platform.ReadProcCmdline(cmd.Process.Pid)
	}
	if err != nil || len(args) != 3 || args[1] != "-" || len(args[2]) > 4<<10 {
		t.Errorf("%d args, %v", len(args), err)
	}
}

// TestReadProcEnviron_paddingHidesNothing: entries before it, however long,
// must not push a mark out of sight.
func TestReadProcEnviron_paddingHidesNothing(t *testing.T) {
	env := []string{"FIRST=1"}
	for i := range 16 { // Linux takes at most 128 KiB in one string
		env = append(env, fmt.Sprintf("PADDING%d=%s", i, strings.Repeat("x", 100<<10)))
	}
	c := startChild(t, append(env, "LAST=1")...)
	var names []string
	buf := make([]byte, 4096)
	must(t, platform.ReadProcEnviron(c.pid(), buf, func(entry []byte) bool {
		name, _, _ := bytes.Cut(entry, []byte("="))
		names = append(names, string(name))
		return true
	}))
	if len(names) != 1+len(env)+1 || names[1] != "FIRST" || names[len(names)-1] != "LAST" {
		t.Errorf("names are %q", names)
	}
	if !bytes.Equal(buf, make([]byte, len(buf))) {
		t.Error("the buffer was not wiped")
	}
}

func TestSamePidNamespace_below(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "unshare", "--user", "--map-current-user", "--pid", "--fork", "--kill-child", "cat")
	stdin, err := cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { stdin.Close(); _ = cmd.Wait() })
	_, err = io.WriteString(stdin, "x")
	must(t, err)
	if n, err := stdout.Read(make([]byte, 1)); n != 1 { // cat runs
		t.Skipf("no pid namespaces here: %v", err)
	}
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", cmd.Process.Pid, cmd.Process.Pid))
	if err != nil {
		t.Skip(err)
	}
	var pid int
	_, err = fmt.Sscan(string(list), &pid)
	must(t, err)
	if same, err := platform.SamePidNamespace(pid); err != nil || same {
		t.Errorf("in the same pid namespace: %v, %v", same, err)
	}
}

// dumpsChild is set in the environment of a process that hides itself.
const dumpsChild = "WARDER_TEST_DUMPS_CHILD"

// TestDropDumpsChild is that process.
func TestDropDumpsChild(t *testing.T) {
	if os.Getenv(dumpsChild) == "" {
		t.Skip("started by TestDropDumps only")
	}
	must(t, platform.DropDumps())
	var limit unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_CORE, &limit))
	fmt.Printf("core limit %d, %d\n", limit.Cur, limit.Max)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// TestDropDumps needs an ordinary user: root reads everything.
func TestDropDumps(t *testing.T) {
	if testkit.AsUser(t) {
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDropDumpsChild$")
	cmd.Env = append(os.Environ(), dumpsChild+"=1")
	stdin, err := cmd.StdinPipe()
	must(t, err)
	stdout, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	pid := cmd.Process.Pid
	line := make([]byte, len("core limit 0, 0\n"))
	if _, err := io.ReadFull(stdout, line); err != nil || string(line) != "core limit 0, 0\n" {
		t.Errorf("child said %q, %v", line, err)
	}
	_, errExe := platform.ReadProcExe(pid)
	errEnv := platform.ReadProcEnviron(pid, make([]byte, 4096), func([]byte) bool { return true })
	_, errMem := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	for i, err := range []error{errExe, errEnv, errMem} {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("file %d can be read: %v", i, err)
		}
	}
	if _, err := platform.ReadProcStat(pid); err != nil {
		t.Errorf("what anybody may know: %v", err)
	}
	must(t, stdin.Close())
	_, _ = io.Copy(io.Discard, stdout)
	must(t, cmd.Wait())
}
