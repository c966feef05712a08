package dotenv_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"warder/internal/dotenv"
)

// secondReader reads .env files by other means, from the package comment alone. It
// keeps that text and Parse to the same meaning.
type secondReader struct {
	idle, head, bare, single, double, tail, escape, eol, words *regexp.Regexp
	pairOfDouble, pairOfSingle                                 *regexp.Regexp
}

func newSecondReader() secondReader {
	re := regexp.MustCompile
	return secondReader{
		idle:   re(`^[ \t]*(?:#[^\r\n]*)?(?:\r\n|\n|\r|\z)`),
		head:   re(`^[ \t]*(?:export[ \t]+)?([A-Za-z0-9_][A-Za-z0-9_.\-]{0,127})[ \t]*=`),
		bare:   re(`^[^\r\n]*`),
		single: re(`^[ \t]*'([^']*)'`),
		double: re(`^[ \t]*"((?:[^"\\]|\\(?s:.))*)"`),
		tail:   re(`^[ \t]*(?:[ \t]#[^\r\n]*)?(?:\r\n|\n|\r|\z)`),
		escape: re("\\\\[nrt\"\\\\$`]"),
		eol:    re(`\r\n|\n|\r`),
		words:  re(`[A-Za-z0-9_\x{80}-\x{10ffff}]\z`),

		pairOfDouble: re(`^"(?:[^"\\]|\\.)*"`),
		pairOfSingle: re(`^('.*?')(?:[^A-Za-z0-9_\x{80}-\x{10ffff}]|\z)`),
	}
}

// read returns the entries of text, false for an error of any kind.
func (r secondReader) read(text string) ([]entry, bool) {
	if strings.Contains(text, "\x00") {
		return nil, false
	}
	rest := strings.TrimPrefix(text, "\ufeff")
	whole := rest
	all := []entry{}
	for rest != "" {
		if m := r.idle.FindString(rest); m != "" {
			rest = rest[len(m):]
			continue
		}
		m := r.head.FindStringSubmatch(rest)
		if m == nil {
			return nil, false
		}
		line := 1 + len(r.eol.FindAllString(whole[:len(whole)-len(rest)], -1))
		value, n, ok := r.value(rest[len(m[0]):])
		if !ok {
			return nil, false
		}
		rest = rest[len(m[0])+n:]
		for i := range all {
			if all[i].Name == m[1] {
				all = append(all[:i], all[i+1:]...)
				break
			}
		}
		all = append(all, entry{m[1], value, line})
	}
	return all, true
}

// value reads a value and all that is on its last line, n bytes.
func (r secondReader) value(rest string) (value string, n int, ok bool) {
	switch first := strings.TrimLeft(rest, " \t"); {
	case strings.HasPrefix(first, "'"):
		m := r.single.FindStringSubmatch(rest)
		if m == nil {
			return "", 0, false
		}
		value, n = m[1], len(m[0])
		value = strings.ReplaceAll(value, "\r\n", "\n")
	case strings.HasPrefix(first, `"`):
		m := r.double.FindStringSubmatch(rest)
		if m == nil {
			return "", 0, false
		}
		n = len(m[0])
		value = strings.ReplaceAll(m[1], "\r\n", "\n")
		value = r.escape.ReplaceAllStringFunc(value, func(s string) string {
			return strings.NewReplacer("n", "\n", "r", "\r", "t", "\t").Replace(s[1:])
		})
	default:
		n = len(r.bare.FindString(rest))
		value = strings.Trim(r.withoutComment(rest[:n]), " \t")
	}
	tail := r.tail.FindStringIndex(rest[n:])
	if tail == nil {
		return "", 0, false
	}
	return value, n + tail[1], true
}

// withoutComment goes through an unquoted value from the left, by pairs of quotes and single bytes.
func (r secondReader) withoutComment(text string) string {
	for done := 0; done < len(text); {
		before, rest := text[:done], text[done:]
		double, single := r.pairOfDouble.FindString(rest), r.pairOfSingle.FindStringSubmatch(rest)
		switch {
		case rest[0] == '#' && (strings.HasSuffix(before, " ") || strings.HasSuffix(before, "\t")):
			return before
		case double != "" && !strings.HasSuffix(before, `\`):
			done += len(double)
		case single != nil && !r.words.MatchString(before):
			done += len(single[1])
		default:
			done++
		}
	}
	return text
}

// wantSameReading compares Parse with the second reader.
func wantSameReading(t rapid.TB, r secondReader, text string) {
	t.Helper()
	want, ok := r.read(text)
	f, err := dotenv.Parse("in.env", []byte(text))
	if ok != (err == nil) {
		t.Fatalf("Parse: %v, second reader reads it: %v\n%q", err, ok, text)
	}
	if err != nil {
		return
	}
	if diff := cmp.Diff(want, list(f)); diff != "" {
		t.Fatalf("%q (-second reader +Parse):\n%s", text, diff)
	}
}

func TestSecondReader(t *testing.T) {
	r, read := newSecondReader(), 0
	word := rapid.SampledFrom([]string{
		"A=", "B =", "a.b-c\t= ", "export ", "\texport\t", "=", "x", "é", "\xff", " ", "\t", "#", " # c", "\n", "\n", "\r\n", "\r",
		"'", "'", `"`, `"`, "\\", "\\n", "$", "`", "\ufeff", "A='x\ny'\n", "B=\"\\\"\r\n\"\n", "C=1 # c\n", "\nD= 2\n",
		"E=x", "'s", "n'", "a # b", `\"`,
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(word, 0, 14).Draw(t, "words"), "")
		wantSameReading(t, r, text)
		if f, err := dotenv.Parse("", []byte(text)); err == nil && len(f.Entries) > 0 {
			read++
		}
	})
	if read == 0 {
		t.Error("no file was read")
	}
}
