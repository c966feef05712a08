package api_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/testkit"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mode is the type and the permissions of what is at path.
func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	fi, err := os.Lstat(path)
	must(t, err)
	return fi.Mode()
}

// plainSocket listens at path as any program might.
func plainSocket(t *testing.T, path string) *net.UnixListener {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	must(t, err)
	t.Cleanup(func() { l.Close() })
	l.SetUnlinkOnClose(false)
	must(t, os.Chmod(path, 0o600))
	return l
}

func TestS2_05_SocketIsOurs(t *testing.T) {
	path := socketPath(t)
	l, err := api.Listen(path, locked)
	must(t, err)
	if got := mode(t, path); got != fs.ModeSocket|0o600 {
		t.Errorf("the socket is %v", got)
	}
	if got := mode(t, filepath.Dir(path)); got != fs.ModeDir|0o700 {
		t.Errorf("the folder is %v", got)
	}
	if _, ok := l.Displaced(); ok {
		t.Error("somebody was displaced")
	}
	must(t, l.Close())
	left, err := os.ReadDir(filepath.Dir(path))
	must(t, err)
	if len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestSquattedPlaces has something in the way, which is named and stays.
func TestSquattedPlaces(t *testing.T) {
	if testkit.AsUser(t) {
		return
	}
	dirOf := func(path string) string { return filepath.Dir(path) }
	for name, c := range map[string]struct {
		put  func(path string) error
		want string
	}{
		"a file":             {func(path string) error { return os.WriteFile(path, nil, 0o600) }, "is a regular file"},
		"a folder":           {func(path string) error { return os.Mkdir(path, 0o700) }, "is a folder"},
		"a link":             {func(path string) error { return os.Symlink("/nonexistent", path) }, "is a symbolic link"},
		"a file for the new": {func(path string) error { return os.WriteFile(strings.TrimSuffix(path, ".sock")+".new", nil, 0o600) }, "is a regular file"},
		"a link for the new": {func(path string) error { return os.Symlink(path, strings.TrimSuffix(path, ".sock")+".new") }, "is a symbolic link"},
		"a loose folder":     {func(path string) error { return os.Chmod(dirOf(path), 0o750) }, "loose mode 0750"},
		"a linked folder": {func(path string) error {
			return errors.Join(os.Rename(dirOf(path), dirOf(path)+"2"), os.Symlink(dirOf(path)+"2", dirOf(path)))
		}, "is a symbolic link"},
		"a file for the folder": {func(path string) error {
			return errors.Join(os.Remove(dirOf(path)), os.WriteFile(dirOf(path), nil, 0o600))
		}, "is a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			path := socketPath(t)
			must(t, os.Mkdir(dirOf(path), 0o700))
			must(t, c.put(path))
			before, err := os.ReadDir(filepath.Dir(dirOf(path)))
			must(t, err)
			_, err = api.Listen(path, locked)
			var place *frame.PlaceError
			if !errors.As(err, &place) || !strings.Contains(err.Error(), c.want) || place.Repair == "" {
				t.Errorf("got %v", err)
			}
			after, err := os.ReadDir(filepath.Dir(dirOf(path)))
			must(t, err)
			if len(before) != len(after) {
				t.Errorf("%v became %v", before, after)
			}
		})
	}
}

func TestLongPathsAreRefused(t *testing.T) {
	path := filepath.Join(filepath.Dir(socketPath(t)), strings.Repeat("s", frame.MaxPath)+".sock")
	_, err := api.Listen(path, locked)
	if err == nil || !strings.Contains(err.Error(), "at most 103") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("its folder was made")
	}
}

// TestOnlyTheLockReplacesASocket finds a dead socket and looks for the lock before touching it.
func TestOnlyTheLockReplacesASocket(t *testing.T) {
	path := socketPath(t)
	must(t, os.Mkdir(filepath.Dir(path), 0o700))
	plainSocket(t, path).Close()
	before, err := os.Lstat(path)
	must(t, err)
	taken := errors.New("another daemon has it")
	if _, err := api.Listen(path, func() error { return taken }); !errors.Is(err, taken) {
		t.Errorf("got %v", err)
	}
	now, err := os.Lstat(path)
	if err != nil || !os.SameFile(before, now) {
		t.Errorf("the socket was touched: %v", err)
	}
	l, err := api.Listen(path, locked)
	must(t, err)
	defer l.Close()
	if _, ok := l.Displaced(); ok {
		t.Error("a dead socket is called alive")
	}
	if now, err = os.Lstat(path); err != nil || os.SameFile(before, now) {
		t.Errorf("the dead socket is still there: %v", err)
	}
}

