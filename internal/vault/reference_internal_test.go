package vault

import (
	"slices"
	"strings"
	"testing"
)

// TestParseAddress: every form that lists and messages print is understood, and what could mean two things says both.
func TestParseAddress(t *testing.T) {
	for text, want := range map[string][]Address{
		"db":                            {{Item: "db"}},
		"personal/db":                   {{Vault: "personal", Item: "db"}, {Item: "personal", Field: "db"}},
		"personal/db/password":          {{Vault: "personal", Item: "db", Field: "password"}, {Item: "personal", Section: "db", Field: "password"}},
		"personal/db/net/port":          {{"personal", "db", "net", "port"}},
		"warder://personal/db":          {{Vault: "personal", Item: "db"}},
		"warder://personal/db/password": {{Vault: "personal", Item: "db", Field: "password"}},
		"warder://personal/db/net/port": {{"personal", "db", "net", "port"}},
		"my data base":                  {{Item: "my data base"}},
		"a:b":                           {{Item: "a:b"}},
		"":                              nil,
		"/":                             nil,
		"/db":                           nil,
		"personal/":                     nil,
		"personal//db":                  nil,
		"a/b/c/d/e":                     nil,
		"warder://":                     nil,
		"warder://db":                   nil,
		"warder://a/b/c/d/e":            nil,
		"warder:///a/b":                 nil,
		"op://vault/item/field":         nil,
		"warder://warder://a/b":         nil,
	} {
		got, err := ParseAddress(text)
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

func TestParseReference(t *testing.T) {
	for text, good := range map[string]bool{
		"warder://personal/db/password": true, "warder://personal/db/net/port": true,
		"personal/db/password": false, "warder://personal/db": false, "WARDER://a/b/c": false, "": false,
	} {
		a, err := ParseReference(text)
		if (err == nil) != good || good && a.Reference() != text {
			t.Errorf("%q: %+v, %v", text, a, err)
		}
		if isReference(text) != good {
			t.Errorf("%q may be stored: %t", text, !good)
		}
	}
	for _, text := range []string{"warder://a/.b/c", "warder://a/b/-c", "warder://a/b/c\n", "warder://a/b/-/c", "warder://-/b/c"} {
		if isReference(text) {
			t.Errorf("%q may be stored, and no name is like that", text)
		}
	}
}

// FuzzParseAddress: each reading, written again, has the parts of the text in their order, and a reference has one reading.
func FuzzParseAddress(f *testing.F) {
	for _, text := range []string{"db", "personal/db", "personal/db/net/port", "warder://personal/db/password", "a//b", "warder://"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseAddress(text)
		if (err == nil) != (len(list) > 0) {
			t.Fatalf("%q: %d readings, %v", text, len(list), err)
		}
		if strings.HasPrefix(text, RefScheme) && len(list) > 1 {
			t.Errorf("%q means %d things", text, len(list))
		}
		for _, a := range list {
			sameParts(t, text, a)
		}
		if isReference(text) && (len(list) != 1 || list[0].Reference() != text) {
			t.Errorf("%q may be stored and is %+v", text, list)
		}
	})
}

// sameParts wants one reading of a text to be the text again when it is written.
func sameParts(t *testing.T, text string, a Address) {
	t.Helper()
	path, whole := strings.CutPrefix(text, RefScheme)
	if a.String() != path || a.Item == "" || a.Section != "" && a.Field == "" || whole && a.Vault == "" {
		t.Errorf("%q is read as %+v", text, a)
	}
	ref, err := ParseReference(a.Reference())
	if wants := a.Vault != "" && a.Field != ""; wants && (err != nil || ref != a) {
		t.Errorf("%q: %s is read as %+v, %v", text, a.Reference(), ref, err)
	}
}
