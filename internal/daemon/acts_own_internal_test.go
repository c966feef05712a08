package daemon

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"warder/internal/api"
	"warder/internal/policy"
	"warder/internal/seal"
	"warder/internal/vault"
)

// another is a value that is not token.
const another = "an0ther-v4lue-Qx7"

// unset is the input that removes variables.
func unset(project, stage string, names ...string) api.StageUnset {
	return api.StageUnset{Project: project, Stage: stage, Names: names}
}

// TestAgentsOwnVariables: an agent changes, removes and takes back what it put into a stage, whoever's the stage is, and nothing that
// another agent or a person put there or changed since.
func TestAgentsOwnVariables(t *testing.T) {
	s := newScene(t)
	s.ok(s.do(person(), api.OpProjectSet, set("shop", "dev", "use", "THEIRS"), token), nil)
	s.ok(s.do(subagent(), api.OpProjectSet, set("shop", "dev", "", "OTHERS"), token), nil)
	var out api.StageChanged
	s.ok(s.do(agent(), api.OpProjectSet, set("shop", "dev", "", "MINE"), token), nil)
	s.ok(s.do(agent(), api.OpProjectSet, set("shop", "dev", "", "MINE"), another), &out)
	if !slices.Equal(out.Changed, []string{"MINE"}) || out.Undo == "" {
		t.Errorf("changed: %+v", out)
	}
	s.ok(s.do(agent(), api.OpItemUndo, api.ItemUndo{Tag: out.Undo}), nil)
	s.ok(s.do(agent(), api.OpProjectSet, set("shop", "dev", "", "MINE"), token), &out)
	if !slices.Equal(out.Unchanged, []string{"MINE"}) || out.Undo != "" {
		t.Errorf("after the undo the first value is not there, or what changed nothing has a tag: %+v", out)
	}
	plain := set("shop", "dev", "", "MINE")
	plain.Set[0].Concealed = false
	s.refused(s.do(agent(), api.OpProjectSet, plain, token), api.Denied)
	for _, name := range []string{"THEIRS", "OTHERS"} {
		s.refused(s.do(agent(), api.OpProjectUnset, unset("shop", "dev", name, "MINE")), api.Denied)
		s.refused(s.do(agent(), api.OpProjectSet, set("shop", "dev", "", name), token), api.Exists)
		s.refused(s.do(unknown(), api.OpProjectUnset, unset("shop", "dev", name)), api.Denied)
	}
	s.refused(s.do(agent(), api.OpProjectUnset, unset("shop", "dev", "NONE")), api.NotFound)
	s.refused(s.do(agent(), api.OpProjectUnset, unset("shop", "dev", "mine")), api.NotFound)
	s.ok(s.do(agent(), api.OpProjectUnset, unset("shop", "dev", "MINE")), &out)
	s.ok(s.do(agent(), api.OpItemUndo, api.ItemUndo{Tag: out.Undo}), nil)

	// A person's hand makes it a person's, and keeps it so whatever the value is in the end.
	for _, text := range []string{another, token} {
		s.ok(s.do(person(), api.OpProjectSet, set("shop", "dev", "", "MINE"), text), nil)
	}
	s.refused(s.do(agent(), api.OpProjectUnset, unset("shop", "dev", "MINE")), api.Denied)
	s.refused(s.do(agent(), api.OpProjectSet, set("shop", "dev", "", "MINE"), another), api.Exists)
	s.refused(s.do(agent(), api.OpItemUndo, api.ItemUndo{Tag: out.Undo}), api.NotFound)
}

