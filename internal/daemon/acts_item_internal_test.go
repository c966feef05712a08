package daemon

import (
	"slices"
	"strings"
	"testing"

	"warder/internal/api"
)

const token = "zq7-Lm2-Xv9-Rk4-Ht8" // no word of any list

// TestDone1_ItemAddAndShow: a person stores and sees with the password, and not without.
func TestDone1_ItemAddAndShow(t *testing.T) {
	s := newScene(t)
	added := s.add(person(), "github", "", token)
	if added.Ref != "warder://personal/github/token" || added.Level != "unset" || added.Undo == "" || len(added.Warnings) != 0 {
		t.Errorf("added: %+v", added)
	}
	show := api.ItemShow{Name: "github", Reveal: true, Field: "token"}
	res := s.do(person(), api.OpItemShow, show)
	s.refused(res, api.NeedsApproval)
	if want := "show the value of personal/github/token"; res.err.Message != want {
		t.Errorf("asked %q, want %q", res.err.Message, want)
	}
	if got := s.events(); !slices.Equal(got, []string{"tool_intent.created", "permission.decided ask"}) {
		t.Errorf("recorded %q", got)
	}

	show.Presence = true
	res = s.do(person(), api.OpItemShow, show, "not the password, by far 9")
	s.refused(res, api.WrongPassword)
	// The daemon hears of it with the next right one: the prover counts it, and the question stands.
	if got := s.events(); !slices.Equal(got, []string{"tool_intent.created", "permission.decided ask"}) {
		t.Errorf("recorded %q", got)
	}
	res = s.do(person(), api.OpItemShow, show, masterPassword)
	s.refused(res, api.WrongPassword) // too soon after the wrong one
	s.now = s.now.Add(2e9)

	var out api.ItemShown
	res = s.do(person(), api.OpItemShow, show, masterPassword)
	s.ok(res, &out)
	if len(res.values) != 1 || res.values[0] != token || !out.Fields[0].Revealed {
		t.Errorf("shown: %+v with %d values", out, len(res.values))
	}
	if got := s.events(); !slices.Equal(got, []string{"tool_intent.created", "permission.decided allow", "tool_execution.completed ok"}) {
		t.Errorf("recorded %q", got)
	}
	if s.persons == 0 {
		t.Error("no act of a person was noticed")
	}
	// Without reveal the fields are shown and no value is.
	res = s.do(person(), api.OpItemShow, api.ItemShow{Name: "github"})
	out = api.ItemShown{}
	s.ok(res, &out)
	if len(res.values) != 0 || !out.Fields[0].Set || out.Fields[0].Revealed {
		t.Errorf("shown without reveal: %+v", out)
	}
}

// TestS2_29_OneAnswerForWhatIsHidden: unknown, unset, none and missing are the same to an agent, in words and in the log.
func TestS2_29_OneAnswerForWhatIsHidden(t *testing.T) {
	s := newScene(t)
	s.add(person(), "asks", "ask", token)
	s.add(person(), "nothing", "none", token)
	s.add(person(), "plain", "", token)
	var list api.ItemList
	for _, who := range []*client{agent(), subagent(), unknown()} {
		for op, in := range map[string]func(name string) any{
			api.OpItemShow:    func(n string) any { return api.ItemShow{Name: n} },
			api.OpItemCheck:   func(n string) any { return api.ItemCheck{Name: n} },
			api.OpItemHistory: func(n string) any { return api.ItemName{Name: n} },
			api.OpItemRemove:  func(n string) any { return api.ItemName{Name: n} },
			api.OpItemEdit:    func(n string) any { return api.ItemEdit{Name: n, Rename: "other"} },
			api.OpProjectLink: func(n string) any { return api.ProjectLink{Item: n, Project: "shop"} },
		} {
			s.sameAnswers(who, op, in, "missing", "nothing", "plain")
		}
		s.ok(s.do(who, api.OpItemList, api.ItemListIn{}), &list)
		if len(list.Items) != 1 || list.Items[0].Name != "asks" || !list.Items[0].Open {
			t.Errorf("an agent sees %+v", list)
		}
	}
	s.ok(s.do(person(), api.OpItemList, api.ItemListIn{}), &list)
	if len(list.Items) != 3 {
		t.Errorf("a person sees %+v", list)
	}
}

