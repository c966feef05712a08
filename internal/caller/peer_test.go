package caller_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"warder/internal/caller"
)

// called starts a process that connects and stays, or ends at once.
func called(t testing.TB, part string) (*exec.Cmd, *net.UnixConn) {
	t.Helper()
	dir, err := os.MkdirTemp("", "warder-peer-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	path, sock := filepath.Join(dir, "plan"), filepath.Join(dir, "s")
	must(t, os.WriteFile(path, []byte(`{"Sock":"`+filepath.ToSlash(sock)+`"}`), 0o600))
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: sock, Net: "unix"})
	must(t, err)
	defer l.Close()
	cmd := exec.Command(os.Args[0], "@"+path+":"+part)
	cmd.Stderr = os.Stderr
	must(t, cmd.Start())
	conn, err := l.AcceptUnix()
	must(t, err)
	t.Cleanup(func() { conn.Close(); _ = cmd.Wait() })
	return cmd, conn
}

func TestS2_05_peer(t *testing.T) {
	needPidfds(t)
	cmd, conn := called(t, "call")
	peer, err := caller.PeerOf(conn)
	must(t, err)
	defer peer.Close()
	if peer.PID() != cmd.Process.Pid || peer.UID() != uint32(os.Geteuid()) || !peer.Alive() {
		t.Errorf("pid %d, uid %d, alive %v; want %d", peer.PID(), peer.UID(), peer.Alive(), cmd.Process.Pid)
	}
	select {
	case <-peer.Done():
		t.Error("done though it lives")
	default:
	}
	instance, err := peer.Instance()
	if err != nil || instance.PID != cmd.Process.Pid || instance.Start == 0 || instance.BootID == "" {
		t.Errorf("instance %+v, %v", instance, err)
	}
	tables, _, err := caller.LoadTables(nil, "")
	must(t, err)
	id, err := tables.Judge(peer, nil)
	if err != nil || len(id.Evidence) < 2 || id.Evidence[0].PID != cmd.Process.Pid || id.Evidence[1].PID != os.Getpid() {
		t.Errorf("evidence %+v, %v", id.Evidence, err)
	}
	must(t, conn.Close())
	<-peer.Done()
	must(t, cmd.Wait())
	if peer.Alive() {
		t.Error("alive after its end")
	}
	if id, err := tables.Judge(peer, nil); !errors.Is(err, caller.ErrGone) || id.Verdict != caller.Unknown || !id.Masked {
		t.Errorf("judged %s, %v after its end", id.Verdict, err)
	}
	if _, err := peer.Instance(); !errors.Is(err, caller.ErrGone) {
		t.Errorf("instance after its end: %v", err)
	}
}

// TestC43_goneBeforeItIsAsked: whether or not somebody waited for it.
func TestC43_goneBeforeItIsAsked(t *testing.T) {
	needPidfds(t)
	cmd, conn := called(t, "call and end")
	must(t, cmd.Wait())
	if peer, err := caller.PeerOf(conn); !errors.Is(err, caller.ErrGone) {
		peer.Close()
		t.Errorf("got %v", err)
	}
}

func TestPeer_closeEndsTheWatching(t *testing.T) {
	needPidfds(t)
	_, conn := called(t, "call")
	peer, err := caller.PeerOf(conn)
	must(t, err)
	done := peer.Done()
	peer.Close()
	select {
	case <-done:
		t.Error("closing looks like the end of the process")
	default:
	}
	if peer.Alive() {
		t.Error("alive though nobody holds it")
	}
	peer.Close()
}

func TestPeerOf_closed(t *testing.T) {
	_, conn := called(t, "call")
	must(t, conn.Close())
	if _, err := caller.PeerOf(conn); err == nil || errors.Is(err, caller.ErrGone) {
		t.Errorf("got %v", err)
	}
}