// TestOwnershipIsNotOutlived: what is older than the revisions that are kept is nobody's: an agent can't push a person's hand out of
// the history and take what is left, not even within one tick of the clock.
func TestOwnershipIsNotOutlived(t *testing.T) {
	s := newScene(t)
	s.ok(s.do(person(), api.OpProjectSet, set("shop", "dev", "use", "THEIRS"), token), nil)
	for i := range 14 {
		s.ok(s.do(agent(), api.OpProjectSet, set("shop", "dev", "", fmt.Sprint("N", i)), token), nil)
	}
	for _, name := range []string{"THEIRS", "N0"} {
		s.refused(s.do(agent(), api.OpProjectUnset, unset("shop", "dev", name)), api.Denied)
	}
	s.ok(s.do(agent(), api.OpProjectUnset, unset("shop", "dev", "N13")), nil)
	s.now = s.now.Add(time.Second)
	s.refused(s.do(agent(), api.OpProjectSet, set("shop", "dev", "", "THEIRS"), another), api.Exists)
}

// TestAgentsOwnLinks: an agent takes away the links that it made, and no others.
func TestAgentsOwnLinks(t *testing.T) {
	s := newScene(t)
	s.add(agent(), "mine", "use", token)
	s.add(agent(), "given", "use", token)
	s.add(person(), "usable", "use", token)
	s.ok(s.do(person(), api.OpProjectStage, api.StageIn{Project: "shop", Stage: "dev", Level: "use"}), nil)
	link := func(item string, remove bool) api.ProjectLink {
		return api.ProjectLink{Project: "shop", Item: item, Remove: remove}
	}
	s.ok(s.do(agent(), api.OpProjectLink, link("mine", false)), nil)
	s.ok(s.do(person(), api.OpProjectLink, link("given", false)), nil)
	s.ok(s.do(person(), api.OpProjectLink, link("usable", false)), nil)
	s.refused(s.do(agent(), api.OpProjectLink, link("given", true)), api.Denied)
	s.refused(s.do(agent(), api.OpProjectLink, link("usable", true)), api.Denied)
	s.refused(s.do(subagent(), api.OpProjectLink, link("mine", true)), api.Denied)
	s.ok(s.do(agent(), api.OpProjectLink, link("mine", true)), nil)
	// Linked anew by a person it is the person's link.
	s.ok(s.do(person(), api.OpProjectLink, link("mine", false)), nil)
	s.refused(s.do(agent(), api.OpProjectLink, link("mine", true)), api.Denied)
}

// TestAgentImportsItsOwn: a file that an agent imports again counts what is unchanged and changes what is its own.
func TestAgentImportsItsOwn(t *testing.T) {
	s := newScene(t)
	in := api.Import{File: ".env", Project: "shop", Stage: "dev"}
	for _, c := range []struct {
		text                      string
		added, changed, unchanged int
	}{
		{"A=first-v4lue\nB=second-v4lue\n", 2, 0, 0},
		{"A=first-v4lue\nB=changed-v4lue\nC=third-v4lue\n", 1, 1, 1},
		{"C=third-v4lue\n", 0, 0, 1},
	} {
		var out api.Imported
		s.ok(s.do(agent(), api.OpImport, in, c.text), &out)
		if out.Added != c.added || out.Changed != c.changed || out.Unchanged != c.unchanged || (out.Undo != "") != (c.added+c.changed > 0) {
			t.Errorf("%q: %+v", c.text, out)
		}
	}
}

