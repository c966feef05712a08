package daemon_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/secret"
	"warder/internal/testkit"
)

// TestASameUserFindsNothing is a program of the same user that reads all it can reach of an unlocked daemon: its files, its
// socket, its entries in /proc, its memory. A value that was stored through that daemon is in none of it, nor is the password.
// The same search finds them in a process that takes no care.
func TestASameUserFindsNothing(t *testing.T) {
	if hidden := os.Getenv(decoyVar); hidden != "" {
		decoy()
		return
	}
	if testkit.AsUser(t) {
		return
	}
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	h := newHome(t)
	password := h.account(t)
	canary := newPassword(t)
	search := testkit.NewSearch(t, reveal(t, "value", canary), reveal(t, "password", password))
	started := h.unlock(t, password)
	storeAndUse(t, h, canary)

	var spy spy
	spy.process(started.PID)
	for _, ask := range askAll(t, h) {
		search.RequireCleanBytes(t, "an answer", ask)
	}
	hits := spy.hits(search)
	if len(hits) > 0 {
		t.Errorf("found: %v", hits)
	}
	if spy.refused == 0 || spy.bytes == 0 {
		t.Errorf("the spy read %d bytes and was refused %d files", spy.bytes, spy.refused)
	}
	if err := syscall.PtraceAttach(started.PID); err == nil {
		_ = syscall.PtraceDetach(started.PID)
		t.Error("a debugger may attach to the daemon")
	}
	if files := requireCleanPlaces(t, h, search); files < 10 {
		t.Errorf("only %d files were searched", files)
	}
	requireNoDump(t, h, search, started.PID)
	requireDecoyIsFound(t, search, canary)
}

// requireCleanPlaces searches the files that the daemon may have written.
func requireCleanPlaces(t *testing.T, h *home, search *testkit.Search) (files int) {
	t.Helper()
	for _, dir := range []string{h.data, h.state} {
		files += search.RequireClean(t, dir)
	}
	return files
}

// reveal makes a canary of a value that the test made.
func reveal(t *testing.T, name string, v secret.Value) testkit.Canary {
	t.Helper()
	c := testkit.Canary{Name: name}
	must(t, v.Use(func(b []byte) { c.Value = append([]byte(nil), b...) }))
	return c
}

// storeAndUse brings a value through the daemon: in, listed, checked, changed, refused.
func storeAndUse(t *testing.T, h *home, canary secret.Value) {
	t.Helper()
	field := []api.FieldIn{{Name: "token", Concealed: true}}
	must(t, h.call(t, api.OpItemAdd, api.ItemAdd{Name: "canary", Type: "login", Level: "use", Fields: field}, nil, canary))
	var checked api.ItemChecked
	must(t, h.call(t, api.OpItemCheck, api.ItemCheck{Name: "canary"}, &checked))
	if !checked.Set {
		t.Fatal("the value was not stored")
	}
	again, err := canary.Clone()
	must(t, err)
	defer again.Destroy()
	_ = h.call(t, api.OpItemEdit, api.ItemEdit{Name: "canary", Set: field}, nil, again)
	if err := h.call(t, api.OpItemShow, api.ItemShow{Name: "canary", Reveal: true}, nil); err == nil {
		t.Fatal("the value was shown without presence")
	}
}

// askAll asks for everything that may be asked, over frames and HTTP, and returns the answers.
func askAll(t *testing.T, h *home) (answers [][]byte) {
	t.Helper()
	for op, in := range map[string]any{
		api.OpStatus: nil, api.OpWhoami: nil, api.OpItemList: nil, api.OpProjectList: nil, api.OpTrustList: nil,
		api.OpItemShow: api.ItemShow{Name: "canary"}, api.OpItemHistory: api.ItemName{Name: "canary"}, api.OpAuditVerify: nil,
		api.OpExport: api.Export{Format: "json"}, api.OpRepairList: nil,
	} {
		var out json.RawMessage
		err := h.call(t, op, in, &out)
		answers = append(answers, fmt.Appendf(nil, "%s %s %v", op, out, err))
		if op == api.OpItemShow && err != nil {
			t.Errorf("%s: %v", op, err)
		}
	}
	c := h.dial(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err := c.Stream(ctx, api.OpAuditTail, api.AuditTail{N: 1000}, func(item json.RawMessage) error {
		answers = append(answers, append([]byte(nil), item...))
		return nil
	})
	must(t, err)
	return answers
}

// spy reads what the kernel lets it read of processes.
type spy struct {
	read    map[string][]byte
	bytes   int
	refused int
}

// process reads every file of a process in /proc, and its memory.
func (s *spy) process(pid int) {
	if s.read == nil {
		s.read = map[string][]byte{}
	}
	root := filepath.Join("/proc", strconv.Itoa(pid))
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			s.refused++
			return nil
		case entry.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			s.keep(path, []byte(target), err)
			if strings.Contains(path, "/fd/") {
				s.file(path)
			}
		case entry.Type().IsRegular() && entry.Name() == "mem":
			s.memory(path)
		case entry.Type().IsRegular() && entry.Name() != "pagemap":
			s.file(path)
		}
		return nil
	})
}

func (s *spy) keep(path string, data []byte, err error) {
	if err != nil {
		s.refused++
	}
	s.read[path] = append(s.read[path], data...)
	s.bytes += len(data)
}

