package mask_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"testing"

	"warder/internal/mask"
)

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