// TestAgentImports: all of a file or nothing; what stands in the way is named with its line and reason, in the dry run and in the act,
// which end alike; no answer tells whether a value is the one that is there.
func TestAgentImports(t *testing.T) {
	s := newScene(t)
	in := api.Import{File: ".env", Project: "shop", Stage: "dev"}
	s.ok(s.do(person(), api.OpProjectSet, set("shop", "dev", "use", "THEIRS"), token), nil)
	s.ok(s.do(agent(), api.OpImport, in, "A=first-v4lue\n"), nil)
	text := func(value string) string {
		return "D=fourth-v4lue\nA=first-v4lue\n# x\nTHEIRS=" + value + "\nLD_PRELOAD=/tmp/x-evil.so\ntheirs=" + value + "\n"
	}
	same, other := s.do(agent(), api.OpImport, in, text(token)), s.do(agent(), api.OpImport, in, text(another))
	s.refused(same, api.Exists)
	s.refused(other, api.Exists)
	for _, want := range []string{"THEIRS (line 4)", "theirs (line 6)", "LD_PRELOAD (line 5)"} {
		if !strings.Contains(same.err.Message, want) {
			t.Errorf("%q does not name %s", same.err.Message, want)
		}
	}
	in.DryRun = true
	drySame, dryOther := s.do(agent(), api.OpImport, in, text(token)), s.do(agent(), api.OpImport, in, text(another))
	var dry api.Imported
	s.ok(drySame, &dry)
	endsAlike(t, dry, same)
	if dry.Added != 1 || dry.Unchanged != 1 || dry.Changed != 0 || !slices.Equal(dry.Names.Refused, []string{"THEIRS", "LD_PRELOAD", "theirs"}) {
		t.Errorf("the dry run: %+v", dry)
	}
	for _, line := range []int{4, 5, 6} {
		if !slices.ContainsFunc(dry.Warnings, func(w api.ImportWarning) bool { return w.Line == line }) {
			t.Errorf("no warning for line %d: %+v", line, dry.Warnings)
		}
	}
	if told(t, same, drySame) != told(t, other, dryOther) {
		t.Error("the answers tell the value")
	}
	var shown api.ProjectShown
	s.ok(s.do(person(), api.OpProjectShow, api.ProjectShowIn{Project: "shop"}), &shown)
	if len(shown.Detail[0].Variables) != 2 {
		t.Errorf("something was stored: %+v", shown.Detail[0].Variables)
	}
	// A refusal of another kind is foretold as well.
	in = api.Import{File: ".env", Project: "shop", Stage: "prod", Level: "read"}
	refused := s.do(agent(), api.OpImport, in, "B=2\n")
	s.refused(refused, api.Denied)
	in.DryRun = true
	s.ok(s.do(agent(), api.OpImport, in, "B=2\n"), &dry)
	endsAlike(t, dry, refused)
}

// endsAlike wants a dry run to foretell how the act ends.
func endsAlike(t *testing.T, dry api.Imported, act result) {
	t.Helper()
	if dry.Error == nil || dry.Error.Code != act.err.Code || dry.Error.Message != act.err.Message || dry.Error.Hint != act.err.Hint {
		t.Errorf("the dry run says %+v, the act %+v", dry.Error, act.err)
	}
}

// told is all that two answers tell, without the ids of the acts.
func told(t *testing.T, act, dry result) string {
	t.Helper()
	var out api.Imported
	must(t, json.Unmarshal(dry.json, &out))
	out.Error.ID, act.err.ID = "", ""
	return fmt.Sprint(*act.err, *out.Error, out.Warnings, out.Names, out.Added, out.Changed, out.Unchanged)
}

// TestRefusalsNameNoVariableInTheLog: what a refusal names to the caller is in no record.
func TestRefusalsNameNoVariableInTheLog(t *testing.T) {
	s := newScene(t)
	s.ok(s.do(person(), api.OpProjectSet, set("shop", "dev", "use", "CanaryName"), token), nil)
	for _, dryRun := range []bool{true, false} {
		s.do(agent(), api.OpImport, api.Import{File: ".env", Project: "shop", Stage: "dev", DryRun: dryRun}, "CanaryName=x\nNODE_OPTIONS=y\n")
	}
	s.refused(s.do(agent(), api.OpProjectUnset, unset("shop", "dev", "CanaryName")), api.Denied)
	for _, rec := range s.records() {
		if line := string(rec.Line()); strings.Contains(line, "CanaryName") || strings.Contains(line, "NODE_OPTIONS") {
			t.Errorf("a record names a variable: %s", line)
		}
	}
}