// sameAnswers wants the same of an operation, in words and in the log, whichever of the names it is about.
func (s *scene) sameAnswers(who *client, op string, in func(name string) any, names ...string) {
	s.t.Helper()
	var answers []string
	sealed := map[int]bool{}
	for _, name := range names {
		res := s.do(who, op, in(name))
		s.refused(res, api.NotFound)
		answers = append(answers, strings.ReplaceAll(res.err.Message, name, "NAME")+res.err.Hint+strings.Join(s.events(), "; "))
		records := s.records()
		item := records[len(records)-1].Item
		if sealed[len(item)] = true; !strings.HasPrefix(item, ".sealed:") {
			s.t.Errorf("%s of %s: the log names %q", op, name, item)
		}
	}
	if len(slices.Compact(answers)) != 1 || len(sealed) != 1 {
		s.t.Errorf("%s: answers differ: %q, names of %d lengths", op, answers, len(sealed))
	}
}

// TestAgentAddsItsOwn: level use at most, tagged, never over a name that is taken, hidden or not.
func TestAgentAddsItsOwn(t *testing.T) {
	s := newScene(t)
	s.add(person(), "hidden", "none", token)
	added := s.add(agent(), "mine", "", token)
	if added.Level != "use" {
		t.Errorf("an agent's item has level %s", added.Level)
	}
	var out api.ItemShown
	s.ok(s.do(person(), api.OpItemShow, api.ItemShow{Name: "mine"}), &out)
	if out.By != "agent" || out.Client != "claude" || !slices.Contains(out.Tags, "by-agent") {
		t.Errorf("an agent's item: %+v", out)
	}
	in := api.ItemAdd{Name: "more", Type: "other", Level: "read"}
	s.refused(s.do(agent(), api.OpItemAdd, in), api.Denied)
	in.Level = ""
	for _, taken := range []string{"hidden", "HIDDEN", "mine"} {
		in.Name = taken
		s.refused(s.do(agent(), api.OpItemAdd, in), api.Exists)
	}
	// A name in the trash is taken for an agent and free for a person.
	s.ok(s.do(person(), api.OpItemRemove, api.ItemName{Name: "hidden"}), nil)
	in.Name = "hidden"
	s.refused(s.do(agent(), api.OpItemAdd, in), api.Exists)
	s.add(person(), "hidden", "", token)
	if got := s.held("hidden"); got != token {
		t.Error("a value was changed")
	}
}

// TestAgentEditsItsOwn: and nothing else, not above use, and no more once a person's hand was on it.
func TestAgentEditsItsOwn(t *testing.T) {
	s := newScene(t)
	s.add(agent(), "mine", "ask", token)
	s.add(person(), "theirs", "use", token)
	use, read := "use", "read"
	edit := func(name string) api.ItemEdit {
		return api.ItemEdit{Name: name, Set: []api.FieldIn{{Name: "token", Concealed: true}}}
	}
	s.ok(s.do(agent(), api.OpItemEdit, edit("mine"), "another-6-value"), nil)
	s.ok(s.do(agent(), api.OpItemEdit, api.ItemEdit{Name: "mine", Level: &use, Tags: &[]string{}}), nil)
	s.refused(s.do(agent(), api.OpItemEdit, api.ItemEdit{Name: "mine", Level: &read}), api.Denied)
	s.refused(s.do(agent(), api.OpItemEdit, api.ItemEdit{Name: "mine", Set: []api.FieldIn{{Name: "token"}}}, "long-enough"), api.Denied)
	s.refused(s.do(agent(), api.OpItemEdit, edit("theirs"), "another-6-value"), api.Denied)
	s.refused(s.do(agent(), api.OpItemRemove, api.ItemName{Name: "theirs"}), api.Denied)
	s.refused(s.do(subagent(), api.OpItemEdit, edit("mine"), "another-6-value"), api.Denied) // another client's
	var out api.ItemShown
	s.ok(s.do(agent(), api.OpItemShow, api.ItemShow{Name: "mine"}), &out)
	if !slices.Contains(out.Tags, "by-agent") {
		t.Error("an agent took the tag off its item")
	}
	if got := s.held("theirs"); got != token {
		t.Error("a person's value was changed")
	}
	s.ok(s.do(person(), api.OpItemEdit, edit("mine"), "a-person's-value"), nil)
	s.refused(s.do(agent(), api.OpItemEdit, edit("mine"), "again-4-value"), api.Denied)
	if got := s.held("mine"); got != "a-person's-value" {
		t.Error("an agent changed what a person had taken over")
	}
}

