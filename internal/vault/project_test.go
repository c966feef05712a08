package vault_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"warder/internal/seal"
	"warder/internal/vault"
)

// variables are fields of a stage: name, value, name, value …
func variables(t testing.TB, pairs ...string) []vault.Field {
	t.Helper()
	var list []vault.Field
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, vault.Field{Name: pairs[i], Concealed: true, Value: value(t, pairs[i+1])})
	}
	return list
}

// stageOf opens a stage of a project.
func stageOf(t testing.TB, v *vault.Vault, project, stage string) *vault.Item {
	t.Helper()
	p, err := v.Find(vault.KindProject, seal.ID{}, project)
	must(t, err)
	s, err := v.Find(vault.KindStage, p.ID, stage)
	must(t, err)
	it, err := v.Open(s.ID)
	must(t, err)
	t.Cleanup(it.Destroy)
	return it
}

// contentOfStage is "name=value" of each variable, in order.
func contentOfStage(t testing.TB, v *vault.Vault, project, stage string) []string {
	t.Helper()
	var list []string
	for _, f := range stageOf(t, v, project, stage).Fields {
		text := f.Name + "=" + string(bytesOf(t, f.Value))
		if f.Ref != "" {
			text += "->" + f.Ref
		}
		list = append(list, text)
	}
	return list
}

// planned is ChangeStage, after a plan that must say the same and do nothing.
func planned(t testing.TB, a *vault.Account, v *vault.Vault, change vault.StageChange) vault.StageDiff {
	t.Helper()
	code, list := a.StateCode(), len(v.List())
	plan, err := v.PlanStage(change)
	must(t, err)
	if a.StateCode() != code || len(v.List()) != list {
		t.Fatal("the plan changed something")
	}
	done, err := v.ChangeStage(change)
	must(t, err)
	if diff := cmp.Diff(plan, done); diff != "" {
		t.Fatalf("planned and done differ: %s", diff)
	}
	for _, f := range change.Set {
		if err := f.Value.Use(func([]byte) {}); err != nil {
			t.Fatalf("the caller's value of %s: %v", f.Name, err)
		}
	}
	return done
}

func sameDiff(t testing.TB, got, want vault.StageDiff) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got) %s", diff)
	}
}

func TestStages(t *testing.T) {
	oneThread(t)
	cfg, a, _ := newAccount(t)
	v := firstVault(t, a)
	first := vault.StageChange{
		Project: "Shop", Stage: "dev", Level: vault.LevelUse, Set: variables(t, "B", "1", "A", "2", "EMPTY", ""),
		Origin: vault.Origin{By: vault.ByImport, Tag: "import"},
	}
	sameDiff(t, planned(t, a, v, first), vault.StageDiff{Added: []string{"B", "A", "EMPTY"}, NewProject: true, NewStage: true})
	made := stageOf(t, v, "shop", "DEV")
	if made.Level != vault.LevelUse || made.Origin != first.Origin || made.Fields[0].Set.IsZero() {
		t.Errorf("%+v", made.Meta)
	}
	if p, err := v.Find(vault.KindProject, seal.ID{}, "shop"); err != nil || p.Level != vault.LevelUnset || p.Origin != first.Origin {
		t.Errorf("project %+v: %v", p, err)
	}

	// The same once more is no change, so no revision either.
	rev := made.Rev()
	sameDiff(t, planned(t, a, v, first), vault.StageDiff{Unchanged: []string{"B", "A", "EMPTY"}})
	if got := stageOf(t, v, "Shop", "dev").Rev(); got != rev {
		t.Error("a revision without a change")
	}

	second := vault.StageChange{
		Project: "shop", Stage: "Dev", Level: vault.LevelRead, Unset: []string{"EMPTY"},
		Set: append(variables(t, "A", "3", "a", "4", "B", "1"), vault.Field{Name: "REF", Ref: "warder://personal/x/y"}),
	}
	sameDiff(t, planned(t, a, v, second), vault.StageDiff{
		Added: []string{"a", "REF"}, Changed: []string{"A"}, Unchanged: []string{"B"}, Removed: []string{"EMPTY"},
	})
	if got := stageOf(t, v, "shop", "dev"); got.Level != vault.LevelUse || got.Name != "dev" {
		t.Errorf("%s %q: an existing stage keeps its own", got.Level, got.Name)
	}
	want := []string{"B=1", "A=3", "a=4", "REF=->warder://personal/x/y"} // as they first stood; A and a are two
	if got := contentOfStage(t, v, "shop", "dev"); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	third := vault.StageChange{Project: "shop", Stage: "dev", Set: variables(t, "REF", "a value now")}
	third.Set = append(third.Set, vault.Field{Name: "A", Value: value(t, "3")}) // as it is, but no secret any more
	sameDiff(t, planned(t, a, v, third), vault.StageDiff{Changed: []string{"REF", "A"}})
	other := vault.StageChange{Project: "shop", Stage: "prod", Set: variables(t, "A", "x")}
	sameDiff(t, planned(t, a, v, other), vault.StageDiff{Added: []string{"A"}, NewStage: true})
	calm(t, a)
	a.Lock()
	if got := contentOfStage(t, firstVault(t, open(t, cfg)), "shop", "dev"); !slices.Equal(got, []string{"B=1", "A=3", "a=4", "REF=a value now"}) {
		t.Errorf("%q", got)
	}
}

