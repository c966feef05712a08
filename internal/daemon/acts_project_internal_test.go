package daemon

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"warder/internal/api"
	"warder/internal/credential"
)

// set is the input that sets one variable.
func set(project, stage, level, name string) api.StageSet {
	return api.StageSet{Project: project, Stage: stage, Level: level, Set: []api.VariableIn{{Name: name, Concealed: true}}}
}

// TestProjectsOfPersonsAndAgents: what each may do with a stage.
func TestProjectsOfPersonsAndAgents(t *testing.T) {
	s := newScene(t)
	var out api.StageChanged
	s.ok(s.do(person(), api.OpProjectSet, set("shop", "production", "use", "DB_URL"), token), &out)
	if !slices.Equal(out.Added, []string{"DB_URL"}) || out.Undo == "" {
		t.Errorf("set: %+v", out)
	}
	s.ok(s.do(person(), api.OpProjectSet, set("hidden", "production", "", "DB_URL"), token), &out)
	s.ok(s.do(person(), api.OpProjectSet, set("shop", "closed", "none", "DB_URL"), token), &out)

	// New variables only, whatever their case, and never what steers programs.
	s.ok(s.do(agent(), api.OpProjectSet, set("shop", "production", "", "API_KEY"), token), &out)
	s.refused(s.do(agent(), api.OpProjectSet, set("shop", "production", "", "DB_URL"), token), api.Exists)
	s.refused(s.do(agent(), api.OpProjectSet, set("shop", "production", "", "db_url"), token), api.Exists)
	s.refused(s.do(agent(), api.OpProjectSet, set("shop", "production", "", "Api_Key"), token), api.Exists)
	s.refused(s.do(agent(), api.OpProjectSet, set("hidden", "dev", "", "X"), token), api.Exists)
	s.refused(s.do(agent(), api.OpProjectSet, set("shop", "closed", "", "X"), token), api.Exists)
	s.refused(s.do(agent(), api.OpProjectSet, set("fresh", "dev", "read", "X"), token), api.Denied)
	s.refused(s.do(agent(), api.OpProjectUnset, api.StageUnset{Project: "shop", Stage: "production", Names: []string{"DB_URL"}}), api.Denied)
	s.refused(s.do(agent(), api.OpProjectStage, api.StageIn{Project: "shop", Stage: "production", Level: "ask"}), api.Denied)
	s.refused(s.do(agent(), api.OpProjectStage, api.StageIn{Project: "shop", Level: "use"}), api.Denied)
	s.ok(s.do(agent(), api.OpProjectStage, api.StageIn{Project: "fresh", Stage: "dev"}), nil)

	var shown api.ProjectShown
	s.ok(s.do(agent(), api.OpProjectShow, api.ProjectShowIn{Project: "shop"}), &shown)
	if !slices.Equal(shown.Stages, []string{"production"}) || len(shown.Detail) != 1 || len(shown.Detail[0].Variables) != 2 {
		t.Errorf("an agent sees %+v", shown)
	}
	s.refused(s.do(agent(), api.OpProjectShow, api.ProjectShowIn{Project: "hidden"}), api.NotFound)
	s.refused(s.do(agent(), api.OpProjectShow, api.ProjectShowIn{Project: "shop", Stage: "closed"}), api.NotFound)
	var list api.ProjectList
	s.ok(s.do(agent(), api.OpProjectList, nil), &list)
	if len(list.Projects) != 2 {
		t.Errorf("an agent sees %+v", list)
	}

	// A person changes all of it; raising takes presence.
	s.ok(s.do(person(), api.OpProjectSet, set("shop", "production", "", "API_KEY"), "an0ther-v4lue"), &out)
	if !slices.Equal(out.Changed, []string{"API_KEY"}) || !strings.Contains(strings.Join(out.Warnings, " "), "agents can use") {
		t.Errorf("changed: %+v", out)
	}
	s.ok(s.do(person(), api.OpProjectUnset, api.StageUnset{Project: "shop", Stage: "production", Names: []string{"API_KEY"}}), &out)
	s.refused(s.do(person(), api.OpProjectUnset, api.StageUnset{Project: "shop", Stage: "production", Names: []string{"API_KEY"}}), api.NotFound)
	s.ok(s.do(person(), api.OpProjectStage, api.StageIn{Project: "shop", Stage: "production", Level: "ask"}), nil)
	s.refused(s.do(person(), api.OpProjectStage, api.StageIn{Project: "shop", Stage: "production", Level: "use"}), api.NeedsApproval)
	s.refused(s.do(person(), api.OpProjectStage, api.StageIn{Project: "hidden", Level: "ask"}), api.NeedsApproval)
	s.refused(s.do(person(), api.OpProjectSet, set("shop", "production", "use", "X"), token), api.Usage)
}

