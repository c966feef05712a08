package daemon_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warder/internal/api"
	"warder/internal/seal"
)

// readOnce makes an account that was only read, and a daemon that has ended.
func readOnce(t *testing.T, h *home) (unlock func()) {
	t.Helper()
	password := h.account(t)
	unlock = func() { t.Helper(); h.unlock(t, password) }
	unlock()
	for range 10 {
		must(t, h.call(t, api.OpItemList, nil, nil))
	}
	h.stop(t)
	return unlock
}

// requireBroken wants a finding that stays, however often the account is opened.
func requireBroken(t *testing.T, h *home, unlock func(), causes ...string) {
	t.Helper()
	for range 2 {
		unlock()
		var report api.AuditReport
		must(t, h.call(t, api.OpAuditVerify, nil, &report))
		if report.OK || report.FirstBad == nil || !slices.Contains(causes, report.FirstBad.Cause) {
			t.Errorf("the log: %+v, %+v, want one of %q", report, report.FirstBad, causes)
		}
		if s := h.status(t); s.Audit.OK || s.Account.State != "unlocked" {
			t.Errorf("status: %+v, %+v", s.Audit, s.Account)
		}
		h.stop(t)
	}
}

// TestALogThatIsTakenAway removes the log of an account into which nobody has written.
func TestALogThatIsTakenAway(t *testing.T) {
	h := newHome(t)
	unlock := readOnce(t, h)
	must(t, os.RemoveAll(filepath.Join(h.state, "audit")))
	requireBroken(t, h, unlock, "cut", "gap")
}

// TestCheckpointsThatAreTakenAway are not made anew as if they had never been.
func TestCheckpointsThatAreTakenAway(t *testing.T) {
	h := newHome(t)
	unlock := readOnce(t, h)
	must(t, os.Remove(filepath.Join(h.state, "audit", "checkpoints")))
	requireBroken(t, h, unlock, "key")
}

// TestALogMadeAnewWithoutAKey changes a record and makes all that follows fit: hashes, MACs of a new key, its file, and no
// checkpoint to contradict it.
func TestALogMadeAnewWithoutAKey(t *testing.T) {
	h := newHome(t)
	unlock := readOnce(t, h)
	dir := filepath.Join(h.state, "audit")
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	must(t, err)
	key, err := seal.NewAuditKey()
	must(t, err)
	var forged []byte
	st := seal.AuditState{}
	for _, r := range events(t, h) {
		if r.Seq == 5 {
			r.Reason = "a person asked for it"
		}
		r.Prev = st.Head
		unproved := r.Line()
		const mac = len(`,"mac":"`) + 64 + len(`"}`)
		r.MAC, err = seal.MACRecord(key, unproved[:len(unproved)-mac])
		must(t, err)
		st.Seq, st.Head = r.Seq, seal.HashOf(r.Line())
		key, err = key.Next()
		must(t, err)
		forged = append(append(forged, r.Line()...), '\n')
	}
	st.Next = key
	must(t, os.WriteFile(files[0], forged, 0o600))
	must(t, st.File(func(file []byte) error { return os.WriteFile(filepath.Join(dir, "key"), file, 0o600) }))
	must(t, os.Remove(filepath.Join(dir, "checkpoints")))
	requireBroken(t, h, unlock, "tamper", "key")
}

// TestAnUnattendedLogBeginsAnew takes the whole log of an account away whose breaks nobody can declare. The log says so.
func TestAnUnattendedLogBeginsAnew(t *testing.T) {
	h := newHome(t)
	_, _, err := h.start(t, api.OpStartCreate, api.StartCreate{Unattended: true})
	must(t, err)
	h.stop(t)
	must(t, os.Rename(filepath.Join(h.state, "audit"), filepath.Join(h.state, "audit-old")))
	h.mustStart(t, api.OpStart, nil)
	var report api.AuditReport
	for range 2 { // it is not forgotten with the daemon that found it
		must(t, h.call(t, api.OpAuditVerify, nil, &report))
		s := h.status(t)
		if !report.OK || !report.Full || report.Signed == 0 || !s.Audit.OK || s.Audit.Signed != report.Signed {
			t.Errorf("the log: %+v, %+v; status %+v", report, report.FirstBad, s.Audit)
		}
		h.stop(t)
		h.mustStart(t, api.OpStart, nil)
	}
	h.requireEvent(t, "audit.begun_anew")

	h.stop(t)
	must(t, os.Remove(filepath.Join(h.state, "audit", "checkpoints")))
	h.mustStart(t, api.OpStart, nil)
	must(t, h.call(t, api.OpAuditVerify, nil, &report))
	if report.OK || !strings.Contains(report.Hint, filepath.Join(h.state, "audit")) {
		t.Errorf("broken: %+v", report)
	}
}

