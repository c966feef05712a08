package mask_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"warder/internal/mask"
)

// TestPeers: the checks at which other maskers fail, by the names that they have in the comparison with them. In each, whatever
// is done in pieces is done with both ways of searching.
func TestPeers(t *testing.T) {
	key := "ghp_" + token(22)
	other := "sk-" + token(40)
	begin := "-----BEGIN KEY-----" + token(16)
	lines := token(21) + "\n" + token(22)
	pem := "{\n  \"key\": \"" + token(16) + "\"\n}"
	shared := token(8)
	left, right := token(16)+shared, shared+token(16)
	tail := "_LONGER_" + token(8)
	for _, c := range []struct {
		name   string
		values []string
		text   string
		want   string
	}{
		{"split anywhere", []string{key}, "aa " + key + " bb\n", "aa ****(0) bb\n"},
		{"prefix value", []string{key, key + tail}, "x " + key + tail + " y " + key + " z\n", "x ****(1) y ****(0) z\n"},
		{"overlap hidden whole", []string{left, right}, "x " + left + right[8:] + " y\n", "x ****(0) y\n"},
		{"failed start overlaps value", []string{begin}, "---" + begin + " y\n", "---****(0) y\n"},
		{"failed start overlaps value, alternating", []string{strings.Repeat("ab", 14) + "Z123"}, "x ab" + strings.Repeat("ab", 14) + "Z123 y\n", "x ab****(0) y\n"},
		{"repeated first bytes", []string{"aaab-" + shared}, "x aaaaab-" + shared + " y\n", "x aa****(0) y\n"},
		{"inner value of a failed longer one", []string{"begin-" + key + "-the-end", key}, "begin-" + key + "-the-other\n", "begin-****(1)-the-other\n"},
		{"newline value", []string{lines}, "x\n" + lines + "\ny\n", "x\n****(0)\ny\n"},
		{"newline value, other text kept", []string{pem}, "func main() {\n}\n", "func main() {\n}\n"},
		{"CRLF of it", []string{lines}, strings.ReplaceAll("x\n"+lines+"\ny\n", "\n", "\r\n"), "x\r\n****(0)\r\ny\r\n"},
		{"two in a row", []string{key}, key + key + "\n", "****(0)****(0)\n"},
		{"value at the end", []string{key}, "x " + key, "x ****(0)"},
		{"half a value at the end", []string{key}, "x " + key[:9], "x " + key[:9]},
	} {
		t.Run(c.name, func(t *testing.T) {
			atOnce(t, func(t *testing.T) { everyCut(t, c.name, withForms(t, named(c.values...)...), c.text, c.want) })
		})
	}
	t.Run("1500 random, tiny alphabet", func(t *testing.T) {
		r := seeded(t)
		for range 1500 {
			tinyAlphabet(t, r)
		}
	})
	t.Run("prompt held", func(t *testing.T) {
		for _, text := range []string{"Password: ", "Use which g"} {
			var out bytes.Buffer
			w := mask.NewWriter(&out, withForms(t, named(key, other)...))
			if _, err := io.WriteString(w, text); err != nil || len(text)-out.Len() > 1 {
				t.Errorf("%q: %d bytes held, %v", text, len(text)-out.Len(), err)
			}
			if err := w.Close(); err != nil || out.String() != text {
				t.Errorf("%q became %q, %v", text, out.String(), err)
			}
		}
	})
	t.Run("all encoded forms", allEncodedForms)
	t.Run("base64 folded", base64Folded)
	t.Run("idle", idleShowsAndHides)
}

func named(values ...string) []value {
	all := make([]value, len(values))
	for i, v := range values {
		all[i] = value{fmt.Sprint(i), v}
	}
	return all
}

func tinyAlphabet(t *testing.T, r *mathrand.Rand) {
	t.Helper()
	some := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "ab"[r.IntN(2)]
		}
		return string(b)
	}
	var values []value
	for i := range 1 + r.IntN(4) {
		values = append(values, value{fmt.Sprint(i), some(mask.MinLength + r.IntN(5))})
	}
	text := some(r.IntN(60))
	equalHoweverCut(t, plainly(values...), text, cut(r, text))
}

