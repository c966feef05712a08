package daemon_test

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"warder/internal/api"
)

// opened watches directories and tells which of them were opened or read since.
type opened struct {
	t     *testing.T
	fd    int
	names map[int32]string
}

func watchOpens(t *testing.T) *opened {
	t.Helper()
	fd, err := syscall.InotifyInit1(syscall.IN_NONBLOCK | syscall.IN_CLOEXEC)
	must(t, err)
	t.Cleanup(func() { syscall.Close(fd) })
	return &opened{t: t, fd: fd, names: map[int32]string{}}
}

// tree makes a directory with directories and a file in it, and watches all of it.
func (o *opened) tree(root string) {
	o.t.Helper()
	for _, dir := range []string{"", "one", "one/two", "one/two/three", ".git", "node_modules"} {
		path := filepath.Join(root, dir)
		must(o.t, os.MkdirAll(path, 0o700))
		must(o.t, os.WriteFile(filepath.Join(path, "file"), []byte("x"), 0o600))
		wd, err := syscall.InotifyAddWatch(o.fd, path, syscall.IN_OPEN|syscall.IN_ACCESS)
		must(o.t, err)
		o.names[int32(wd)] = path
	}
}

// since is what was opened. The system notes it before whoever opened it goes on, so nothing is waited for.
func (o *opened) since() (paths []string) {
	o.t.Helper()
	buf := make([]byte, 64<<10)
	for {
		n, err := syscall.Read(o.fd, buf)
		if errors.Is(err, syscall.EAGAIN) {
			return paths
		}
		must(o.t, err)
		for b := buf[:n]; len(b) > 0; {
			const head = syscall.SizeofInotifyEvent
			wd, mask := binary.NativeEndian.Uint32(b), binary.NativeEndian.Uint32(b[4:])
			name := b[head : head+binary.NativeEndian.Uint32(b[12:])]
			if mask&syscall.IN_Q_OVERFLOW != 0 {
				o.t.Fatal("more was opened than there is room for")
			}
			paths = append(paths, filepath.Join(o.names[int32(wd)], strings.TrimRight(string(name), "\x00")))
			b = b[head+len(name):]
		}
	}
}

// TestU_157_StartWalksNothing plants trees beside and in warder's places, in the user's home and in the project that the user
// is in, and links to another one, as to a home on the network. No start and no first command opens one of them.
func TestU_157_StartWalksNothing(t *testing.T) {
	h := newHome(t)
	password := h.account(t)
	o := watchOpens(t)
	user := filepath.Join(h.dir, "home")
	project, network := filepath.Join(user, "src", "project"), filepath.Join(h.dir, "network")
	for _, dir := range []string{h.config, filepath.Dir(h.sock), filepath.Join(h.data, "account"), filepath.Join(h.state, "audit")} {
		must(t, os.MkdirAll(dir, 0o700))
	}
	o.tree(network)
	o.tree(project)
	for _, dir := range []string{user, h.dir, h.data, h.state, h.config, filepath.Dir(h.sock), filepath.Join(h.state, "audit"), filepath.Join(h.data, "account")} {
		o.tree(filepath.Join(dir, "photos"))
		must(t, os.Symlink(network, filepath.Join(dir, "cloud")))
	}
	_, err := os.ReadDir(filepath.Join(network, "one"))
	must(t, err)
	if len(o.since()) == 0 {
		t.Fatal("the watch sees nothing, so it could not fail")
	}

	clean := func(what string) {
		t.Helper()
		if paths := o.since(); len(paths) > 0 {
			t.Errorf("%s opened %d times what is not its own: %q", what, len(paths), paths[:min(len(paths), 5)])
		}
	}
	h.mustStart(t, api.OpStart, nil)
	clean("a start")
	h.unlock(t, password)
	clean("unlocking")
	must(t, h.call(t, api.OpItemList, nil, nil))
	clean("the first list")
	for _, line := range []string{"version", "status", "whoami", "item list", "daemon restart", "audit tail"} {
		cmd := exec.Command(h.binary, strings.Fields(line)...)
		cmd.Dir, cmd.Env = project, []string{"HOME=" + user, "WARDER_HOME=" + h.dir, "PATH=" + os.Getenv("PATH")}
		if text, err := cmd.CombinedOutput(); err != nil && line != "status" { // which names what lies in the account's folder
			t.Errorf("%s: %v: %s", line, err, text)
		}
		clean(line)
	}
}