// TestPresenceForWhatWidens: each thing that design.md names, and none of what does not widen.
func TestPresenceForWhatWidens(t *testing.T) {
	s := newScene(t)
	level := func(l string) *string { return &l }
	added := api.ItemAdd{
		Name: "db", Type: "database", Level: "ask", Hosts: []string{"a.example.com"}, Commands: []api.Command{{Name: "psql", Path: "/usr/bin/psql"}},
		Fields: []api.FieldIn{{Name: "token", Concealed: true}, {Name: "user"}},
	}
	s.ok(s.do(person(), api.OpItemAdd, added, token, "app"), nil)
	for name, c := range map[string]struct {
		in     api.ItemEdit
		values []string
		asks   bool
	}{
		"value":          {api.ItemEdit{Set: []api.FieldIn{{Name: "token", Concealed: true}}}, []string{"another-v4lue"}, false},
		"new open field": {api.ItemEdit{Set: []api.FieldIn{{Name: "port"}}}, []string{"5432"}, false},
		"tags":           {api.ItemEdit{Tags: &[]string{"x"}}, nil, false},
		"lower level":    {api.ItemEdit{Level: level("none")}, nil, false},
		"same level":     {api.ItemEdit{Level: level("ask")}, nil, false},
		"fewer hosts":    {api.ItemEdit{Hosts: &[]string{}}, nil, false},
		"raise":          {api.ItemEdit{Level: level("use")}, nil, true},
		"a host":         {api.ItemEdit{Hosts: &[]string{"a.example.com", "b.example.com"}}, nil, true},
		"a command":      {api.ItemEdit{Commands: &[]api.Command{{Name: "sh", Path: "/bin/sh"}}}, nil, true},
		"any command":    {api.ItemEdit{Commands: &[]api.Command{}}, nil, true},
		"non-secret":     {api.ItemEdit{Set: []api.FieldIn{{Name: "token"}}}, []string{"another-v4lue"}, true},
	} {
		c.in.Name = "db"
		res := s.do(person(), api.OpItemEdit, c.in, c.values...)
		if c.asks {
			s.refused(res, api.NeedsApproval)
			continue
		}
		s.ok(res, nil)
		var h api.ItemHistory
		s.ok(s.do(person(), api.OpItemHistory, api.ItemName{Name: "db"}), &h)
		in := api.ItemUndo{Tag: h.Revisions[0].Undo}
		if name == "lower level" || name == "fewer hosts" {
			// Taking such an act back widens again.
			s.refused(s.do(person(), api.OpItemUndo, in), api.NeedsApproval)
			in.Presence = true
			s.ok(s.do(person(), api.OpItemUndo, in, masterPassword), nil)
			continue
		}
		s.ok(s.do(person(), api.OpItemUndo, in), nil)
	}
	in := api.ItemEdit{Name: "db", Level: level("use")}
	in.Presence = true
	s.ok(s.do(person(), api.OpItemEdit, in, masterPassword), nil)
	s.ok(s.do(person(), api.OpItemEdit, api.ItemEdit{Name: "db", Level: level("none")}), nil)
	s.refused(s.do(person(), api.OpItemEdit, api.ItemEdit{Name: "db", Level: level("unset")}), api.NeedsApproval) // none closes what others open
}

