package daemon

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"warder/internal/api"
	"warder/internal/policy"
)

// unsafeSpellings are names that agents store nothing under, in any spelling.
var unsafeSpellings = [...]string{
	"LD_PRELOAD", "ld_preload", "Ld-Preload", "Path", "node_options", "node.options", "Https_Proxy", "no_proxy", "ALL-PROXY", "pythonpath", "git_dir",
	"ssl_cert_file", "gconv_path", "Prompt_Command",
}

// unsafeTitles are names of items and fields of which a variable is made that steers programs.
var unsafeTitles = [...]string{"ld preload", "Node Options", "LD  -- PRELOAD", "ssl cert file", "\u017fsl_cert_file", "java tool options", "https proxy"}

// TestUnsafeSpellings: an agent sets no variable in a spelling that some system reads as one that steers programs.
func TestUnsafeSpellings(t *testing.T) {
	s := newScene(t)
	for i, name := range unsafeSpellings {
		project := fmt.Sprint("p", i)
		for _, who := range []*client{agent(), unknown()} {
			s.refused(s.do(who, api.OpProjectSet, set(project, "dev", "", name), token), api.UnsafeName)
			s.refused(s.do(who, api.OpImport, api.Import{File: ".env", Project: project, Stage: "dev"}, name+"="+token), api.UnsafeName)
		}
		s.ok(s.do(person(), api.OpProjectSet, set(project, "dev", "", name), token), nil)
	}
}

// TestUnsafeNamesOfItems: what `run` may one day make a variable of is no way around the list of variables.
func TestUnsafeNamesOfItems(t *testing.T) {
	s := newScene(t)
	for _, who := range []*client{agent(), unknown()} {
		mine := "mine" + who.id.Client
		s.add(who, mine, "use", token)
		for _, name := range slices.Concat(unsafeSpellings[:], unsafeTitles[:]) {
			add := api.ItemAdd{Name: name, Type: "other", Fields: []api.FieldIn{{Name: "token", Concealed: true}}}
			s.refused(s.do(who, api.OpItemAdd, add, token), api.UnsafeName)
			add.Name, add.Fields[0].Name = "fresh", name
			s.refused(s.do(who, api.OpItemAdd, add, token), api.UnsafeName)
			s.refused(s.do(who, api.OpItemEdit, api.ItemEdit{Name: mine, Rename: name}), api.UnsafeName)
			field := api.ItemEdit{Name: mine, Set: []api.FieldIn{{Section: "env", Name: name, Concealed: true}}}
			s.refused(s.do(who, api.OpItemEdit, field, token), api.UnsafeName)
		}
	}
	s.add(person(), "LD_PRELOAD", "", token) // a person may
	s.ok(s.do(person(), api.OpItemEdit, api.ItemEdit{Name: "LD_PRELOAD", Rename: "PATH"}), nil)
}

// TestAgentWidensNothingItMade: where a value may go an agent says once, when it stores it.
func TestAgentWidensNothingItMade(t *testing.T) {
	s := newScene(t)
	psql, sh := api.Command{Name: "psql", Path: "/usr/bin/psql"}, api.Command{Name: "sh", Path: "/bin/sh"}
	for _, who := range []*client{agent(), unknown()} {
		name := "mine" + who.id.Client
		s.ok(s.do(who, api.OpItemAdd, api.ItemAdd{
			Name: name, Type: "other", Hosts: []string{"a.example.com", "b.example.com"}, Commands: []api.Command{psql, sh},
			Fields: []api.FieldIn{{Name: "token", Concealed: true}},
		}, token), nil)
		for what, in := range map[string]api.ItemEdit{
			"a host":      {Hosts: &[]string{"a.example.com", "b.example.com", "evil.example.com"}},
			"a command":   {Commands: &[]api.Command{psql, {Name: "env", Path: "/usr/bin/env"}}},
			"any command": {Commands: &[]api.Command{}},
		} {
			in.Name = name
			if res := s.do(who, api.OpItemEdit, in); res.err == nil || res.err.Code != api.Denied {
				t.Errorf("%s added %s: %+v", name, what, res)
			}
		}
		// It may take away, and what it took away is not there to be given again.
		s.ok(s.do(who, api.OpItemEdit, api.ItemEdit{Name: name, Hosts: &[]string{"a.example.com"}, Commands: &[]api.Command{psql}}), nil)
		s.refused(s.do(who, api.OpItemEdit, api.ItemEdit{Name: name, Hosts: &[]string{"a.example.com", "b.example.com"}}), api.Denied)
	}
	// Who is nameless owns nothing of an agent with a name, and the other way round.
	s.refused(s.do(unknown(), api.OpItemEdit, api.ItemEdit{Name: "mineclaude", Rename: "x"}), api.Denied)
	s.refused(s.do(agent(), api.OpItemEdit, api.ItemEdit{Name: "mine", Rename: "x"}), api.Denied)
}

// makers are who is said to have set the variables of a stage, and to have had the last hand on it.
func (s *scene) makers(project, stage string) (variables map[string]string, last string, tags []string) {
	s.t.Helper()
	var shown api.ProjectShown
	s.ok(s.do(person(), api.OpProjectShow, api.ProjectShowIn{Project: project, Stage: stage}), &shown)
	variables = map[string]string{}
	for _, v := range shown.Detail[0].Variables {
		variables[v.Name] = v.By + " " + v.Client
	}
	return variables, shown.Detail[0].By + " " + shown.Detail[0].Client, shown.Detail[0].Tags
}