// TestUnsafeNames: programs take code or trust from these.
func TestUnsafeNames(t *testing.T) {
	s := newScene(t)
	for i, name := range []string{
		"LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "NODE_OPTIONS", "BASH_ENV", "ENV", "PYTHONPATH", "PERL5LIB", "RUBYOPT", "JAVA_TOOL_OPTIONS",
		"GIT_SSH_COMMAND", "PATH", "SSL_CERT_FILE", "HTTPS_PROXY", "https_proxy", "All_Proxy", "WARDER_HOME",
	} {
		project := fmt.Sprint("p", i)
		for _, who := range []*client{agent(), unknown()} {
			s.refused(s.do(who, api.OpProjectSet, set(project, "dev", "", name), token), api.UnsafeName)
			s.refused(s.do(who, api.OpImport, api.Import{File: ".env", Project: project, Stage: "dev"}, name+"="+token), api.UnsafeName)
		}
		var out api.Imported
		s.ok(s.do(person(), api.OpImport, api.Import{File: ".env", Project: project, Stage: "dev"}, "\n"+name+"="+token), &out)
		if len(out.Warnings) != 1 || out.Warnings[0].Line != 2 || !strings.Contains(out.Warnings[0].Text, name) {
			t.Errorf("%s: warnings %+v", name, out.Warnings)
		}
	}
	for _, name := range []string{
		"DATABASE_URL", "PATHS", "ENVIRONMENT", "LDAP_URL", "PROXY", "GITHUB_TOKEN", "GITLAB_TOKEN", "NPM_TOKEN", "AWS_SECRET_ACCESS_KEY",
		"CARGO_REGISTRY_TOKEN", "UV_PUBLISH_TOKEN", "PIPELINE", "XDG", "RUST_LOG",
	} {
		if codeFor(&lookup{}, name) != "" || credential.TakenFrom(name) != "" {
			t.Errorf("%s is refused", name)
		}
	}
}

// TestLinksLendNothingToAgents: what a link opens, a person says with presence, and an agent not at all: what a person closes
// later must stay closed.
func TestLinksLendNothingToAgents(t *testing.T) {
	s := newScene(t)
	s.add(person(), "secret", "", token)
	s.add(person(), "usable", "use", token)
	s.add(agent(), "mine", "use", token)
	s.ok(s.do(agent(), api.OpProjectStage, api.StageIn{Project: "theirs", Level: "use"}), nil)
	for item, code := range map[string]api.Code{"secret": api.NotFound, "usable": api.Denied} {
		s.refused(s.do(agent(), api.OpProjectLink, api.ProjectLink{Project: "theirs", Item: item}), code)
	}
	s.ok(s.do(agent(), api.OpProjectLink, api.ProjectLink{Project: "theirs", Item: "mine"}), nil)
	s.refused(s.do(subagent(), api.OpProjectLink, api.ProjectLink{Project: "theirs", Item: "mine", Remove: true}), api.Denied)

	s.refused(s.do(person(), api.OpProjectLink, api.ProjectLink{Project: "theirs", Item: "secret"}), api.NeedsApproval)
	s.ok(s.do(person(), api.OpProjectLink, api.ProjectLink{Project: "theirs", Item: "usable"}), nil)
	s.ok(s.do(person(), api.OpProjectStage, api.StageIn{Project: "quiet"}), nil)
	s.ok(s.do(person(), api.OpProjectLink, api.ProjectLink{Project: "quiet", Item: "secret"}), nil)
	s.refused(s.do(person(), api.OpProjectStage, api.StageIn{Project: "quiet", Stage: "dev", Level: "use"}), api.NeedsApproval)
	s.ok(s.do(person(), api.OpProjectStage, api.StageIn{Project: "quiet", Stage: "dev"}), nil)
	// A new stage of an agent lends nothing to what others linked.
	s.refused(s.do(agent(), api.OpProjectStage, api.StageIn{Project: "theirs", Stage: "more", Level: "use"}), api.Denied)
	s.ok(s.do(agent(), api.OpProjectStage, api.StageIn{Project: "theirs", Stage: "more"}), nil)
	var shown api.ProjectShown
	s.ok(s.do(person(), api.OpProjectShow, api.ProjectShowIn{Project: "theirs"}), &shown)
	if shown.Detail[0].Level != "unset" || len(shown.Links) != 2 {
		t.Errorf("the agent's stage: %+v", shown)
	}
}

