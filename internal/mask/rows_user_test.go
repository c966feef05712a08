package mask_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"

	"warder/internal/mask"
)

// TestU_06_NothingOfTheValue: of what a program prints of a value, in whatever spelling, nothing is left that a state
// file, an audit line or a replay could keep.
func TestU_06_NothingOfTheValue(t *testing.T) {
	v := token(40)
	set := withForms(t, value{"V", v})
	quoted, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, s := range []string{
		v, string(quoted), url.QueryEscape(v), hex.EncodeToString([]byte(v)), strings.ToUpper(hex.EncodeToString([]byte(v))),
		base64.StdEncoding.EncodeToString([]byte(v)), "export V='" + v + "'", v[:20] + "\x1b[1m" + v[20:], v[:39] + "\x1b[K" + v[39:],
		foldAt(base64.StdEncoding.EncodeToString([]byte("user:"+v)), 20, "\r\n"),
	} {
		text.WriteString("\n" + s + "\n")
	}
	atOnce(t, func(t *testing.T) {
		for _, size := range []int{1, 7, 1 << 20} {
			got := through(t, set, func(io.WriteCloser) {}, chunks(text.String(), size)...)
			if part := pieceLeft(v, got); part != "" {
				t.Errorf("writes of %d: %q is left in %q", size, part, got)
			}
		}
	})
}

// pieceLeft is a piece of a value, or of its hex or base64, that a text has in it, however it is folded or coloured.
func pieceLeft(v, text string) string {
	const least = 8
	flat := strings.NewReplacer("\r", "", "\n", "").Replace(strip(text))
	spelt := []string{v, hex.EncodeToString([]byte(v)), strings.ToUpper(hex.EncodeToString([]byte(v)))}
	for shift := range 3 {
		spelt = append(spelt, strings.TrimRight(base64.StdEncoding.EncodeToString([]byte("   "[:shift] + v))[4*shift:], "="))
	}
	for _, s := range spelt {
		for i := range len(s) - least + 1 {
			if strings.Contains(flat, s[i:i+least]) {
				return s[i : i+least]
			}
		}
	}
	return ""
}

