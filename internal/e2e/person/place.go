package person

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"warder/internal/platform"
)

// Container opens a terminal in a new pid namespace whose first process is the
// shell itself, as "docker run -it IMAGE sh" does. Only what is typed can
// be run in that world. It skips the test where the machine has no
// worlds.
func Container(t testing.TB, s Shell) (*World, *Terminal) {
	t.Helper()
	if err := Missing(); err != nil {
		t.Skip(err)
	}
	l, err := newLayout(-1)
	if err != nil {
		t.Fatalf("person: making the folder of a container: %v", err)
	}
	w := &World{layout: l, env: l.environ(s.Env...)}
	t.Cleanup(func() {
		if err := w.End(); err != nil {
			t.Errorf("person: %v", err)
		}
	})
	s = s.withDefaults()
	return w, outside(t, w, s, append(namespace()[1:], append([]string{"setsid", "--ctty"}, s.Shell...)...))
}

// Enter opens a terminal whose shell entered the world from outside, as "docker
// exec -it" and nsenter do: its parent can't be seen there.
func (w *World) Enter(t testing.TB, s Shell) *Terminal {
	t.Helper()
	pid, err := firstPID(w.socket)
	if err != nil {
		t.Fatalf("person: finding the world: %v", err)
	}
	argv := []string{"nsenter", "--target", strconv.Itoa(pid), "--pid", "--mount"}
	if os.Getuid() != 0 {
		argv = append(argv, "--user", "--preserve-credentials")
	}
	s = s.withDefaults()
	return outside(t, w, s, append(argv, append([]string{"setsid", "--ctty"}, s.Shell...)...))
}

// outside opens a terminal whose program lives outside of the world, for a
// command that goes there.
func outside(t testing.TB, w *World, s Shell, argv []string) *Terminal {
	t.Helper()
	args := append(append([]string{partPTY}, s.size()...), argv...)
	cmd := exec.CommandContext(t.Context(), w.Program(t, s.Terminal), args...)
	cmd.Env, cmd.Dir = append(append([]string(nil), w.env...), append(s.Env, "PS1="+prompt)...), w.Home()
	to, errTo := cmd.StdinPipe()
	shown, errShown := cmd.StdoutPipe()
	if errTo != nil || errShown != nil {
		t.Fatalf("person: %v, %v", errTo, errShown)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("person: opening a terminal: %v", err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // hung up or killed by then
	p := attach(t, shown, to)
	p.begin(t)
	return p
}

// firstPID is the pid of a world's first process outside of it.
func firstPID(socket string) (int, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	peer, err := platform.PeerCredentials(conn)
	if err == nil && peer.PID == 0 {
		err = fmt.Errorf("it is not below this pid namespace")
	}
	return peer.PID, err
}
