package daemon_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"warder/internal/api"
	"warder/internal/testkit"
)

// TestU_153_AFullDisk fills the disk of the state directory. A daemon that runs still says how it is, lends nothing and locks; one
// that is to open the account says why it does not. With room again all is as before.
func TestU_153_AFullDisk(t *testing.T) {
	h := newHome(t)
	mountSmall(t, h.state)
	h.record(t, h.binary)
	password := h.account(t)
	h.unlock(t, password)
	field := []api.FieldIn{{Name: "token", Concealed: true}}
	must(t, h.call(t, api.OpItemAdd, api.ItemAdd{Name: "before", Type: "login", Level: "use", Fields: field}, nil, newPassword(t)))

	free := fill(t, h.state)
	err := h.call(t, api.OpItemAdd, api.ItemAdd{Name: "while", Type: "login", Level: "use", Fields: field}, nil, newPassword(t))
	if err == nil || !strings.Contains(err.Error(), "recorded") {
		t.Errorf("something was stored without a record: %v", err)
	}
	if s := h.status(t); s.Account.State != "unlocked" {
		t.Errorf("account: %+v", s.Account)
	}
	must(t, h.call(t, api.OpLock, nil, nil))
	if s := h.status(t); s.Account.State != "locked" {
		t.Errorf("account: %+v", s.Account)
	}
	_, _, err = h.start(t, api.OpStartUnlock, api.StartUnlock{}, password)
	var told *api.Error
	if !errors.As(err, &told) || !strings.Contains(told.Hint, "make room") {
		t.Errorf("unlocking on a full disk: %v", err)
	}

	free()
	h.unlock(t, password)
	var report api.AuditReport
	must(t, h.call(t, api.OpAuditVerify, nil, &report))
	if !report.OK || !report.Full {
		t.Errorf("the log: %+v, %+v", report, report.FirstBad)
	}
	must(t, h.call(t, api.OpItemAdd, api.ItemAdd{Name: "after", Type: "login", Level: "use", Fields: field}, nil, newPassword(t)))
}

// TestU_153_AnUnattendedAccountOnAFullDisk stays locked, since its opening can't be recorded, and says so.
func TestU_153_AnUnattendedAccountOnAFullDisk(t *testing.T) {
	h := newHome(t)
	mountSmall(t, h.state)
	h.record(t, h.binary)
	h.mustStart(t, api.OpStartCreate, api.StartCreate{Unattended: true})
	h.stop(t)
	free := fill(t, h.state)
	started := h.mustStart(t, api.OpStart, nil)
	s := h.status(t)
	for name, text := range map[string]string{"start": started.Locked, "account": s.Account.Why, "log": s.Audit.Fault} {
		if !strings.Contains(text, filepath.Join(h.state, "audit")) || !strings.Contains(text, syscall.ENOSPC.Error()) {
			t.Errorf("%s: %q", name, text)
		}
	}
	if s.Account.State != "locked" || s.Audit.OK || !strings.Contains(s.Audit.Hint, "make room") || s.Account.Hint != s.Audit.Hint+"; then open it: warder daemon restart" {
		t.Errorf("status: %+v, %+v", s.Account, s.Audit)
	}
	free()
	h.stop(t)
	if started := h.mustStart(t, api.OpStart, nil); started.Locked != "" {
		t.Errorf("with room again: %s", started.Locked)
	}
	if s := h.status(t); s.Account.State != "unlocked" || !s.Audit.OK {
		t.Errorf("with room again: %+v, %+v", s.Account, s.Audit)
	}
}

// mountSmall puts a small file system at dir, where this machine lets the test.
func mountSmall(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m,mode=0700"); err != nil {
		t.Skipf("no file system of the test's own: %v", err)
	}
	t.Cleanup(func() {
		h := syscall.Unmount(dir, syscall.MNT_DETACH)
		must(t, h)
	})
}

// fill takes all room on a disk and returns what gives it back.
func fill(t *testing.T, dir string) (free func()) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	must(t, err)
	for _, size := range []int{64 << 10, 4 << 10, 1} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	must(t, f.Close())
	return func() { must(t, os.Remove(path)) }
}

// TestU_155_AReadOnlyHome takes the right to write from the disk. With the state on another one the account opens and is
// read; without, the daemon says what to set.
func TestU_155_AReadOnlyHome(t *testing.T) {
	h := newHome(t)
	must(t, os.Mkdir(h.data, 0o700))
	mountSmall(t, h.data)
	password := h.account(t)
	readOnly(t, h.data)
	h.unlock(t, password)
	if s := h.status(t); s.Account.State != "unlocked" {
		t.Errorf("account: %+v, %q", s.Account, s.Warnings)
	}
	must(t, h.call(t, api.OpItemList, nil, nil))
	h.stop(t)

	other := newHome(t)
	mountSmall(t, other.state)
	other.record(t, other.binary)
	readOnly(t, other.state)
	output, err := exec.Command(other.binary, other.args()...).CombinedOutput()
	if err == nil || !strings.Contains(string(output), "WARDER_HOME") || !strings.Contains(string(output), other.state) {
		t.Errorf("without a place for the state: %v, %s", err, output)
	}
}

func readOnly(t *testing.T, dir string) {
	t.Helper()
	must(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
}

// TestU_156_PlacesOfAnotherUser gives the daemon places that belong to another user id, as a mounted folder of a container
// does. It says whose they are.
func TestU_156_PlacesOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to give a folder away")
	}
	for _, name := range []string{"run", "state"} {
		h := newHome(t)
		dir := filepath.Join(h.dir, name)
		must(t, os.MkdirAll(dir, 0o700))
		must(t, os.Chown(dir, testkit.UID, testkit.UID))
		output, err := exec.Command(h.binary, h.args()...).CombinedOutput()
		if err == nil || !strings.Contains(string(output), "owned by uid "+strconv.Itoa(testkit.UID)) {
			t.Errorf("%s of another user: %v, %s", name, err, output)
		}
		must(t, os.Chown(dir, 0, 0))
	}
}
