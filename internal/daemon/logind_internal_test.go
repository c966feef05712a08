package daemon

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// fakeLogin is the login service of a bus that the test started.
type fakeLogin struct {
	conn   *dbus.Conn
	delays chan *os.File // the service's ends of the delays that were asked for
	own    []*os.File    // the other ends, of which the watcher has a copy
}

// Inhibit is the manager's method.
func (f *fakeLogin) Inhibit(what, _, _, mode string) (dbus.UnixFD, *dbus.Error) {
	if what != "sleep" || mode != "delay" {
		return 0, dbus.NewError("test.Error", nil)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return 0, dbus.MakeFailedError(err)
	}
	f.own = append(f.own, w)
	f.delays <- r
	return dbus.UnixFD(w.Fd()), nil
}

// session is one session of the service.
type session struct{ uid uint32 }

// Get is the method of the interface of properties.
func (s session) Get(iface, name string) (dbus.Variant, *dbus.Error) {
	if iface != loginSession || name != "User" {
		return dbus.Variant{}, dbus.NewError("test.Error", nil)
	}
	return dbus.MakeVariant(struct {
		UID  uint32
		Path dbus.ObjectPath
	}{s.uid, "/org/freedesktop/login1/user/_"}), nil
}

// startBus starts a bus of the test's own and returns its socket.
func startBus(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("dbus-daemon")
	if err != nil {
		t.Skipf("no dbus-daemon to make a bus with: %v", err)
	}
	dir, err := os.MkdirTemp("/tmp", "wd-bus-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket, config := filepath.Join(dir, "bus"), filepath.Join(dir, "bus.conf")
	must(t, os.WriteFile(config, fmt.Appendf(nil, `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><listen>unix:path=%s</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/><allow user="*"/></policy></busconfig>`, socket), 0o600))
	cmd := exec.Command(program, "--config-file="+config, "--nofork", "--print-address")
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Skipf("dbus-daemon does not run here: %v", err)
	}
	return socket
}

// startLogin puts the login service on a bus.
func startLogin(t *testing.T, socket string) *fakeLogin {
	t.Helper()
	conn, err := dbus.Connect("unix:path="+dbus.EscapeBusAddressValue(socket), dbus.WithAuth(dbus.AuthExternal(strconv.Itoa(os.Getuid()))))
	if err != nil {
		t.Skipf("dbus-daemon does not serve uid %d, as where nothing knows that user: %v", os.Getuid(), err)
	}
	t.Cleanup(func() { conn.Close() })
	f := &fakeLogin{conn: conn, delays: make(chan *os.File, 8)}
	must(t, conn.Export(f, loginPath, loginManager))
	must(t, conn.Export(session{uint32(os.Getuid())}, loginPath+"/session/ours", "org.freedesktop.DBus.Properties"))
	must(t, conn.Export(session{4321}, loginPath+"/session/theirs", "org.freedesktop.DBus.Properties"))
	reply, err := conn.RequestName(loginName, dbus.NameFlagDoNotQueue)
	must(t, err)
	if reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("the name is taken: %v", reply)
	}
	return f
}

// TestSleepAndSessionLock hears a real bus with a login service of the test's: sleep and the lock of this user's session lock
// the account, and sleep waits for it; waking up and other users' sessions lock nothing.
func TestSleepAndSessionLock(t *testing.T) {
	socket := startBus(t)
	login := startLogin(t, socket)
	locked := make(chan string, 8)
	w := &loginWatch{
		socket: socket, uid: uint32(os.Getuid()), lock: func(reason string) { locked <- reason }, log: slog.New(slog.DiscardHandler),
	}
	end := inBackground(func(ctx context.Context) { _ = w.listen(ctx) })
	defer end()
	delay := <-login.delays
	const sleep = loginManager + "." + sleepMember
	for _, step := range []struct {
		path   dbus.ObjectPath
		signal string
		body   []any
		want   string
	}{
		{loginPath + "/session/ours", loginSession + "." + lockMember, nil, lockSession},
		{loginPath + "/session/theirs", loginSession + "." + lockMember, nil, ""},
		{loginPath + "/session/ours", loginSession + ".Unlock", nil, ""},
		{loginPath, sleep, []any{true}, lockSleep},
		{loginPath, sleep, []any{false}, ""},
		{loginPath + "/session/gone", loginSession + "." + lockMember, nil, lockSession},
	} {
		must(t, login.conn.Emit(step.path, step.signal, step.body...))
		if step.want == "" {
			continue // the next lock shows that this one was none
		}
		select {
		case got := <-locked:
			if got != step.want {
				t.Errorf("%s at %s locks for %s", step.signal, step.path, got)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s at %s locks nothing", step.signal, step.path)
		}
		if step.want == lockSleep {
			must(t, login.own[0].Close()) // the watcher's copy has long been sent
			requireEnd(t, delay)
		}
	}
	select {
	case <-login.delays:
	case <-time.After(30 * time.Second):
		t.Error("no new delay after waking up")
	}
}

// requireEnd waits until nobody holds the other end of a delay.
func requireEnd(t *testing.T, delay *os.File) {
	t.Helper()
	must(t, delay.SetReadDeadline(time.Now().Add(30*time.Second)))
	if _, err := delay.Read(make([]byte, 1)); err == nil || strings.Contains(err.Error(), "timeout") {
		t.Errorf("sleep is still delayed: %v", err)
	}
}

// TestU_148_NoBus looks for a bus where there is none, and hears one that hangs up.
func TestU_148_NoBus(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "bus")
	w := &loginWatch{socket: socket, log: slog.New(slog.DiscardHandler), lock: func(string) { t.Error("locked") }}
	if err := w.listen(t.Context()); err == nil {
		t.Error("it listens to nothing")
	}
	l, err := net.Listen("unix", socket)
	must(t, err)
	defer l.Close()
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			nc.Close()
		}
	}()
	if err := w.listen(t.Context()); err == nil {
		t.Error("it listens to nobody")
	}
}
