package person

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// maxTemp is the longest temporary folder used: a socket below the home of a
// world must not have more than 103 bytes in its path.
const maxTemp = 40

// layout is the folder of a world: programs, homes, and how to enter.
type layout struct {
	dir string
	uid int // of all programs; -1 for the test's own user
}

// newLayout makes the folder.
func newLayout(uid int) (*layout, error) {
	temp := os.TempDir()
	if len(temp) > maxTemp {
		temp = "/tmp"
	}
	dir, err := os.MkdirTemp(temp, "warder-w")
	if err != nil {
		return nil, err
	}
	l := &layout{dir: dir, uid: uid}
	if err := l.fill(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return l, nil
}

// fill makes what every world holds. The folders of the user belong to the user.
func (l *layout) fill() error {
	// Others have to get to the programs, whatever the umask.
	errs := []error{os.Chmod(l.dir, 0o755)}
	for _, dir := range []string{l.bin(), l.named()} {
		errs = append(errs, os.Mkdir(dir, 0o755), os.Chmod(dir, 0o755))
	}
	for _, dir := range []string{l.home(), l.work()} {
		errs = append(errs, os.Mkdir(dir, 0o700))
		if l.uid >= 0 {
			errs = append(errs, os.Chown(dir, l.uid, l.uid))
		}
	}
	self, err := os.Executable()
	errs = append(errs, err, linkOrCopy(self, l.self()))
	if binary := os.Getenv(BinaryVar); binary != "" {
		// A copy: what is done to the file of one world must not reach another.
		errs = append(errs, copyProgram(binary, filepath.Join(l.bin(), "warder")))
	}
	return errors.Join(errs...)
}

func (l *layout) bin() string   { return filepath.Join(l.dir, "bin") }
func (l *layout) named() string { return filepath.Join(l.dir, "as") } // not in PATH: a shell there is none
func (l *layout) home() string  { return filepath.Join(l.dir, "home") }
func (l *layout) work() string  { return filepath.Join(l.dir, "w") } // WARDER_HOME
func (l *layout) self() string  { return filepath.Join(l.dir, "self") }

// program returns the path of a program with this name that is a copy of the
// test binary. One that is there already stays.
func (l *layout) program(name string) (string, error) {
	path := filepath.Join(l.named(), name)
	err := os.Link(l.self(), path)
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	return path, err
}

// environ is the whole environment of what is started in the world. Nothing of
// the test's own gets there: it may run beneath an agent, whose marks would make
// everybody one.
func (l *layout) environ(more ...string) []string {
	return append([]string{
		"PATH=" + l.bin() + ":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
		"HOME=" + l.home(),
		"WARDER_HOME=" + l.work(),
		"SHELL=/bin/sh",
		"LANG=C.UTF-8",
		"TERM=xterm",
	}, more...)
}

// dropTo is the command that starts a program as another user, or nothing.
func dropTo(uid int) []string {
	if uid < 0 || uid == os.Getuid() {
		return nil
	}
	id := strconv.Itoa(uid)
	return []string{"setpriv", "--reuid", id, "--regid", id, "--clear-groups", "--inh-caps=-all", "--"}
}

// namespace is the command that starts a program as the first process of a new
// pid namespace, in a session of its own, and ends with it.
func namespace() []string {
	command := []string{"setsid", "unshare", "--pid", "--fork", "--kill-child", "--mount-proc"}
	if os.Getuid() != 0 {
		command = append(command, "--user", "--map-current-user")
	}
	return command
}

// Missing says why this machine has no worlds, or returns nil.
func Missing() error {
	for _, name := range []string{"setsid", "setpriv", "unshare", "nsenter"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("worlds are made by util-linux: %w", err)
		}
	}
	probe := append(namespace(), "true")
	if out, err := exec.Command(probe[0], probe[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("no pid namespaces for uid %d: %w: %s", os.Getuid(), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// linkOrCopy gives a file another name, or where that is not allowed a copy.
func linkOrCopy(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	return copyProgram(from, to)
}

// copyProgram copies an executable, for everybody to run whatever the umask.
func copyProgram(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Chmod(0o755), dst.Close())
}
