package daemon_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/platform"
)

// hostileVariables are variables of whoever starts a daemon, each of which would change what it does if it listened to them.
func hostileVariables(h *home) []string {
	bad := filepath.Join(h.dir, "bad")
	return []string{
		"GODEBUG=gctrace=1,netdns=go+9",
		"GOGC=off",
		"GOMEMLIMIT=1MiB",
		"GOTRACEBACK=crash",
		"SSL_CERT_FILE=" + bad,
		"SSL_CERT_DIR=" + bad,
		"HTTPS_PROXY=http://127.0.0.1:9",
		"https_proxy=http://127.0.0.1:9",
		"ALL_PROXY=socks5://127.0.0.1:9",
		"LD_PRELOAD=" + bad,
		"LD_LIBRARY_PATH=" + bad,
		"LOCALDOMAIN=bad",
		"HOSTALIASES=" + bad,
		"TZ=" + bad,
		"TMPDIR=" + bad,
		"PATH=" + bad,
		"HOME=" + bad,
		"USER=somebody",
		"SHELL=" + bad,
		"XDG_DATA_HOME=" + bad,
		"XDG_STATE_HOME=" + bad,
		"XDG_CONFIG_HOME=" + bad,
		"XDG_RUNTIME_DIR=" + bad,
		"WARDER_HOME=" + bad,
		"WARDER_LOCK_IDLE=720h",
		"WARDER_LOCK_MAX=720h",
		"WARDER_AUDIT_GENERATIONS=1",
		"DBUS_SYSTEM_BUS_ADDRESS=unix:path=" + bad,
		"BASH_ENV=" + bad,
		"1=not a name",
	}
}

// TestHostileVariablesAtStart starts a daemon under each hostile variable, in a foreign directory, with an open file and a
// loose umask, as a client would that takes no care. It serves, and nothing of that is left.
func TestHostileVariablesAtStart(t *testing.T) {
	h := newHome(t)
	for _, variable := range hostileVariables(h) {
		name, _, _ := strings.Cut(variable, "=")
		t.Run(name, func(t *testing.T) {
			l := launchHostile(t, h, append(platform.CleanEnviron(), variable))
			requireStarted(t, h, l)
			requireClean(t, h, l.process.Pid)
			h.stop(t)
		})
	}
	if _, err := os.Lstat(filepath.Join(h.dir, "bad")); err == nil {
		t.Error("a daemon used a place from its environment")
	}
	log, err := os.ReadFile(filepath.Join(h.state, "daemon.log"))
	must(t, err)
	if strings.Contains(string(log), "gc 1 @") {
		t.Error("the runtime listened to GODEBUG")
	}
}

// TestAnEmptyEnvironmentAtStart starts a daemon without any variable.
func TestAnEmptyEnvironmentAtStart(t *testing.T) {
	h := newHome(t)
	l := launchHostile(t, h, []string{})
	requireStarted(t, h, l)
	requireClean(t, h, l.process.Pid)
}

// TestHostileVariablesByHand runs a daemon in the foreground under all hostile variables at once.
func TestHostileVariablesByHand(t *testing.T) {
	h := newHome(t)
	cmd := exec.Command(h.binary, h.args()...)
	cmd.Env = append(os.Environ(), hostileVariables(h)...)
	cmd.Dir = h.dir
	must(t, cmd.Start())
	reap(t, cmd.Process)
	awaitSocket(t, h)
	requireEnvironment(t, cmd.Process.Pid)
	if s := h.status(t); s.Daemon.PID != cmd.Process.Pid {
		t.Errorf("another process serves: %+v", s.Daemon)
	}
	must(t, cmd.Process.Signal(syscall.SIGTERM))
	h.awaitLock(t)
	if r := h.requireEvent(t, "daemon.stopped"); !strings.Contains(string(r.Data), `"signal"`) {
		t.Errorf("it ended with %s", r.Data)
	}
}

