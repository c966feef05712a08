package dotenv_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warder/internal/dotenv"
)

// entry is a dotenv.Entry that prints well.
type entry struct {
	Name, Value string
	Line        int
}

func list(f *dotenv.File) []entry {
	all := []entry{}
	for _, e := range f.Entries {
		all = append(all, entry{e.Name, string(e.Value), e.Line})
	}
	return all
}

func mustParse(t *testing.T, text string) *dotenv.File {
	t.Helper()
	f, err := dotenv.Parse("in.env", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The grammar's sentences that the users' cases do not reach.
func TestGrammar(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []entry
	}{
		{"U-43 hash after tab", "A=a\t#b", []entry{{"A", "a", 1}}},
		{"U-43 hash after blank", "A= #b", []entry{{"A", "", 1}}},
		{"U-43 hash at once", "A=#b", []entry{{"A", "#b", 1}}},
		{"U-43 first comment wins", "A=a#b #c #d", []entry{{"A", "a#b", 1}}},
		{"U-43 hash in double quotes of JSON", `A={"a": "b #c"}`, []entry{{"A", `{"a": "b #c"}`, 1}}},
		{"U-43 hash in double quotes of a text", `A=say "a # b" now`, []entry{{"A", `say "a # b" now`, 1}}},
		{"U-43 hash in single quotes of a text", `A=say 'a # b' now`, []entry{{"A", `say 'a # b' now`, 1}}},
		{"U-43 comment behind a pair", `A=say "a # b" now # c "d"`, []entry{{"A", `say "a # b" now`, 1}}},
		{"U-43 escaped quotes in a pair", `A={"a": "say \"x # y\" now"} # c`, []entry{{"A", `{"a": "say \"x # y\" now"}`, 1}}},
		{"U-43 other quotes in a pair", `A=x "it's # b" y 'a "# b' # c`, []entry{{"A", `x "it's # b" y 'a "# b'`, 1}}},
		{"U-43 no quotes", "A=x # y", []entry{{"A", "x", 1}}},
		{"U-43 one quote", "A=it's # c", []entry{{"A", "it's", 1}}},
		{"U-43 apostrophes are no pair", "A=it's # don't\nB=dogs' # cats'\nC=rock 'n roll # don't\nD=l'été' # d'où", []entry{
			{"A", "it's", 1}, {"B", "dogs'", 2}, {"C", "rock 'n roll", 3}, {"D", "l'été'", 4},
		}},
		{"U-43 pair ends on its line", "A=x \"a # b\nB=c\"", []entry{{"A", "x \"a", 1}, {"B", "c\"", 2}}},
		{"U-43 hash in quotes over lines", "A='a\n # b'\n", []entry{{"A", "a\n # b", 1}}},
		{"U-44 nothing is expanded", "A=~/`id`$(id)\nB=\"$A `id`\"", []entry{{"A", "~/`id`$(id)", 1}, {"B", "$A `id`", 2}}},
		{"U-44 shell's escapes", `A="\$a \` + "`" + `b\` + "`" + `"`, []entry{{"A", "$a `b`", 1}}},
		{"U-45 one mark only", "\ufeffA=\ufeff1", []entry{{"A", "\ufeff1", 1}}},
		{"U-45 nothing but a mark", "\ufeff", []entry{}},
		{"U-46 lone CR ends a line", "A=1\rB=2\r\r\nC=3", []entry{{"A", "1", 1}, {"B", "2", 2}, {"C", "3", 4}}},
		{"U-46 lines inside quotes count", "A='1\r\n2\r3\n4'\r\nB=5", []entry{{"A", "1\n2\r3\n4", 1}, {"B", "5", 5}}},
		{"U-47 escapes", `A="\n\r\t\"\\\$"`, []entry{{"A", "\n\r\t\"\\$", 1}}},
		{"U-47 other backslashes stay", `A="\a\'\x41\u0041\ \/"`, []entry{{"A", `\a\'\x41\u0041\ \/`, 1}}},
		{"U-47 escaped backslash first", `A="\\n"`, []entry{{"A", `\n`, 1}}},
		{"U-47 backslash before line end", "A=\"a\\\r\nb\"", []entry{{"A", "a\\\nb", 1}}},
		{"U-47 single is literal", `A='a\'`, []entry{{"A", `a\`, 1}}},
		{"U-48 unquoted JSON", `A={"a": "b#c", "d": ['e']}`, []entry{{"A", `{"a": "b#c", "d": ['e']}`, 1}}},
		{"U-49 quote inside is itself", `A=a"b`, []entry{{"A", `a"b`, 1}}},
		{"U-50 export as a key", "export=1\nexport\t=2 \nexport export=3", []entry{{"export", "3", 3}}},
		{"U-50 export glued or in capitals", "export_A=1\nexport.b=2\nEXPORT=3", []entry{{"export_A", "1", 1}, {"export.b", "2", 2}, {"EXPORT", "3", 3}}},
		{"U-50 dots, dashes, digits", "a.b-c=1\n2FA=2\n_=3", []entry{{"a.b-c", "1", 1}, {"2FA", "2", 2}, {"_", "3", 3}}},
		{"U-50 last one has the place", "A=1\nB=2\nA=3", []entry{{"B", "2", 2}, {"A", "3", 3}}},
		{"U-50 blanks around quotes", "A =\t'x' \t # y", []entry{{"A", "x", 1}}},
		{"equals in a value", "A==\nB='='=", nil},
		{"longest key", strings.Repeat("k", 128) + "=1", []entry{{strings.Repeat("k", 128), "1", 1}}},
		{"empty", "", []entry{}},
		{"no values", " \t\n#A=1\n\n", []entry{}},
		{"bytes that are no text", "A=\xff\x01\x1b\xc3", []entry{{"A", "\xff\x01\x1b\xc3", 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := dotenv.Parse("in.env", []byte(c.text))
			if c.want == nil {
				if err == nil {
					t.Fatalf("read as %v", list(f))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, list(f)); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			for _, e := range f.Entries {
				if e.Value == nil {
					t.Errorf("%s: nil value", e.Name)
				}
			}
		})
	}
}

func TestU_54_Errors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no equals", "A=1\nKEY\n", "reading in.env:2: no = after the key"},
		{"no equals, export", "export KEY #x", "reading in.env:1: want KEY=value"},
		{"no key", "\r\n =1", "reading in.env:2: want KEY=value"},
		{"blank in key", "A B=1", "reading in.env:1: want KEY=value"},
		{"dash first", "-A=1", "reading in.env:1: want KEY=value"},
		{"letter outside ASCII", "É=1", "reading in.env:1: want KEY=value"},
		{"second mark", "A=1\n\ufeffB=1", "reading in.env:2: want KEY=value"},
		{"export twice", "export export A=1", "reading in.env:1: want KEY=value"},
		{"key too long", strings.Repeat("k", 129) + "=1", "reading in.env:1: key longer than 128 bytes"},
		{"open double quote", "A=1\nB=\"x\\\"\nC=3\n", "reading in.env:2: the quote that begins here is never closed"},
		{"open after backslash", `A="\`, "reading in.env:1: the quote that begins here is never closed"},
		{"open single quote", "\n\nB='x\n\n", "reading in.env:3: the quote that begins here is never closed"},
		{"text after quote", `A="x"y`, "reading in.env:1: text after the closing quote"},
		{"glued comment", `A='x'#y`, "reading in.env:1: text after the closing quote"},
		{"second quote", "A='it'\\''s'", "reading in.env:1: text after the closing quote"},
		{"text after lines", "A='x\n\ny' z", "reading in.env:3: text after the closing quote of the value that begins on line 1"},
		{"NUL", "A=1\r\nB=\x00", "reading in.env:2: NUL byte: not a text file"},
		{"NUL in a comment", "#\x00", "reading in.env:1: NUL byte: not a text file"},
		{"UTF-16", "\xff\xfeA\x00=\x001\x00", "reading in.env: UTF-16 text: save it as UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := dotenv.Parse("in.env", []byte(c.text))
			if err == nil {
				t.Fatalf("read as %v", list(f))
			}
			if f != nil {
				t.Errorf("entries beside an error: %v", list(f))
			}
			if !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("error %q, want %q…", err, c.want)
			}
			var se *dotenv.SyntaxError
			if !errors.As(err, &se) || se.File != "in.env" {
				t.Errorf("not a SyntaxError of in.env: %#v", err)
			}
			wantFixedReason(t, err)
		})
	}
}

// wantFixedReason fails if an error holds anything but program text and numbers.
func wantFixedReason(t *testing.T, err error) {
	t.Helper()
	var se *dotenv.SyntaxError
	if !errors.As(err, &se) {
		t.Fatalf("not a SyntaxError: %v", err)
	}
	known := regexp.MustCompile(`^(?:larger than 16 MiB|more than 65536 entries|NUL byte: not a text file|UTF-16 text: save it as UTF-8|` +
		`no = after the key|want KEY=value, a KEY of letters, digits, _ \. and - that begins with none of \. and -|` +
		`key longer than 128 bytes|the quote that begins here is never closed|` +
		`text after the closing quote(?: of the value that begins on line \d+)?)$`)
	if !known.MatchString(se.Reason) {
		t.Errorf("reason %q is no fixed text", se.Reason)
	}
}

func TestErrorCannotForgeALine(t *testing.T) {
	_, err := dotenv.Parse("a\n\x1b[2J\u202e.env", []byte("A"))
	if want := `reading "a\n\x1b[2J\u202e.env":1: no = after the key`; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestU_50_Warnings(t *testing.T) {
	const open = "the text from # on was taken as a comment, though a \" before it is open: quote the whole value to keep it"
	for _, c := range []struct {
		name, text string
		want       []dotenv.Warning
	}{
		{"duplicates", "D=1\nx='\n'\nexport D=2\nD=3", []dotenv.Warning{
			{Line: 4, Text: "D is set on line 1 and again on line 4: the last one wins"},
			{Line: 5, Text: "D is set on line 4 and again on line 5: the last one wins"},
		}},
		{"comment in open quote", "A=1\nJ={\"a\": \"b #c}", []dotenv.Warning{{Line: 2, Text: open}}},
		{"hash in a pair", "J={\"a\": \"b #c\"}", nil},
		{"open quote without a comment", "J=5\"", nil},
		{"comment after closed quotes", "J={\"a\": \"b\"} #c", nil},
		{"comment after an apostrophe", "A=it's # note", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, mustParse(t, c.text).Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// Limits hold at their edge, and files made to be slow are read in one pass: each
// of these would take minutes if any step looked back.
func TestHostileSizes(t *testing.T) {
	fill := func(unit string, size int) string { return strings.Repeat(unit, size/len(unit)) }
	for _, c := range []struct {
		name, text, want string
		entries          int
	}{
		{name: "largest file", text: "A=" + fill("x", dotenv.MaxFile-2), entries: 1},
		{name: "too large", text: fill("\n", dotenv.MaxFile+1), want: "reading f: larger than 16 MiB"},
		{name: "most entries", text: fill("A=\n", 3*dotenv.MaxEntries), entries: 1},
		{name: "too many entries", text: fill("A=\n", 3*dotenv.MaxEntries+3), want: "reading f:65537: more than 65536 entries"},
		{name: "only CR", text: fill("\r", dotenv.MaxFile)},
		{name: "only blanks", text: fill(" ", dotenv.MaxFile)},
		{name: "blanks after key", text: "A" + fill(" ", dotenv.MaxFile-1), want: "reading f:1: no = after the key"},
		{name: "blanks in value", text: "A=" + fill(" x", dotenv.MaxFile-2), entries: 1},
		{name: "hashes", text: "A=" + fill("#", dotenv.MaxFile-2), entries: 1},
		{name: "quotes in a value", text: "A=x" + fill(`"`, dotenv.MaxFile-3), entries: 1},
		{name: "hidden quotes in a value", text: `A=x"` + fill(`\"`, dotenv.MaxFile-4), entries: 1},
		{name: "words in single quotes", text: "A=x" + fill(" 'a", dotenv.MaxFile-3), entries: 1},
		{name: "exports", text: fill("export ", dotenv.MaxFile), want: "reading f:1: want KEY=value"},
		{name: "long key", text: fill("a", dotenv.MaxFile-1) + "=", want: "reading f:1: key longer than 128 bytes"},
		{name: "backslashes", text: "A=\"" + fill(`\`, dotenv.MaxFile-4) + `"`, entries: 1},
		{name: "open quote", text: "A=\"" + fill("\\\"", dotenv.MaxFile-4), want: "reading f:1: the quote that begins here is never closed"},
		{name: "lines in quotes", text: "A='" + fill("\r\n", dotenv.MaxFile-4) + "'", entries: 1},
		{name: "quotes", text: "A=" + fill(`"`, dotenv.MaxFile-2), want: "reading f:1: text after the closing quote"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := dotenv.Parse("f", []byte(c.text))
			if (err != nil) != (c.want != "") || err != nil && !strings.HasPrefix(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			if err == nil && len(f.Entries) != c.entries {
				t.Errorf("%d entries, want %d", len(f.Entries), c.entries)
			}
		})
	}
}

func TestValuesAreTheCallers(t *testing.T) {
	secret := []byte(rand.Text())
	data := slices.Concat([]byte("A="), secret, []byte("\nB='"), secret, []byte("'\nC=\""), secret, []byte("\""))
	f, err := dotenv.Parse("in.env", data)
	if err != nil {
		t.Fatal(err)
	}
	clear(data)
	for _, e := range f.Entries {
		if !bytes.Equal(e.Value, secret) {
			t.Errorf("%s changed with the input", e.Name)
		}
	}
	f.Wipe()
	for _, e := range f.Entries {
		if len(e.Value) != len(secret) || bytes.Count(e.Value, []byte{0}) != len(secret) {
			t.Errorf("%s is not wiped", e.Name)
		}
	}
}
