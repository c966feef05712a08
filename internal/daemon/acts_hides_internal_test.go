package daemon

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/api"
	"warder/internal/audit"
	"warder/internal/vault"
)

// TestAgentLowersItsOwnStage: an agent lowers the level of a stage that is its alone and takes that back, and does neither where
// anybody else had a hand in it; it is told whose the levels are.
func TestAgentLowersItsOwnStage(t *testing.T) {
	s := newScene(t)
	level := func(stage, word string) api.StageIn { return api.StageIn{Project: "shop", Stage: stage, Level: word} }
	var out api.Changed
	s.ok(s.do(agent(), api.OpProjectSet, set("shop", "mine", "", "A"), token), nil)
	s.refused(s.do(subagent(), api.OpProjectStage, level("mine", "ask")), api.Denied)
	s.ok(s.do(agent(), api.OpProjectStage, level("mine", "ask")), &out)
	s.refused(s.do(agent(), api.OpProjectStage, level("mine", "use")), api.Denied)
	s.ok(s.do(agent(), api.OpItemUndo, api.ItemUndo{Tag: out.Undo}), nil)
	s.ok(s.do(agent(), api.OpProjectStage, level("mine", "none")), &out)
	if len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], "warder item undo "+out.Undo) {
		t.Errorf("it closed the stage to itself: %+v", out)
	}
	s.refused(s.do(agent(), api.OpProjectShow, api.ProjectShowIn{Project: "shop", Stage: "mine"}), api.NotFound)
	s.ok(s.do(agent(), api.OpItemUndo, api.ItemUndo{Tag: out.Undo}), nil)
	s.ok(s.do(agent(), api.OpProjectShow, api.ProjectShowIn{Project: "shop", Stage: "mine"}), nil)

	s.ok(s.do(person(), api.OpProjectSet, set("shop", "mine", "", "B"), token), nil)
	s.ok(s.do(agent(), api.OpProjectSet, set("shop", "mine", "", "C"), token), nil)
	s.ok(s.do(person(), api.OpProjectSet, set("shop", "theirs", "use", "A"), token), nil)
	s.ok(s.do(agent(), api.OpProjectSet, set("shop", "theirs", "", "B"), token), nil)
	for _, stage := range []string{"mine", "theirs", ""} {
		r := s.do(agent(), api.OpProjectStage, level(stage, "none"))
		s.refused(r, api.Denied)
		if !strings.Contains(r.err.Message, "levels of projects and stages") || !strings.Contains(r.err.Hint, "warder project stage") {
			t.Errorf("%q: %v, %s", stage, r.err, r.err.Hint)
		}
	}
}

// TestAgentHidesFromItself: who stores or closes something that it then does not see any more is told, with what takes it back.
func TestAgentHidesFromItself(t *testing.T) {
	for _, unattended := range []bool{false, true} {
		s := newScene(t)
		s.acts.unattended = unattended
		want := "no agent sees it"
		if unattended {
			want = "nobody sees it"
		}
		told := func(what, tag string, warnings []string) {
			t.Helper()
			if len(warnings) != 1 || !strings.Contains(warnings[0], want) || !strings.Contains(warnings[0], "warder item undo "+tag) {
				t.Errorf("unattended %t, %s: %q", unattended, what, warnings)
			}
			s.ok(s.do(agent(), api.OpItemUndo, api.ItemUndo{Tag: tag}), nil)
		}
		var added api.ItemAdded
		in := api.ItemAdd{Name: "closed", Type: string(vault.TypeAPIToken), Level: "none", Fields: []api.FieldIn{{Name: "token", Concealed: true}}}
		s.ok(s.do(agent(), api.OpItemAdd, in, token), &added)
		told("added", added.Undo, added.Warnings)
		in.Name, in.Level = "open", "use"
		s.ok(s.do(agent(), api.OpItemAdd, in, token), &added)
		if len(added.Warnings) > 0 {
			t.Errorf("an open one: %q", added.Warnings)
		}
		none := "none"
		var out api.Changed
		s.ok(s.do(agent(), api.OpItemEdit, api.ItemEdit{Name: "open", Level: &none}), &out)
		told("edited", out.Undo, out.Warnings)
		s.ok(s.do(agent(), api.OpItemShow, api.ItemName{Name: "open"}), nil)
	}
}

// TestImportOfNothing makes no project.
func TestImportOfNothing(t *testing.T) {
	s := newScene(t)
	for _, who := range []*client{agent(), person()} {
		var out api.Imported
		s.ok(s.do(who, api.OpImport, api.Import{File: ".env", Project: "shop", Stage: "dev"}, "# nothing\n"), &out)
		if out.Undo != "" || len(out.Warnings) != 1 {
			t.Errorf("%+v", out)
		}
		s.refused(s.do(who, api.OpProjectShow, api.ProjectShowIn{Project: "shop"}), api.NotFound)
	}
}

// TestLinkedTwice: what is there already, and what is not, have the codes for that.
func TestLinkedTwice(t *testing.T) {
	s := newScene(t)
	s.add(person(), "it", "use", token)
	s.ok(s.do(person(), api.OpProjectStage, api.StageIn{Project: "shop", Stage: "dev"}), nil)
	s.refused(s.do(person(), api.OpProjectLink, api.ProjectLink{Project: "shop", Item: "it", Remove: true}), api.NotFound)
	s.ok(s.do(person(), api.OpProjectLink, api.ProjectLink{Project: "shop", Item: "it"}), nil)
	s.refused(s.do(person(), api.OpProjectLink, api.ProjectLink{Project: "shop", Item: "it"}), api.Exists)
}

// TestLogRemovedUnderItsDaemon is a cut, for verify and status alike, and not a failure of reading; it is a new daemon that helps.
func TestLogRemovedUnderItsDaemon(t *testing.T) {
	s := newScene(t)
	k := newKept(t)
	k.account = s.account
	d := &Daemon{audit: s.log, keep: k.keeper, clock: k.hands.clock(), log: slog.New(slog.DiscardHandler)}
	s.do(person(), api.OpItemList, nil)
	must(t, os.RemoveAll(filepath.Join(s.dir, "state", "audit")))
	if got := (answers{d}).auditStatus(); got.OK || !strings.Contains(got.Hint, "warder daemon restart") {
		t.Errorf("before verifying: %+v", got)
	}
	reply, err := answers{d}.auditVerify(t.Context(), &api.Call{Op: api.OpAuditVerify, Peer: agent()})
	must(t, err)
	out := reply.Output.(api.AuditReport)
	if out.OK || out.FirstBad == nil || out.FirstBad.Cause != string(audit.Cut) || !strings.Contains(out.Hint, "warder daemon restart") {
		t.Errorf("%+v, %+v", out, out.FirstBad)
	}
	if got := (answers{d}).auditStatus(); got.OK || got.FirstBad == nil || got.FirstBad.Seq != out.FirstBad.Seq {
		t.Errorf("status %+v", got)
	}
}
