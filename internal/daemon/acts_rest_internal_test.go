package daemon

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warder/internal/api"
	"warder/internal/audit"
	"warder/internal/vault"
)

// TestAgentsAreDeniedAtOnce: whatever takes presence, an agent is refused without a look at its proof, so that it can neither
// guess passwords this way nor keep a person waiting.
func TestAgentsAreDeniedAtOnce(t *testing.T) {
	s := newScene(t)
	s.add(person(), "open", "read", token)
	yes := api.Act{Presence: true}
	for _, who := range []*client{agent(), subagent(), unknown()} {
		for op, in := range map[string]any{
			api.OpItemShow: api.ItemShow{Act: yes, Name: "open", Reveal: true},
			api.OpExport:   api.Export{Act: yes, Format: "json"},
			api.OpTrustAdd: api.TrustDir{Act: yes, Dir: s.dir},
			api.OpNewKit:   yes,
			api.OpRepair:   api.RepairAct{Act: yes, Do: "accept-restore"},
		} {
			res := s.do(who, op, in, masterPassword)
			s.refused(res, api.Denied)
			if len(res.values) > 0 {
				t.Errorf("%s: a value", op)
			}
			s.do(who, op, in, "wrong-password-9-by-far")
		}
		s.refused(s.do(who, api.OpPasswd, api.Passwd{Act: yes}, masterPassword), api.Denied)
		s.refused(s.send(who, api.OpPasswd, api.Passwd{Act: api.Act{Presence: true, Hash: "h", Challenge: "c"}}, "a proof"), api.Denied)
	}
	wrong, err := vault.WrongPasswords(placesOf(s))
	if err != nil || wrong != 0 {
		t.Errorf("%d wrong passwords were counted: %v", wrong, err)
	}
	var hint api.ItemShow
	hint.Name, hint.Reveal = "open", true
	if res := s.do(agent(), api.OpItemShow, hint); !strings.Contains(res.err.Hint, "warder run") {
		t.Errorf("hint %q", res.err.Hint)
	}
	s.acts.unattended = true
	serve(s)
	hint.Presence = true
	s.refused(s.do(person(), api.OpItemShow, hint, masterPassword), api.Denied)
	s.refused(s.do(person(), api.OpPasswd, api.Passwd{Act: yes}, masterPassword), api.Denied)
}

// TestNoRecordNoAct: when the log can't be written nothing is changed and no value leaves.
func TestNoRecordNoAct(t *testing.T) {
	s := newScene(t)
	s.add(person(), "there", "", token)
	must(t, s.log.Close())
	show := api.ItemShow{Name: "there", Reveal: true}
	show.Presence = true
	res := s.do(person(), api.OpItemShow, show, masterPassword)
	s.refused(res, api.Denied)
	if len(res.values) > 0 {
		t.Error("a value left unrecorded")
	}
	s.refused(s.do(person(), api.OpItemAdd, api.ItemAdd{Name: "new", Type: "other"}), api.Denied)
	s.refused(s.do(person(), api.OpItemRemove, api.ItemName{Name: "there"}), api.Denied)
	if s.held("there") != token {
		t.Error("changed")
	}
}

// TestLocked: what needs the account says so; the log and the trusted directories do not.
func TestLocked(t *testing.T) {
	s := newScene(t)
	s.account = nil
	for op, o := range s.ops {
		if op == api.OpRunValues || op == api.OpRunEnd {
			continue // they are about what was begun before
		}
		if slices.Contains([]string{api.OpTrustList, api.OpTrustRemove, api.OpAuditTail, api.OpAuditShow}, op) {
			continue
		}
		var values []string
		if o.Takes > 0 {
			values = []string{masterPassword}
		}
		s.refused(s.do(person(), op, api.Act{}, values...), api.Locked)
	}
	s.ok(s.do(agent(), api.OpTrustList, nil), nil)
	res := s.do(agent(), api.OpAuditTail, api.AuditTail{N: 3})
	s.ok(res, nil)
	if n := strings.Count(string(res.json), "\n"); n != 3 {
		t.Errorf("%d records", n)
	}
}

