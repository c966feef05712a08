package daemon_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/audit"
	"warder/internal/platform"
	"warder/internal/seal"
	"warder/internal/secret"
	"warder/internal/state"
	"warder/internal/vault"
)

// binaryVar names the environment variable with the executable to test. Where it is empty the executable is built first; a
// run that can't build, such as one as another user, sets it.
const binaryVar = "WARDER_TEST_BINARY"

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if os.Getenv(binaryVar) != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "warder-daemon-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // other users' runs need it, too
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	binary := filepath.Join(dir, "warder")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "warder/cmd/warder")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building warder: %v\n%s", err, output)
		return 1
	}
	os.Setenv(binaryVar, binary)
	return m.Run()
}

// patience bounds the wait for another process. No test passes by it.
const patience = 30 * time.Second

// home is a place for one daemon after another.
type home struct {
	dir, binary               string
	data, state, config, sock string
}

// newHome makes a home with an installed program and its record.
func newHome(t *testing.T) *home {
	t.Helper()
	if raceDetector {
		t.Skip("the executable is the same one as in the run without the race detector")
	}
	dir, err := os.MkdirTemp("/tmp", "wd-")
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(dir)) })
	h := &home{
		dir: dir, binary: filepath.Join(dir, "bin", "warder"),
		data: filepath.Join(dir, "data"), state: filepath.Join(dir, "state"), config: filepath.Join(dir, "config"),
		sock: filepath.Join(dir, "run", "warder.sock"),
	}
	must(t, os.Mkdir(filepath.Join(dir, "bin"), 0o700))
	if err := os.Link(os.Getenv(binaryVar), h.binary); err != nil { // another disk, or another user's file
		copyProgram(t, h.binary)
	}
	h.record(t, h.binary)
	t.Cleanup(func() { endAll(t, h) })
	return h
}

// record writes install.json for a program.
func (h *home) record(t *testing.T, binary string) {
	t.Helper()
	dir, err := state.CreateDir(h.state)
	must(t, err)
	defer dir.Close()
	must(t, state.WriteInstall(dir, state.Install{
		Binary: binary, SHA256: hashOf(t, binary), Data: h.data, State: h.state, Config: h.config, Socket: h.sock,
		Created: time.Now(),
	}))
}

// copyProgram puts the executable to test somewhere.
func copyProgram(t *testing.T, to string) {
	t.Helper()
	src, err := os.Open(os.Getenv(binaryVar))
	must(t, err)
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	must(t, err)
	_, err = io.Copy(dst, src)
	must(t, errors.Join(err, dst.Close()))
}

// args are the arguments of a daemon here.
func (h *home) args(more ...string) []string {
	return append([]string{"daemon", "run", "--data", h.data, "--state", h.state, "--config", h.config, "--socket", h.sock}, more...)
}

// account makes an account with a cheap password before any daemon runs: what is cheap is written in the account, no switch
// of the daemon's.
func (h *home) account(t *testing.T) (password secret.Value) {
	t.Helper()
	password = newPassword(t)
	a, kit, err := vault.Create(h.vaultConfig(), password)
	must(t, err)
	kit.Destroy()
	a.Lock()
	return password
}

func (h *home) vaultConfig() vault.Config {
	return vault.Config{AccountDir: filepath.Join(h.data, "account"), StateDir: h.state, KDF: seal.FloorKDF()}
}

// newPassword makes a password for one test.
func newPassword(t *testing.T) secret.Value {
	t.Helper()
	raw, err := secret.Random(16)
	must(t, err)
	defer raw.Destroy()
	var text []byte
	must(t, raw.Use(func(b []byte) { text = fmt.Appendf(nil, "%x", b) }))
	password, err := secret.New(text)
	must(t, err)
	t.Cleanup(password.Destroy)
	return password
}

// self is what the test says about itself.
func self() frame.Hello { return frame.Hello{Protocol: frame.Protocol, Version: "devel"} }

// launched is a daemon that a test started and that may have ended.
type launched struct {
	process *os.Process
	conn    *api.Client
}

// launch starts a daemon as a client does.
func (h *home) launch(t *testing.T, program string) *launched {
	t.Helper()
	ours, theirs, err := platform.ConnPair()
	must(t, err)
	p, err := platform.StartDetached(program, h.args("--started-by", "person", "--start-fd", "3"), theirs)
	must(t, errors.Join(err, theirs.Close()))
	reap(t, p)
	conn, err := frame.Inherited(t.Context(), ours, self())
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	return &launched{process: p, conn: &api.Client{ClientConn: conn}}
}

// ended holds what became of the processes that tests started.
type exits struct{ done chan struct{} }

