package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/platform"
	"warder/internal/secret"
	"warder/internal/state"
)

// squatter listens where the daemon's socket belongs, before there is a daemon.
type squatter struct {
	mu    sync.Mutex
	heard bytes.Buffer
}

// squat begins to listen. Each connection is handed to meet.
func squat(t *testing.T, h *home, meet func(nc net.Conn)) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(h.sock), 0o700))
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: h.sock, Net: "unix"})
	must(t, err)
	l.SetUnlinkOnClose(false)
	must(t, os.Chmod(h.sock, 0o600))
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer nc.Close()
				meet(nc)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		serving.Wait()
	})
}

// listen takes down what comes.
func (s *squatter) listen(nc io.Reader) {
	buf := make([]byte, 4096)
	for {
		n, err := nc.Read(buf)
		s.mu.Lock()
		s.heard.Write(buf[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// requireDeaf fails if the squatter heard a value.
func (s *squatter) requireDeaf(t *testing.T, values ...secret.Value) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range values {
		must(t, v.Use(func(b []byte) {
			if bytes.Contains(s.heard.Bytes(), b) {
				t.Error("the squatter heard the password")
			}
		}))
	}
}

// TestASquattedSocket starts daemons where another program listens: one that hangs up, one that says nothing, and one that
// speaks as the daemon does and refuses to make room. The password reaches none, and the daemon gets its place.
func TestASquattedSocket(t *testing.T) {
	fakes := map[string]func(s *squatter, nc net.Conn){
		"hangs up": func(*squatter, net.Conn) {},
		"listens":  func(s *squatter, nc net.Conn) { s.listen(nc) },
		"plays the daemon": func(s *squatter, nc net.Conn) {
			var mark [1]byte
			if _, err := nc.Read(mark[:]); err != nil {
				return
			}
			c, err := frame.Accept(nc, self(), frame.NewBudget(frame.MaxJSON))
			if err != nil {
				return
			}
			if r, err := c.ReadRequest(); err == nil {
				s.listen(strings.NewReader(r.Op + string(r.Input)))
				_ = c.WriteError(api.Errorf(api.Denied, "there is no room"))
			}
			s.listen(nc)
		},
	}
	for name, meet := range fakes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			password := h.account(t)
			var s squatter
			squat(t, h, func(nc net.Conn) { meet(&s, nc) })
			started := h.unlock(t, password)
			if got := h.status(t); got.Daemon.PID != started.PID || got.Account.State != "unlocked" {
				t.Errorf("who serves: %+v", got.Daemon)
			} else if !strings.Contains(strings.Join(got.Warnings, "\n"), "pid "+strconv.Itoa(os.Getpid())) {
				t.Errorf("nothing warns of the squatter: %q", got.Warnings)
			}
			s.requireDeaf(t, password)
			r := h.requireEvent(t, "daemon.displaced")
			if !strings.Contains(string(r.Data), `"pid":`+strconv.Itoa(os.Getpid())) {
				t.Errorf("the record names %s", r.Data)
			}
		})
	}
}

// TestWhatIsNoSocketStays puts other things in the socket's place. They are named, and a daemon that runs is not replaced.
func TestWhatIsNoSocketStays(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"a file":   func(path string) error { return os.WriteFile(path, []byte("mine"), 0o600) },
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"a link":   func(path string) error { return os.Symlink("/nowhere", path) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			must(t, os.MkdirAll(filepath.Dir(h.sock), 0o700))
			must(t, put(h.sock))
			_, _, err := h.start(t, api.OpStart, nil)
			if codeOf(err) != api.Internal || !strings.Contains(err.Error(), h.sock) {
				t.Errorf("got %v", err)
			}
			if _, err := os.Lstat(h.sock); err != nil {
				t.Errorf("it is gone: %v", err)
			}
		})
	}
}

// TestOnlyTheRecordedProgramReplaces lets programs ask for the daemon's place that are not the recorded one, or not to be
// trusted though recorded. The daemon stays and records it.
func TestOnlyTheRecordedProgramReplaces(t *testing.T) {
	for name, c := range map[string]struct {
		program string // below the home
		record  bool   // it is the recorded one
		change  func(t *testing.T, program string)
		why     string
	}{
		"another copy":           {program: "other/warder", why: "does not run the recorded program"},
		"go run":                 {program: "go-build123/b001/exe/warder", why: "does not run the recorded program"},
		"go run, recorded":       {program: "go-build123/b001/exe/warder", record: true, why: "go run builds"},
		"a cached build":         {program: cachedBuild(), record: true, why: "go run builds"},
		"writable by others":     {program: "loose/warder", record: true, why: "written by others", change: func(t *testing.T, p string) { must(t, os.Chmod(p, 0o777)) }},
		"a link to the recorded": {program: "link/warder", record: true, why: "no regular file", change: toLink},
		"no record":              {program: "bin/warder2", why: "not set up here", change: func(t *testing.T, p string) { must(t, os.Remove(filepath.Join(p, "../../state/install.json"))) }},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			password := h.account(t)
			first := h.mustStart(t, api.OpStart, nil)
			other := filepath.Join(h.dir, filepath.FromSlash(c.program))
			must(t, os.MkdirAll(filepath.Dir(other), 0o700))
			copyProgram(t, other)
			if c.record {
				h.record(t, other)
			}
			if c.change != nil {
				c.change(t, other)
			}
			l := h.launch(t, other)
			_, err := l.conn.Call(t.Context(), api.OpStartUnlock, api.StartUnlock{}, nil, password)
			if codeOf(err) != api.Denied || !strings.Contains(err.Error(), c.why) {
				t.Errorf("got %v", err)
			}
			if s := h.status(t); s.Daemon.PID != first.PID {
				t.Error("the daemon was replaced")
			}
			if r := h.requireEvent(t, "daemon.replace_refused"); r.Decision != "deny" || !strings.Contains(r.Reason, c.why) {
				t.Errorf("recorded: %+v", r)
			}
		})
	}
}

