package daemon

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/api"
	"warder/internal/audit"
	"warder/internal/seal"
	"warder/internal/state"
	"warder/internal/vault"
)

// breakLog changes one byte of a record that was acknowledged.
func breakLog(t *testing.T, s *scene) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.dir, "state", "audit", "*.jsonl"))
	must(t, err)
	if len(files) == 0 {
		t.Fatal("no log")
	}
	text, err := os.ReadFile(files[0])
	must(t, err)
	changed := bytes.Replace(text, []byte(`"item.list"`), []byte(`"item.lisT"`), 1)
	if bytes.Equal(changed, text) {
		t.Fatal("nothing to change")
	}
	must(t, os.WriteFile(files[0], changed, 0o600))
}

// TestSealingABreak declares a log broken: not for an agent, not without presence, not where nothing is wrong.
func TestSealingABreak(t *testing.T) {
	s := newScene(t)
	s.ops[api.OpAuditSeal] = s.acts.sealOp()
	must(t, s.account.WithRoot(func(root seal.RootKey) error { return s.log.Checkpoint(root, s.account.ID()) }))
	for range 3 {
		if r := s.do(person(), api.OpItemList, nil); r.err != nil {
			t.Fatal(r.err)
		}
	}
	proof := api.Act{Presence: true, Hash: "of nothing", Challenge: "none"}
	if r := s.do(person(), api.OpAuditSeal, proof, masterPassword); r.err == nil || r.err.Code != api.Usage {
		t.Errorf("a whole log: %v", r.err)
	}
	breakLog(t, s)
	for _, who := range []*client{agent(), unknown()} {
		if r := s.do(who, api.OpAuditSeal, nil); r.err == nil || r.err.Code != api.Denied {
			t.Errorf("%s: %v", who.id.Verdict, r.err)
		}
	}
	r := s.do(person(), api.OpAuditSeal, nil)
	if r.err == nil || r.err.Code != api.NeedsApproval || !strings.Contains(r.err.Message, "broken at seq ") {
		t.Fatalf("without a proof: %v", r.err)
	}
	proof.Prove(r.err.Hash, r.err.Challenge)
	r = s.do(person(), api.OpAuditSeal, proof, masterPassword)
	if r.err != nil {
		t.Fatal(r.err)
	}
	var sealed api.AuditSealed
	must(t, json.Unmarshal(r.json, &sealed))
	if sealed.Seq == 0 || sealed.Text == "" {
		t.Errorf("sealed %+v", sealed)
	}
	opt, err := verifyOptions(s.account)
	must(t, err)
	report, err := s.log.Verify(t.Context(), opt)
	must(t, err)
	if out := reportOf(report); !out.OK || !out.Full || len(out.Breaks) != 1 || out.Breaks[0].Seq != sealed.Seq {
		t.Errorf("afterwards: %+v", out)
	}
}

// TestVerifyingWhatIsBroken names the record, also while the account is locked.
func TestVerifyingWhatIsBroken(t *testing.T) {
	s := newScene(t)
	k := newKept(t)
	k.account = s.account
	d := &Daemon{audit: s.log, keep: k.keeper, clock: k.hands.clock(), log: slog.New(slog.DiscardHandler)}
	must(t, s.account.WithRoot(func(root seal.RootKey) error { return s.log.Checkpoint(root, s.account.ID()) }))
	for range 3 {
		s.do(person(), api.OpItemList, nil)
	}
	verify := func() api.AuditReport {
		t.Helper()
		reply, err := answers{d}.auditVerify(t.Context(), &api.Call{Op: api.OpAuditVerify, Peer: agent()})
		must(t, err)
		return reply.Output.(api.AuditReport)
	}
	if got := (answers{d}).auditStatus(); !got.OK || got.Checked != "" {
		t.Errorf("before anybody looked: %+v", got)
	}
	verify()
	if got := (answers{d}).auditStatus(); !got.OK || got.Checked == "" {
		t.Errorf("verified: %+v", got)
	}
	breakLog(t, s)
	for _, open := range []bool{true, false} {
		if !open {
			k.lock(lockAsked, nil)
		}
		out := verify()
		if out.OK || out.Full != open || out.FirstBad == nil || out.FirstBad.Seq != 1 || out.FirstBad.Cause != "tamper" {
			t.Errorf("open %t: %+v, %+v", open, out, out.FirstBad)
		}
		if got := (answers{d}).auditStatus(); got.OK || got.FirstBad == nil || got.FirstBad.Seq != out.FirstBad.Seq || got.FirstBad.Cause != out.FirstBad.Cause || got.Hint == "" {
			t.Errorf("open %t: status %+v", open, got)
		}
	}
}