// TestStageChangesThatAreRefused leave all as it is, and the plan tells the same.
func TestStageChangesThatAreRefused(t *testing.T) {
	oneThread(t)
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	planned(t, a, v, vault.StageChange{Project: "shop", Stage: "dev", Set: variables(t, "A", "1")})
	code := a.StateCode()
	gone := variables(t, "GONE", "1")
	gone[0].Value.Destroy()
	for name, change := range map[string]vault.StageChange{
		"nothing":                     {},
		"no stage":                    {Project: "shop", Set: variables(t, "A", "2")},
		"no project":                  {Stage: "dev", Set: variables(t, "A", "2")},
		"a bad project":               {Project: "a/b", Stage: "dev", Set: variables(t, "A", "2")},
		"a bad stage":                 {Project: "shop", Stage: "-x", Set: variables(t, "A", "2")},
		"a bad variable":              {Project: "shop", Stage: "dev", Set: variables(t, "B", "2", "a/b", "2")},
		"a variable without a name":   {Project: "shop", Stage: "dev", Set: variables(t, "", "2")},
		"one too large":               {Project: "shop", Stage: "dev", Set: variables(t, "A", strings.Repeat("x", 65536))},
		"a bad level":                 {Project: "shop", Stage: "new", Level: 9, Set: variables(t, "A", "2")},
		"one that is not there":       {Project: "shop", Stage: "dev", Unset: []string{"a"}},
		"not there in a new stage":    {Project: "shop", Stage: "new", Unset: []string{"A"}},
		"one set twice":               {Project: "shop", Stage: "dev", Set: variables(t, "A", "2", "A", "3")},
		"one unset twice":             {Project: "shop", Stage: "dev", Unset: []string{"A", "A"}},
		"one set and unset":           {Project: "shop", Stage: "dev", Set: variables(t, "A", "2"), Unset: []string{"A"}},
		"a value that was destroyed":  {Project: "shop", Stage: "dev", Set: gone},
		"a reference that is no text": {Project: "shop", Stage: "dev", Set: []vault.Field{{Name: "A", Ref: "\xff"}}},
	} {
		if _, err := v.PlanStage(change); err == nil {
			t.Errorf("%s: planned", name)
		}
		if _, err := v.ChangeStage(change); err == nil {
			t.Errorf("%s: done", name)
		}
		if a.StateCode() != code {
			t.Fatalf("%s: something was changed", name)
		}
	}
	if _, err := v.ChangeStage(vault.StageChange{Project: "shop", Stage: "dev", Unset: []string{"a"}}); !errors.Is(err, vault.ErrNotFound) {
		t.Error(err)
	}
	if got := contentOfStage(t, v, "shop", "dev"); !slices.Equal(got, []string{"A=1"}) {
		t.Errorf("%q", got)
	}
	calm(t, a)
}