// cachedBuild is where the build cache keeps an executable that go run started.
func cachedBuild() string {
	return "cache/ab/ab" + strings.Repeat("0", 62) + "-d/warder"
}

// toLink makes a link of a program, to itself under another name.
func toLink(t *testing.T, program string) {
	must(t, os.Rename(program, program+".real"))
	must(t, os.Symlink(program+".real", program))
}

// TestASecondDaemon starts one beside one that runs: over the connection and by hand it is told which one that is.
func TestASecondDaemon(t *testing.T) {
	h := newHome(t)
	first := h.mustStart(t, api.OpStart, nil)
	pid := "pid " + strconv.Itoa(first.PID)
	if _, _, err := h.start(t, api.OpStart, nil); codeOf(err) != api.Exists || !strings.Contains(err.Error(), pid) {
		t.Errorf("over the connection: %v", err)
	}
	output, err := exec.Command(h.binary, h.args()...).CombinedOutput()
	if err == nil || !strings.Contains(string(output), pid) {
		t.Errorf("by hand: %v, %s", err, output)
	}
	if s := h.status(t); s.Daemon.PID != first.PID {
		t.Error("another one serves")
	}
}

// TestDaemonsThatStartAtOnce lets several daemons run for the place: one gets it, the others say so.
func TestDaemonsThatStartAtOnce(t *testing.T) {
	h := newHome(t)
	const racers = 4
	errs := make(chan error, racers)
	for range racers {
		l := h.launch(t, h.binary)
		go func() {
			_, err := l.conn.Call(context.Background(), api.OpStart, nil, nil)
			errs <- err
		}()
	}
	won := 0
	for range racers {
		switch err := <-errs; {
		case err == nil:
			won++
		case codeOf(err) != api.Exists:
			t.Errorf("a loser was told %v", err)
		}
	}
	if won != 1 {
		t.Errorf("%d got the place", won)
	}
	h.status(t)
}

// TestAHungDaemon stops the daemon's process: who wants its place is told which process to end, and the password is not lost
// on it. Once that process is gone the next one starts.
func TestAHungDaemon(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	password := h.account(t)
	first := h.mustStart(t, api.OpStart, nil)
	must(t, syscall.Kill(first.PID, syscall.SIGSTOP))
	_, _, err := h.start(t, api.OpStartUnlock, api.StartUnlock{}, password)
	var told *api.Error
	if codeOf(err) != api.Unreachable || !errors.As(err, &told) || !strings.Contains(told.Hint, "kill -9 "+strconv.Itoa(first.PID)) {
		t.Errorf("got %v", err)
	}
	kill(t, first.PID)
	h.unlock(t, password)
}

// TestKilledAndStartedAgain ends the daemon without mercy. Its socket and lock stand in nobody's way, and the log is whole.
func TestKilledAndStartedAgain(t *testing.T) {
	h := newHome(t)
	password := h.account(t)
	first := h.unlock(t, password)
	kill(t, first.PID)
	if _, err := os.Lstat(h.sock); err != nil {
		t.Fatalf("no socket was left over: %v", err)
	}
	second := h.unlock(t, password)
	if s := h.status(t); s.Daemon.PID != second.PID || s.Account.State != "unlocked" {
		t.Errorf("after the kill: %+v", s)
	}
	var report api.AuditReport
	must(t, h.call(t, api.OpAuditVerify, nil, &report))
	if !report.OK || !report.Full {
		t.Errorf("the log: %+v", report)
	}
}

