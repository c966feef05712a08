package daemon

import (
	"strings"
	"testing"

	"warder/internal/api"
)

// history is what an item's history says to a caller.
func historyOf(s *scene, who *client, name string) []api.ItemRevision {
	s.t.Helper()
	var out api.ItemHistory
	s.ok(s.do(who, api.OpItemHistory, api.ItemName{Name: name}), &out)
	return out.Revisions
}

// TestListedTagsWork: a tag that the history lists takes its act back; each that does not says why, and does not.
func TestListedTagsWork(t *testing.T) {
	s := newScene(t)
	first := s.add(person(), "db", "use", token)
	rename := func(from, to string) api.Changed {
		var out api.Changed
		s.ok(s.do(person(), api.OpItemEdit, api.ItemEdit{Name: from, Rename: to}), &out)
		return out
	}
	second := rename("db", "db2")
	list := historyOf(s, person(), "db2")
	if len(list) != 2 || list[0].Undo != second.Undo || list[0].NoUndo != "" || list[1].Undo != "" || !strings.Contains(list[1].NoUndo, "changed since") {
		t.Errorf("history: %+v", list)
	}
	res := s.do(person(), api.OpItemUndo, api.ItemUndo{Tag: first.Undo})
	s.refused(res, api.NotFound)
	if !strings.Contains(res.err.Message, "changed since") || !strings.Contains(res.err.Hint, "warder item edit") {
		t.Errorf("told %+v", res.err)
	}
	res = s.do(agent(), api.OpItemUndo, api.ItemUndo{Tag: first.Undo})
	none := s.do(agent(), api.OpItemUndo, api.ItemUndo{Tag: first.Undo[1:]})
	s.refused(res, api.NotFound)
	if strings.ReplaceAll(res.err.Message, first.Undo, "") != strings.ReplaceAll(none.err.Message, first.Undo[1:], "") {
		t.Errorf("an agent is told of a person's act: %+v", res.err)
	}
	if list := historyOf(s, agent(), "db2"); list[0].Undo != "" || !strings.Contains(list[0].NoUndo, "only its own") {
		t.Errorf("an agent's history: %+v", list[0])
	}
	// The name that it had is taken.
	s.add(person(), "db", "", token)
	if list := historyOf(s, person(), "db2"); list[0].Undo != "" || !strings.Contains(list[0].NoUndo, "taken") {
		t.Errorf("history: %+v", list[0])
	}
	s.refused(s.do(person(), api.OpItemUndo, api.ItemUndo{Tag: second.Undo}), api.Exists)
	rename("db", "db3")
	if list := historyOf(s, person(), "db2"); list[0].Undo != second.Undo {
		t.Errorf("history: %+v", list[0])
	}
	s.ok(s.do(person(), api.OpItemUndo, api.ItemUndo{Tag: second.Undo}), nil)
}