// TestUndo: one tag takes one act back, and an agent only its own.
func TestUndo(t *testing.T) {
	s := newScene(t)
	theirs := s.add(person(), "theirs", "use", token)
	mine := s.add(agent(), "mine", "use", token)
	s.refused(s.do(agent(), api.OpItemUndo, api.ItemUndo{Tag: theirs.Undo}), api.NotFound)
	s.refused(s.do(subagent(), api.OpItemUndo, api.ItemUndo{Tag: mine.Undo}), api.NotFound)
	var out api.ItemUndone
	s.ok(s.do(agent(), api.OpItemUndo, api.ItemUndo{Tag: mine.Undo}), &out)
	if out.Count != 1 {
		t.Errorf("%d taken back", out.Count)
	}
	s.refused(s.do(agent(), api.OpItemShow, api.ItemShow{Name: "mine"}), api.NotFound)
	s.ok(s.do(person(), api.OpItemUndo, api.ItemUndo{Tag: theirs.Undo}), &out)
	s.refused(s.do(person(), api.OpItemShow, api.ItemShow{Name: "theirs"}), api.NotFound)
}

// TestRemovedComesBack: what was removed can be found and taken back, by who removed it.
func TestRemovedComesBack(t *testing.T) {
	s := newScene(t)
	s.add(person(), "theirs", "use", token)
	s.add(agent(), "mine", "use", token)
	var gone api.Changed
	s.ok(s.do(person(), api.OpItemRemove, api.ItemName{Name: "theirs"}), &gone)
	s.ok(s.do(agent(), api.OpItemRemove, api.ItemName{Name: "mine"}), nil)
	s.refused(s.do(agent(), api.OpItemHistory, api.ItemName{Name: "theirs"}), api.NotFound)
	s.refused(s.do(subagent(), api.OpItemHistory, api.ItemName{Name: "mine"}), api.NotFound)
	for name, who := range map[string]*client{"theirs": person(), "mine": agent()} {
		var h api.ItemHistory
		s.ok(s.do(who, api.OpItemHistory, api.ItemName{Name: name}), &h)
		if len(h.Revisions) != 2 || name == "theirs" && h.Revisions[0].Undo != gone.Undo {
			t.Errorf("history of %s: %+v", name, h)
		}
		s.ok(s.do(who, api.OpItemUndo, api.ItemUndo{Tag: h.Revisions[0].Undo}), nil)
		s.ok(s.do(who, api.OpItemShow, api.ItemShow{Name: name}), nil)
	}
}

// TestTakingOverIsTold: a person who stores a value where an agent chose the level is told of that.
func TestTakingOverIsTold(t *testing.T) {
	s := newScene(t)
	s.add(agent(), "mine", "use", token)
	var out api.Changed
	s.ok(s.do(person(), api.OpItemEdit, api.ItemEdit{Name: "mine", Set: []api.FieldIn{{Name: "token", Concealed: true}}}, "short"), &out)
	if text := strings.Join(out.Warnings, "; "); !strings.Contains(text, "agents can use") || !strings.Contains(text, "is a word") || out.Undo == "" {
		t.Errorf("told %+v", out)
	}
	// A link of the agent's outlives its item's level, which is told as well.
	s.add(agent(), "linked", "use", token)
	s.ok(s.do(agent(), api.OpProjectStage, api.StageIn{Project: "shop", Level: "use"}), nil)
	s.ok(s.do(agent(), api.OpProjectLink, api.ProjectLink{Project: "shop", Item: "linked"}), nil)
	level := "unset"
	s.ok(s.do(person(), api.OpItemEdit, api.ItemEdit{Name: "linked", Level: &level}), &out)
	if text := strings.Join(out.Warnings, "; "); !strings.Contains(text, "level none closes it") {
		t.Errorf("told %+v", out)
	}
	level = "none"
	s.ok(s.do(person(), api.OpItemEdit, api.ItemEdit{Name: "linked", Level: &level}), &out)
	s.refused(s.do(agent(), api.OpItemShow, api.ItemShow{Name: "linked"}), api.NotFound)
}