// TestReferences: a variable may stand for a field, and opens nothing.
func TestReferences(t *testing.T) {
	s := newScene(t)
	s.add(person(), "secret", "", token)
	s.add(person(), "usable", "use", token)
	ref := func(ref string) api.StageSet {
		in := set("shop", "dev", "use", "X")
		in.Set[0].Ref = ref
		return in
	}
	s.refused(s.do(agent(), api.OpProjectSet, ref("warder://personal/secret/token")), api.NotFound)
	s.refused(s.do(agent(), api.OpProjectSet, ref("warder://personal/missing/token")), api.NotFound)
	s.refused(s.do(agent(), api.OpProjectSet, ref("personal/usable")), api.Usage)
	s.ok(s.do(person(), api.OpProjectSet, ref("warder://PERSONAL/Secret/token")), nil)
	var shown api.ProjectShown
	s.ok(s.do(agent(), api.OpProjectShow, api.ProjectShowIn{Project: "shop"}), &shown)
	if v := shown.Detail[0].Variables[0]; v.Ref != "" || !v.Set {
		t.Errorf("an agent sees %+v", v)
	}
	s.ok(s.do(person(), api.OpProjectShow, api.ProjectShowIn{Project: "shop"}), &shown)
	if v := shown.Detail[0].Variables[0]; v.Ref != "warder://personal/secret/token" {
		t.Errorf("a person sees %+v", v)
	}
	s.refused(s.do(agent(), api.OpItemShow, api.ItemShow{Name: "secret"}), api.NotFound)
	exp := api.Export{Format: "env", Project: "shop", Stage: "dev"}
	exp.Presence = true
	res := s.do(person(), api.OpExport, exp, masterPassword)
	s.ok(res, nil)
	if got := strings.Join(res.values, ""); got != "X="+token+"\n" && got != "X='"+token+"'\n" {
		t.Errorf("exported %q", got)
	}
}

// TestDone1_Import: dry run, import, again, over a changed value, undone.
func TestDone1_Import(t *testing.T) {
	s := newScene(t)
	in := api.Import{File: "app.env", Project: "shop", Stage: "dev", DryRun: true}
	file := "# app\nDB_URL=\"postgres://u:p@h/db#1\"\nAPI_KEY='zq7$Lm2#Xv9'\n"
	var out api.Imported
	s.ok(s.do(person(), api.OpImport, in, file), &out)
	if out.Added != 2 || out.Undo != "" {
		t.Errorf("dry run: %+v", out)
	}
	s.refused(s.do(person(), api.OpProjectShow, api.ProjectShowIn{Project: "shop"}), api.NotFound)
	in.DryRun = false
	s.ok(s.do(person(), api.OpImport, in, file[:20], file[20:]), &out) // a large file comes in pieces
	if out.Added != 2 || out.Undo == "" || len(out.Names.Added) != 2 {
		t.Errorf("import: %+v", out)
	}
	s.ok(s.do(person(), api.OpImport, in, file), &out)
	if out.Unchanged != 2 || out.Added+out.Changed != 0 {
		t.Errorf("again: %+v", out)
	}
	s.ok(s.do(person(), api.OpImport, in, "API_KEY=other-v4lue\nNEW=1\n"), &out)
	if out.Changed != 1 || out.Added != 1 {
		t.Errorf("changed: %+v", out)
	}
	undo := api.ItemUndo{Tag: out.Undo}
	s.ok(s.do(person(), api.OpItemUndo, undo), nil)
	exp := api.Export{Format: "env", Project: "shop"}
	exp.Presence = true
	res := s.do(person(), api.OpExport, exp, masterPassword)
	s.ok(res, nil)
	if text := strings.Join(res.values, ""); !strings.Contains(text, "zq7$Lm2#Xv9") || strings.Contains(text, "NEW") {
		t.Error("the import was not taken back")
	}
	// U-54: what can't be read names file and line and nothing else.
	res = s.do(person(), api.OpImport, in, "A=1\nB='never closed "+token)
	s.refused(res, api.Usage)
	if !strings.Contains(res.err.Message, "app.env:2") || strings.Contains(res.err.Message, token) {
		t.Errorf("message %q", res.err.Message)
	}
}

// TestUndoKeepsWhatOthersAdded: a project does not go away from under another's stage.
func TestUndoKeepsWhatOthersAdded(t *testing.T) {
	s := newScene(t)
	var mine api.StageChanged
	s.ok(s.do(agent(), api.OpProjectSet, set("shop", "dev", "", "X"), token), &mine)
	s.ok(s.do(person(), api.OpProjectSet, set("shop", "production", "", "X"), token), nil)
	s.refused(s.do(agent(), api.OpItemUndo, api.ItemUndo{Tag: mine.Undo}), api.Denied)
	s.ok(s.do(person(), api.OpProjectShow, api.ProjectShowIn{Project: "shop", Stage: "production"}), nil)
}