// TestAFakeThatWasFirst loses its place to the daemon that holds the lock, and is named.
func TestAFakeThatWasFirst(t *testing.T) {
	path := socketPath(t)
	must(t, os.Mkdir(filepath.Dir(path), 0o700))
	fake := plainSocket(t, path)
	l, err := api.Listen(path, locked)
	must(t, err)
	defer l.Close()
	cred, ok := l.Displaced()
	if !ok || cred.PID != os.Getpid() || int(cred.UID) != os.Geteuid() {
		t.Errorf("got %+v, %v", cred, ok)
	}
	probe, err := fake.Accept()
	must(t, err)
	defer probe.Close()
	if n, _ := probe.Read(make([]byte, 1)); n > 0 {
		t.Error("the fake was told something")
	}
	go func() {
		nc, err := net.Dial("unix", path)
		if err == nil {
			nc.Close()
		}
	}()
	nc, err := l.AcceptUnix()
	must(t, err)
	nc.Close()
}

// TestAReplacedDaemonLeavesTheNewSocket closes the old listener after the new one took its place.
func TestAReplacedDaemonLeavesTheNewSocket(t *testing.T) {
	path := socketPath(t)
	old, err := api.Listen(path, locked)
	must(t, err)
	fresh, err := api.Listen(path, locked)
	must(t, err)
	if cred, ok := fresh.Displaced(); !ok || cred.PID != os.Getpid() {
		t.Errorf("got %+v, %v", cred, ok)
	}
	must(t, old.Close())
	if got := mode(t, path); got.Type() != fs.ModeSocket {
		t.Errorf("the socket is %v", got)
	}
	must(t, fresh.Close())
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// TestACrashBeforeTheName leaves a socket under its first name, with any mode.
func TestACrashBeforeTheName(t *testing.T) {
	path := socketPath(t)
	must(t, os.Mkdir(filepath.Dir(path), 0o700))
	first := strings.TrimSuffix(path, ".sock") + ".new"
	for _, perm := range []fs.FileMode{0o600, 0o755} {
		plainSocket(t, first).Close()
		must(t, os.Chmod(first, perm))
		l, err := api.Listen(path, locked)
		must(t, err)
		if _, err := os.Lstat(first); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("mode %v: %v", perm, err)
		}
		must(t, l.Close())
	}
}

// TestU_156_AnotherUsersSocket stands where ours belongs.
func TestU_156_AnotherUsersSocket(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give a socket to another user")
	}
	path := socketPath(t)
	must(t, os.Mkdir(filepath.Dir(path), 0o700))
	plainSocket(t, path)
	must(t, os.Chown(path, testkit.UID, testkit.UID))
	if _, err := api.Listen(path, locked); err == nil || !strings.Contains(err.Error(), "owned by uid 12345, not 0") {
		t.Errorf("the server: %v", err)
	}
	_, err := api.Dial(t.Context(), frame.Dialer{Path: path, Self: hello()})
	if codeOf(err) != api.Unreachable || !strings.Contains(err.Error(), "owned by uid 12345, not 0") || !strings.Contains(api.AsError(err).Hint, "uid 12345") {
		t.Errorf("the client: %v", err)
	}
	must(t, os.Chown(filepath.Dir(path), testkit.UID, testkit.UID))
	if _, err := api.Listen(path, locked); err == nil || !strings.Contains(err.Error(), filepath.Dir(path)+": owned by uid 12345, not 0") {
		t.Errorf("the folder: %v", err)
	}
}

// TestU_155_NoPlaceForASocket has a folder above that can't be written, and one that is missing.
func TestU_155_NoPlaceForASocket(t *testing.T) {
	if testkit.AsUser(t) {
		return
	}
	path := socketPath(t)
	above := filepath.Dir(filepath.Dir(path))
	must(t, os.Chmod(above, 0o500))
	defer os.Chmod(above, 0o700)
	for _, p := range []string{path, filepath.Join(above, "missing", "run", "warder.sock")} {
		_, err := api.Listen(p, locked)
		var place *frame.PlaceError
		if !errors.As(err, &place) || !strings.Contains(place.Repair, "WARDER_HOME") {
			t.Errorf("%s: %v", p, err)
		}
	}
}
