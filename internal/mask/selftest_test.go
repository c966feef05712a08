package mask_test

import (
	"slices"
	"testing"

	"warder/internal/mask"
)

// TestSelfTest hides all that it tries, and tries all forms in the same order each time.
func TestSelfTest(t *testing.T) {
	tried, err := mask.SelfTest()
	if err != nil {
		t.Fatal(err)
	}
	var forms []string
	for _, f := range tried {
		forms = append(forms, f.Form)
		if !f.Hidden {
			t.Errorf("%s: shown", f.Form)
		}
	}
	for _, want := range []string{
		"as it is", "base64", "base64, folded", "base64 of user:value", "base64 of user:value, folded", "hex", "interrupted by colour",
		"extended: UTF-16", "extended: reversed", "single lines", "newlines as CRLF", "newlines as LF",
	} {
		if !slices.Contains(forms, want) {
			t.Errorf("%q is missing from %q", want, forms)
		}
	}
	again, err := mask.SelfTest()
	if err != nil || !slices.Equal(again, tried) {
		t.Errorf("the second time: %v, %v; want %v", again, err, tried)
	}
}

// TestSelfTest_notices what is not hidden, or not as a whole.
func TestSelfTest_notices(t *testing.T) {
	v := token(20)
	set := exactly(t, value{mask.SelfTestName, v})
	for _, c := range []struct {
		name  string
		texts []string
		want  bool
	}{
		{"hidden", []string{v}, true},
		{"nothing tried", nil, false},
		{"another value", []string{token(20)}, false},
		{"one of two", []string{v, v[1:]}, false},
		{"more than the value", []string{v + "x"}, false},
		{"less than the value", []string{v[:19]}, false},
	} {
		var texts [][]byte
		for _, text := range c.texts {
			texts = append(texts, []byte(text))
		}
		if got, err := mask.SelfTestHides(set, texts...); got != c.want || err != nil {
			t.Errorf("%s: %t, %v", c.name, got, err)
		}
	}
	set.Destroy()
	if _, err := mask.SelfTestHides(set, []byte(v)); err == nil {
		t.Error("a set that is gone is no error")
	}
}
