package mask_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"

	"warder/internal/mask"
)

// TestU_24_Encodings: what usual libraries make of a value, with something before and behind it, is hidden.
func TestU_24_Encodings(t *testing.T) {
	for _, v := range []string{token(20), token(33), "p@ss w0rd/+&=é-9Xk2\U0001f511", "ab\"cd\\ef#gh'ij$kl9Qw", "two\nlines <of> text\t\x01", "\xff\xfe\x00\x01binary\x80"} {
		set := withForms(t, value{"V", v})
		plain, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		encoded := map[string]string{
			"hex":             hex.EncodeToString([]byte(v)),
			"HEX":             strings.ToUpper(hex.EncodeToString([]byte(v))),
			"query":           url.QueryEscape(v),
			"all percent":     strings.ReplaceAll(url.QueryEscape(v), "+", "%20"),
			"path":            url.PathEscape(v),
			"single quotes":   strings.ReplaceAll(v, `'`, `'\''`),
			"shlex":           strings.ReplaceAll(v, `'`, `'"'"'`),
			"double quotes":   strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(v),
			"escaped slashes": strings.ReplaceAll(v, "/", `\/`),
		}
		if !strings.HasPrefix(v, "\xff") { // what is no text is none in JSON
			encoded["json"] = strings.Trim(string(plain), `"`)
		}
		for name, e := range encoded {
			if name == "escaped slashes" && strings.ContainsAny(v, "\"\\\n\t\x01<") {
				continue
			}
			if name == "json" && (strings.HasSuffix(e, `\`) || strings.HasSuffix(v, `"`)) {
				continue
			}
			want := "<****(V)>"
			if got := through(t, set, func(io.WriteCloser) {}, "<"+e+">"); got != want {
				t.Errorf("%q, %s %q: got %q", v, name, e, got)
			}
		}
	}
}

// TestU_24_Base64 of a value in a longer text, in both alphabets: at most a character on each side is left, to which
// its neighbour gives bits too.
func TestU_24_Base64(t *testing.T) {
	for _, v := range []string{token(8), token(9), token(10), token(31), "\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8\xf7>>>???"} {
		set := withForms(t, value{"V", v})
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			for before := range 4 {
				for behind := range 4 {
					text := e.EncodeToString([]byte("\x00user:"[:before] + v + ":\xffxy"[:behind]))
					got := through(t, set, func(io.WriteCloser) {}, text)
					left := strings.TrimRight(strings.Replace(got, "****(V)", "", 1), "=")
					decided := 8*(before+len(v))/6 - (8*before+5)/6
					if want := len(strings.TrimRight(text, "=")) - decided; len(left) != want || left == text {
						t.Errorf("%q in %q: got %q, %d left, want %d", v, text, got, len(left), want)
					}
				}
			}
		}
	}
	short := "seven77"
	text := base64.StdEncoding.EncodeToString([]byte(short))
	if got := through(t, withForms(t, value{"V", short}), func(io.WriteCloser) {}, text); got != text {
		t.Errorf("base64 of a short value: %q became %q", text, got)
	}
}

// TestU_25_JSONInASCII as Python and PHP write it.
func TestU_25_JSONInASCII(t *testing.T) {
	set := withForms(t, value{"V", "clé/ключ-\U0001f7ff\"x"})
	for _, text := range []string{
		`cl\u00e9/\u043a\u043b\u044e\u0447-\ud83d\udfff\"x`,
		`cl\u00e9\/\u043a\u043b\u044e\u0447-\ud83d\udfff\"x`,
		`clé\/ключ-` + "\U0001f7ff" + `\"x`,
	} {
		if got := through(t, set, func(io.WriteCloser) {}, "{"+text+"}"); got != "{****(V)}" {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestExactAlone: who asks for the bytes alone gets no other spelling.
func TestExactAlone(t *testing.T) {
	v := token(20)
	text := fmt.Sprintf("%x", v)
	if got := through(t, exactly(t, value{"V", v}), func(io.WriteCloser) {}, text); got != text {
		t.Errorf("%q became %q", text, got)
	}
	if mask.MinLength != 4 {
		t.Error("the least length is part of the contract (S2-26)")
	}
}