// TestDamageIsNotForgotten changes a record under a daemon that runs. From when somebody verifies until a person declares it,
// status says so: with the account locked, by another daemon, and by one that never opened it.
func TestDamageIsNotForgotten(t *testing.T) {
	h := newHome(t)
	unlock := readOnce(t, h)
	unlock()
	files, err := filepath.Glob(filepath.Join(h.state, "audit", "*.jsonl"))
	must(t, err)
	f, err := os.OpenFile(files[0], os.O_RDWR, 0)
	must(t, err)
	text, err := os.ReadFile(files[0])
	must(t, err)
	at := bytes.Index(text, []byte(`"item.list"`))
	_, err = f.WriteAt([]byte(`"item.lisT"`), int64(at))
	must(t, errors.Join(err, f.Close()))
	bad := uint64(1 + bytes.Count(text[:at], []byte("\n")))

	var report api.AuditReport
	must(t, h.call(t, api.OpAuditVerify, nil, &report))
	want := func(when string) {
		t.Helper()
		if s := h.status(t).Audit; s.OK || s.FirstBad == nil || s.FirstBad.Seq != bad || s.FirstBad.Cause != "tamper" {
			t.Errorf("%s: %+v, %+v; want tamper at %d", when, s, s.FirstBad, bad)
		}
	}
	want("verified")
	must(t, h.call(t, api.OpLock, nil, nil))
	want("locked")
	h.stop(t)
	cmd := exec.Command(h.binary, "status")
	cmd.Env = []string{"HOME=" + h.dir, "WARDER_HOME=" + h.dir}
	text, err = cmd.CombinedOutput()
	if told := fmt.Sprintf("damaged at seq %d (tamper", bad); cmd.ProcessState.ExitCode() != 8 || !strings.Contains(string(text), told) {
		t.Errorf("without a daemon: %v, %s", err, text)
	}
	h.mustStart(t, api.OpStart, nil)
	want("another daemon, locked")
	unlock()
	want("another daemon, unlocked")
}

// TestAnUnattendedAccountThatDoesNotOpen says why to whoever starts the daemon, in status, and in what needs the account.
func TestAnUnattendedAccountThatDoesNotOpen(t *testing.T) {
	h := newHome(t)
	_, _, err := h.start(t, api.OpStartCreate, api.StartCreate{Unattended: true})
	must(t, err)
	want := func(started api.Started, parts ...string) {
		t.Helper()
		s := h.status(t).Account
		told := h.call(t, api.OpItemList, nil, nil)
		for _, part := range parts {
			if !strings.Contains(started.Locked, part) || !strings.Contains(s.Why, part) || !strings.Contains(told.Error(), part) {
				t.Errorf("%q is missing: started %+v, status %+v, told %v", part, started, s, told)
			}
		}
		if s.State != "locked" || s.Hint == "" || started.Hint != s.Hint || codeOf(told) != api.Locked {
			t.Errorf("started %+v, status %+v, told %v", started, s, told)
		}
	}
	h.stop(t)
	password := filepath.Join(h.state, "unattended", "password")
	must(t, os.Rename(password, password+"-away"))
	must(t, os.WriteFile(password, []byte("another"), 0o600))
	want(h.mustStart(t, api.OpStart, nil), password)
	h.stop(t)
	must(t, os.Rename(password+"-away", password))
	if started := h.mustStart(t, api.OpStart, nil); started.Locked != "" || h.status(t).Account.Why != "" {
		t.Errorf("it is open: %+v, %+v", started, h.status(t).Account)
	}
}
