package platform_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"warder/internal/platform"
)

// listen opens a socket with a short path.
func listen(t *testing.T) *net.UnixListener {
	t.Helper()
	dir, err := os.MkdirTemp("", "warder-peer-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "s"), Net: "unix"})
	must(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// connChild is set, to a socket's path, in the environment of a process that
// connects and, with its standard input, ends.
const connChild = "WARDER_TEST_CONN_CHILD"

// TestConnChild is that process.
func TestConnChild(t *testing.T) {
	path := os.Getenv(connChild)
	if path == "" {
		t.Skip("started by other tests only")
	}
	conn, err := net.Dial("unix", path)
	must(t, err)
	defer conn.Close()
	_, _ = os.Stdin.Read(make([]byte, 1))
}

// connect starts a process that connects to a fresh socket.
func connect(t *testing.T) (*child, *net.UnixConn) {
	t.Helper()
	l := listen(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestConnChild$")
	cmd.Env = append(os.Environ(), connChild+"="+l.Addr().String())
	stdin, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	c := &child{cmd, stdin}
	t.Cleanup(func() { c.stdin.Close(); _ = c.cmd.Wait() })
	conn, err := l.AcceptUnix()
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	return c, conn
}

func peerPidfd(t *testing.T, conn *net.UnixConn) (*platform.Pidfd, error) {
	t.Helper()
	pidfd, err := platform.PeerPidfd(conn)
	if errors.Is(err, platform.ErrUnsupported) && !kernelHas(t, 6, 5) {
		t.Skip(err)
	}
	if err == nil {
		t.Cleanup(func() { pidfd.Close() })
	}
	return pidfd, err
}

func TestPeer(t *testing.T) {
	c, conn := connect(t)
	want := platform.PeerCred{PID: c.pid(), UID: uint32(os.Geteuid()), GID: uint32(os.Getegid())}
	if cred, err := platform.PeerCredentials(conn); err != nil || cred != want {
		t.Errorf("credentials %+v, %v; want %+v", cred, err, want)
	}
	pidfd, err := peerPidfd(t, conn)
	must(t, err)
	if !platform.PidfdAlive(pidfd) {
		t.Error("the peer passes as dead")
	}
	info, err := platform.PidfdInfo(pidfd)
	if !errors.Is(err, platform.ErrUnsupported) && (err != nil || info.PID != c.pid()) {
		t.Errorf("peer is %+v, %v", info, err)
	}
}

// TestC43_deadPeer: one that exited before it was asked for must be told from a
// living one, waited for or not.
func TestC43_deadPeer(t *testing.T) {
	for _, reaped := range []bool{false, true} {
		c, conn := connect(t)
		c.exit(t)
		if reaped {
			must(t, c.cmd.Wait())
		}
		pidfd, err := peerPidfd(t, conn)
		if err == nil && platform.PidfdAlive(pidfd) {
			t.Errorf("reaped %v: the dead peer passes as alive", reaped)
		}
		if err != nil && !platform.IsNoProcess(err) {
			t.Errorf("reaped %v: %v", reaped, err)
		}
	}
}

func TestPeer_closedConnection(t *testing.T) {
	_, conn := connect(t)
	must(t, conn.Close())
	if _, err := platform.PeerCredentials(conn); !errors.Is(err, net.ErrClosed) {
		t.Errorf("credentials: %v", err)
	}
	if pidfd, err := platform.PeerPidfd(conn); err == nil {
		pidfd.Close()
		t.Error("a closed connection has a peer")
	}
}