// TestU_159_AnUpdateWhileTheDaemonRuns exchanges the recorded program. Status says so and what to do, and the new one may take the
// old one's place.
func TestU_159_AnUpdateWhileTheDaemonRuns(t *testing.T) {
	h := newHome(t)
	password := h.account(t)
	first := h.mustStart(t, api.OpStart, nil)
	fresh := h.binary + ".new"
	copyProgram(t, fresh)
	f, err := os.OpenFile(fresh, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString("of the next version")
	must(t, errors.Join(err, f.Close()))
	must(t, os.Rename(fresh, h.binary))
	s := h.status(t)
	if s.Daemon.SameBinary || !strings.Contains(strings.Join(s.Warnings, "\n"), "warder daemon restart") {
		t.Errorf("status: %+v, %q", s.Daemon, s.Warnings)
	}
	h.record(t, h.binary)
	if s := h.status(t); s.Daemon.SameBinary {
		t.Error("the old daemon takes the new program for its own")
	}
	second := h.unlock(t, password)
	if s := h.status(t); second.PID == first.PID || !s.Daemon.SameBinary {
		t.Errorf("after unlocking: %+v, %q", s.Daemon, s.Warnings)
	}
}

// TestAForeignConnectionIsOver lets a process connect, hand its connection on, and exit. Whoever has it now was never judged.
func TestAForeignConnectionIsOver(t *testing.T) {
	if path := os.Getenv(handOnVar); path != "" {
		handOn(t, path)
		return
	}
	h := newHome(t)
	h.mustStart(t, api.OpStart, nil)
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	must(t, err)
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	defer ours.Close()
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), handOnVar+"="+h.sock)
	child.ExtraFiles = []*os.File{theirs}
	output, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	theirs.Close()
	oob := make([]byte, 128)
	_, n, _, _, err := syscall.Recvmsg(int(ours.Fd()), make([]byte, 1), oob, 0)
	must(t, err)
	messages, err := syscall.ParseSocketControlMessage(oob[:n])
	must(t, err)
	fds, err := syscall.ParseUnixRights(&messages[0])
	must(t, err)
	f := os.NewFile(uintptr(fds[0]), "connection")
	nc, err := net.FileConn(f)
	must(t, errors.Join(err, f.Close()))
	conn, err := frame.Inherited(t.Context(), nc, self())
	if err != nil {
		return // it was over before it was judged
	}
	defer conn.Close()
	for _, op := range []string{api.OpWhoami, api.OpStatus, api.OpLock, api.OpDaemonStop, api.OpItemList} {
		if _, _, err := conn.Call(t.Context(), op, nil, nil); codeOf(err) != api.Denied {
			t.Errorf("%s: %v", op, err)
		}
	}
}

// handOnVar tells this test binary to be the process that hands its connection on, and to which socket.
const handOnVar = "WARDER_TEST_HAND_ON"

func handOn(t *testing.T, path string) {
	nc, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	must(t, err)
	f, err := nc.File()
	must(t, err)
	must(t, syscall.Sendmsg(3, []byte{0}, syscall.UnixRights(int(f.Fd())), nil, 0))
}

// TestAStarterThatDies starts a daemon and goes before it says what it wants: no daemon stays behind.
func TestAStarterThatDies(t *testing.T) {
	h := newHome(t)
	l := h.launch(t, h.binary)
	must(t, l.conn.Close())
	eventually(t, "the daemon ends", func() bool { return hasEnded(l.process.Pid) })
	dir, err := state.OpenDir(h.state)
	must(t, err)
	defer dir.Close()
	lock, err := dir.TryLock("daemon.lock")
	must(t, err)
	must(t, lock.Release())
}

// TestADebuggerIsRefused attaches to a daemon before it hides: it takes no password then.
func TestADebuggerIsRefused(t *testing.T) {
	h := newHome(t)
	password := h.account(t)
	ours, theirs, err := platform.ConnPair()
	must(t, err)
	asked := make(chan error, 1)
	go func() {
		conn, err := frame.Inherited(context.Background(), ours, self())
		if err == nil {
			_, err = (&api.Client{ClientConn: conn}).Call(context.Background(), api.OpStartUnlock, api.StartUnlock{}, nil, password)
			conn.Close()
		}
		asked <- err
	}()
	runtime.LockOSThread() // the thread that starts a traced process is its tracer
	defer runtime.UnlockOSThread()
	cmd := exec.Command(h.binary, h.args("--start-fd", "3")...)
	cmd.Env = platform.CleanEnviron()
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Skipf("nothing can be traced here: %v", err)
	}
	must(t, theirs.Close())
	letRun(t, cmd.Process.Pid)
	if err := <-asked; codeOf(err) != api.Denied || !strings.Contains(err.Error(), "debugger (pid "+strconv.Itoa(syscall.Gettid())) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(h.sock); err == nil {
		t.Error("it serves")
	}
}

// letRun lets a traced process run, with its signals, to its end.
func letRun(t *testing.T, pid int) {
	t.Helper()
	for {
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
			if errors.Is(err, syscall.EINTR) {
				continue
			}
			t.Fatal(err)
		}
		if !status.Stopped() {
			return
		}
		signal := 0
		if status.StopSignal() != syscall.SIGTRAP {
			signal = int(status.StopSignal())
		}
		must(t, syscall.PtraceCont(pid, signal))
	}
}