func allEncodedForms(t *testing.T) {
	v := awkwardKey()
	set := withForms(t, value{"V", v})
	tried := 0
	for form, spellings := range mask.Spelling([]byte(v)) {
		for _, s := range spellings {
			if len(s) < mask.MinLength {
				continue
			}
			tried++
			if got := through(t, set, func(io.WriteCloser) {}, "x "+s+" y\n"); got != "x ****(V) y\n" {
				t.Errorf("%s: %q came out as %q", form, s, got)
			}
		}
	}
	if tried < 12 {
		t.Errorf("only %d spellings", tried)
	}
}

// awkwardKey is a value in which each encoding has something to do.
func awkwardKey() string { return token(5) + `/+"\'$&<é ` + token(5) + "~%`!" + token(9) }

// base64Folded: with whatever stands before it, at each width that programs fold at and with each end of line, at most
// a character of the value's is left on each side, to which what stands beside it gives bits too.
func base64Folded(t *testing.T) {
	v := awkwardKey() + token(60)
	set := withForms(t, value{"V", v})
	for _, width := range []int{60, 64, 70, 76} {
		for _, end := range []string{"\n", "\r\n", "\r\r\n"} {
			for before := range 120 {
				whole := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("u", before) + v))
				got := through(t, set, func(io.WriteCloser) {}, foldAt(whole, width, end)+end)
				from := (8*before + 5) / 6
				to := (before + len(v)) * 8 / 6
				left := strings.NewReplacer("\r", "", "\n", "").Replace(got)
				if want := whole[:from] + "****(V)" + whole[to:]; left != want {
					t.Fatalf("width %d, end %q, %d bytes before:\n got %q\nwant %q", width, end, before, left, want)
				}
			}
		}
	}
}

func foldAt(text string, width int, end string) string {
	var b strings.Builder
	for len(text) > width {
		b.WriteString(text[:width] + end)
		text = text[width:]
	}
	return b.String() + text
}

// idleShowsAndHides: a short open end shows, and when the value does go on, what comes after is hidden.
func idleShowsAndHides(t *testing.T) {
	key := "ghp_" + token(22)
	for name, prepare := range engines() {
		synctest.Test(t, func(t *testing.T) {
			var out screen
			w := mask.NewWriter(&out, withForms(t, value{"K", key}))
			prepare(w)
			for _, step := range []struct{ text, want string }{
				{"ok? gh", "ok? gh"},
				{key[2:10], "ok? ghp"},
				{key[10:] + " end\n", "ok? ghp****(K) end\n"},
			} {
				if _, err := io.WriteString(w, step.text); err != nil {
					t.Fatal(err)
				}
				time.Sleep(mask.IdleAfter * 3 / 2)
				synctest.Wait()
				if out.String() != step.want {
					t.Errorf("%s: after %q: %q, want %q", name, step.text, out.String(), step.want)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestPeers_folded64: widths and cuts at random, for many values.
func TestPeers_folded64(t *testing.T) {
	r := seeded(t)
	for range 200 {
		v := token(8 + r.IntN(80))
		before := strings.Repeat("u", r.IntN(80))
		e := []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawURLEncoding}[r.IntN(3)]
		whole := e.EncodeToString([]byte(before + v + strings.Repeat("w", r.IntN(5))))
		text := foldAt(whole, 1+r.IntN(90), []string{"\n", "\r\n", "\r\r\n"}[r.IntN(3)])
		got := through(t, withForms(t, value{"V", v}), func(io.WriteCloser) {}, cut(r, text)...)
		from, to := (8*len(before)+5)/6, (len(before)+len(v))*8/6
		if left := strings.NewReplacer("\r", "", "\n", "").Replace(got); left != whole[:from]+"****(V)"+whole[to:] {
			t.Fatalf("%q in %q: %q", v, text, got)
		}
	}
}
