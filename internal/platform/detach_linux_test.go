package platform_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"warder/internal/platform"
)

// detachedName is under which this binary is the detached process: no variable would reach it.
const detachedName = "detached-test-process"

// TestMain plays the detached process where the binary is started under its name.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == detachedName {
		beDetached()
		return
	}
	os.Exit(m.Run())
}

// beDetached says over its inherited connection what it found.
func beDetached() {
	conn, err := platform.InheritedConn(platform.InheritedFD)
	if err != nil {
		return
	}
	defer conn.Close()
	if err := platform.Isolate(); err != nil {
		io.WriteString(conn, "isolate: "+err.Error()+"\n")
	}
	cwd, _ := os.Getwd()
	sid, _ := unix.Getsid(0)
	lines := []string{"cwd " + cwd}
	if sid == os.Getpid() {
		lines = append(lines, "leader")
	}
	if platform.HasCleanEnviron() {
		lines = append(lines, "clean")
	}
	if mask := unix.Umask(0); mask == 0o077 {
		lines = append(lines, "umask")
	}
	if n, err := os.Stdin.Read(make([]byte, 1)); n == 0 && err == io.EOF {
		lines = append(lines, "stdin")
	}
	lines = append(lines, "args "+strings.Join(os.Args[1:], ","))
	io.WriteString(conn, strings.Join(lines, "\n"))
}

// TestStartDetached starts a process and hears from it over the connection that it inherits.
func TestStartDetached(t *testing.T) {
	t.Setenv("GODEBUG", "gctrace=1")
	self, err := os.Executable()
	must(t, err)
	program := filepath.Join(t.TempDir(), detachedName)
	must(t, os.Symlink(self, program))
	ours, theirs, err := platform.ConnPair()
	must(t, err)
	defer ours.Close()
	p, err := platform.StartDetached(program, []string{"a", "b c"}, theirs)
	must(t, err)
	must(t, theirs.Close())
	said, err := io.ReadAll(ours)
	must(t, err)
	_, err = p.Wait()
	must(t, err)
	want := []string{"cwd /", "leader", "clean", "umask", "stdin", "args a,b c"}
	if got := strings.Split(string(said), "\n"); !slices.Equal(got, want) {
		t.Errorf("it says %q, want %q", got, want)
	}
}

func TestStartDetachedNamesTheProgram(t *testing.T) {
	_, theirs, err := platform.ConnPair()
	must(t, err)
	defer theirs.Close()
	if _, err := platform.StartDetached("/nowhere/warder", nil, theirs); err == nil || !strings.Contains(err.Error(), "/nowhere/warder") {
		t.Errorf("got %v", err)
	}
}

func TestInheritedConnRefusesWhatIsNone(t *testing.T) {
	f, err := os.Open(os.DevNull)
	must(t, err)
	defer f.Close()
	fd, err := unix.Dup(int(f.Fd()))
	must(t, err)
	if _, err := platform.InheritedConn(fd); err == nil {
		t.Error("the null device passes for a connection")
	}
	if _, err := platform.InheritedConn(9999); err == nil {
		t.Error("nothing passes for a connection")
	}
}