// TestAgentsVariablesAreSeen: what an agent put into a person's stage is told from what the person put there.
func TestAgentsVariablesAreSeen(t *testing.T) {
	s := newScene(t)
	s.ok(s.do(person(), api.OpProjectSet, set("shop", "dev", "use", "MINE"), token), nil)
	s.ok(s.do(agent(), api.OpImport, api.Import{File: ".env", Project: "shop", Stage: "dev"}, "THEIRS="+token+"\nTAKEN="+token+"\n"), nil)
	s.ok(s.do(subagent(), api.OpProjectSet, set("shop", "dev", "", "OTHER"), token), nil)
	s.ok(s.do(person(), api.OpImport, api.Import{File: ".env", Project: "shop", Stage: "dev"}, "FILE=an0ther-v4lue\nTAKEN=an0ther-v4lue\n"), nil)
	got, last, tags := s.makers("shop", "dev")
	want := map[string]string{"MINE": "person ", "THEIRS": "agent claude", "OTHER": "agent codex", "FILE": "import ", "TAKEN": "import "}
	for name, by := range want {
		if got[name] != by {
			t.Errorf("%s is said to be of %q, want %q", name, got[name], by)
		}
	}
	if last != "import " || tags == nil || len(tags) != 0 {
		t.Errorf("the stage is of %q, tags %q", last, tags)
	}
	// What happened before the revisions that are kept is nobody's, and never another's.
	for i := range 12 {
		s.now = s.now.Add(time.Second)
		s.ok(s.do(person(), api.OpProjectSet, set("shop", "dev", "", fmt.Sprint("N", i)), token), nil)
	}
	got, _, _ = s.makers("shop", "dev")
	if got["THEIRS"] != " " || got["N11"] != "person " || got["N5"] != "person " {
		t.Errorf("after many changes: %q", got)
	}
}

// TestAgentsProjectsAreMarked: projects and stages that an agent made say so, whoever goes on with them.
func TestAgentsProjectsAreMarked(t *testing.T) {
	s := newScene(t)
	s.ok(s.do(agent(), api.OpProjectSet, set("set", "dev", "", "X"), token), nil)
	s.ok(s.do(agent(), api.OpImport, api.Import{File: ".env", Project: "imported", Stage: "dev"}, "X="+token), nil)
	s.ok(s.do(agent(), api.OpProjectStage, api.StageIn{Project: "made", Stage: "dev"}), nil)
	s.ok(s.do(unknown(), api.OpProjectStage, api.StageIn{Project: "bare"}), nil)
	s.ok(s.do(person(), api.OpProjectSet, set("bare", "dev", "", "X"), token), nil)
	s.ok(s.do(person(), api.OpProjectSet, set("set", "dev", "", "X"), "an0ther-v4lue"), nil)
	var list api.ProjectList
	s.ok(s.do(person(), api.OpProjectList, nil), &list)
	for _, p := range list.Projects {
		_, _, tags := s.makers(p.Name, "dev")
		if !slices.Equal(p.Tags, []string{"by-agent"}) || p.By != "agent" || slices.Contains(tags, "by-agent") != (p.Name != "bare") {
			t.Errorf("%s: %+v, its stage has tags %q", p.Name, p, tags)
		}
	}
	if len(list.Projects) != 4 {
		t.Errorf("projects: %+v", list)
	}
	s.ok(s.do(person(), api.OpProjectStage, api.StageIn{Project: "plain", Stage: "dev"}), nil)
	s.ok(s.do(person(), api.OpProjectList, nil), &list)
	for _, p := range list.Projects {
		if p.Name == "plain" && (p.Tags == nil || len(p.Tags) != 0 || p.By != "person") {
			t.Errorf("a person's project: %+v", p)
		}
	}
}

// TestListsAreNeverNull: whoever reads an answer may count what is in a list without asking whether there is one.
func TestListsAreNeverNull(t *testing.T) {
	s := newScene(t)
	one := set("shop", "dev", "", "X")
	unset := api.StageUnset{Project: "shop", Stage: "dev", Names: []string{"X"}}
	imported := api.Import{File: ".env", Project: "shop", Stage: "new"}
	for _, c := range []struct {
		op    string
		in    any
		value []string
	}{
		{api.OpItemAdd, api.ItemAdd{Name: "bare", Type: "other"}, nil},
		{api.OpItemList, api.ItemListIn{}, nil},
		{api.OpItemShow, api.ItemShow{Name: "bare"}, nil},
		{api.OpItemEdit, api.ItemEdit{Name: "bare", Rename: "barer"}, nil},
		{api.OpProjectSet, one, []string{token}},
		{api.OpProjectSet, one, []string{token}},
		{api.OpProjectUnset, unset, nil},
		{api.OpProjectStage, api.StageIn{Project: "bare"}, nil},
		{api.OpProjectList, nil, nil},
		{api.OpProjectShow, api.ProjectShowIn{Project: "bare"}, nil},
		{api.OpProjectShow, api.ProjectShowIn{Project: "shop"}, nil},
		{api.OpImport, imported, []string{"X=" + token}},
		{api.OpImport, imported, []string{"X=" + token}},
		{api.OpImport, imported, []string{"# nothing"}},
		{api.OpTrustList, nil, nil},
	} {
		res := s.do(person(), c.op, c.in, c.value...)
		s.ok(res, nil)
		if strings.Contains(string(res.json), "null") {
			t.Errorf("%s: %s", c.op, res.json)
		}
	}
}

// TestSealHint: who may not declare a break is told which command a person takes for that.
func TestSealHint(t *testing.T) {
	if d := policy.Decide(policy.Question{Needs: []policy.Need{policy.ToSeal}}); !strings.Contains(refusal(d).Hint, "warder audit seal") {
		t.Errorf("told %+v", refusal(d))
	}
}
