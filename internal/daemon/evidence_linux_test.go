package daemon_test

import (
	"os"
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
	must(t, h.call(t, api.OpAuditVerify, nil, &report))
	s := h.status(t)
	if !report.OK || !report.Full || !s.Audit.OK || len(s.Warnings) == 0 {
		t.Errorf("the log: %+v, %+v; %q", report, report.FirstBad, s.Warnings)
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