// TestU_15_EveryPath: all that a program writes, to stdout or stderr, is hidden by the same set, also a value that came
// when both were already flowing, and a value that is cut over both is none.
func TestU_15_EveryPath(t *testing.T) {
	a, b := token(30), token(30)
	atOnce(t, func(t *testing.T) {
		set := withForms(t, value{"A", a})
		var out, other bytes.Buffer
		stdout, stderr := mask.NewWriter(&out, set), mask.NewWriter(&other, set)
		for _, w := range []io.Writer{stdout, stderr} {
			if _, err := io.WriteString(w, "-"+a+"+"); err != nil {
				t.Fatal(err)
			}
		}
		fill(t, set, mask.ValueOptions{}, value{"B", b})
		for _, w := range []io.WriteCloser{stdout, stderr} {
			if _, err := io.WriteString(w, "-"+b+"+"); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(w, a[:10]); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		want := "-****(A)+-****(B)+" + a[:10]
		if out.String() != want || other.String() != want {
			t.Errorf("got %q and %q, want %q", out.String(), other.String(), want)
		}
	})
}

// TestU_17_Traces: what curl -v and set -x show of a request and of a variable.
func TestU_17_Traces(t *testing.T) {
	v := token(24)
	atOnce(t, func(t *testing.T) {
		for _, c := range []struct{ text, want string }{
			{"> Authorization: Bearer " + v + "\r\n", "> Authorization: Bearer ****(V)\r\n"},
			{"+ curl -H 'Authorization: Bearer " + v + "' https://example.org\n", "+ curl -H 'Authorization: Bearer ****(V)' https://example.org\n"},
			{"+ TOKEN=" + v + "\n", "+ TOKEN=****(V)\n"},
			{"\x1b[36m>\x1b[0m authorization: \x1b[1m" + v[:9] + "\x1b[0m" + v[9:] + "\n", "\x1b[36m>\x1b[0m authorization: \x1b[1m****(V)\n"},
		} {
			everyCut(t, "trace", withForms(t, value{"V", v}), c.text, c.want)
		}
	})
}

// TestU_17_Header: the base64 of user:secret, which curl -v shows, is hidden whole, with and without its padding.
func TestU_17_Header(t *testing.T) {
	for _, user := range []string{"u", "me", "bot", "an.user@example.org"} {
		v := alone(22)
		atOnce(t, func(t *testing.T) {
			set := fill(t, mask.NewSet(), mask.ValueOptions{User: newValue(t, user)}, value{"V", v})
			e := base64.StdEncoding.EncodeToString([]byte(user + ":" + v))
			whole := (len(user) + 1 + len(v)) * 8 / 6
			for _, c := range []struct{ name, text, want string }{
				{"header", "> Authorization: Basic " + e + "\r\n", "> Authorization: Basic ****(V)\r\n"},
				{"unpadded", "<" + strings.TrimRight(e, "=") + ">", "<****(V)>"},
				{"in lines", foldAt(e[:whole], 20, "\n"), "****(V)"},
				{"in colour", e[:9] + "\x1b[1m" + e[9:], "****(V)"},
				{"as it is", user + ":" + v, user + ":****(V)"},
			} {
				everyCut(t, user+", "+c.name, set, c.text, c.want)
			}
		})
	}
}

// TestU_21_NotHeldLonger: what is no beginning of a value comes at once, whatever is hidden beside it.
func TestU_21_NotHeldLonger(t *testing.T) {
	v := alone(40)
	var out bytes.Buffer
	w := mask.NewWriter(&out, setOf(t, needle{value: value{"V", v}, folds: true}))
	all := ""
	for _, step := range []struct{ text, want string }{
		{"$ ", "$ "},
		{"\x1b[1", "\x1b[1"},
		{"mcat key\n", "mcat key\n"},
		{v + "\n", "****(V)\n"},
		{v[:30] + "\n", ""},
		{".", v[:30] + "\n."},
		{v[:30] + "\r\n", ""},
		{v[30:] + "\x1b", "****(V)\x1b"},
	} {
		if _, err := io.WriteString(w, step.text); err != nil {
			t.Fatal(err)
		}
		if all += step.want; out.String() != all {
			t.Errorf("after %q: %q, want %q", step.text, out.String(), all)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestU_22_Lines of a key are hidden one by one, however a program shows them.
func TestU_22_Lines(t *testing.T) {
	one, two := token(64), token(64)
	begin, end := "-----"+"BEGIN PRIVATE KEY-----", "-----"+"END PRIVATE KEY-----"
	atOnce(t, func(t *testing.T) {
		set := withForms(t, value{"K", begin + "\n" + one + "\n" + two + "\n" + end + "\n"})
		for _, c := range []struct{ text, want string }{
			{"+ echo " + one + "\n", "+ echo ****(K)\n"},
			{"    " + one + "\n    " + two + "\n", "    ****(K)\n    ****(K)\n"},
			{`["` + begin + `", "` + one + `", "` + two + `"]`, `["` + begin + `", "****(K)", "****(K)"]`},
			{"12:\x1b[32m" + two[:30] + "\x1b[0m" + two[30:], "12:\x1b[32m****(K)"},
			{begin + "\n" + one[:63] + "\n" + end + "\n", begin + "\n" + one[:63] + "\n" + end + "\n"},
			{begin + " " + one + " " + two + " " + end, "****(K)"}, // as set -x has it
		} {
			everyCut(t, "key", set, c.text, c.want)
		}
	})
}

// TestU_23_Short values are refused, and whoever adds one is told so that he can warn.
func TestU_23_Short(t *testing.T) {
	set := mask.NewSet()
	defer set.Destroy()
	for _, b := range []string{"a", "{", "yes"} {
		if err := set.Add("V", newValue(t, b), mask.ValueOptions{}); !errors.Is(err, mask.ErrShort) {
			t.Errorf("Add(%q) = %v", b, err)
		}
		if got := through(t, set, func(io.WriteCloser) {}, "{"+b+"}"); got != "{"+b+"}" {
			t.Errorf("%q: %q", b, got)
		}
	}
}

// TestU_25_Quotes: a quote or backslash in a value ends nothing.
func TestU_25_Quotes(t *testing.T) {
	v := token(9) + `"` + token(9) + `\` + token(9) + "'" + token(9)
	inJSON, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := json.Marshal(string(inJSON))
	if err != nil {
		t.Fatal(err)
	}
	atOnce(t, func(t *testing.T) {
		set := withForms(t, value{"V", v})
		for _, c := range []struct{ name, text, want string }{
			{"as it is", "<" + v + ">", "<****(V)>"},
			{"JSON", string(inJSON), `"****(V)"`},
			{"JSON in JSON", string(twice), `"\"****(V)\""`},
		} {
			everyCut(t, c.name, set, c.text, c.want)
		}
	})
}

// cutting keeps the first bytes that it gets, as who cuts output to a size does.
type cutting struct {
	out  bytes.Buffer
	most int
}

func (c *cutting) Write(p []byte) (int, error) {
	c.out.Write(p[:min(len(p), c.most-c.out.Len())])
	return len(p), nil
}

// TestU_26_CutLater: output that is hidden first and cut then shows no part of a value, wherever it is cut.
func TestU_26_CutLater(t *testing.T) {
	v := token(40)
	const before, behind = "some text before ", " and behind"
	whole := before + "****(V)" + behind
	atOnce(t, func(t *testing.T) {
		set := withForms(t, value{"V", v})
		for most := range len(whole) + 1 {
			for _, size := range []int{1, 10, 1000} {
				dst := &cutting{most: most}
				w := mask.NewWriter(dst, set)
				for _, p := range chunks(before+v+behind, size) {
					if _, err := io.WriteString(w, p); err != nil {
						t.Fatal(err)
					}
				}
				if err := w.Close(); err != nil || dst.out.String() != whole[:most] {
					t.Errorf("cut at %d: %q, %v", most, dst.out.String(), err)
				}
			}
		}
	})
}

// TestU_27_ByteExact: NULs and what is no text pass, beside values and in them.
func TestU_27_ByteExact(t *testing.T) {
	v := "\x00\xff" + token(9) + "\xc3\x28\x00" + token(9)
	atOnce(t, func(t *testing.T) {
		set := withForms(t, value{"V", v})
		for _, c := range []struct{ text, want string }{
			{"\x00\x00\xfe\xff", "\x00\x00\xfe\xff"},
			{"\xc3" + v + "\xa9", "\xc3****(V)\xa9"},
			{strings.ToValidUTF8(v, "\ufffd"), strings.ToValidUTF8(v, "\ufffd")},
			{v[:10] + "\x00" + v[10:], v[:10] + "\x00" + v[10:]},
			{"\xed\xa0\x80\xf5" + v[:9], "\xed\xa0\x80\xf5" + v[:9]},
		} {
			everyCut(t, "bytes", set, c.text, c.want)
		}
	})
}

// TestU_28_NothingChanges in output without values, whatever is in it: not a byte, and not the caller's slice.
func TestU_28_NothingChanges(t *testing.T) {
	set := withForms(t, keys(20)...)
	for name, text := range map[string]string{
		"sequences":         strings.Repeat("\x1b[1mword\x1b[0m \x1b]0;title\x07\x1b(B", 500),
		"broken sequences":  strings.Repeat("\x1b\x1b[\x1b]\x1b(\x1b[1;\n", 500),
		"ends of lines":     strings.Repeat("\r\n\n\r\r\r\n", 500),
		"base64 of nothing": foldAt(base64.StdEncoding.EncodeToString(make([]byte, 4000)), 76, "\n"),
		"a build's log":     string(logText(nil, 0)[:64<<10]),
	} {
		for engine, prepare := range engines() {
			if !ownSlice(t, set, prepare, []byte(text)) {
				t.Errorf("%s, %s: copied", name, engine)
			}
			if got := through(t, set, prepare, text); got != text {
				t.Errorf("%s, %s: changed", name, engine)
			}
		}
	}
}

// TestU_30_NoEcho: neither adding a value nor printing what has it, nor an error shows it.
func TestU_30_NoEcho(t *testing.T) {
	v := token(30)
	set := withForms(t, value{"NAME", v})
	tally := &mask.Tally{Most: 1}
	var out bytes.Buffer
	w := mask.NewCountedWriter(&out, set, tally)
	if _, err := io.WriteString(w, v[:20]); err != nil {
		t.Fatal(err)
	}
	set.Destroy()
	_, failed := io.WriteString(w, v[20:])
	again := set.Add("NAME", newValue(t, v), mask.ValueOptions{User: newValue(t, v)})
	for _, what := range []any{set, tally, failed, again, mask.ValueOptions{User: newValue(t, v)}, out.String()} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			if text := fmt.Sprintf(verb, what); strings.Contains(text, v[:9]) || strings.Contains(text, v[20:]) {
				t.Errorf("%s of %T shows it: %s", verb, what, text)
			}
		}
	}
	if failed == nil || again == nil {
		t.Error("no error after Destroy")
	}
}

// TestU_31_WhateverTheKey: a value is hidden for what it is, not for what stands before it.
func TestU_31_WhateverTheKey(t *testing.T) {
	v := token(16)
	set := withForms(t, value{"V", v})
	for _, c := range []string{"-e DB_URL=postgres://me:%s@host/db", "x=%s", "%s", "<a>%s</a>", "nothing_secret: %s # really", "/tmp/%s/file", "a%sb"} {
		if got, want := through(t, set, func(io.WriteCloser) {}, fmt.Sprintf(c, v)), fmt.Sprintf(c, "****(V)"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