// TestTrust: a person with presence trusts, anybody ends it, and some places are never workspaces.
func TestTrust(t *testing.T) {
	s := newScene(t)
	home := filepath.Join(s.dir, "home")
	work := filepath.Join(home, "work")
	must(t, os.MkdirAll(filepath.Join(work, "sub"), 0o700))
	must(t, os.Symlink(work, filepath.Join(home, "link")))
	s.acts.home, s.acts.places = home, []string{filepath.Join(s.dir, "account")}
	in := func(dir string) api.TrustDir { return api.TrustDir{Act: api.Act{Presence: true}, Dir: dir} }
	for _, dir := range []string{
		"/", home, s.dir, filepath.Join(s.dir, "account"), filepath.Join(s.dir, "state", "audit"), filepath.Join(home, ".."), home + "/./",
	} {
		s.refused(s.do(person(), api.OpTrustAdd, in(dir), masterPassword), api.Denied)
	}
	s.refused(s.do(person(), api.OpTrustAdd, in("work"), masterPassword), api.Usage)
	s.refused(s.do(person(), api.OpTrustAdd, in(filepath.Join(home, "none")), masterPassword), api.NotFound)
	ask := s.do(person(), api.OpTrustAdd, api.TrustDir{Dir: filepath.Join(home, "link")})
	s.refused(ask, api.NeedsApproval)
	if real, err := filepath.EvalSymlinks(work); err != nil || !strings.Contains(ask.err.Message, real) {
		t.Errorf("asked %q", ask.err.Message)
	}
	s.ok(s.do(person(), api.OpTrustAdd, in(filepath.Join(home, "link")), masterPassword), nil)
	s.ok(s.do(person(), api.OpTrustAdd, in(work), masterPassword), nil)
	var list api.TrustList
	s.ok(s.do(agent(), api.OpTrustList, nil), &list)
	if len(list.Dirs) != 1 || filepath.Base(list.Dirs[0]) != "work" {
		t.Errorf("trusted: %q", list.Dirs)
	}
	must(t, os.RemoveAll(filepath.Join(home, "link")))
	s.ok(s.do(agent(), api.OpTrustRemove, api.TrustDir{Dir: work}), nil)
	s.refused(s.do(agent(), api.OpTrustRemove, api.TrustDir{Dir: work}), api.NotFound)
}

// TestAuditShowsNamesToPersons: sealed names are opened for a person and stay sealed for an agent.
func TestAuditShowsNamesToPersons(t *testing.T) {
	s := newScene(t)
	added := s.add(person(), "topsecretname", "", token)
	s.add(person(), "plainname", "use", token)
	for who, want := range map[*client]bool{person(): true, agent(): false} {
		res := s.do(who, api.OpAuditTail, api.AuditTail{N: 100})
		s.ok(res, nil)
		if got := strings.Contains(string(res.json), "personal/topsecretname"); got != want {
			t.Errorf("%s: named %t", who.id.Verdict, got)
		}
		if !strings.Contains(string(res.json), "personal/plainname") {
			t.Errorf("%s: what is open is not named", who.id.Verdict)
		}
		res = s.do(who, api.OpAuditShow, api.AuditShow{ID: added.Undo})
		s.ok(res, nil)
		if n := strings.Count(string(res.json), "\n"); n != 3 {
			t.Errorf("%d records of an act", n)
		}
		res = s.do(who, api.OpAuditShow, api.AuditShow{ID: "2"})
		s.ok(res, nil)
		if n := strings.Count(string(res.json), `"seq":2`); n != 1 {
			t.Errorf("%d records of a number", n)
		}
		s.refused(s.do(who, api.OpAuditShow, api.AuditShow{ID: "i0"}), api.NotFound)
	}
	var rec struct {
		ID, Tool  string
		Principal struct{ Verdict string }
	}
	res := s.do(person(), api.OpAuditTail, api.AuditTail{N: 1})
	must(t, json.Unmarshal(res.json, &rec))
	if rec.Tool != api.OpAuditShow || rec.Principal.Verdict != "agent" && rec.Principal.Verdict != "person" || rec.ID == "" {
		t.Errorf("record %s", res.json)
	}
}

// TestAuditTailBehindARotation: records that were rotated away are no damage, and records of a closed log can be followed to its end.
func TestAuditTailBehindARotation(t *testing.T) {
	s := newScene(t)
	must(t, s.log.Close())
	log, err := audit.Open(s.logs, audit.Options{MaxSize: 4096, Generations: 1})
	must(t, err)
	t.Cleanup(func() { log.Close() })
	s.acts.log = log
	serve(s)
	for range 30 {
		s.ok(s.do(person(), api.OpItemList, api.ItemListIn{}), nil)
	}
	all := s.do(person(), api.OpAuditTail, api.AuditTail{N: 1 << 40}) // all there are
	s.ok(all, nil)
	if n := strings.Count(string(all.json), "\n"); n < 3 || n > 60 {
		t.Errorf("%d records are kept", n)
	}
	some := s.do(person(), api.OpAuditTail, api.AuditTail{N: 2})
	s.ok(some, nil)
	if n := strings.Count(string(some.json), "\n"); n != 2 {
		t.Errorf("%d records, want 2", n)
	}
	s.refused(s.do(person(), api.OpAuditShow, api.AuditShow{ID: "1"}), api.NotFound)
}

