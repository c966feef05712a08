package cli

import (
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/secret"
	"warder/internal/state"
)

// strangers are programs of the same user that listen at the daemon's socket
// while no daemon runs.
func strangers() map[string]func(nc net.Conn) {
	hello := func(nc net.Conn) *frame.ServerConn {
		var mark [1]byte
		if _, err := nc.Read(mark[:]); err != nil {
			return nil
		}
		c, err := frame.Accept(nc, selfHello(), frame.NewBudget(frame.MaxJSON))
		if err != nil {
			return nil
		}
		return c
	}
	return map[string]func(nc net.Conn){
		"closes at once": func(net.Conn) {},
		"says nothing":   func(nc net.Conn) { _, _ = io.Copy(io.Discard, nc) },
		"garbage": func(nc net.Conn) {
			_, _ = io.WriteString(nc, strings.Repeat("220 ready\r\n", 100))
			_, _ = io.Copy(io.Discard, nc)
		},
		"reads and hangs up":     func(nc net.Conn) { _, _ = nc.Read(make([]byte, 4)) },
		"hangs up after a hello": func(nc net.Conn) { hello(nc) },
		"plays the daemon, then says nothing": func(nc net.Conn) {
			hello(nc)
			_, _ = io.Copy(io.Discard, nc)
		},
		"says that it is open": func(nc net.Conn) {
			c := hello(nc)
			if c == nil {
				return
			}
			if _, err := c.ReadRequest(); err == nil {
				_ = c.WriteReply([]byte(`{"account":{"state":"unlocked"},"daemon":{"running":true,"same_binary":true}}`), nil)
			}
		},
	}
}