// TestMarksOfAnAgentMakeTheStarterOne starts a daemon whose client says it is a person's and runs below an agent.
func TestMarksOfAnAgentMakeTheStarterOne(t *testing.T) {
	h := newHome(t)
	cmd := exec.Command(h.binary, h.args("--started-by", "person")...)
	cmd.Env = append(platform.CleanEnviron(), "WARDER_CALLER=agent")
	must(t, cmd.Start())
	reap(t, cmd.Process)
	awaitSocket(t, h)
	if s := h.status(t); s.Daemon.StartedBy != "agent" || len(s.Daemon.Chain) == 0 {
		t.Errorf("started by %s, %+v", s.Daemon.StartedBy, s.Daemon.Chain)
	}
}

// launchHostile starts a daemon with an environment of the test's, and all else as bad as it gets.
func launchHostile(t *testing.T, h *home, env []string) *launched {
	t.Helper()
	return launchHostilePart(t, h, "run", env)
}

// launchHostilePart is launchHostile for one of the parts of "warder daemon".
func launchHostilePart(t *testing.T, h *home, part string, env []string) *launched {
	t.Helper()
	ours, theirs, err := platform.ConnPair()
	must(t, err)
	open, err := os.Open(h.binary)
	must(t, err)
	defer open.Close()
	cmd := exec.Command("/bin/sh", append([]string{"-c", `umask 0; exec "$0" "$@"`, h.binary}, partArgs(h, part)...)...)
	cmd.Env = env
	cmd.Dir = h.dir
	cmd.ExtraFiles = []*os.File{theirs, open, open}
	must(t, cmd.Start())
	must(t, theirs.Close())
	reap(t, cmd.Process)
	conn, err := frame.Inherited(t.Context(), ours, self())
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	return &launched{process: cmd.Process, conn: &api.Client{ClientConn: conn}}
}

// requireStarted asks for a plain start.
func requireStarted(t *testing.T, h *home, l *launched) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var started api.Started
	_, err := l.conn.Call(ctx, api.OpStart, nil, &started)
	must(t, err)
	if started.PID != l.process.Pid || started.Socket != h.sock {
		t.Fatalf("started %+v", started)
	}
}

// requireClean looks at a daemon from outside.
func requireClean(t *testing.T, h *home, pid int) {
	t.Helper()
	stat, err := platform.ReadProcStat(pid)
	must(t, err)
	if stat.Session != pid || stat.TTY != 0 {
		t.Errorf("session %d with terminal %d, want %d without", stat.Session, stat.TTY, pid)
	}
	proc := "/proc/" + strconv.Itoa(pid)
	status, err := os.ReadFile(proc + "/status")
	must(t, err)
	if !strings.Contains(string(status), "Umask:\t0077\n") {
		t.Error("the umask is not 077")
	}
	limits, err := os.ReadFile(proc + "/limits")
	must(t, err)
	if !slices.ContainsFunc(strings.Split(string(limits), "\n"), func(line string) bool {
		return strings.Join(strings.Fields(line), " ") == "Max core file size 0 0 bytes"
	}) {
		t.Error("the core limit is not 0")
	}
	requireEnvironment(t, pid)
	if os.Getuid() != 0 {
		return // only root sees the rest
	}
	if cwd, err := os.Readlink(proc + "/cwd"); err != nil || cwd != "/" {
		t.Errorf("it works in %s: %v", cwd, err)
	}
	if slices.Contains(openFiles(t, pid), h.binary) {
		t.Error("an inherited file is open")
	}
}

// requireEnvironment compares the environment of a daemon with that of the user's entry. Only root sees it: that nobody else
// does is checked here for all others.
func requireEnvironment(t *testing.T, pid int) {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if os.Getuid() != 0 {
		if err == nil {
			t.Error("the daemon's environment can be read")
		}
		return
	}
	must(t, err)
	have, want := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"), platform.CleanEnviron()
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("environment %q, want %q", have, want)
	}
}

// awaitSocket waits until a daemon that was started by hand answers.
func awaitSocket(t *testing.T, h *home) {
	t.Helper()
	eventually(t, "the daemon answers", func() bool {
		c, err := api.Dial(t.Context(), frame.Dialer{Path: h.sock, Self: self()})
		if err != nil {
			return false
		}
		c.Close()
		return true
	})
}
