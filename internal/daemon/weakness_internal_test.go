package daemon

import (
	"strings"
	"testing"

	"warder/internal/api"
)

// TestU_23_Weakness: what can't be hidden, or would be told by being hidden, is said of a value when it is stored, and nothing else of it.
func TestU_23_Weakness(t *testing.T) {
	for _, row := range []struct{ value, want string }{
		{"abc", "shorter than 4 bytes: it is never masked"},
		{"a", "shorter than 4 bytes: it is never masked"},
		{"k4#x", "shorter than 8 bytes"},
		{"k4#x9!z", "shorter than 8 bytes"},
		{"test", "occurs in "},
		{"TEST", "occurs in "},
		{"load", "occurs in "},
		{"true", "is a word"},
		{"main", "is a word"},
		{"error", "is a word"},
		{"dragonfly", "is a word"},
		{"configuration", "is a word"},
		{"correct1", "easy to guess"},
		{strongValue(), ""},
		{"configurations " + strongValue(), ""},
	} {
		got := weakness("N", value(t, row.value), true)
		if !strings.Contains(got, row.want) || (got == "") != (row.want == "") {
			t.Errorf("%q: %q, want %q", row.value, got, row.want)
		}
		if said := strings.TrimPrefix(got, "the value of N "); len(row.value) > 5 && strings.Contains(said, row.value) {
			t.Errorf("%q: it is said: %q", row.value, got)
		}
		if got := weakness("N", value(t, row.value), false); got != "" {
			t.Errorf("%q, no secret: %q", row.value, got)
		}
	}
	longest := 0
	for word := range strings.FieldsSeq(ordinaryWords) {
		longest = max(longest, len(word))
	}
	if longest != longestWord {
		t.Errorf("the longest word has %d bytes", longest)
	}
}

// TestU_23_WeaknessIsTold wherever values are stored, and such a value hides nothing from agents.
func TestU_23_WeaknessIsTold(t *testing.T) {
	s := newScene(t)
	const want = "occurs in "
	add := s.add(person(), "a", "use", "test")
	var edited api.Changed
	s.ok(s.do(person(), api.OpItemEdit, api.ItemEdit{Name: "a", Set: []api.FieldIn{{Name: "token", Concealed: true}}}, "Test"), &edited)
	var set api.StageChanged
	s.ok(s.do(person(), api.OpProjectSet, api.StageSet{Project: "p", Stage: "s", Level: "use", Set: []api.VariableIn{{Name: "V", Concealed: true}}}, "test"), &set)
	var imported api.Imported
	s.ok(s.do(person(), api.OpImport, api.Import{Project: "p", Stage: "s", File: ".env"}, "W=load\n"), &imported)
	told := map[string]string{"add": strings.Join(add.Warnings, "\n"), "edit": strings.Join(edited.Warnings, "\n"), "set": strings.Join(set.Warnings, "\n")}
	for _, w := range imported.Warnings {
		told["import"] += w.Text + "\n"
	}
	for _, way := range []string{"add", "edit", "set", "import"} {
		if !strings.Contains(told[way], want) {
			t.Errorf("%s: told %q", way, told[way])
		}
	}
	wantMasked(s, agent(), api.MaskBegin{}, "testing Test", "testing Test")
	wantMasked(s, person(), api.MaskBegin{}, "testing Test", "****(V)ing ****(a)")
}
