package cli

import (
	"os"
	"strings"
	"testing"

	"warder/internal/api"
	"warder/internal/platform"
)

// TestColours: on a terminal alone, and not where somebody asked for none.
func TestColours(t *testing.T) {
	keyboard, tty, err := platform.OpenPTY()
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	defer keyboard.Close()
	defer tty.Close()
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, row := range []struct {
		name string
		out  *os.File
		env  map[string]string
		want bool
	}{
		{"a terminal", tty, nil, true},
		{"a terminal that nobody wants colours on", tty, map[string]string{noColour: "1"}, false},
		{"a terminal without colours", tty, map[string]string{"TERM": "dumb"}, false},
		{"a file", file, nil, false},
		{"nowhere", null, nil, false},
	} {
		env := &Env{Out: &checkedWriter{w: row.out}, Getenv: func(name string) string { return row.env[name] }}
		if got := strings.Contains(env.paint(red, "x"), "\x1b"); got != row.want {
			t.Errorf("%s: coloured is %v", row.name, got)
		}
	}
}

func TestColumns(t *testing.T) {
	c := columns{indent: "  "}
	c.add("a", "bb", "the rest, as long as it likes")
	c.add("äöü", "", "x")
	c.add("alone, and as long as it likes")
	c.add("\x1b[2J\n", "b", "")
	var b strings.Builder
	if err := c.print(&b); err != nil {
		t.Fatal(err)
	}
	want := "  a      bb  the rest, as long as it likes\n" +
		"  äöü        x\n" +
		"  alone, and as long as it likes\n" +
		"  \ufffd[2J\ufffd  b\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// TestEmptyLists: a person at a terminal is told how something gets into an empty list; a program is told nothing beside its list.
func TestEmptyLists(t *testing.T) {
	keyboard, tty, err := platform.OpenPTY()
	if err != nil {
		t.Skipf("no pseudo terminals here: %v", err)
	}
	defer keyboard.Close()
	defer tty.Close()
	f := newFake(t, answers{
		api.OpItemList: reply(api.ItemList{Items: []api.ItemRow{}}), api.OpProjectList: reply(api.ProjectList{Projects: []api.ProjectRow{}}),
		api.OpTrustList: reply(api.TrustList{Dirs: []string{}}),
	})
	for _, row := range []struct{ line, json, text string }{
		{"item list", `{"items":[]}`, "no items yet; warder item add NAME --type TYPE"},
		{"item list --tag x", `{"items":[]}`, "no item is like that; without a filter: warder item list"},
		{"project list", `{"projects":[]}`, "no projects yet; warder import FILE --project P --stage S"},
		{"trust list", `{"dirs":[]}`, "no directories are trusted yet; warder trust DIR"},
	} {
		if s := f.run("", strings.Fields(row.line)...); s.status != 0 || s.out+s.errors != "" {
			t.Errorf("%s without a terminal: %+v", row.line, s)
		}
		env := f.base
		var out strings.Builder
		env.Out, env.Err = &out, tty
		if status := Run(t.Context(), env, append(strings.Fields(row.line), "--json")); status != 0 || out.String() != row.json+"\n" {
			t.Errorf("%s --json prints %q", row.line, out.String())
		}
		out.Reset()
		if status := Run(t.Context(), env, strings.Fields(row.line)); status != 0 || out.String() != "" {
			t.Errorf("%s prints %q", row.line, out.String())
		}
		var shown strings.Builder
		if !readUntil(keyboard, &shown, "\n") || strings.TrimSpace(shown.String()) != row.text {
			t.Errorf("%s tells %q", row.line, shown.String())
		}
	}
}
