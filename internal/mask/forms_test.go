package mask_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"html"
	"io"
	mathrand "math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"warder/internal/mask"
	"warder/internal/secret"
)

// awkward are values with what programs escape, and random ones made of it.
func awkward(t testing.TB) []string {
	var printable, controls strings.Builder
	for c := byte(0); c < 0x80; c++ {
		if c < ' ' || c == 0x7f {
			controls.WriteByte(c)
		} else {
			printable.WriteByte(c)
		}
	}
	values := []string{
		token(20), token(33), "sk-" + token(40), "4444", "aaaaaaaaaaaaaaaa",
		"p@ss w0rd/+&=é-9Xk2\U0001f511", `ab"cd\ef#gh'ij$kl9Qw`, "#begins~with", "~begins#with", `"quoted"`, "'quoted'", `ends\`, `\n is no newline\`,
		"two\nlines <of> text\t\x01", "\nfirst and last\n", "of DOS\r\nwith three\r\nlines of it\r\n", "blank\n\n\nlines  and \t runs\n ",
		printable.String(), controls.String(), "\xff\xfe\x00\x01binary\x80", "half a rune \xe2\x82", "\xed\xa0\x80 half a pair",
		"no\u00a0break \u200d\u00ad joined \u2028 parted \u2029 \ufffd \u0085 \ufeff", "ключ \U0001f7ff <b>&amp;</b>", "<&>\"'`=/", "10% &#39; %41", "\x1b[31mred\x1b[0m",
	}
	r := seeded(t)
	for range 200 {
		values = append(values, randomAwkward(r))
	}
	return values
}

// randomAwkward is a value with one kind of awkward character at least.
func randomAwkward(r *mathrand.Rand) string {
	kinds := []string{"'", `"`, `\`, "\n", "\r\n", "\t", " ", "<", "&", "/", "+", "=", "%", "$", "`", "é", "\U0001f511", "\xff", "\x00", "\x1f", "~", "!", ",", "\u2028"}
	some := []string{kinds[r.IntN(len(kinds))], kinds[r.IntN(len(kinds))], kinds[r.IntN(len(kinds))]}
	b := ""
	for len(b) < 12 {
		b += token(r.IntN(4)) + some[r.IntN(len(some))]
	}
	return b
}

// inLibraries is how the standard library spells a value.
func inLibraries(v string) map[string]string {
	unquoted := func(s string) string { return s[1 : len(s)-1] }
	inJSON := func(s string, forHTML bool) string {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(forHTML)
		if err := e.Encode(s); err != nil {
			panic(err)
		}
		return unquoted(strings.TrimSuffix(b.String(), "\n"))
	}
	withCRLF := strings.ReplaceAll(strings.ReplaceAll(v, "\r\n", "\n"), "\n", "\r\n")
	found := map[string]string{
		"hex":                   hex.EncodeToString([]byte(v)),
		"HEX":                   strings.ToUpper(hex.EncodeToString([]byte(v))),
		"JSON":                  inJSON(v, true),
		"JSON, not for HTML":    inJSON(v, false),
		"JSON twice":            inJSON(inJSON(v, true), true),
		"JSON twice, not HTML":  inJSON(inJSON(v, false), false),
		"JSON twice, HTML once": inJSON(inJSON(v, false), true),
		"JSON with CRLF":        inJSON(withCRLF, false),
		"JSON twice with CRLF":  inJSON(inJSON(withCRLF, false), false),
		"%q":                    unquoted(strconv.Quote(v)),
		"%+q":                   unquoted(strconv.QuoteToASCII(v)),
		"html":                  html.EscapeString(v),
		"query":                 url.QueryEscape(v),
		"query with CRLF":       url.QueryEscape(withCRLF),
		"all percent":           strings.ReplaceAll(url.QueryEscape(v), "+", "%20"),
		"segment":               url.PathEscape(v),
		"path":                  (&url.URL{Path: "/" + v}).EscapedPath()[1:],
		"URL's password":        strings.TrimPrefix(url.UserPassword("u", v).String(), "u:"),
		"single quotes":         strings.ReplaceAll(v, `'`, `'\''`),
		"shlex":                 strings.ReplaceAll(v, `'`, `'"'"'`),
		"PowerShell":            strings.ReplaceAll(v, `'`, `''`),
		"double quotes":         strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(v),
		"CRLF":                  withCRLF,
		`\n`:                    strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(v),
	}
	var b bytes.Buffer
	if err := xml.EscapeText(&b, []byte(v)); err != nil {
		panic(err)
	}
	if !strings.Contains(b.String(), "\ufffd") { // what XML can't say
		found["xml"] = b.String()
	}
	for _, before := range []string{"", "u", "uv"} {
		for name, e := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64url": base64.RawURLEncoding} {
			if len(v) >= 8 {
				found[name+" behind "+before] = e.EncodeToString([]byte(before + v))[(8*len(before)+5)/6 : (8*(len(before)+len(v)))/6]
			}
		}
	}
	return found
}