func TestUndoOfAnImport(t *testing.T) {
	oneThread(t)
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	planned(t, a, v, vault.StageChange{Project: "old", Stage: "dev", Set: variables(t, "A", "1", "B", "1")})
	for _, project := range []string{"old", "new"} {
		planned(t, a, v, vault.StageChange{
			Project: project, Stage: "dev", Set: variables(t, "A", "2", "C", "2"), Origin: vault.Origin{By: vault.ByImport, Tag: "import"},
		})
	}
	n, err := v.Undo("import", vault.Origin{By: vault.ByPerson})
	must(t, err)
	if n != 3 { // the old stage, the new project and its stage
		t.Errorf("%d taken back", n)
	}
	if got := contentOfStage(t, v, "old", "dev"); !slices.Equal(got, []string{"A=1", "B=1"}) {
		t.Errorf("%q", got)
	}
	if _, err := v.Find(vault.KindProject, seal.ID{}, "new"); !errors.Is(err, vault.ErrNotFound) {
		t.Errorf("the new project: %v", err)
	}
	sameDiff(t, planned(t, a, v, vault.StageChange{Project: "new", Stage: "dev", Set: variables(t, "A", "3")}),
		vault.StageDiff{Added: []string{"A"}, NewProject: true, NewStage: true})
	calm(t, a)
}

// TestStageOfAProjectInTheTrash: what is in the trash is not found, so a new one of the name is made.
func TestStageOfAProjectInTheTrash(t *testing.T) {
	oneThread(t)
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	change := vault.StageChange{Project: "shop", Stage: "dev", Set: variables(t, "A", "1")}
	planned(t, a, v, change)
	project, err := v.Find(vault.KindProject, seal.ID{}, "shop")
	must(t, err)
	must(t, v.Trash(stageOf(t, v, "shop", "dev").ID, vault.Origin{}))
	sameDiff(t, planned(t, a, v, change), vault.StageDiff{Added: []string{"A"}, NewStage: true})
	must(t, v.Trash(project.ID, vault.Origin{}))
	sameDiff(t, planned(t, a, v, change), vault.StageDiff{Added: []string{"A"}, NewProject: true, NewStage: true})
}

// TestStageIsWhatWasSet changes a stage at random and compares with a map.
func TestStageIsWhatWasSet(t *testing.T) {
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	model := map[string]string{}
	names := rapid.SampledFrom([]string{"A", "a", "B", "dotted.key", "with-dash"})
	rapid.Check(t, func(rt *rapid.T) {
		change := vault.StageChange{Project: "shop", Stage: "dev"}
		var want vault.StageDiff
		want.NewProject, want.NewStage = len(v.List()) == 0, len(v.List()) == 0
		for _, name := range rapid.SliceOfNDistinct(names, 0, 5, rapid.ID).Draw(rt, "names") {
			text := rapid.SampledFrom([]string{"", "1", "2", "\x00"}).Draw(rt, "value")
			old, there := model[name]
			switch {
			case there && rapid.Bool().Draw(rt, "unset"):
				change.Unset, want.Removed = append(change.Unset, name), append(want.Removed, name)
				delete(model, name)
				continue
			case !there:
				want.Added = append(want.Added, name)
			case old == text:
				want.Unchanged = append(want.Unchanged, name)
			default:
				want.Changed = append(want.Changed, name)
			}
			change.Set, model[name] = append(change.Set, variables(t, name, text)...), text
		}
		sameDiff(t, planned(t, a, v, change), want)
		got := map[string]string{}
		for _, f := range stageOf(t, v, "shop", "dev").Fields {
			got[f.Name] = string(bytesOf(t, f.Value))
		}
		if diff := cmp.Diff(model, got); diff != "" {
			rt.Fatal(diff)
		}
	})
}