// TestManyFaults: a refusal names as many as there is room for, and says how many are left; the dry run lists all.
func TestManyFaults(t *testing.T) {
	var all faults
	for i := range 2000 {
		all = append(all, fault{policy.ToReplace, fmt.Sprintf("NAME_OF_A_VARIABLE_%d", i), i + 1})
	}
	err := all.explain(policy.Decide(policy.Question{Needs: []policy.Need{policy.ToReplace}}))
	if text := err.Error(); len(text) > 4<<10 || !strings.Contains(text, "NAME_OF_A_VARIABLE_0 (line 1)") || !strings.Contains(text, "more, which a dry run lists") {
		t.Errorf("%d bytes: %.200s", len(text), text)
	}
}

// TestTrails: whose a part is when devices changed the object apart.
func TestTrails(t *testing.T) {
	mine, theirs := api.Maker{By: "agent", Client: "claude"}, api.Maker{By: "person"}
	for name, c := range map[string]struct {
		hands []api.Maker
		want  api.Maker
	}{
		"one":                   {[]api.Maker{mine}, mine},
		"twice the same":        {[]api.Maker{mine, mine}, mine},
		"an agent and another":  {[]api.Maker{mine, {By: "agent", Client: "codex"}}, api.Maker{}},
		"an agent and a person": {[]api.Maker{mine, theirs}, theirs},
		"a person and an agent": {[]api.Maker{theirs, mine}, theirs},
		"an agent and nobody":   {[]api.Maker{mine, {}}, api.Maker{}},
		"none":                  {nil, api.Maker{}},
	} {
		if got := joined(c.hands); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	l := lookup{who: agent().id}
	m := vault.Meta{Kind: vault.KindItem, Origin: vault.Origin{By: vault.ByAgent, Client: "claude"}}
	if !l.mine(&m) {
		t.Error("an agent's item is not its own")
	}
	if m.Conflict = true; l.mine(&m) {
		t.Error("an item that two devices changed apart is an agent's own")
	}
}

// TestAgentImportsOverItsOwnPlainVariable: a file does not say what is a secret, so a variable that is none stays none, by the word of whoever
// said it: an import of an agent's makes no person's word of it, nor does a person's import.
func TestAgentImportsOverItsOwnPlainVariable(t *testing.T) {
	s := newScene(t)
	plain := set("shop", "test", "", "LOG")
	plain.Set[0].Concealed = false
	s.ok(s.do(agent(), api.OpProjectSet, plain, "info"), nil)
	in := api.Import{File: ".env", Project: "shop", Stage: "test"}
	for _, c := range []struct {
		who   *client
		value string
	}{{agent(), "debug"}, {person(), "trace"}} {
		var out api.Imported
		s.ok(s.do(c.who, api.OpImport, in, "LOG="+c.value+"\n"), &out)
		f := variableOf(s, "shop", "test", "LOG")
		if out.Changed != 1 || f.Concealed || f.NonSecret != vault.ByAgent || stored(s, "shop", "test")["LOG"] != c.value {
			t.Errorf("%s: %+v, now concealed %t, no secret says %q", c.value, out, f.Concealed, f.NonSecret)
		}
	}
}

// variableOf is a variable as it is stored, without its value.
func variableOf(s *scene, project, stage, name string) vault.Field {
	s.t.Helper()
	v, err := s.account.Vault(vault.DefaultVault)
	must(s.t, err)
	p, err := v.Find(vault.KindProject, seal.ID{}, project)
	must(s.t, err)
	m, err := v.Find(vault.KindStage, p.ID, stage)
	must(s.t, err)
	it, err := v.Open(m.ID)
	must(s.t, err)
	defer it.Destroy()
	f := variable(it, name)
	if f == nil {
		s.t.Fatalf("there is no %s in %s/%s", name, project, stage)
	}
	return vault.Field{Name: f.Name, Concealed: f.Concealed, NonSecret: f.NonSecret, Ref: f.Ref}
}
