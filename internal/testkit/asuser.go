package testkit

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// UID is the user and group that AsUser drops to. It owns nothing on any
// system; 65534 is not used because file systems map unknown owners to it, so
// a file could seem to be the test's own.
const UID = 12345

// innerMark is set in the environment of a test that AsUser started.
const innerMark = "WARDER_TESTKIT_AS_USER"

// AsUser runs the calling test as an ordinary user where it runs as root, and
// is the first statement of every test that judges owners or modes:
//
//	if testkit.AsUser(t) {
//		return
//	}
//
// As root it starts this one test of this test binary again under [UID], with
// no supplementary groups and with HOME, TMPDIR and a working directory of its
// own that holds a copy of the package's testdata. It logs what the inner run
// prints, takes over its verdict (failed, skipped or passed) and returns true.
// An inner run that shows no verdict for this test is a failure. Where the
// test does not run as root it returns false at once.
//
// Statements before the call run twice, and so does the package's TestMain, the
// second time as that user. Of the checkout the inner run sees testdata alone.
func AsUser(t *testing.T) (parent bool) {
	t.Helper()
	if os.Getuid() != 0 {
		if os.Getenv(innerMark) != "" {
			t.Logf("running as uid %d", os.Getuid())
		}
		return false
	}
	if os.Getenv(innerMark) != "" {
		t.Fatal("testkit: still root after dropping to an ordinary user")
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Fatalf("testkit: a test that judges owners needs setpriv (util-linux) when it runs as root: %v", err)
	}
	inner := newInner(t)
	inner.run(t, setpriv)
	return true
}

// inner is one run of a test under UID.
type inner struct {
	dir    string // readable by UID, removed with the test
	binary string // copy of the test binary: go's own build folder is 0700
	work   string // working directory, holding the copy of testdata
}

// newInner lays out the folders of an inner run.
func newInner(t *testing.T) inner {
	t.Helper()
	dir, err := os.MkdirTemp(sharedTemp(t), "warder-as-user-")
	must(t, err)
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("testkit: removing the folder of the inner run: %v", err)
		}
	})
	must(t, os.Chmod(dir, 0o755))

	in := inner{dir: dir, binary: filepath.Join(dir, "test.bin"), work: filepath.Join(dir, "work")}
	for _, own := range []string{"home", "tmp"} {
		path := filepath.Join(dir, own)
		must(t, os.Mkdir(path, 0o700))
		must(t, os.Chown(path, UID, UID))
	}
	self, err := os.Executable()
	must(t, err)
	must(t, copyFile(self, in.binary, 0o755))
	must(t, os.Mkdir(in.work, 0o755))
	must(t, copyTestdata(filepath.Join(in.work, "testdata")))
	return in
}

// run starts the test again and takes over its verdict.
func (in inner) run(t *testing.T, setpriv string) {
	t.Helper()
	id := strconv.Itoa(UID)
	args := []string{
		"--reuid", id, "--regid", id, "--clear-groups", "--inh-caps=-all", "--",
		in.binary, "-test.run=" + pattern(t.Name()), "-test.v=true", "-test.count=1",
		"-test.paniconexit0=true", "-test.timeout=" + remaining(t).String(),
		"-test.short=" + strconv.FormatBool(testing.Short()),
	}
	cmd := exec.CommandContext(t.Context(), setpriv, args...)
	cmd.Dir = in.work
	cmd.Env = in.environ()
	output, err := cmd.StdoutPipe()
	must(t, err)
	cmd.Stderr = cmd.Stdout
	must(t, cmd.Start())
	verdict := relay(t, output)
	if err := cmd.Wait(); err != nil {
		t.Errorf("testkit: %s as uid %d: %v", t.Name(), UID, err)
		return
	}
	switch verdict {
	case "PASS":
		t.Logf("ran as uid %d: %s", UID, t.Name())
	case "SKIP":
		t.Skipf("skipped as uid %d: %s", UID, t.Name())
	default:
		t.Errorf("testkit: %s as uid %d ended without a verdict", t.Name(), UID)
	}
}

// environ is the caller's environment less what points at root's own places.
func (in inner) environ() []string {
	env := []string{
		"HOME=" + filepath.Join(in.dir, "home"),
		"TMPDIR=" + filepath.Join(in.dir, "tmp"),
		innerMark + "=1",
	}
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		switch {
		case name == "HOME", name == "TMPDIR", name == "PWD", name == "OLDPWD",
			name == "USER", name == "LOGNAME", name == "MAIL", name == "GOCOVERDIR",
			strings.HasPrefix(name, "XDG_"), strings.HasPrefix(name, "SUDO_"):
		default:
			env = append(env, entry)
		}
	}
	return env
}

// relay logs the inner run's output and returns the verdict it holds for the
// test: PASS, FAIL, SKIP, or nothing.
func relay(t *testing.T, output io.Reader) string {
	t.Helper()
	verdict := ""
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		t.Logf("uid %d| %s", UID, lines.Text())
		rest, found := strings.CutPrefix(strings.TrimLeft(lines.Text(), " "), "--- ")
		if !found {
			continue
		}
		word, rest, _ := strings.Cut(rest, ": ")
		if name, _, _ := strings.Cut(rest, " "); name == t.Name() {
			verdict = word
		}
	}
	if err := lines.Err(); err != nil {
		t.Errorf("testkit: reading the inner run's output: %v", err)
	}
	return verdict
}

// pattern is the -test.run expression that selects name and nothing else.
func pattern(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// remaining is the time the inner run may take: a little less than the outer
// one has left, so that its stacks are printed and not the parent's.
func remaining(t *testing.T) time.Duration {
	deadline, ok := t.Deadline()
	if !ok {
		return 10 * time.Minute // go test's own default
	}
	return max(time.Until(deadline)-2*time.Second, time.Second)
}

// sharedTemp returns a temporary folder that every user can reach. The caller's
// TMPDIR may lie below a folder that only root can enter.
func sharedTemp(t *testing.T) string {
	t.Helper()
	for _, dir := range []string{os.TempDir(), "/tmp", "/var/tmp"} {
		if reachable(dir) {
			return dir
		}
	}
	t.Fatal("testkit: no temporary folder that an ordinary user can reach; set TMPDIR")
	return ""
}

// reachable reports whether everyone may search dir and all its parents.
func reachable(dir string) bool {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	for {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return true
		}
		dir = parent
	}
}

// copyTestdata copies the package's testdata, where it has one, to a folder
// that everyone can read.
func copyTestdata(to string) error {
	info, err := os.Stat("testdata")
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("testdata is not a folder")
	}
	return filepath.WalkDir("testdata", func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel("testdata", path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if entry.IsDir() {
			return os.Mkdir(target, 0o755)
		}
		return copyFile(path, target, 0o644)
	})
}

// copyFile copies one regular file to a new one with the given mode, whatever
// the umask.
func copyFile(from, to string, mode os.FileMode) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(dst, src); err != nil {
		dst.Close()
		return err
	}
	if err := dst.Chmod(mode); err != nil {
		dst.Close()
		return err
	}
	return dst.Close()
}

// must ends the test on an error of the helper itself.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("testkit: %v", err)
	}
}