// TestAgentsUndoWidensNothing: what an agent took away itself does not come back where a person may have relied on its absence.
func TestAgentsUndoWidensNothing(t *testing.T) {
	s := newScene(t)
	s.ok(s.do(person(), api.OpProjectStage, api.StageIn{Project: "shop", Stage: "dev", Level: "use"}), nil)
	s.add(agent(), "mine", "use", token)
	link := func(remove bool) (out api.Changed) {
		t.Helper()
		s.ok(s.do(agent(), api.OpProjectLink, api.ProjectLink{Project: "shop", Item: "mine", Remove: remove}), &out)
		return out
	}
	// A link to what became a person's.
	link(false)
	gone := link(true)
	s.ok(s.do(person(), api.OpItemEdit, api.ItemEdit{Name: "mine", Set: []api.FieldIn{{Name: "token", Concealed: true}}}, another), nil)
	s.refused(s.do(agent(), api.OpItemUndo, api.ItemUndo{Tag: gone.Undo}), api.Denied)
	closed := "unset"
	s.ok(s.do(person(), api.OpItemEdit, api.ItemEdit{Name: "mine", Level: &closed}), nil)
	s.refused(s.do(agent(), api.OpItemUndo, api.ItemUndo{Tag: gone.Undo}), api.Denied)
	s.refused(s.do(agent(), api.OpItemShow, api.ItemShow{Name: "mine"}), api.NotFound)

	// Hosts and commands.
	sh := api.Command{Name: "sh", Path: "/bin/sh"}
	s.ok(s.do(agent(), api.OpItemAdd, api.ItemAdd{
		Name: "narrow", Type: "other", Hosts: []string{"a.example.com", "b.example.com"}, Commands: []api.Command{sh, {Name: "psql", Path: "/usr/bin/psql"}},
		Fields: []api.FieldIn{{Name: "token", Concealed: true}},
	}, token), nil)
	for _, in := range []api.ItemEdit{{Hosts: &[]string{"a.example.com"}}, {Commands: &[]api.Command{sh}}} {
		in.Name = "narrow"
		var out api.Changed
		s.ok(s.do(agent(), api.OpItemEdit, in), &out)
		if list := historyOf(s, agent(), "narrow"); list[0].Undo != "" || list[0].NoUndo == "" {
			t.Errorf("history: %+v", list[0])
		}
		s.refused(s.do(agent(), api.OpItemUndo, api.ItemUndo{Tag: out.Undo}), api.Denied)
	}

	// A name that a person's item had since.
	s.add(agent(), "old", "use", token)
	var renamed api.Changed
	s.ok(s.do(agent(), api.OpItemEdit, api.ItemEdit{Name: "old", Rename: "new"}), &renamed)
	s.add(person(), "old", "use", token)
	s.ok(s.do(person(), api.OpItemRemove, api.ItemName{Name: "old"}), nil)
	s.refused(s.do(agent(), api.OpItemUndo, api.ItemUndo{Tag: renamed.Undo}), api.Exists)
	s.ok(s.do(person(), api.OpItemUndo, api.ItemUndo{Tag: renamed.Undo}), nil)
}

// TestAgentsUndoInProjects: what an agent set, removed, linked and unlinked it takes back while nothing came after it.
func TestAgentsUndoInProjects(t *testing.T) {
	s := newScene(t)
	s.ok(s.do(person(), api.OpProjectSet, set("shop", "dev", "use", "THEIRS"), token), nil)
	s.add(agent(), "mine", "use", token)
	for _, step := range []struct {
		op    string
		in    any
		value []string
	}{
		{api.OpProjectSet, set("shop", "dev", "", "A"), []string{token}},
		{api.OpImport, api.Import{File: ".env", Project: "shop", Stage: "dev"}, []string{"B=" + another}},
		{api.OpProjectLink, api.ProjectLink{Project: "shop", Item: "mine"}, nil},
	} {
		var out struct{ Undo string }
		s.ok(s.do(agent(), step.op, step.in, step.value...), &out)
		s.refused(s.do(subagent(), api.OpItemUndo, api.ItemUndo{Tag: out.Undo}), api.NotFound)
		s.ok(s.do(agent(), api.OpItemUndo, api.ItemUndo{Tag: out.Undo}), nil)
		var shown api.ProjectShown
		s.ok(s.do(person(), api.OpProjectShow, api.ProjectShowIn{Project: "shop"}), &shown)
		if len(shown.Detail[0].Variables) != 1 || len(shown.Links) != 0 {
			t.Errorf("%s was not taken back: %+v", step.op, shown)
		}
	}
	var out api.StageChanged
	s.ok(s.do(agent(), api.OpProjectSet, set("shop", "dev", "", "A"), token), &out)
	s.ok(s.do(person(), api.OpProjectSet, set("shop", "dev", "", "THEIRS"), another), nil)
	res := s.do(agent(), api.OpItemUndo, api.ItemUndo{Tag: out.Undo})
	s.refused(res, api.NotFound)
	if !strings.Contains(res.err.Message, "changed since") || !strings.Contains(res.err.Hint, "project unset") {
		t.Errorf("told %+v", res.err)
	}
	s.ok(s.do(agent(), api.OpProjectUnset, unset("shop", "dev", "A")), nil)
}