// squat lets a stranger listen in a home.
func squat(t *testing.T, home string, meet func(nc net.Conn)) {
	t.Helper()
	socket := filepath.Join(home, "run", "warder.sock")
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(socket)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := os.Chmod(socket, 0o600); err != nil {
		t.Fatal(err)
	}
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

// launched makes the world's daemon one that serves once it is started, and
// returns how often and with what it was.
func (f *fake) launched() *[]order {
	var orders []order
	f.base.launch = func(_ context.Context, o order) (api.Started, []secret.Value, error) {
		orders = append(orders, o)
		answer := func(out any) api.Op {
			return api.Op{Call: func(_ context.Context, call *api.Call) (*api.Reply, error) { return reply(out)(call) }}
		}
		f.serve(map[string]api.Op{
			api.OpStatus: answer(running()), api.OpItemList: answer(api.ItemList{}),
		})
		conn, err := api.Dial(f.t.Context(), frame.Dialer{Path: filepath.Join(f.home, "run", "warder.sock"), Self: selfHello()})
		if err != nil {
			return api.Started{}, nil, err
		}
		return api.Started{PID: 4711}, nil, conn.Close() // it has come to serve
	}
	return &orders
}

// TestAStrangerAtTheSocketKeepsNoCommand: with no daemon, whoever listens there
// counts for nothing. Commands start a fresh one, and those that start none say
// who it is and what to do.
func TestAStrangerAtTheSocketKeepsNoCommand(t *testing.T) {
	pid := "pid " + strconv.Itoa(os.Getpid())
	for _, row := range []struct {
		line   string
		op     string // by which the daemon is started; "" if none is
		person bool
		says   []string
	}{
		{line: "item list", op: api.OpStart},
		{line: "daemon restart", op: api.OpStart, says: []string{"runs as pid 4711"}},
		{line: "unlock", op: api.OpStartUnlock, person: true, says: []string{"unlocked"}},
		{line: "status", says: []string{"not running", pid, takeBack}},
		{line: "status --json", says: []string{`"running":false`, pid, takeBack}},
		{line: "whoami", says: []string{"agent claude", pid, takeBack}},
		{line: "lock", says: []string{"locked already", pid, takeBack}},
		{line: "daemon status", says: []string{"no daemon is running", pid, takeBack}},
		{line: "daemon stop", says: []string{"no daemon was running", pid, takeBack}},
	} {
		for name, meet := range strangers() {
			t.Run(row.line+"/"+name, func(t *testing.T) {
				t.Parallel()
				f := newWorld(t)
				f.setUp()
				if row.person {
					f.person(typed{question: "Master password: ", answer: testPassword})
				}
				orders := f.launched()
				squat(t, f.home, meet)
				s := f.run("", strings.Fields(row.line)...)
				s.want(t, 0, row.says...)
				switch {
				case row.op == "" && len(*orders) > 0:
					t.Errorf("it started a daemon: %+v", *orders)
				case row.op != "" && (len(*orders) != 1 || (*orders)[0].op != row.op):
					t.Errorf("it started %+v, want one daemon by %s", *orders, row.op)
				}
			})
		}
	}
}

// TestADaemonThatKeepsItsLockIsNoStranger: one that is slow or at its limit is
// not replaced by a command that needs it, and the hint leads on.
func TestADaemonThatKeepsItsLockIsNoStranger(t *testing.T) {
	for _, line := range []string{"item list", "status", "daemon status", "daemon stop"} {
		t.Run(line, func(t *testing.T) {
			f := newWorld(t)
			f.setUp()
			f.claim()
			orders := f.launched()
			squat(t, f.home, func(net.Conn) {})
			s := f.run("", strings.Fields(line)...)
			s.want(t, 5, "pid "+strconv.Itoa(os.Getpid()), "warder daemon restart")
			if len(*orders) > 0 || strings.Contains(s.errors, "warder status") || strings.Contains(s.errors, "doctor") {
				t.Errorf("started %+v; it said %s", *orders, s.errors)
			}
		})
	}
}

// TestAFreshDaemonWhateverAnswers: unlock and restart start it even where
// somebody holds the lock and does not talk. What it meets it tells itself.
func TestAFreshDaemonWhateverAnswers(t *testing.T) {
	for line, op := range map[string]string{"unlock": api.OpStartUnlock, "daemon restart": api.OpStart} {
		t.Run(line, func(t *testing.T) {
			f := newWorld(t)
			f.setUp()
			f.claim()
			f.person(typed{question: "Master password: ", answer: testPassword})
			var got []string
			f.base.launch = func(_ context.Context, o order) (api.Started, []secret.Value, error) {
				got = append(got, o.op)
				return api.Started{}, nil, api.Errorf(api.Unreachable, "the daemon that runs (pid 4711) does not answer")
			}
			squat(t, f.home, func(net.Conn) {})
			f.run("", strings.Fields(line)...).want(t, 5, "pid 4711")
			if len(got) != 1 || got[0] != op {
				t.Errorf("it started %q, want one by %s", got, op)
			}
		})
	}
}

// TestAStateDirectoryOutOfSightMakesNoStranger: where the state directory is
// hidden, whoever answers as the daemon does is the daemon.
func TestAStateDirectoryOutOfSightMakesNoStranger(t *testing.T) {
	f := newFake(t, answers{api.OpStatus: reply(running())})
	if err := os.Rename(filepath.Join(f.home, "state"), filepath.Join(f.home, "hidden")); err != nil {
		t.Fatal(err)
	}
	f.run("", "status").want(t, 0, "running, pid")
}

// TestAStrangerAndARealDaemon: with the program itself and an unattended
// account, the first command takes the socket back.
func TestAStrangerAndARealDaemon(t *testing.T) {
	home, err := os.MkdirTemp("", "w")
	if err != nil {
		t.Fatal(err)
	}
	warder := func(status int, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), os.Getenv("WARDER_TEST_BINARY"), args...)
		cmd.Env = []string{"WARDER_HOME=" + home, "HOME=" + home, "PATH=" + os.Getenv("PATH"), "CLAUDECODE=1"}
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		if got := cmd.ProcessState.ExitCode(); got != status {
			t.Fatalf("%q ended with %d: %s", args, got, out)
		}
		return string(out)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	warder(0, "setup", "--headless", "--no-install")
	defer warder(0, "daemon", "stop")
	for _, row := range []struct{ line, stranger string }{
		{"item list", "says nothing"},
		{"unlock", "reads and hangs up"},
		{"daemon restart", "plays the daemon, then says nothing"},
	} {
		t.Run(row.line, func(t *testing.T) {
			warder(0, "daemon", "stop")
			squat(t, home, strangers()[row.stranger])
			warder(0, strings.Fields(row.line)...)
			if out := warder(0, "status"); !strings.Contains(out, "running, pid") || !strings.Contains(out, "unlocked, unattended") {
				t.Errorf("status says %s", out)
			}
		})
	}
}

// TestProbingTakesNoLock away from anybody and makes none.
func TestProbingTakesNoLock(t *testing.T) {
	f := newWorld(t)
	f.setUp()
	f.run("", "status").want(t, 0, "not running")
	if isThere(filepath.Join(f.home, "state", "daemon.lock")) {
		t.Error("looking made the lock")
	}
	f.claim()
	if err := f.lock.Release(); err != nil {
		t.Fatal(err)
	}
	f.run("", "status").want(t, 0, "not running")
	dir, err := state.OpenDir(filepath.Join(f.home, "state"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	lock, err := dir.TryLock("daemon.lock")
	if err != nil {
		t.Fatal(err)
	}
	_ = lock.Release()
}