// TestU_142_NoRecordNoAct: what can't be recorded is not done, and the chain does not go on with it. The status says where, why
// and what to do, and once the log can be written it says how much is missing.
func TestU_142_NoRecordNoAct(t *testing.T) {
	s := newScene(t)
	k := newKept(t)
	d := &Daemon{opt: Options{State: filepath.Join(s.dir, "state")}, audit: s.log, keep: k.keeper, log: slog.New(slog.DiscardHandler)}
	s.do(person(), api.OpItemList, nil)
	key := filepath.Join(journal{d}.auditPlace(), "key")
	must(t, os.Rename(key, key+"-away"))
	must(t, os.Mkdir(key, 0o700))
	before, _ := s.log.Head()
	s.refused(s.do(person(), api.OpItemAdd, api.ItemAdd{Name: "blocked", Type: "other"}), api.Denied)
	if now, _ := s.log.Head(); now != before {
		t.Errorf("the chain went on from %d to %d", before, now)
	}
	d.mendAudit(t.Context()) // in vain
	got := answers{d}.auditStatus()
	if got.OK || !strings.Contains(got.Fault, journal{d}.auditPlace()) || got.Hint == "" {
		t.Errorf("status %+v", got)
	}
	must(t, os.Remove(key))
	must(t, os.Rename(key+"-away", key))
	d.mendAudit(t.Context())
	if got := (answers{d}).auditStatus(); !got.OK || got.Fault != "" {
		t.Errorf("it works again: %+v", got)
	}
	if all := s.records(); all[len(all)-1].Event != eventResumed || string(all[len(all)-1].Data) == `{"lost":0}` {
		t.Errorf("the log ends with %s %s", all[len(all)-1].Event, all[len(all)-1].Data)
	}
	s.ok(s.do(person(), api.OpItemAdd, api.ItemAdd{Name: "blocked", Type: "other"}), nil) // the name is not taken
	report, err := s.log.Verify(t.Context(), audit.VerifyOptions{})
	must(t, err)
	if !report.OK {
		t.Errorf("the log: %+v, %+v", report, report.FirstBad)
	}
}

// TestARotationIsSigned: the account signs the log's end when a segment was begun, not only when it is opened and locked.
func TestARotationIsSigned(t *testing.T) {
	places, err := state.CreateDir(filepath.Join(tempDir(t), "state"))
	must(t, err)
	t.Cleanup(func() { places.Close() })
	logs, err := places.Create("audit")
	must(t, err)
	t.Cleanup(func() { logs.Close() })
	log, err := audit.Open(logs, audit.Options{MaxSize: 2000, Generations: 1})
	must(t, err)
	t.Cleanup(func() { log.Close() })
	d := &Daemon{audit: log, log: slog.New(slog.DiscardHandler)}
	account, kit, err := vault.Create(vault.Config{
		AccountDir: filepath.Join(tempDir(t), "account"), StateDir: places.Path(), KDF: seal.FloorKDF(), AuditHead: journal{d}.auditHead,
	}, value(t, masterPassword))
	must(t, err)
	kit.Destroy()
	t.Cleanup(account.Lock)
	k := newKept(t)
	k.account = account
	signed := log.Status().Segment
	newest := func() (seq uint64) {
		for _, m := range marksOf(account) {
			seq = max(seq, m.Seq)
		}
		return seq
	}
	for log.Status().Segment <= 1 {
		journal{d}.note(t.Context(), eventStarted, nil, nil)
		if log.Status().Segment <= 1 {
			signed = journal{d}.signRotation(k.keeper, signed)
		}
	}
	end, _ := log.Head()
	if got := newest(); got >= end {
		t.Fatalf("record %d of %d is signed already", got, end)
	}
	signed = journal{d}.signRotation(k.keeper, signed)
	if got := newest(); got != end {
		t.Errorf("record %d is signed, want %d", got, end)
	}
	journal{d}.note(t.Context(), eventStarted, nil, nil)
	if again := (journal{d}).signRotation(k.keeper, signed); again != signed || newest() != end {
		t.Errorf("signed again at %d without a rotation", newest())
	}
	k.lock(lockAsked, nil)
	if (journal{d}).signRotation(k.keeper, 0) != 0 {
		t.Error("a locked account signs")
	}
}

// TestLogOnDiskLooksAtTheKey: a key file with which no daemon can start is no log that is fine.
func TestLogOnDiskLooksAtTheKey(t *testing.T) {
	s := newScene(t)
	s.log.Note(t.Context(), audit.Record{Event: "test.event"})
	dir := filepath.Join(s.dir, "state")
	key := filepath.Join(dir, auditDirName, "key")
	if told := LogOnDisk(dir, false); !told.OK || told.First != 1 {
		t.Fatalf("a whole log: %+v", told)
	}
	must(t, os.Chmod(key, 0o644))
	if told := LogOnDisk(dir, false); told.OK || !strings.Contains(told.Fault, "no daemon can start") || !strings.Contains(told.Hint, "chmod") {
		t.Errorf("a loose key: %+v", told)
	}
	must(t, os.Remove(key))
	must(t, os.Symlink("elsewhere", key))
	if told := LogOnDisk(dir, false); told.OK || told.Fault == "" {
		t.Errorf("a link: %+v", told)
	}
}
