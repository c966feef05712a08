package dotenv_test

import (
	"bytes"
	"strings"
	"testing"

	"warder/internal/dotenv"
)

// FuzzParse: any bytes give a File or an error of fixed text, the same as the
// second reader says, and what was read survives a round trip.
func FuzzParse(f *testing.F) {
	r := newSecondReader()
	f.Add([]byte("\ufeffexport A=1 # c\r\nB='x\ny'\nB=\"\\n\\q\""))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			t.Skip("the second reader is quadratic")
		}
		file, err := dotenv.Parse("in.env", data)
		if err != nil {
			wantFixedReason(t, err)
			if file != nil {
				t.Fatal("a File beside an error")
			}
		}
		wantSameReading(t, r, string(data))
		if err == nil {
			text, err := format(dotenv.DialectEnv, file.Entries...)
			if err != nil {
				t.Fatal(err)
			}
			wantSame(t, file.Entries, text)
		}
	})
}

// FuzzRoundTrip: every dialect gives back the bytes it took, or refuses them.
func FuzzRoundTrip(f *testing.F) {
	for _, v := range hostile {
		f.Add("A", []byte(v))
	}
	f.Fuzz(func(t *testing.T, name string, value []byte) {
		entries := []dotenv.Entry{{Name: name, Value: value}, pair("z", "after")}
		if text, err := format(dotenv.DialectEnv, entries...); err == nil {
			wantSame(t, entries, text)
		} else if name == "A" && bytes.IndexByte(value, 0) < 0 {
			t.Fatal(err)
		}
		if text, err := format(dotenv.DialectDocker, entries...); err == nil {
			got, err := readDocker(text)
			if err != nil || len(got) != 2 || got[name] != string(value) || got["z"] != "after" {
				t.Fatalf("docker reads %q: %q, %v", text, got, err)
			}
		}
		if text, err := format(dotenv.DialectShell, entries...); err == nil {
			want := "export " + name + "=" + string(value) + "\nexport z=after\n"
			if got, ok := unquoteShell(text); !ok || got != want {
				t.Fatalf("a shell reads %q: %q", text, got)
			}
		}
	})
}

// unquoteShell removes the quoting of a POSIX shell from text; false if anything but
// names, blanks and line ends stands outside quotes.
func unquoteShell(text string) (string, bool) {
	var out strings.Builder
	quoted := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\'':
			quoted = !quoted
			continue
		case !quoted && c == '\\' && i+1 < len(text):
			i++
			c = text[i]
		case !quoted && c != ' ' && c != '\n' && c != '=' && !dotenv.IsVariable("_"+string(rune(c))):
			return "", false
		}
		out.WriteByte(c)
	}
	return out.String(), !quoted
}
