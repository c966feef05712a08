package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warder/internal/api"
)

// importer answers an import: what would change, and what was changed.
func importer(call *api.Call) (*api.Reply, error) {
	var in api.Import
	if err := call.Decode(&in); err != nil {
		return nil, err
	}
	out := api.Imported{
		Added: 2, Unchanged: 1, Warnings: []api.ImportWarning{{Line: 3, Text: "B was set before"}}, Level: "unset",
		Names: api.ImportNames{Added: []string{"A", "B"}, Changed: []string{}},
	}
	if !in.DryRun {
		out.Undo = "t1"
	}
	return &api.Reply{Output: out}, nil
}

// importWorld is a daemon that imports, and a file.
func importWorld(t *testing.T) (*fake, string) {
	t.Helper()
	f := newFake(t, answers{api.OpImport: importer})
	file := filepath.Join(f.home, ".env")
	if err := os.WriteFile(file, []byte("A=canary\nB=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return f, file
}

func TestImport(t *testing.T) {
	const dry, real = `"dry_run":true`, `"stage":"test"}`
	for _, row := range []struct {
		name   string
		flags  []string
		answer string // of the person at a terminal; "" for none
		status int
		text   string
		calls  int
		last   string // in the last input
	}{
		{"a dry run", []string{"--dry-run"}, "", 0, "would add 2, change 0, leave 1 unchanged", 1, dry},
		{"nobody to ask", nil, "", 2, "warder: hint: look at what would change, then run it with --yes", 1, dry},
		{"without asking", []string{"--yes"}, "", 0, "undo: warder item undo t1", 1, real},
		{"that it is closed", []string{"--yes"}, "", 0, "to let programs have it: warder project stage shop test --level use", 1, real},
		{"a yes", nil, "y", 0, "shop/test: 2 added, 0 changed, 1 unchanged", 2, real},
		{"a no", nil, "n", 0, "nothing was stored", 1, dry},
		{"no answer", nil, "\x04", 0, "nothing was stored", 1, dry},
	} {
		t.Run(row.name, func(t *testing.T) {
			f, file := importWorld(t)
			if row.answer != "" {
				f.person(typed{question: "[y/N] ", answer: row.answer, shown: true})
			}
			s := f.run("", append([]string{"import", file, "--project", "shop", "--stage", "test"}, row.flags...)...)
			s.want(t, row.status, row.text, ":3: B was set before")
			if n := f.count(); n != row.calls || !strings.Contains(f.last().input, row.last) {
				t.Errorf("%d calls, the last with %s", n, f.last().input)
			}
			if got := f.last().values; len(got) != 1 || got[0] != "A=canary\nB=1\n" {
				t.Error("the file did not go as the one value")
			}
			if strings.Contains(s.out+s.errors, "canary") {
				t.Error("a value shows")
			}
		})
	}
}

func TestImportJSON(t *testing.T) {
	f, file := importWorld(t)
	args := []string{"import", file, "--project", "shop", "--stage", "test", "--json"}
	want := func(undo, refusal string) string {
		return `{"added":2,"changed":0,"unchanged":1,"warnings":[{"line":3,"text":"B was set before"}],"undo":"` + undo +
			`","level":"unset","names":{"added":["A","B"],"changed":[]}` + refusal + "}\n"
	}
	const nobody = `,"error":{"code":"usage","message":"nothing was stored: there is no person at a terminal to ask",` +
		`"hint":"look at what would change, then run it with --yes","id":""}`
	for _, row := range []struct {
		flag   string
		status int
		out    string
		errors string
	}{
		{"--dry-run", 0, want("", ""), ""},
		{"--yes", 0, want("t1", ""), ""},
		{"--level=use", 2, want("", nobody), "warder: error[usage]: nothing was stored"},
	} {
		s := f.run("", append(args, row.flag)...)
		if diff := cmp.Diff(row.out, s.out); diff != "" || s.status != row.status {
			t.Errorf("%s: exit status %d\n%s", row.flag, s.status, diff)
		}
		if row.errors == "" && s.errors != "" || !strings.Contains(s.errors, row.errors) {
			t.Errorf("%s: on stderr: %q", row.flag, s.errors)
		}
	}
}

func TestImportRefuses(t *testing.T) {
	f, file := importWorld(t)
	large := filepath.Join(f.home, "large")
	if err := os.WriteFile(large, make([]byte, maxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	place := []string{"--project", "p", "--stage", "s"}
	for name, row := range map[string]struct {
		args   []string
		status int
		text   string
	}{
		"no place":     {[]string{file}, 2, "--project and --stage"},
		"both":         {append([]string{file, "--yes", "--dry-run"}, place...), 2, "contradict"},
		"level":        {append([]string{file, "--level", "x"}, place...), 2, "unknown level"},
		"missing file": {append([]string{file + "x"}, place...), 7, "there is no file"},
		"a folder":     {append([]string{f.home}, place...), 2, "is a directory"},
		"too large":    {append([]string{large}, place...), 1, "error[too_large]"},
	} {
		t.Run(name, func(t *testing.T) {
			f.run("", append([]string{"import"}, row.args...)...).want(t, row.status, row.text, "warder: hint: ")
		})
	}
	f.run("A=piped\n", append([]string{"import", "-", "--yes"}, place...)...).want(t, 0, "2 added")
	if got := f.last().values; len(got) != 1 || got[0] != "A=piped\n" {
		t.Error("standard input did not go")
	}
}

func TestExport(t *testing.T) {
	f := newFake(t, answers{api.OpExport: proved("export shop/test", reply(api.Exported{Variables: 1}, "A=canary\n"))})
	f.person(typed{question: "Master password: ", answer: testPassword})
	s := f.run("", "export", "--format", "env", "--project", "shop", "--stage", "test")
	if s.status != 0 || s.out != "A=canary\n" || s.errors != "exported 1 variable\n" {
		t.Errorf("got %+v", s)
	}
	for _, args := range [][]string{
		{"export"},
		{"export", "--format", "yaml"},
		{"export", "--format", "env"},
		{"export", "--format", "json", "--stage", "x"},
	} {
		f.run("", args...).want(t, 2)
	}
}

func TestProject(t *testing.T) {
	changed := reply(api.StageChanged{Added: []string{"KEY"}, Undo: "t3"})
	shown := api.ProjectShown{
		ProjectRow: api.ProjectRow{Name: "shop", Vault: "personal", Level: "use", Stages: []string{"test"}},
		Links:      []string{"github-token"},
		Detail: []api.StageShown{{Name: "test", Level: "unset", Variables: []api.StageVariable{
			{Name: "KEY", Concealed: true, Set: true, Level: "unset"},
			{Name: "TOKEN", Level: "use", Ref: "warder://personal/github-token/token"},
			{Name: "AGENT", Level: "unset", Maker: api.Maker{By: "agent", Client: "claude"}},
		}, Tags: []string{"by-agent"}}},
	}
	f := newFake(t, answers{
		api.OpProjectSet: changed, api.OpProjectUnset: changed, api.OpProjectLink: reply(nil), api.OpProjectStage: reply(nil),
		api.OpProjectShow: reply(shown), api.OpProjectList: reply(api.ProjectList{Projects: []api.ProjectRow{shown.ProjectRow}}),
	})
	for _, row := range []struct {
		stdin, line, input string
		values             []string
		text               string
	}{
		{
			"v\n", "set shop test KEY --set PORT=1 --ref TOKEN=warder://personal/t/token --level use",
			`{"project":"shop","stage":"test","level":"use","set":[{"name":"PORT","concealed":false},` +
				`{"name":"TOKEN","concealed":true,"ref":"warder://personal/t/token"},{"name":"KEY","concealed":true}]}`,
			[]string{"1", "v"},
			"warder item undo t3",
		},
		{"", "unset shop test KEY OLD", `{"project":"shop","stage":"test","names":["KEY","OLD"]}`, nil, "KEY"},
		{"", "link shop github-token", `{"project":"shop","item":"github-token"}`, nil, "linked shop: github-token"},
		{"", "unlink shop github-token", `{"project":"shop","item":"github-token","remove":true}`, nil, "unlinked"},
		{"", "stage shop production --level ask", `{"project":"shop","stage":"production","level":"ask"}`, nil, "shop/production"},
		{"", "stage shop --level unset", `{"project":"shop","level":"unset"}`, nil, "shop"},
		{"", "show shop test", `{"project":"shop","stage":"test"}`, nil, "TOKEN  warder://personal/github-token/token  use"},
		{"", "show shop test", `{"project":"shop","stage":"test"}`, nil, "by agent claude"},
		{"", "show shop test", `{"project":"shop","stage":"test"}`, nil, "test, level unset, tags by-agent"},
		{"", "list", ``, nil, "shop  use  test"},
	} {
		f.run(row.stdin, append([]string{"project"}, strings.Fields(row.line)...)...).want(t, 0, row.text)
		got := f.last()
		if diff := cmp.Diff(row.input, got.input); diff != "" {
			t.Errorf("%s\n%s", row.line, diff)
		}
		if diff := cmp.Diff(row.values, got.values); diff != "" {
			t.Errorf("%s\n%s", row.line, diff)
		}
	}
	f.run("", "project", "set", "shop", "test").want(t, 2, "nothing to set")
	f.run("", "project", "set", "shop", "test", "KEY", "value").want(t, 2, "values never stand in a command line")
	f.run("", "project", "show", "shop", "--json").want(t, 0, `"links":["github-token"]`)
	none := `"added":["KEY"],"changed":[],"unchanged":[],"removed":[],"undo":"t3","warnings":[]}`
	f.run("v\n", "project", "set", "shop", "test", "KEY", "--json").want(t, 0, none)
	f.run("", "project", "unset", "shop", "test", "KEY", "--json").want(t, 0, none)
}
