package daemon

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"os"
	"strings"
	"testing"

	"warder/internal/api"
)

const othersValue = "0f-an-agent-Zk3w"

// refer lets a variable of a person's stage stand for a field.
func refer(s *scene, who *client, project, stage, ref string) {
	s.t.Helper()
	s.ok(s.do(who, api.OpProjectSet, api.StageSet{
		Project: project, Stage: stage, Set: []api.VariableIn{{Name: "DB", Ref: ref, Concealed: true}},
	}), nil)
}

// itemIn is the input that adds an item as an agent would.
func itemIn(name string) api.ItemAdd {
	return api.ItemAdd{Name: name, Type: "api-token", Fields: []api.FieldIn{{Name: "token", Concealed: true}}}
}

// TestRenameTakesReferencesAlong: a person's reference means the same item after a rename, and after that was taken back, whatever came
// between; an agent can't take the name that is left.
func TestRenameTakesReferencesAlong(t *testing.T) {
	s := newScene(t)
	s.add(person(), "dbpw", "", token)
	s.add(person(), "other", "", token)
	refer(s, person(), "app", "prod", "warder://personal/dbpw/token")
	refer(s, person(), "app", "later", "warder://personal/dbpw/token")
	refer(s, person(), "app", "apart", "warder://personal/other/token")
	var out api.Changed
	s.ok(s.do(person(), api.OpItemEdit, api.ItemEdit{Name: "dbpw", Rename: "dbpw2"}), &out)
	told := strings.Join(out.Warnings, "\n")
	if !strings.Contains(told, "app/prod") || !strings.Contains(told, "app/later") || strings.Contains(told, "apart") || !strings.Contains(told, "now: 2") {
		t.Errorf("a rename tells %q", told)
	}
	means := func(stage, want string) {
		t.Helper()
		if got := variableOf(s, "app", stage, "DB").Ref; got != "warder://personal/"+want+"/token" {
			t.Errorf("DB of %s stands for %s, want %s", stage, got, want)
		}
	}
	means("prod", "dbpw2")
	means("later", "dbpw2")
	means("apart", "other")
	for _, name := range []string{"dbpw", "DBPW", "dbpw2"} {
		s.refused(s.do(agent(), api.OpItemAdd, itemIn(name), othersValue), api.Exists)
	}
	s.add(agent(), "mine", "use", othersValue)
	s.refused(s.do(agent(), api.OpItemEdit, api.ItemEdit{Name: "mine", Rename: "dbpw"}), api.Exists)

	// One of the stages is changed before the rename is taken back.
	s.ok(s.do(person(), api.OpProjectSet, set("app", "later", "", "MORE"), another), nil)
	s.ok(s.do(person(), api.OpItemUndo, api.ItemUndo{Tag: out.Undo}), nil)
	means("prod", "dbpw")
	means("later", "dbpw")
	if s.held("dbpw") != token || stored(s, "app", "later")["MORE"] != another {
		t.Error("the undo changed more than names")
	}
}

// TestNamesThatAgentsCanNotTake: an agent gets no name that a person's reference means, or that another's item has in the trash or had once, in
// no spelling that is the same name to warder.
func TestNamesThatAgentsCanNotTake(t *testing.T) {
	s := newScene(t)
	s.add(person(), "sink", "", token)
	s.ok(s.do(person(), api.OpItemRemove, api.ItemName{Name: "sink"}), nil)
	s.add(person(), "first", "", token)
	s.ok(s.do(person(), api.OpItemEdit, api.ItemEdit{Name: "first", Rename: "second"}), nil)
	s.ok(s.do(person(), api.OpItemEdit, api.ItemEdit{Name: "second", Rename: "third"}), nil)
	for _, name := range []string{"sink", "SINK", "sınk", "SİNK", "\u017fink", "first", "fırst", "second", "\u017fecond", "third"} {
		s.refused(s.do(agent(), api.OpItemAdd, itemIn(name), othersValue), api.Exists)
	}

	// What the reference names is gone without a trace.
	mine := s.add(agent(), "gone", "use", token)
	refer(s, person(), "app", "prod", mine.Ref)
	s.ok(s.do(agent(), api.OpItemRemove, api.ItemName{Name: "gone"}), nil)
	s.refused(s.do(agent(), api.OpItemAdd, itemIn("gone"), othersValue), api.Exists)
	s.refused(s.do(subagent(), api.OpItemAdd, itemIn("GONE"), othersValue), api.Exists)

	// Its own reference and its own name are no other's.
	own := s.add(agent(), "own", "use", token)
	refer(s, agent(), "mine", "dev", own.Ref)
	s.ok(s.do(agent(), api.OpItemRemove, api.ItemName{Name: "own"}), nil)
	s.ok(s.do(agent(), api.OpItemAdd, itemIn("own"), othersValue), nil)
	s.ok(s.do(agent(), api.OpItemAdd, itemIn("free"), othersValue), nil)
	s.add(person(), "sink", "", token) // a person may take it
}

// TestNamesAreComparedByOneFold: another fold than the one under which names are unique lets a check be passed by with another spelling.
func TestNamesAreComparedByOneFold(t *testing.T) {
	entries, err := os.ReadDir(".")
	must(t, err)
	read := 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		read++
		files := gotoken.NewFileSet()
		f, err := parser.ParseFile(files, e.Name(), nil, 0)
		must(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "EqualFold" {
				t.Errorf("%s: EqualFold: compare names with vault.SameName", files.Position(sel.Pos()))
			}
			return true
		})
	}
	if read < 20 {
		t.Errorf("%d files were read", read)
	}
}
