package testkit_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warder/internal/testkit"
)

const caseFile = `{"id": "A-1", "kind": "parse", "setup": {"files": {"a": "x=1\n", "b": {"hex": "efbbbf"}}}, "action": [{"do": "go"}], "expect": [{"ok": true}]}

{"id": "B-1", "kind": "other", "setup": {"files": {"a": {"fill": ["x", 3]}}}}
`

// writeCases puts text into a case file.
func writeCases(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cases.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCases(t *testing.T) {
	got := testkit.Cases(t, writeCases(t, caseFile), "parse")
	want := []testkit.Case{{
		ID:   "A-1",
		Kind: "parse",
		Setup: testkit.CaseSetup{Files: map[string]testkit.CaseFile{
			"a": testkit.CaseFile("x=1\n"),
			"b": testkit.CaseFile("\xef\xbb\xbf"),
		}},
		Action: []byte(`[{"do": "go"}]`),
		Expect: []byte(`[{"ok": true}]`),
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCasesRefuses(t *testing.T) {
	for name, row := range map[string]struct{ text, kind string }{
		"an empty selection":       {caseFile, "absent"},
		"a broken line":            {caseFile + "{", "parse"},
		"file content of no known": {caseFile, "other"},
		"an empty file":            {"", "parse"},
	} {
		path := writeCases(t, row.text)
		if r := record(func(tb testing.TB) { testkit.Cases(tb, path, row.kind) }); !r.fatal {
			t.Errorf("%s passes", name)
		}
	}
	if r := record(func(tb testing.TB) { testkit.Cases(tb, filepath.Join(t.TempDir(), "absent"), "parse") }); !r.fatal {
		t.Error("a missing file passes")
	}
}