// reap waits for a process in the background, so that nothing takes a zombie for a living one.
func reap(t *testing.T, p *os.Process) *exits {
	t.Helper()
	e := &exits{done: make(chan struct{})}
	go func() {
		defer close(e.done)
		_, _ = p.Wait()
	}()
	t.Cleanup(func() {
		_ = p.Kill()
		<-e.done
	})
	return e
}

// start starts a daemon with one request.
func (h *home) start(t *testing.T, op string, in any, values ...secret.Value) (api.Started, []secret.Value, error) {
	t.Helper()
	l := h.launch(t, h.binary)
	defer l.conn.Close()
	var out api.Started
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	got, err := l.conn.Call(ctx, op, in, &out, values...)
	t.Cleanup(func() { frame.DestroyAll(got) })
	return out, got, err
}

// mustStart is start that has to succeed.
func (h *home) mustStart(t *testing.T, op string, in any, values ...secret.Value) api.Started {
	t.Helper()
	out, _, err := h.start(t, op, in, values...)
	must(t, err)
	return out
}

// unlock starts a daemon that opens the account.
func (h *home) unlock(t *testing.T, password secret.Value) api.Started {
	t.Helper()
	return h.mustStart(t, api.OpStartUnlock, api.StartUnlock{}, password)
}

// dial connects to the daemon.
func (h *home) dial(t *testing.T) *api.Client {
	t.Helper()
	c, err := api.Dial(t.Context(), frame.Dialer{Path: h.sock, Self: self()})
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// call makes one call on a connection of its own.
func (h *home) call(t *testing.T, op string, in, out any, values ...secret.Value) error {
	t.Helper()
	c := h.dial(t)
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	got, err := c.Call(ctx, op, in, out, values...)
	frame.DestroyAll(got)
	return err
}

func (h *home) status(t *testing.T) api.Status {
	t.Helper()
	var s api.Status
	must(t, h.call(t, api.OpStatus, nil, &s))
	return s
}

// stop ends the daemon and waits until it is gone.
func (h *home) stop(t *testing.T) {
	t.Helper()
	must(t, h.call(t, api.OpDaemonStop, nil, nil))
	h.awaitLock(t)
}

// awaitLock waits until no daemon holds the lock.
func (h *home) awaitLock(t *testing.T) {
	t.Helper()
	dir, err := state.OpenDir(h.state)
	must(t, err)
	defer dir.Close()
	eventually(t, "the daemon gives up its lock", func() bool {
		lock, err := dir.TryLock("daemon.lock")
		if err != nil {
			return false
		}
		must(t, lock.Release())
		return true
	})
}

// endAll ends whatever daemon still serves the home.
func endAll(t *testing.T, h *home) {
	c, err := api.Dial(context.Background(), frame.Dialer{Path: h.sock, Self: self(), AnyBuild: true})
	if err != nil {
		return
	}
	defer c.Close()
	if _, err := c.Call(context.Background(), api.OpDaemonStop, nil, nil); err == nil {
		h.awaitLock(t)
	}
}

// events are the names of the records in the log, with their data.
func events(t *testing.T, h *home) (list []audit.Record) {
	t.Helper()
	dir, err := state.OpenDir(filepath.Join(h.state, "audit"))
	must(t, err)
	defer dir.Close()
	for r, err := range audit.Records(dir, 0) {
		must(t, err)
		list = append(list, r)
	}
	return list
}

// requireEvent returns the last record of an event.
func (h *home) requireEvent(t *testing.T, event string) audit.Record {
	t.Helper()
	var found audit.Record
	for _, r := range events(t, h) {
		if r.Event == event {
			found = r
		}
	}
	if found.Event == "" {
		t.Fatalf("the log has no %s", event)
	}
	return found
}

// eventually waits until something is true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func codeOf(err error) api.Code {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// hasEnded reports whether a process is gone.
func hasEnded(pid int) bool {
	s, err := platform.ReadProcStat(pid)
	return err != nil || s.State == 'Z'
}

// openFiles are what the descriptors of a process lead to. Its owner may not look, root may.
func openFiles(t *testing.T, pid int) []string {
	t.Helper()
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	entries, err := os.ReadDir(dir)
	must(t, err)
	var targets []string
	for _, e := range entries {
		to, err := os.Readlink(filepath.Join(dir, e.Name()))
		if err == nil {
			targets = append(targets, to)
		}
	}
	return targets
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// kill ends a process that the test started, at once.
func kill(t *testing.T, pid int) {
	t.Helper()
	must(t, syscall.Kill(pid, syscall.SIGKILL))
	eventually(t, "the process is gone", func() bool { return hasEnded(pid) })
}

// hashOf is a program's hash, as setup records it.
func hashOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return fmt.Sprintf("%x", sha256.Sum256(text))
}
