package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warder/internal/api"
)

func addedReply() api.ItemAdded {
	return api.ItemAdded{
		Name: "github-token", Vault: "personal", Level: "use", Ref: "warder://personal/github-token/token", Undo: "t1",
		Warnings: []string{},
	}
}

func TestItemAdd(t *testing.T) {
	for _, row := range []struct {
		name, stdin string
		args        []string
		input       string
		values      []string
	}{
		{
			"a token from a pipe", "v-1\n",
			[]string{"github-token", "--type", "api-token", "--host", "api.github.com", "--level", "use"},
			`{"name":"github-token","type":"api-token","fields":[{"name":"token","concealed":true}],"hosts":["api.github.com"],"level":"use"}`,
			[]string{"v-1"},
		},
		{
			"a value of lines stays as it is", "a\nb\n",
			[]string{"key", "--type", "ssh-key"},
			`{"name":"key","type":"ssh-key","fields":[{"name":"private_key","concealed":true}]}`,
			[]string{"a\nb\n"},
		},
		{
			"a carriage return goes with the newline", "v\r\n",
			[]string{"x", "--type", "password", "--vault", "work"},
			`{"vault":"work","name":"x","type":"password","fields":[{"name":"password","concealed":true}]}`,
			[]string{"v"},
		},
		{
			"more fields, a section, tags", "v",
			[]string{"db", "--type", "database", "--field", "main/pw", "--set", "user=app", "--set", "net/port=5432", "--tag", "a", "--tag", "b"},
			`{"name":"db","type":"database","fields":[{"section":"main","name":"pw","concealed":true},` +
				`{"name":"user","concealed":false},{"section":"net","name":"port","concealed":false}],"tags":["a","b"]}`,
			[]string{"v", "app", "5432"},
		},
		{
			"text alone", "",
			[]string{"me", "--type", "identity", "--set", "name=A B"},
			`{"name":"me","type":"identity","fields":[{"name":"name","concealed":false}]}`,
			[]string{"A B"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFake(t, answers{api.OpItemAdd: reply(addedReply())})
			f.run(row.stdin, append([]string{"item", "add"}, row.args...)...).want(t, 0, "github-token", "warder item undo t1")
			got := f.last()
			if diff := cmp.Diff(row.input, got.input); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(row.values, got.values); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestItemAddFindsPrograms(t *testing.T) {
	f := newFake(t, answers{api.OpItemAdd: reply(addedReply())})
	f.run("v", "item", "add", "x", "--type", "other", "--command", "sh").want(t, 0)
	if got := f.last().input; !strings.Contains(got, `"commands":[{"name":"sh","path":"/`) {
		t.Errorf("the input holds no path: %s", got)
	}
	f.run("v", "item", "add", "x", "--type", "other", "--command", "no-such-program").want(t, 7, `there is no program "no-such-program"`)
}

func TestItemAddRefuses(t *testing.T) {
	f := newFake(t, answers{api.OpItemAdd: refusal(api.Exists, "there is an item personal/x")})
	for name, row := range map[string]struct {
		stdin  string
		args   []string
		status int
		text   string
	}{
		"no type":           {"v", []string{"x"}, 2, "--type is missing"},
		"unknown type":      {"v", []string{"x", "--type", "tokn"}, 2, "api-token"},
		"unknown level":     {"v", []string{"x", "--type", "other", "--level", "write"}, 2, "unset, none, ask, use, read"},
		"value in the argv": {"", []string{"x", "value", "--type", "other"}, 2, "values never stand in a command line"},
		"no name":           {"v", []string{"--type", "other"}, 2, "NAME"},
		"no value":          {"", []string{"x", "--type", "other"}, 2, "no value on standard input"},
		"a newline alone":   {"\n", []string{"x", "--type", "other"}, 2, "no value on standard input"},
		"bad --set":         {"v", []string{"x", "--type", "other", "--set", "user"}, 2, "NAME=TEXT"},
		"too large":         {strings.Repeat("v", maxField+1), []string{"x", "--type", "other"}, 1, "error[too_large]"},
		"exists":            {"v", []string{"x", "--type", "other"}, 1, "error[exists]: there is an item personal/x"},
	} {
		t.Run(name, func(t *testing.T) {
			f.run(row.stdin, append([]string{"item", "add"}, row.args...)...).want(t, row.status, row.text, "warder: hint: ")
		})
	}
	// A value is in no message, whatever went wrong with it.
	s := f.run("canary-value", "item", "add", "x", "--type", "other", "--json")
	if strings.Contains(s.out+s.errors, "canary") {
		t.Errorf("the value shows: %+v", s)
	}
}

func TestItemAddAtATerminal(t *testing.T) {
	f := newFake(t, answers{api.OpItemAdd: reply(addedReply())})
	screen := f.person(typed{question: "Value of github-token/token (not shown): ", answer: "typed-value"})
	tty, err := f.base.Terminal()
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	env := f.base
	var out, errs strings.Builder
	env.In, env.Out, env.Err = tty, &out, &errs
	if status := Run(t.Context(), env, []string{"item", "add", "github-token", "--type", "api-token"}); status != 0 {
		t.Fatalf("exit status %d: %s", status, errs.String())
	}
	if got := f.last().values; len(got) != 1 || got[0] != "typed-value" {
		t.Errorf("stored %d values", len(got))
	}
	tty.Close()
	if s := screen(); strings.Contains(s, "typed-value") || !strings.Contains(s, "(11 bytes)") {
		t.Errorf("the terminal shows %q", s)
	}
}

func TestItemEdit(t *testing.T) {
	f := newFake(t, answers{api.OpItemEdit: reply(nil)})
	for _, row := range []struct {
		name, stdin string
		args        []string
		input       string
		values      []string
	}{
		{"a value", "v-2\n", []string{"x", "--field", "token"}, `{"name":"x","set":[{"name":"token","concealed":true}]}`, []string{"v-2"}},
		{"a name", "", []string{"x", "--rename", "y"}, `{"name":"x","rename":"y"}`, nil},
		{"no tags", "", []string{"x", "--tag", ""}, `{"name":"x","tags":[]}`, nil},
		{"hosts and a level", "", []string{"x", "--host", "a", "--host", "b", "--level", "unset"}, `{"name":"x","hosts":["a","b"],"level":"unset"}`, nil},
		{"fields", "", []string{"x", "--set", "user=u", "--unset", "old"}, `{"name":"x","set":[{"name":"user","concealed":false}],"unset":["old"]}`, []string{"u"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			f.run(row.stdin, append([]string{"item", "edit"}, row.args...)...).want(t, 0, "changed x")
			got := f.last()
			if diff := cmp.Diff(row.input, got.input); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(row.values, got.values); diff != "" {
				t.Error(diff)
			}
		})
	}
	f.run("", "item", "edit", "x").want(t, 2, "nothing to change")
	f.run("", "item", "edit", "x", "--level", "up").want(t, 2, "--level")
	f.run("", "item", "edit", "x", "--field", "token").want(t, 2, "no value on standard input")
}

func sampleItem() api.ItemShown {
	return api.ItemShown{
		ItemRow: api.ItemRow{
			Name: "github-token", Vault: "personal", Type: "api-token", Level: "use", Tags: []string{"work"}, Hosts: []string{"api.github.com"},
			State: "ok", Open: true,
		},
		Created: "2026-11-30T09:00:00Z", Modified: "2026-11-30T09:00:00Z", By: "person", Commands: []api.Command{},
		Fields: []api.ItemField{{Name: "token", Concealed: true, Set: true, Ref: "warder://personal/github-token/token"}},
	}
}

func TestItemShow(t *testing.T) {
	f := newFake(t, answers{api.OpItemShow: reply(sampleItem())})
	f.run("", "item", "show", "github-token").want(t, 0, "personal/github-token", "open to agents", "  token  (secret)  warder://personal/github-token/token\n")
	s := f.run("", "item", "show", "github-token", "--json")
	s.want(t, 0, `"fields":[{"section":"","name":"token","concealed":true,"set":true,"ref":"warder://personal/github-token/token"}]`)
	f.run("", "item", "show", "github-token", "--reveal", "--json").want(t, 2, "never stand in JSON")
	f.run("", "item", "show", "github-token", "--field", "token").want(t, 2, "--reveal")
}

// TestItemReveal: the daemon asks for a proof, the person is shown the act and
// types the password, and the same input goes again with it.
func TestItemReveal(t *testing.T) {
	revealed := sampleItem()
	revealed.Fields[0].Revealed = true
	f := newFake(t, answers{api.OpItemShow: proved("show the value of personal/github-token/token", reply(revealed, "canary"))})
	screen := f.person(
		typed{question: "Master password: ", answer: "not it"},
		typed{question: "Master password: ", answer: testPassword},
	)
	s := f.run("", "item", "show", "github-token", "--reveal", "--field", "token")
	s.want(t, 0)
	if s.out != "canary\n" {
		t.Errorf("printed %q", s.out)
	}
	input := `{"presence":true,"hash":"hash of show the value of personal/github-token/token",` +
		`"challenge":"challenge of show the value of personal/github-token/token","name":"github-token","reveal":true,"field":"token"}`
	if diff := cmp.Diff(input, f.last().input); diff != "" {
		t.Error(diff)
	}
	shown := screen()
	for _, text := range []string{"warder asks for your master password to show the value of personal/github-token/token.", "Wrong password."} {
		if !strings.Contains(shown, text) {
			t.Errorf("the terminal does not show %q but %q", text, shown)
		}
	}
	if strings.Contains(shown, testPassword) || strings.Contains(shown, "canary") {
		t.Errorf("the terminal shows a secret: %q", shown)
	}
}

func TestItemRevealWithoutATerminal(t *testing.T) {
	f := newFake(t, answers{api.OpItemShow: proved("show a value", reply(nil))})
	f.run("", "item", "show", "x", "--reveal").want(t, 4, "error[needs_approval]: show a value")
	f.run("", "item", "show", "x", "--reveal", "--json").want(t, 2)
}

func TestItemList(t *testing.T) {
	row := sampleItem().ItemRow
	f := newFake(t, answers{api.OpItemList: reply(api.ItemList{Items: []api.ItemRow{row}})})
	f.run("", "item", "list").want(t, 0, "personal/github-token  api-token  use")
	s := f.run("", "item", "list", "--json")
	want := `{"items":[{"name":"github-token","vault":"personal","type":"api-token","level":"use","tags":["work"],` +
		`"hosts":["api.github.com"],"state":"ok","open":true}]}` + "\n"
	if diff := cmp.Diff(want, s.out); diff != "" {
		t.Error(diff)
	}
	empty := newFake(t, answers{api.OpItemList: reply(api.ItemList{})})
	if s := empty.run("", "item", "list", "--json"); s.out != `{"items":[]}`+"\n" && s.out != `{"items":null}`+"\n" {
		t.Errorf("an empty list is %q", s.out)
	}
}

func TestItemCheck(t *testing.T) {
	set := newFake(t, answers{api.OpItemCheck: reply(api.ItemChecked{Set: true})})
	if s := set.run("", "item", "check", "x/main/pw"); s.out != "set\n" || s.status != 0 {
		t.Errorf("got %+v", s)
	}
	if diff := cmp.Diff(`{"name":"x/main/pw"}`, set.last().input); diff != "" {
		t.Error(diff)
	}
	empty := newFake(t, answers{api.OpItemCheck: reply(api.ItemChecked{})})
	if s := empty.run("", "item", "check", "x"); s.out != "empty\n" || s.status != 1 || s.errors != "" {
		t.Errorf("got %+v", s)
	}
	if s := empty.run("", "item", "check", "x", "--json"); s.out != `{"set":false}`+"\n" || s.status != 1 {
		t.Errorf("got %+v", s)
	}
	gone := newFake(t, answers{api.OpItemCheck: refusal(api.NotFound, "there is no item x")})
	gone.run("", "item", "check", "x", "--json").want(t, 7, `{"error":{"code":"not_found","message":"there is no item x","hint":"see what there is: warder item list","id":""}}`)
}

func TestItemHistoryAndUndo(t *testing.T) {
	f := newFake(t, answers{
		api.OpItemHistory: reply(api.ItemHistory{Revisions: []api.ItemRevision{{Rev: "2", Modified: "m", By: "agent", Client: "claude", Undo: "t2"}}}),
		api.OpItemUndo:    reply(api.ItemUndone{Count: 1}),
		api.OpItemRemove:  reply(nil),
	})
	f.run("", "item", "history", "x").want(t, 0, "agent claude", "warder item undo t2")
	f.run("", "item", "undo", "t2").want(t, 0, "took back 1 change")
	f.run("", "item", "rm", "x").want(t, 0, "removed x")
}

func TestItemCompletion(t *testing.T) {
	f := newFake(t, answers{
		api.OpItemList:    reply(api.ItemList{Items: []api.ItemRow{{Name: "github-token", Type: "api-token"}}}),
		api.OpProjectList: reply(api.ProjectList{Projects: []api.ProjectRow{{Name: "shop"}}}),
		api.OpProjectShow: reply(api.ProjectShown{
			ProjectRow: api.ProjectRow{Name: "shop", Stages: []string{"production"}}, Links: []string{"linked"},
			Detail: []api.StageShown{{Name: "production", Variables: []api.StageVariable{{Name: "KEY"}}}},
		}),
		api.OpTrustList: reply(api.TrustList{Dirs: []string{"/src"}}),
	})
	for _, row := range []struct{ line, want string }{
		{"item show ", "github-token\tapi-token"},
		{"item check ", "github-token"},
		{"item add x --type ", "api-token"},
		{"item add x --level ", "read"},
		{"project show ", "shop"},
		{"project show shop ", "production"},
		{"project unset shop production ", "KEY"},
		{"project link shop ", "github-token"},
		{"project unlink shop ", "linked"},
		{"import .env --project ", "shop"},
		{"import .env --project shop --stage ", "production"},
		{"trust rm ", "/src"},
		{"config set ", "lock.idle"},
		{"config set guard.mode ", "closed"},
		{"repair ", "accept-restore"},
	} {
		s := f.run("", append([]string{"__complete"}, strings.Split(row.line, " ")...)...)
		if !strings.Contains(s.out, row.want) {
			t.Errorf("%q offers %q, not %s", row.line, s.out, row.want)
		}
	}
	// Where no daemon runs there is nothing to offer, and none is started.
	none := newWorld(t)
	none.setUp()
	none.run("", "__complete", "item", "show", "").want(t, 0)
}
