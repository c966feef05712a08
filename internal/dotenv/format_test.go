package dotenv_test

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"warder/internal/dotenv"
)

func format(d dotenv.Dialect, entries ...dotenv.Entry) (string, error) {
	var out bytes.Buffer
	err := dotenv.Format(&out, d, entries)
	return out.String(), err
}

func pair(name, value string) dotenv.Entry {
	return dotenv.Entry{Name: name, Value: []byte(value)}
}

// The forms are part of the format: people keep these files under version control.
func TestU_51_Forms(t *testing.T) {
	for _, c := range []struct{ value, env, shell string }{
		{"", "A=\n", "export A=''\n"},
		{"a-Z_0.9/:@%+,", "A=a-Z_0.9/:@%+,\n", "export A='a-Z_0.9/:@%+,'\n"},
		{"s # x", "A='s # x'\n", "export A='s # x'\n"},
		{"$2b$10$x", "A='$2b$10$x'\n", "export A='$2b$10$x'\n"},
		{"~", "A='~'\n", "export A='~'\n"},
		{"=ls", "A='=ls'\n", "export A='=ls'\n"},
		{`{"k": "a\nb"}`, `A='{"k": "a\nb"}'` + "\n", `export A='{"k": "a\nb"}'` + "\n"},
		{"l1\nl2\n", "A='l1\nl2\n'\n", "export A='l1\nl2\n'\n"},
		{"it's", "A=\"it's\"\n", "export A='it'\\''s'\n"},
		{"'\"\\$`\n\t", "A=\"'\\\"\\\\\\$\\`\n\t\"\n", "export A=''\\''\"\\$`\n\t'\n"},
		{"a\r\n", "A=\"a\\r\n\"\n", "export A='a\r\n'\n"},
	} {
		for d, want := range map[dotenv.Dialect]string{dotenv.DialectEnv: c.env, dotenv.DialectShell: c.shell} {
			if got, err := format(d, pair("A", c.value)); err != nil || got != want {
				t.Errorf("%q in %s: %q, %v, want %q", c.value, d, got, err, want)
			}
		}
	}
}

func TestU_53_Refusals(t *testing.T) {
	const (
		notKey      = "not a key that a .env file can hold"
		notVariable = "not a variable name (letters, digits and _, no digit first)"
	)
	all := []dotenv.Dialect{dotenv.DialectEnv, dotenv.DialectShell, dotenv.DialectDocker}
	shell, docker := all[1:2], all[2:]
	for _, c := range []struct {
		dialects    []dotenv.Dialect
		name, value string
		want        string
	}{
		{all, "A", "x\x00", "the value holds a NUL byte"},
		{all, "OK", "", "the name is given twice"},
		{all[1:], "a.b", "", notVariable},
		{all[1:], "a-b", "", notVariable},
		{all[1:], "2FA", "", notVariable},
		{all[1:], "", "", notVariable},
		{all[1:], "A;id", "", notVariable},
		{all[1:], "A\nB", "", notVariable},
		{all[1:], "É", "", notVariable},
		{all[:1], "", "", notKey},
		{all[:1], "A B", "", notKey},
		{all[:1], ".a", "", notKey},
		{all[:1], "A=B", "", notKey},
		{all[:1], "A\n", "", notKey},
		{all[:1], strings.Repeat("k", 129), "", notKey},
		{shell, "RANDOM", "a[$(id)]", "shells compute this variable, which can run commands: only digits are safe"},
		{shell, "PROMPT_COMMAND", "id", "bash runs this variable as a command"},
		{shell, "PS4", "$(id)", "shells expand this variable as a prompt: $, ` and \\ are not safe"},
		{shell, "PS1", `\044(id)`, "shells expand this variable as a prompt: $, ` and \\ are not safe"},
		{docker, "A", "a\nb", "the value has more than one line, and docker reads one line per variable"},
		{docker, "A", "a\r", "the value has more than one line, and docker reads one line per variable"},
		{docker, "A", "\xff", "the value is not UTF-8, and docker reads nothing else"},
		{docker, "A", strings.Repeat("x", 65534), "the line is longer than the 65535 bytes that docker reads"},
	} {
		for _, d := range c.dialects {
			out, err := format(d, pair("OK", "1"), pair(c.name, c.value))
			var fe *dotenv.FormatError
			if !errors.As(err, &fe) {
				t.Errorf("%q in %s: error %v, output %q", c.name, d, err, out)
				continue
			}
			if want := (dotenv.FormatError{Dialect: d, Name: c.name, Reason: c.want}); *fe != want {
				t.Errorf("%q in %s: %+v, want %+v", c.name, d, *fe, want)
			}
			if out != "" {
				t.Errorf("%q in %s: half-written: %q", c.name, d, out)
			}
		}
	}
}

