package frame_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"warder/internal/api/frame"
	"warder/internal/testkit"
)

func TestNobodyListens(t *testing.T) {
	dir := folder(t)
	stale := filepath.Join(dir, "stale.sock")
	l := listenAt(t, stale)
	l.SetUnlinkOnClose(false)
	l.Close()
	for name, path := range map[string]string{
		"no folder":   filepath.Join(dir, "missing", "warder.sock"),
		"no socket":   filepath.Join(dir, "warder.sock"),
		"a left-over": stale,
	} {
		_, err := frame.Dialer{Path: path, Self: self()}.Dial(t.Context())
		if codeOf(err) != frame.Unreachable || !errors.Is(err, frame.ErrNotRunning) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestASandboxIsNamed takes the right to search the folder away, as a sandbox takes the right to connect.
func TestASandboxIsNamed(t *testing.T) {
	if testkit.AsUser(t) {
		return
	}
	_, path := listen(t)
	must(t, os.Chmod(filepath.Dir(path), 0))
	defer os.Chmod(filepath.Dir(path), 0o700)
	if _, err := (frame.Dialer{Path: path, Self: self()}).Dial(t.Context()); codeOf(err) != frame.Sandboxed {
		t.Errorf("got %v", err)
	}
}

// TestU156_foreignFolder: the folder of another user is no sandbox. Root's own home stands for it.
func TestU156_foreignFolder(t *testing.T) {
	if testkit.AsUser(t) {
		return
	}
	if fi, err := os.Stat("/root"); err != nil || fi.Mode().Perm()&0o001 != 0 || os.Geteuid() == 0 {
		t.Skip("there is no folder of root's that others may not enter")
	}
	_, err := frame.Dialer{Path: "/root/.local/run/warder.sock", Self: self()}.Dial(t.Context())
	want := "/root belongs to uid 0, and you are uid " + strconv.Itoa(os.Geteuid())
	if codeOf(err) != frame.Unreachable || errors.Is(err, frame.ErrNotRunning) || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
}

// TestAFakeThatStaysSilent accepts and says nothing, until the caller has had enough.
func TestAFakeThatStaysSilent(t *testing.T) {
	l, path := listen(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		defer nc.Close()
		nc.Read(make([]byte, 4))
		cancel()
		io.Copy(io.Discard, nc)
	}()
	if _, err := (frame.Dialer{Path: path, Self: self()}).Dial(ctx); !errors.Is(err, context.Canceled) || codeOf(err) != "" {
		t.Errorf("got %v", err)
	}
}

// TestAFakeThatHangsUp is how a daemon refuses a process, and how a full one refuses all.
func TestAFakeThatHangsUp(t *testing.T) {
	l, path := listen(t)
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			nc.Close()
		}
	}()
	_, err := frame.Dialer{Path: path, Self: self()}.Dial(t.Context())
	if codeOf(err) != frame.Unreachable || errors.Is(err, frame.ErrNotRunning) {
		t.Errorf("got %v", err)
	}
}

// fakeVariable tells this test binary to be the fake of TestAFakeOfAnotherUser, and where.
const fakeVariable = "WARDER_TEST_FAKE_SOCKET"

// TestAFakeOfAnotherUser puts a socket in place that looks right in the file system, with a process of another user
// behind it. Nothing may be sent to it.
func TestAFakeOfAnotherUser(t *testing.T) {
	if path := os.Getenv(fakeVariable); path != "" {
		beFake(t, path)
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give another user's socket away")
	}
	shared := folder(t)
	must(t, os.Chmod(shared, 0o711))
	theirs, ours := filepath.Join(shared, "theirs"), filepath.Join(shared, "ours")
	must(t, os.Mkdir(theirs, 0o700))
	must(t, os.Chown(theirs, testkit.UID, testkit.UID))
	must(t, os.Mkdir(ours, 0o700))
	heard := startFake(t, shared, filepath.Join(theirs, "warder.sock"))
	path := filepath.Join(ours, "warder.sock")
	must(t, os.Rename(filepath.Join(theirs, "warder.sock"), path))
	must(t, os.Chown(path, 0, 0))
	must(t, errors.Join(frame.CheckDir(ours), frame.CheckSocket(path)))
	_, err := frame.Dialer{Path: path, Self: self()}.Dial(t.Context())
	if codeOf(err) != frame.Unreachable || !strings.Contains(err.Error(), "is served by uid "+strconv.Itoa(testkit.UID)) {
		t.Errorf("got %v", err)
	}
	if line := heard(); line != "heard 0" {
		t.Errorf("the fake %s bytes", line)
	}
}

// startFake runs this test as another user, which listens at path, and returns what reads its report.
func startFake(t *testing.T, shared, path string) (heard func() string) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	binary, err := os.ReadFile(self)
	must(t, err)
	copied := filepath.Join(shared, "fake") // go's own folder for test binaries is closed to others
	must(t, os.WriteFile(copied, binary, 0o755))
	must(t, os.Chmod(copied, 0o755))
	id := strconv.Itoa(testkit.UID)
	cmd := exec.CommandContext(t.Context(), "setpriv", "--reuid", id, "--regid", id, "--clear-groups", "--",
		copied, "-test.run=^"+t.Name()+"$", "-test.v", "-test.paniconexit0")
	cmd.Dir = shared
	cmd.Env = append(os.Environ(), fakeVariable+"="+path)
	output, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(output)
	next := func() string {
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "fake: "); ok {
				return text
			}
		}
		return "ended"
	}
	if line := next(); line != "listening" {
		t.Fatal("the fake ", line)
	}
	return func() string {
		line := next()
		io.Copy(io.Discard, output)
		must(t, cmd.Wait())
		return line
	}
}

func beFake(t *testing.T, path string) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	must(t, err)
	l.SetUnlinkOnClose(false)
	must(t, os.Chmod(path, 0o600))
	os.Stdout.WriteString("fake: listening\n")
	nc, err := l.Accept()
	must(t, err)
	n, err := io.Copy(io.Discard, nc)
	must(t, err)
	os.Stdout.WriteString("fake: heard " + strconv.FormatInt(n, 10) + "\n")
}
