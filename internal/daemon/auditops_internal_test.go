package daemon

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/api"
	"warder/internal/seal"
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
	proof := api.Act{Presence: true, Hash: "of nothing"}
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
	proof.Prove(r.err.Hash)
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
	d := &Daemon{audit: s.log, keep: k.keeper}
	must(t, s.account.WithRoot(func(root seal.RootKey) error { return s.log.Checkpoint(root, s.account.ID()) }))
	for range 3 {
		s.do(person(), api.OpItemList, nil)
	}
	breakLog(t, s)
	for _, open := range []bool{true, false} {
		if !open {
			k.lock(lockAsked, nil)
		}
		reply, err := answers{d}.auditVerify(t.Context(), &api.Call{Op: api.OpAuditVerify, Peer: agent()})
		must(t, err)
		out := reply.Output.(api.AuditReport)
		if out.OK || out.Full != open || out.FirstBad == nil || out.FirstBad.Seq != 1 || out.FirstBad.Cause != "tamper" {
			t.Errorf("open %t: %+v, %+v", open, out, out.FirstBad)
		}
	}
}