// file reads what is there at once; what waits for its line is left.
func (s *spy) file(path string) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		s.keep(path, nil, err)
		return
	}
	defer syscall.Close(fd)
	buf := make([]byte, 1<<20)
	for range 64 {
		n, err := syscall.Read(fd, buf)
		if n <= 0 {
			s.keep(path, nil, err)
			return
		}
		s.keep(path, buf[:n], nil)
	}
}

// memory reads all that is mapped in a process.
func (s *spy) memory(path string) {
	f, err := os.Open(path)
	if err != nil {
		s.keep(path, nil, err)
		return
	}
	defer f.Close()
	maps, err := os.ReadFile(filepath.Join(filepath.Dir(path), "maps"))
	if err != nil {
		s.keep(path, nil, err)
		return
	}
	for line := range strings.Lines(string(maps)) {
		from, to, ok := mapping(line)
		if !ok || to-from > 256<<20 {
			continue
		}
		data, err := io.ReadAll(io.NewSectionReader(f, from, to-from))
		s.keep(path, data, nil)
		_ = err // pages that can't be read are passed over
	}
}

// mapping is the range of a line of /proc/PID/maps that can be read.
func mapping(line string) (from, to int64, ok bool) {
	var rights string
	if n, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &rights); n != 3 || err != nil {
		return 0, 0, false
	}
	return from, to, strings.HasPrefix(rights, "r") && from >= 0 && to > from
}

// hits are the canaries in what was read.
func (s *spy) hits(search *testkit.Search) (hits []testkit.Hit) {
	for path, data := range s.read {
		hits = append(hits, search.Bytes(path, data)...)
	}
	return hits
}

// requireNoDump makes the daemon crash: what it leaves behind holds nothing.
func requireNoDump(t *testing.T, h *home, search *testkit.Search, pid int) {
	t.Helper()
	must(t, syscall.Kill(pid, syscall.SIGQUIT))
	eventually(t, "the daemon has crashed", func() bool { return hasEnded(pid) })
	requireCleanPlaces(t, h, search)
	log, err := os.ReadFile(filepath.Join(h.state, "daemon.log"))
	must(t, err)
	if !strings.Contains(string(log), "SIGQUIT") {
		t.Error("the crash is not in the daemon's log")
	}
	for _, core := range []string{"/core", "/core." + strconv.Itoa(pid)} {
		if _, err := os.Lstat(core); err == nil {
			t.Errorf("%s was left", core)
		}
	}
}

// decoyVar tells this test binary to be a process that takes no care; it holds the value in hexadecimal.
const decoyVar = "WARDER_TEST_DECOY"

// decoy holds a value in plain memory until its input ends.
func decoy() {
	value, err := hex.DecodeString(os.Getenv(decoyVar))
	if err != nil {
		return
	}
	os.Stdout.WriteString("ready\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Stdout.WriteString(strconv.Itoa(len(value)))
}

// requireDecoyIsFound spies on a process that takes no care with the same means.
func requireDecoyIsFound(t *testing.T, search *testkit.Search, canary secret.Value) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	must(t, canary.Use(func(b []byte) { cmd.Env = append(os.Environ(), decoyVar+"="+hex.EncodeToString(b)) }))
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	defer func() { must(t, errors.Join(in.Close(), ignoreExit(cmd.Wait()))) }()
	_, err = io.ReadFull(out, make([]byte, len("ready\n")))
	must(t, err)
	var spy spy
	spy.process(cmd.Process.Pid)
	where := map[string]bool{}
	for _, hit := range spy.hits(search) {
		where[filepath.Base(hit.Where)] = true
	}
	if !where["environ"] || !where["mem"] {
		t.Errorf("the search is blind: in a careless process it finds the value in %v", where)
	}
}

// ignoreExit passes over the exit status of a helper.
func ignoreExit(err error) error {
	var status *exec.ExitError
	if errors.As(err, &status) {
		return nil
	}
	return err
}

// TestStretchingLeavesNoMemoryBehind makes and recovers an account, each with a full password stretching of 128 MiB, and looks
// at what the daemon keeps of that.
func TestStretchingLeavesNoMemoryBehind(t *testing.T) {
	h := newHome(t)
	started, kit, err := h.start(t, api.OpStartCreate, api.StartCreate{}, newPassword(t))
	must(t, err)
	defer frame.DestroyAll(kit)
	const limit = 80 << 10
	if kib := resident(t, started.PID); kib > limit {
		t.Errorf("the daemon keeps %d KiB", kib)
	}
}

// resident is how much memory a process has, in KiB.
func resident(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	must(t, err)
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			must(t, err)
			return kib
		}
	}
	t.Fatal("the kernel does not tell")
	return 0
}

// TestTheLogOfTheDaemonIsBounded fills daemon.log before a start.
func TestTheLogOfTheDaemonIsBounded(t *testing.T) {
	h := newHome(t)
	path := filepath.Join(h.state, "daemon.log")
	must(t, os.WriteFile(path, []byte(strings.Repeat("x", 1<<20)), 0o600))
	h.mustStart(t, api.OpStart, nil)
	h.stop(t)
	fi, err := os.Stat(path)
	must(t, err)
	if fi.Size() == 0 || fi.Size() > 1<<16 {
		t.Errorf("the log has %d bytes", fi.Size())
	}
}
