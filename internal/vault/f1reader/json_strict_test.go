package f1reader

import (
	"reflect"
	"strings"
	"testing"
)

func TestF1_1_CanonicalJSONAccepts(t *testing.T) {
	for text, want := range map[string]any{
		`{}`:                            map[string]any{},
		`[]`:                            []any{},
		`0`:                             int64(0),
		`-1`:                            int64(-1),
		`9007199254740991`:              int64(maxInteger),
		`-9007199254740991`:             int64(-maxInteger),
		`{"":1,"A":[true,false],"a":2}`: map[string]any{"": int64(1), "A": []any{true, false}, "a": int64(2)},
		`"\"\\\b\f\n\r\t\u0000\u001f/"`: "\"\\\b\f\n\r\t\x00\x1f/",
		"\"ü\u2028\x7f\"":               "ü\u2028\x7f",
		`{"\n":1," ":2,"\\":3}`:         map[string]any{"\n": int64(1), " ": int64(2), "\\": int64(3)},
		strings.Repeat("[", 16) + strings.Repeat("]", 16): nested(16),
	} {
		got, err := parseCanonical([]byte(text))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v, %v", text, got, err)
		}
	}
}

// nested is n lists, one in the other.
func nested(n int) any {
	list := []any{}
	for range n - 1 {
		list = []any{list}
	}
	return list
}

func TestF1_1_CanonicalJSONRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                  ``,
		"null":                     `null`,
		"white space in front":     ` {}`,
		"white space behind":       "{}\n",
		"white space between":      `{"a": 1}`,
		"bytes after the end":      `{}{}`,
		"a byte order mark":        "\ufeff{}",
		"keys twice":               `{"a":1,"a":1}`,
		"keys out of order":        `{"b":1,"a":1}`,
		"escaped key out of order": `{"\\":1," ":1}`,
		"empty key second":         `{"a":1,"":1}`,
		"a comma at the end":       `{"a":1,}`,
		"a comma in a list":        `[1,]`,
		"no comma":                 `[1 2]`,
		"no colon":                 `{"a"1}`,
		"a bare key":               `{a:1}`,
		"no end of an object":      `{"a":1`,
		"no end of a list":         `[1`,
		"no end of a string":       `"a`,
		"minus zero":               `-0`,
		"plus":                     `+1`,
		"leading zero":             `01`,
		"a point":                  `1.0`,
		"an exponent":              `1e3`,
		"two signs":                `--1`,
		"minus alone":              `-`,
		"too large":                `9007199254740992`,
		"too small":                `-9007199254740992`,
		"far too large":            `99999999999999999999`,
		"an escaped slash":         `"\/"`,
		"an escaped letter":        `"\u0061"`,
		"an escaped delete":        `"\u007f"`,
		"a long escape":            `"\u000a"`,
		"an upper-case escape":     `"\u001F"`,
		"a surrogate":              `"\ud83d\ude00"`,
		"a short escape":           `"\u01"`,
		"a bare line feed":         "\"\n\"",
		"a bare zero":              "\"\x00\"",
		"not UTF-8":                "\"\xff\"",
		"UTF-8 of a surrogate":     "\"\xed\xa0\x80\"",
		"overlong UTF-8":           "\"\xc0\xaf\"",
		"a key that is not UTF-8":  "{\"\xff\":1}",
		"too deep":                 strings.Repeat("[", 17) + strings.Repeat("]", 17),
		"too deep by objects":      strings.Repeat(`{"":`, 16) + "{}" + strings.Repeat("}", 16),
		"a literal's beginning":    `tru`,
		"a literal's case":         `True`,
	} {
		if got, err := parseCanonical([]byte(text)); err == nil {
			t.Errorf("%s: read as %#v", name, got)
		}
	}
}

// FuzzCanonicalJSON checks that what is read has exactly one spelling: writing
// it again gives the same bytes.
func FuzzCanonicalJSON(f *testing.F) {
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := parseCanonical(text)
		if err != nil {
			return
		}
		if again := writeCanonical(v); string(again) != string(text) {
			t.Errorf("%q was read, its canonical form is %q", text, again)
		}
	})
}