func TestFormatErrorNamesTheEntry(t *testing.T) {
	_, err := format(dotenv.DialectShell, pair("a.b\n", "x"))
	const want = `writing "a.b\n" in the shell dialect: not a variable name (letters, digits and _, no digit first)`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// What Parse refuses for its size is not written either: neither too many entries nor too large a file.
func TestFormatKeepsTheReadersLimits(t *testing.T) {
	many := make([]dotenv.Entry, dotenv.MaxEntries+1)
	for i := range many {
		many[i] = pair("V"+strconv.Itoa(i), "")
	}
	const around = len("A=''\n") // a blank makes the value stand in quotes
	large := func(size int) dotenv.Entry { return pair("A", strings.Repeat(" ", size-around)) }
	for _, c := range []struct {
		name     string
		entries  []dotenv.Entry
		at, want string // "" if it is written
	}{
		{"most entries", many[:dotenv.MaxEntries], "", ""},
		{"too many entries", many, "V65536", "more than 65536 entries"},
		{"largest file", []dotenv.Entry{large(dotenv.MaxFile)}, "", ""},
		{"one byte more", []dotenv.Entry{large(dotenv.MaxFile + 1)}, "A", "with it the file is larger than 16 MiB"},
		{"value larger than a file", []dotenv.Entry{pair("B", "1"), large(dotenv.MaxFile + 10)}, "A", "with it the file is larger than 16 MiB"},
		{"together", []dotenv.Entry{large(dotenv.MaxFile), pair("B", "1")}, "B", "with it the file is larger than 16 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := format(dotenv.DialectEnv, c.entries...)
			if _, refused := dotenv.Parse("out.env", []byte(out)); refused != nil {
				t.Errorf("%d bytes are written that Parse refuses: %v", len(out), refused)
			}
			var fe *dotenv.FormatError
			if c.want == "" && err != nil || c.want != "" && !errors.As(err, &fe) {
				t.Fatalf("error %v", err)
			}
			if fe == nil {
				return
			}
			if fe.Name != c.at || fe.Reason != c.want || out != "" {
				t.Errorf("%v after %d bytes, want %s at %s", fe, len(out), c.want, c.at)
			}
		})
	}
}

// Names that shells treat in a special way are still variables with plain values.
func TestU_53_HarmlessValuesPass(t *testing.T) {
	_, err := format(dotenv.DialectShell, pair("UID", "1000"), pair("GID", ""), pair("PROMPT", "You are: 5% > 'x'"), pair("ENV", "$x"))
	if err != nil {
		t.Error(err)
	}
}

func TestIsVariable(t *testing.T) {
	for name, want := range map[string]bool{
		"A": true, "_": true, "R2_KEY_9": true, "aZ": true, "": false, "9A": false, "a.b": false,
		"a-b": false, "A ": false, "A\n": false, "É": false, "A=": false,
	} {
		if got := dotenv.IsVariable(name); got != want {
			t.Errorf("IsVariable(%q) = %v", name, got)
		}
	}
}

func TestFormatUnknownDialect(t *testing.T) {
	if out, err := format("fish", pair("A", "1")); err == nil || out != "" {
		t.Errorf("output %q, error %v", out, err)
	}
}

// keeper breaks the contract of io.Writer on purpose, to see what Format leaves behind.
type keeper struct {
	kept [][]byte
	fail error
}

func (k *keeper) Write(p []byte) (int, error) {
	k.kept = append(k.kept, p)
	return len(p), k.fail
}

func TestFormatWipesItsBuffer(t *testing.T) {
	for _, fail := range []error{nil, io.ErrShortWrite} {
		w := &keeper{fail: fail}
		err := dotenv.Format(w, dotenv.DialectShell, []dotenv.Entry{pair("A", "it's")})
		if !errors.Is(err, fail) {
			t.Errorf("error %v, want %v", err, fail)
		}
		if len(w.kept) != 1 {
			t.Fatalf("%d writes, want 1", len(w.kept))
		}
		if rest := bytes.Trim(w.kept[0], "\x00"); len(rest) > 0 {
			t.Errorf("left behind: %q", rest)
		}
	}
}