// TestU_24_Libraries: what the standard library makes of a value is one of its spellings.
func TestU_24_Libraries(t *testing.T) {
	for _, v := range awkward(t) {
		checkLibraries(t, v)
	}
}

func checkLibraries(t *testing.T, v string) {
	t.Helper()
	spelt := map[string]bool{v: true}
	for _, s := range mask.SpelledBy([]byte(v), nil, mask.ValueOptions{}) {
		spelt[s.Text] = true
	}
	for name, text := range inLibraries(v) {
		if !spelt[text] {
			t.Errorf("%q: %s, which is %q, is no spelling", v, name, text)
		}
	}
}

// TestU_25_LibrariesAreHidden with something before and behind.
func TestU_25_LibrariesAreHidden(t *testing.T) {
	for _, v := range awkward(t)[:40] {
		set := withForms(t, value{"V", v})
		for name, text := range inLibraries(v) {
			if len(text) < mask.MinLength {
				continue
			}
			if got := through(t, set, func(io.WriteCloser) {}, "\x05"+text+"\x06"); got != "\x05****(V)\x06" {
				t.Errorf("%q: %s, which is %q, came out as %q", v, name, text, got)
			}
		}
	}
}

// TestU_22_LinesAreHidden wherever a line of a value stands.
func TestU_22_LinesAreHidden(t *testing.T) {
	one, two := token(40)+"+/=", `"key": "`+token(20)+`",`
	v := "-----BEGIN " + "PRIVATE KEY-----\n  " + one + "\n\t" + two + "\nshort\n-----END " + "PRIVATE KEY-----\n"
	set := withForms(t, value{"V", v})
	inJSON, _ := json.Marshal(two)
	twice, _ := json.Marshal(string(inJSON[1 : len(inJSON)-1]))
	for _, c := range []struct{ text, want string }{
		{"1: " + one + "\n", "1: ****(V)\n"},
		{"        " + two + "\n", "        ****(V)\n"},
		{"  " + one + "\n", "****(V)\n"},
		{`{"line":` + string(inJSON) + `}`, `{"line":"****(V)"}`},
		{string(twice), `"****(V)"`},
		{"short", "short"},
		{"-----BEGIN " + "PRIVATE KEY-----\n", "-----BEGIN " + "PRIVATE KEY-----\n"},
		{strings.Join(strings.Fields(v), " "), "****(V)"},
		{strings.TrimSuffix(strings.ReplaceAll(v, "\n", " "), " "), "****(V)"},
	} {
		if got := through(t, set, func(io.WriteCloser) {}, c.text); got != c.want {
			t.Errorf("%q:\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

// TestU_22_WithoutItsLastNewline a value is encoded too: a shell's $(…) takes it away.
func TestU_22_WithoutItsLastNewline(t *testing.T) {
	v := `p"ss <w0rd>` + token(9)
	for _, end := range []string{"\n", "\r\n", "\n\n"} {
		set := withForms(t, value{"V", v + end})
		for name, text := range inLibraries(v) {
			if got := through(t, set, func(io.WriteCloser) {}, "\x05"+text+"\x06"); got != "\x05****(V)\x06" {
				t.Errorf("%s, which is %q, came out as %q", name, text, got)
			}
		}
	}
}

// TestU_17_BasicAuth is hidden as a whole, and of a user alone who is named.
func TestU_17_BasicAuth(t *testing.T) {
	for _, c := range []struct{ user, password string }{
		{"u", token(20)},
		{"ab", token(21)},
		{"user@example.org", "p@ss w0rd>>>???" + token(5)},
		{"someone", "1234"},
		{"ключ", "\xff\xfe\xfd\xfc\xfb\xfa\xf9"},
	} {
		set := fill(t, mask.NewSet(), mask.ValueOptions{User: newValue(t, c.user)}, value{"V", c.password})
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			text := "authorization: Basic " + e.EncodeToString([]byte(c.user+":"+c.password)) + "\r\n"
			got := through(t, set, func(io.WriteCloser) {}, text)
			behind, ok := strings.CutPrefix(got, "authorization: Basic ****(V)")
			// The last character may be half padding, and is no longer one that the value alone decides.
			if behind = strings.TrimRight(behind, "=\r\n"); !ok || len(behind) > 1 {
				t.Errorf("%q became %q", text, got)
			}
		}
	}
	v := token(20)
	text := base64.StdEncoding.EncodeToString([]byte("someone:" + v))
	if got := through(t, withForms(t, value{"V", v}), func(io.WriteCloser) {}, text); !strings.HasPrefix(got, text[:10]) {
		t.Errorf("of nobody: %q became %q", text, got)
	}
	if err := mask.NewSet().Add("V", newValue(t, v), mask.ValueOptions{User: destroyed(t)}); err == nil {
		t.Error("a user who is gone is no error")
	}
}

// TestExtended: what is looked for on demand.
func TestExtended(t *testing.T) {
	units := func(s string, low, high int) string {
		var b []byte
		for _, u := range s {
			pair := [2]byte{}
			pair[low], pair[high] = byte(u), byte(u>>8)
			b = append(b, pair[:]...)
		}
		return string(b)
	}
	for _, v := range []string{token(20), "clé ключ " + token(9)} {
		backwards := []rune(v)
		for i := range len(backwards) / 2 {
			backwards[i], backwards[len(backwards)-1-i] = backwards[len(backwards)-1-i], backwards[i]
		}
		for name, text := range map[string]string{"little": units(v, 0, 1), "big": units(v, 1, 0), "reversed": string(backwards)} {
			extended := fill(t, mask.NewSet(), mask.ValueOptions{Extended: true}, value{"V", v})
			if got := through(t, extended, func(io.WriteCloser) {}, "\x05"+text+"\x06"); got != "\x05****(V)\x06" {
				t.Errorf("%s: %q became %q", name, text, got)
			}
			if got := through(t, withForms(t, value{"V", v}), func(io.WriteCloser) {}, text); got != text {
				t.Errorf("%s: %q became %q, which nobody asked for", name, text, got)
			}
		}
	}
	pair := "\U0001f511 key"
	if got, want := spelledText(pair, mask.ValueOptions{Extended: true}, "UTF-16"), "\x3d\xd8\x11\xdd \x00k\x00e\x00y\x00"; got != want {
		t.Errorf("a pair is %q, want %q", got, want)
	}
	if got := spelledText("\xff not text", mask.ValueOptions{Extended: true}, "UTF-16"); got != "" {
		t.Errorf("what is no text is %q", got)
	}
}

// spelledText is the first spelling of a form.
func spelledText(v string, o mask.ValueOptions, form string) string {
	for _, s := range mask.SpelledBy([]byte(v), nil, o) {
		if s.Form == form {
			return s.Text
		}
	}
	return ""
}

// TestFolds: base64 alone is folded, and none of a value that isn't to be.
func TestFolds(t *testing.T) {
	v, user := []byte("a \"value\"\nof two lines\n"), []byte("someone")
	for _, s := range mask.SpelledBy(v, user, mask.ValueOptions{Extended: true}) {
		if want := s.Form == "base64" || s.Form == "base64 of user:value"; s.Folds != want {
			t.Errorf("%s %q: folds %t", s.Form, s.Text, s.Folds)
		}
	}
	for _, s := range mask.SpelledBy(v, user, mask.ValueOptions{Unfolded: true}) {
		if s.Folds {
			t.Errorf("%s %q folds", s.Form, s.Text)
		}
	}
}

// TestKeysHaveFewSpellings: those of a key are different from each other, and of a value with little to escape few are the
// same. Each takes memory that can't be swapped.
func TestKeysHaveFewSpellings(t *testing.T) {
	for _, c := range []struct {
		v    string
		most int
	}{{token(40), 8}, {strings.Repeat("0", 40), 4}, {"abc.def-" + token(20), 8}, {token(39) + "=", 30}, {token(20) + "+/" + token(20) + "==", 60}} {
		if got := len(mask.SpelledBy([]byte(c.v), nil, mask.ValueOptions{})); got > c.most {
			t.Errorf("%q has %d spellings", c.v, got)
		}
	}
}

// TestLongValues are looked for as they are, and their lines.
func TestLongValues(t *testing.T) {
	v := strings.Repeat(`"`+token(50)+"\"\n", 2000)
	for _, s := range mask.SpelledBy([]byte(v), nil, mask.ValueOptions{Extended: true}) {
		if !strings.Contains(v, s.Text) {
			t.Errorf("%s has %.50q", s.Form, s.Text)
		}
	}
	if got := through(t, withForms(t, value{"V", v}), func(io.WriteCloser) {}, "1 "+v[:52]+" 2"); got != "1 ****(V) 2" {
		t.Errorf("a line became %q", got)
	}
}

// FuzzSpellings: whatever a value is, its spellings stay in their room, are long enough to be looked for and none of them
// is missing.
func FuzzSpellings(f *testing.F) {
	f.Add([]byte("a \"value\"\nof 'two' lines\r\n"), []byte("someone"))
	f.Fuzz(func(t *testing.T, v, user []byte) {
		if len(v) < mask.MinLength || len(v) > 2000 || len(user) > 200 {
			return
		}
		o := mask.ValueOptions{Extended: true}
		for _, s := range mask.SpelledBy(v, user, o) {
			if s.Form == "UTF-16" && (len(s.Text)%2 != 0 || !utf8.Valid(v)) {
				t.Errorf("%q in UTF-16: %q", v, s.Text)
			}
		}
		checkLibraries(t, string(v))
		o.User = newValue(t, string(user))
		n := 0
		err := mask.EachSpelling(v, o, func(b []byte) {
			if n++; len(b) < mask.MinLength {
				t.Errorf("%q: %q is looked for", v, b)
			}
		})
		if err != nil || n == 0 {
			t.Errorf("%q has %d spellings: %v", v, n, err)
		}
	})
}

// destroyed is a value that is gone.
func destroyed(t *testing.T) secret.Value {
	t.Helper()
	gone := newValue(t, "gone")
	gone.Destroy()
	return gone
}
