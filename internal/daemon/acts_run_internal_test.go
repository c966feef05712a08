package daemon

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/api"
	"warder/internal/gate"
)

// TestLeaseEnds: a lease is open until its holder tells, or the daemon ends; what was not given by then is wiped.
func TestLeaseEnds(t *testing.T) {
	s := newScene(t)
	s.ok(s.do(person(), api.OpItemAdd, api.ItemAdd{
		Name: "gh", Type: "api-token", Level: "use", Fields: []api.FieldIn{{Name: "token", Concealed: true}},
	}, "zq7-Lm2-Xv9-Rk4-Tb8"), nil)
	var permit api.RunPermit
	s.ok(s.do(agent(), api.OpRun, api.RunBegin{
		Item: "gh", Program: "/bin/true", Argv: []string{"true"}, Inject: []api.RunInject{{Var: "V", As: api.ByEnv}},
	}), &permit)
	if !permit.Mask || len(permit.Values) != 1 || permit.Values[0] != (api.RunValue{Var: "V", As: api.ByEnv, Secret: true}) {
		t.Errorf("the permit: %+v", permit)
	}
	if !s.acts.gate.Holds(7) || s.acts.gate.Holds(8) {
		t.Error("the holder is not known")
	}
	s.acts.gate.Shut()
	if s.acts.gate.Holds(7) {
		t.Error("the lease is still open")
	}
	rec := s.records()
	if last := rec[len(rec)-1]; last.Outcome != "unknown" || last.ID != permit.Lease {
		t.Errorf("recorded %+v", last)
	}
}

// TestEnvFileInTheLog: the records of a run with an env file name what it lent, sealed unless all of it is open to all.
func TestEnvFileInTheLog(t *testing.T) {
	s := newScene(t)
	for _, name := range []string{"gh", "db", "bank"} {
		level := "use"
		if name == "bank" {
			level = ""
		}
		s.add(person(), name, level, token)
	}
	ref := func(name string) api.RunRef {
		return api.RunRef{Var: "V_" + name, Ref: "warder://personal/" + name + "/token"}
	}
	for _, row := range []struct {
		refs []api.RunRef
		item string
	}{
		{[]api.RunRef{ref("gh")}, "personal/gh"},
		{[]api.RunRef{ref("gh"), ref("db"), {Var: "MODE"}, {Var: "X", Ref: "warder://personal/gh/token"}}, "personal/gh, personal/db"},
		{[]api.RunRef{ref("gh"), ref("bank")}, "sealed"},
	} {
		s.refused(s.do(person(), api.OpRun, api.RunBegin{File: "/app.env", Refs: row.refs, Program: "/bin/true", Argv: []string{"true"}}), api.NeedsApproval)
		all := s.records()
		got := all[len(all)-1].Item
		if row.item == "sealed" && strings.Contains(got, "personal") || row.item != "sealed" && got != row.item {
			t.Errorf("%v is recorded as %q", row.refs, got)
		}
	}
}

// TestNeverEnv: a value that no variable may hold reaches a program in other ways, and only a person's presence takes that back.
func TestNeverEnv(t *testing.T) {
	s := newScene(t)
	s.ok(s.do(person(), api.OpItemAdd, api.ItemAdd{
		Name: "gh", Type: "api-token", Level: "use", NeverEnv: true, Fields: []api.FieldIn{{Name: "token", Concealed: true}},
	}, token), nil)
	run := func(as string) result {
		return s.do(agent(), api.OpRun, api.RunBegin{
			Item: "gh", Program: "/bin/true", Argv: []string{"true"}, Inject: []api.RunInject{{Var: "V", As: as}},
		})
	}
	s.refused(run(api.ByEnv), api.Usage)
	s.ok(run(api.ByFile), nil)
	s.ok(run(api.ByStdin), nil)
	var shown api.ItemShown
	s.ok(s.do(agent(), api.OpItemShow, api.ItemShow{Name: "gh"}), &shown)
	if !shown.NeverEnv {
		t.Error("it does not show")
	}
	off := false
	s.refused(s.do(agent(), api.OpItemEdit, api.ItemEdit{Name: "gh", NeverEnv: &off}), api.Denied)
	s.refused(s.do(person(), api.OpItemEdit, api.ItemEdit{Name: "gh", NeverEnv: &off}), api.NeedsApproval)
	s.ok(s.do(person(), api.OpItemEdit, api.ItemEdit{Act: api.Act{Presence: true}, Name: "gh", NeverEnv: &off}, masterPassword), nil)
	s.ok(run(api.ByEnv), nil)
	on, done := true, api.Changed{}
	s.ok(s.do(person(), api.OpItemEdit, api.ItemEdit{Name: "gh", NeverEnv: &on}), &done)
	s.refused(run(api.ByEnv), api.Usage)
	s.refused(s.do(person(), api.OpItemUndo, api.ItemUndo{Tag: done.Undo}), api.NeedsApproval)
}

// TestNoLeasebook: a state directory that takes no more keeps no daemon from serving; what is open ends with it.
func TestNoLeasebook(t *testing.T) {
	s := newScene(t)
	must(t, os.WriteFile(filepath.Join(s.acts.state.Path(), leasesDir), nil, 0o600)) // where the directory would be
	d := &Daemon{state: s.acts.state, keep: &keeper{account: s.account}, log: slog.New(slog.DiscardHandler)}
	book := openLeases(d)
	if book.keep(gate.Handed{ID: "i1"}) == nil || len(d.warnings) != 1 {
		t.Errorf("warned %q", d.warnings)
	}
	book.takeOver(s.acts.gate, d.warn)
	book.drop("i1")
}

// TestStrangersHoldNothing: another program than the recorded one is told so, and no lease is opened for it.
func TestStrangersHoldNothing(t *testing.T) {
	s := newScene(t)
	s.add(person(), "gh", "use", token)
	s.acts.holding.ours = func(*client) bool { return false }
	s.ops = s.acts.ops()
	for range 3 {
		s.refused(s.do(agent(), api.OpRun, api.RunBegin{
			Item: "gh", Program: "/bin/true", Argv: []string{"true"}, Inject: []api.RunInject{{Var: "V", As: api.ByEnv}},
		}), api.Denied)
	}
	if s.acts.gate.Holds(7) {
		t.Error("it holds a lease")
	}
	rec := s.records()
	if last := rec[len(rec)-1]; last.Event != "tool_execution.failed" || last.Outcome != "denied" {
		t.Errorf("recorded %+v", last)
	}
}
