package vault_test

import (
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"warder/internal/vault"
)

func TestCheckName(t *testing.T) {
	for name, reason := range map[string]string{
		"a": "", "GitHub": "", "api.github.com": "", "a b": "", "a-b.c_d": "", "Büro – 仕事": "", "Ελληνικά": "", "עברית": "", "العربية": "",
		"🗝": "", "👩💻 key": "", "🇩🇪": "", "é": "", "a:b": "", "a\\b": "", "@": "", "#1": "", "%": "", "~": "", "*": "", "a..": "", "_": "", "a-": "",
		strings.Repeat("x", 128): "", strings.Repeat("é", 64): "", strings.Repeat("😀", 32): "", "✔️": "", "नमस्ते": "",

		"":                       "empty",
		strings.Repeat("x", 129): "longer", strings.Repeat("é", 64) + "x": "longer", strings.Repeat("😀", 33): "longer",
		"\xff": "UTF-8", "a\xed\xa0\x80": "UTF-8", "a\xc0\xaf": "UTF-8", "a\xc3": "UTF-8",
		"-a": "dash", "--": "dash", "-": "dash", ".a": "dot", ".": "dot", "..": "dot", ".git": "dot",
		"a/b": "slash", "/": "slash", "/a": "slash", "a/": "slash",
		"e\u0301": "normal form", "A\u030a": "normal form", "\u212b": "normal form", "\u1100\u1161": "normal form", "\u0344": "normal form",
		" a": "space", "a ": "space", " ": "space", "\u00a0a": "space", "a\u3000": "space", "a\n": "space", "\ta": "space", "a\u0085": "space",
		"a\nb": "control", "a\x00b": "control", "a\x1bb": "control", "a\x7fb": "control", "a\u009bb": "control", "\x01": "control",
		"a\u202eb": "control", "a\u202ab": "control", "a\u2066b": "control", "a\u2069b": "control", "a\u200eb": "control", "a\u200fb": "control",
		"a\u061cb": "control", "a\u2028b": "control", "a\u2029b": "control",
		"a\u200bb": "invisible", "a\ufeffb": "invisible", "a\u00adb": "invisible", "a\u2060b": "invisible", "\u200b": "invisible", "a\U000e0061b": "invisible",
		"👩\u200d💻": "invisible", "می\u200cخواهم": "invisible", "git\u200dhub": "invisible", "a\u3164b": "invisible", "a\u115fb": "invisible", "a\u034fb": "invisible",
	} {
		err := vault.CheckName("item name", name)
		if reason == "" {
			if err != nil {
				t.Errorf("%q: %v", name, err)
			}
			continue
		}
		var bad *vault.NameError
		if !errors.As(err, &bad) {
			t.Errorf("%q is taken: %v", name, err)
			continue
		}
		if bad.Name != name || bad.What != "item name" || !strings.Contains(bad.Reason, reason) {
			t.Errorf("%q: %v, want %s", name, bad, reason)
		}
	}
}

// TestNameErrorsAreHarmless: an error is printed on a terminal, where the name must do nothing.
func TestNameErrorsAreHarmless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "name")
		checkName(t, name)
	})
}

// checkName wants what CheckName takes to keep F1's rule, and what it refuses to be shown in printable ASCII.
func checkName(t interface{ Fatalf(string, ...any) }, name string) {
	err := vault.CheckName("name", name)
	if err != nil {
		for _, c := range err.Error() {
			if c < 0x20 || c > 0x7e {
				t.Fatalf("the error for %q shows %q", name, c)
			}
		}
		return
	}
	switch {
	case len(name) == 0, len(name) > 128, !utf8.ValidString(name), !norm.NFC.IsNormalString(name), strings.ContainsAny(name[:1], "-."), strings.Contains(name, "/"):
		t.Fatalf("%q is taken", name)
	}
	for _, c := range name {
		if unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) || unicode.Is(unicode.Cf, c) {
			t.Fatalf("%q is taken", name)
		}
	}
}

// TestNamesWithoutCase tells which names are one.
func TestNamesWithoutCase(t *testing.T) {
	for _, one := range [][]string{
		{"github", "GitHub", "GITHUB"},
		{"straße", "STRAẞE"},
		{"σίσυφος", "ΣΊΣΥΦΟΣ", "σίσυφοσ"},
		{"istanbul", "İSTANBUL", "ISTANBUL", "ıstanbul"},
		{"ǆ", "ǅ", "Ǆ"},
		{"s", "ſ"},
		{"å", "Å"},
		{"ᾳ", "ᾼ"},
		{"жук", "ЖУК"},
		{"ａ", "Ａ"},
		{"ⓐ", "Ⓐ"},
	} {
		for _, name := range one {
			if got, want := vault.FoldName(name), vault.FoldName(one[0]); got != want {
				t.Errorf("%q is %q, but %q is %q", name, got, one[0], want)
			}
		}
	}
	for _, two := range [][2]string{{"straße", "strasse"}, {"fi", "ﬁ"}, {"a", "а"}, {"é", "e"}, {"a b", "ab"}, {"o", "0"}, {"ｋ", "k"}} {
		if vault.FoldName(two[0]) == vault.FoldName(two[1]) {
			t.Errorf("%q and %q are one name", two[0], two[1])
		}
	}
}

// TestFoldOfNames: a name in other letters is the same name, and the form under which it is looked up is one of its forms.
func TestFoldOfNames(t *testing.T) {
	oneThread(t)
	for r := range rune(unicode.MaxRune) + 1 {
		checkFold(t, string(r))
	}
	rapid.Check(t, func(t *rapid.T) { checkFold(t, norm.NFC.String(rapid.String().Draw(t, "name"))) })
}

func checkFold(t interface{ Fatalf(string, ...any) }, name string) {
	if !norm.NFC.IsNormalString(name) {
		return
	}
	want := vault.FoldName(name)
	for _, same := range []string{want, strings.ToUpper(name), strings.ToLower(name)} {
		if got := vault.FoldName(same); got != want {
			t.Fatalf("%q is %q, but %q is %q", same, got, name, want)
		}
	}
}

func FuzzCheckName(f *testing.F) {
	f.Fuzz(func(t *testing.T, name string) {
		checkName(t, name)
		if vault.CheckName("name", name) == nil {
			checkFold(t, name)
		}
	})
}