// TestTheLogCountsNoItems: agents read the log, so it does not tell how many items or projects a person's list had.
func TestTheLogCountsNoItems(t *testing.T) {
	s := newScene(t)
	s.add(person(), "hidden", "none", token)
	for _, op := range []string{api.OpItemList, api.OpProjectList} {
		s.ok(s.do(person(), op, nil), nil)
		all := s.records()
		if last := all[len(all)-1]; last.Event != "tool_execution.completed" || last.Tool != op || last.Data != nil {
			t.Errorf("%s leaves %s %s %s", op, last.Event, last.Tool, last.Data)
		}
	}
}

// TestAuditFollow: what comes is sent until the client goes.
func TestAuditFollow(t *testing.T) {
	s := newScene(t)
	ctx, cancel := context.WithCancel(t.Context())
	call := &api.Call{Op: api.OpAuditTail, Peer: agent(), Input: json.RawMessage(`{"n":0,"follow":true}`)}
	got := make(chan string, 10_000)
	done := make(chan error)
	go func() {
		done <- s.ops[api.OpAuditTail].Stream(ctx, call, func(item any) error {
			got <- string(item.(api.AuditRecord))
			return nil
		})
	}()
	text := ""
	for text == "" { // the first may come before the follower looks
		s.ok(s.do(person(), api.OpItemList, api.ItemListIn{}), nil)
		select {
		case text = <-got:
		default:
		}
	}
	if !strings.Contains(text, api.OpItemList) {
		t.Errorf("followed %s", text)
	}
	cancel()
	must(t, <-done)
}

// TestPasswdAndKit: the old password is the proof of the one, the present one of the other.
func TestPasswdAndKit(t *testing.T) {
	s := newScene(t)
	fresh := "another battery staple 99 horse"
	yes := api.Act{Presence: true}
	s.refused(s.do(person(), api.OpPasswd, nil), api.NeedsApproval)
	s.refused(s.do(person(), api.OpPasswd, api.Passwd{Act: yes}, masterPassword), api.Usage) // it carries no new one
	s.carries = "short"
	s.refused(s.do(person(), api.OpPasswd, api.Passwd{Act: yes}, masterPassword), api.Usage)
	s.carries = fresh
	var done api.Receipt
	s.ok(s.do(person(), api.OpPasswd, api.Passwd{Act: yes}, masterPassword), &done)
	if done.Receipt == "" || done.Receipt != s.receipt {
		t.Errorf("receipt %q, want %q", done.Receipt, s.receipt)
	}
	s.carries = ""
	s.refused(s.do(person(), api.OpNewKit, api.Act{}), api.NeedsApproval)
	s.refused(s.do(person(), api.OpNewKit, yes, masterPassword), api.WrongPassword)
	s.now = s.now.Add(2e9)
	res := s.do(person(), api.OpNewKit, yes, fresh)
	var kit api.KitInfo
	s.ok(res, &kit)
	if len(res.values) != 2 || kit.Account == "" || kit.StateCode == "" || kit.Receipt.Receipt != s.receipt {
		t.Errorf("kit %+v with %d values", kit, len(res.values))
	}
}

// TestRepair: what is wrong is listed, a left-over item is taken in, and none of it by an agent.
func TestRepair(t *testing.T) {
	s := newScene(t)
	s.add(person(), "orphaned", "", token)
	var list api.RepairList
	s.ok(s.do(person(), api.OpRepairList, nil), &list)
	if len(list.Findings)+len(list.Orphans) != 0 {
		t.Fatalf("a new account: %+v", list)
	}
	s.refused(s.do(person(), api.OpRepair, api.RepairAct{Do: "dance"}), api.Usage)
	s.refused(s.do(person(), api.OpRepair, api.RepairAct{Do: "adopt", ID: "x"}), api.Usage)
	s.refused(s.do(person(), api.OpRepair, api.RepairAct{Do: "accept-restore"}), api.NeedsApproval)
	yes := api.Act{Presence: true}
	id := strings.Repeat("0", 32)
	for _, do := range []string{"adopt", "forget"} {
		s.refused(s.do(person(), api.OpRepair, api.RepairAct{Act: yes, Do: do, ID: id}, masterPassword), api.NotFound)
	}
	var done api.Repaired
	s.ok(s.do(person(), api.OpRepair, api.RepairAct{Act: yes, Do: "accept-restore"}, masterPassword), &done)
	s.ok(s.do(person(), api.OpRepair, api.RepairAct{Act: yes, Do: "new-device"}, masterPassword), &done)
	if s.held("orphaned") != token {
		t.Error("an item was lost")
	}
}