// TestItemWarnings: short, guessable and empty values are told when they are stored.
func TestItemWarnings(t *testing.T) {
	s := newScene(t)
	for text, want := range map[string]string{"": "empty", "k4#": "shorter than 4 bytes: it is never masked", "k4#x": "shorter than 8", "password123": "easy to guess", token: ""} {
		var out api.ItemAdded
		s.ok(s.do(person(), api.OpItemAdd, api.ItemAdd{
			Name: "n" + want, Type: "other", Fields: []api.FieldIn{{Name: "token", Concealed: true}},
		}, text), &out)
		if got := strings.Join(out.Warnings, " "); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("warnings %q, want one with %q", got, want)
		}
	}
}

// TestU16_Check: whether a value is set can be asked without seeing it.
func TestU16_Check(t *testing.T) {
	s := newScene(t)
	s.ok(s.do(person(), api.OpItemAdd, api.ItemAdd{
		Name: "gh", Type: "other", Level: "use", Fields: []api.FieldIn{{Name: "token", Concealed: true}, {Name: "empty", Concealed: true}},
	}, token, ""), nil)
	for field, want := range map[string]bool{"": true, "token": true, "empty": false} {
		var out api.ItemChecked
		s.ok(s.do(agent(), api.OpItemCheck, api.ItemCheck{Name: "gh", Field: field}), &out)
		if out.Set != want {
			t.Errorf("check %q: %t", field, out.Set)
		}
	}
	s.refused(s.do(agent(), api.OpItemCheck, api.ItemCheck{Name: "gh", Field: "other"}), api.NotFound)
}

// TestBadInput: what can't be stored is said, and nothing is done.
func TestBadInput(t *testing.T) {
	s := newScene(t)
	for name, in := range map[string]any{
		"name":    api.ItemAdd{Name: "a/b", Type: "other"},
		"type":    api.ItemAdd{Name: "a", Type: "sock"},
		"level":   api.ItemAdd{Name: "a", Level: "all"},
		"host":    api.ItemAdd{Name: "a", Hosts: []string{"https://example.com/x"}},
		"command": api.ItemAdd{Name: "a", Commands: []api.Command{{Name: "x", Path: "bin/x"}}},
		"tag":     api.ItemAdd{Name: "a", Tags: []string{"a\nb"}},
		"values":  api.ItemAdd{Name: "a", Fields: []api.FieldIn{{Name: "x"}}},
		"unknown": map[string]any{"name": "a", "valeu": "x"},
		"missing": nil,
	} {
		if res := s.do(person(), api.OpItemAdd, in); res.err == nil || res.err.Code != api.Usage {
			t.Errorf("%s: %+v", name, res)
		}
		if got := s.events(); !slices.Equal(got, []string{"tool_intent.created", "tool.validation.failed usage"}) {
			t.Errorf("%s: recorded %q", name, got)
		}
	}
	short := api.ItemAdd{Name: "a", Fields: []api.FieldIn{{Name: "pin", Concealed: true}}, Hosts: []string{"a.example.com"}}
	for _, who := range []*client{person(), agent()} {
		res := s.do(who, api.OpItemAdd, short, "77")
		s.refused(res, api.Usage)
		if strings.Contains(res.err.Message, "77") || who.id.Verdict == "person" && !strings.Contains(res.err.Message, "pin") {
			t.Errorf("message %q", res.err.Message)
		}
	}
	var list api.ItemList
	s.ok(s.do(person(), api.OpItemList, api.ItemListIn{}), &list)
	if len(list.Items) != 0 {
		t.Errorf("stored: %+v", list)
	}
}
