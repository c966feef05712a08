package mask_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"warder/internal/mask"
)

// TestS2_25_SplitAnywhere: the rows of values and texts that other maskers fail at, cut at every place, in one write,
// and byte by byte.
func TestS2_25_SplitAnywhere(t *testing.T) {
	v := func(name, b string) value { return value{name, b} }
	key := token(32)
	pem := "-----BEGIN KEY-----\n" + token(20) + "\n-----END KEY-----"
	for _, c := range []struct {
		name   string
		values []value
		text   string
		want   string
	}{
		{"alone", []value{v("A", key)}, key, "****(A)"},
		{"in text", []value{v("A", key)}, "x=" + key + "\n", "x=****(A)\n"},
		{"two in a row", []value{v("A", key), v("B", "hunter22")}, key + "hunter22" + key, "****(A)****(B)****(A)"},
		{"prefix value", []value{v("SHORT", key[:12]), v("LONG", key)}, key + "," + key[:20] + "," + key[:12], "****(LONG),****(SHORT)" + key[12:20] + ",****(SHORT)"},
		{"inner value", []value{v("IN", key[5:15]), v("OUT", key)}, key + "," + key[:20], "****(OUT)," + key[:5] + "****(IN)" + key[15:20]},
		{"overlap hidden whole", []value{v("A", "abcdefgh"), v("B", "efghijkl")}, "abcdefghijkl", "****(A)"},
		{"chain of overlaps", []value{v("A", "abcdab")}, "-abcdabcdabcdab-", "-****(A)-"},
		{"touching stay apart", []value{v("A", "abcd")}, "abcdabcd", "****(A)****(A)"},
		{"failed start overlaps value", []value{v("KEY", pem)}, "---" + pem + "--", "---****(KEY)--"},
		{"failed start holds another", []value{v("A", "aaab"+key), v("B", "abab")}, "aaabab", "aa****(B)"},
		{"half at the end", []value{v("A", key)}, "see " + key[:16], "see " + key[:16]},
		{"newline value", []value{v("N", "{\n\"a\": 1\n}")}, "x{\n\"a\": 1\n}{\n}", "x****(N){\n}"},
		{"halves parted by NUL", []value{v("A", key)}, "\x00\xff" + key + "\xfe\x00" + key[:16] + "\x00" + key[16:], "\x00\xff****(A)\xfe\x00" + key[:16] + "\x00" + key[16:]},
		{"byte 255", []value{v("A", "\xff\xff\xff\xff")}, "\xff\xff\xff\xfe\xff\xff\xff\xff", "\xff\xff\xff\xfe****(A)"},
		{"four bytes", []value{v("A", "1234")}, "01234 123 4", "0****(A) 123 4"},
	} {
		atOnce(t, func(t *testing.T) { everyCut(t, c.name, exactly(t, c.values...), c.text, c.want) })
	}
}

// TestS2_26_ShortValues are never looked for, and who adds one is told.
func TestS2_26_ShortValues(t *testing.T) {
	set := mask.NewSet()
	for _, b := range []string{"", "a", "the"} {
		if err := set.Add("WORD", newValue(t, b), mask.ValueOptions{}); !errors.Is(err, mask.ErrShort) {
			t.Errorf("Add(%q) = %v", b, err)
		}
	}
	const text = "run the test suite latest\n"
	if got := through(t, set, func(io.WriteCloser) {}, text); got != text {
		t.Errorf("got %q", got)
	}
	fill(t, set, mask.ValueOptions{}, value{"FOUR", "test"})
	if got := through(t, set, func(io.WriteCloser) {}, text); got != "run the ****(FOUR) suite la****(FOUR)\n" {
		t.Errorf("got %q", got)
	}
}

// TestS2_27_WhatPasses: a program that wants to show a value can.
func TestS2_27_WhatPasses(t *testing.T) {
	key := token(32)
	set := withForms(t, value{"A", key})
	reversed := []byte(key)
	for i, j := 0, len(key)-1; i < j; i, j = i+1, j-1 {
		reversed[i], reversed[j] = reversed[j], reversed[i]
	}
	spaced := strings.Join(strings.Split(key, ""), " ")
	for _, text := range []string{string(reversed), spaced, key[:31], key[1:]} {
		if got := through(t, set, func(io.WriteCloser) {}, text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestC12_HeldIsATrueBeginning: nothing is held that can't begin a value, however long values are.
func TestC12_HeldIsATrueBeginning(t *testing.T) {
	long := "ghp_" + token(3000)
	set := exactly(t, value{"LONG", long}, value{"B", "Password1"})
	for _, c := range []struct {
		text string
		held int
	}{
		{"Password: ", 0},
		{"Passw", 5},
		{"a long line of text without an end", 0},
		{"$ g", 1},
		{"ghpghp_", 4},
		{"gh_", 0},
		{long[:2999], 2999},
		{long, 0},
		{long[1:], 0},
	} {
		for name, prepare := range engines() {
			var out bytes.Buffer
			w := mask.NewWriter(&out, set)
			prepare(w)
			if _, err := io.WriteString(w, c.text); err != nil {
				t.Fatal(err)
			}
			if got := mask.Held(w); got != c.held {
				t.Errorf("%s: after %.20q: %d bytes held, want %d", name, c.text, got, c.held)
			}
			if c.held > 0 && out.String() != c.text[:len(c.text)-c.held] {
				t.Errorf("%s: after %.20q: %q is out", name, c.text, out.String())
			}
			w.Close()
		}
	}
}

// TestC10_MarksContainNoValue, and nothing that moves a cursor.
func TestC10_MarksContainNoValue(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []value
		want   string // of the first value
	}{
		{"usual", []value{{"TOKEN", "hunter22"}}, "****(TOKEN)"},
		{"no name", []value{{"", "hunter22"}}, "****"},
		{"is its name", []value{{"hunter22", "hunter22"}}, "****"},
		{"is in its name", []value{{"MY_hunter22_KEY", "hunter22"}}, "****"},
		{"another is in its name", []value{{"MY_TOKEN", "hunter22"}, {"B", "TOKEN"}}, "****"},
		{"is part of the mark and the name", []value{{"ABC", "*(AB"}}, "****"},
		{"is the plain mark", []value{{"ABC", "****"}}, "***"},
		{"another is the plain mark", []value{{"ABC", "hunter22"}, {"B", "****"}}, "***"},
		{"begins with the mark", []value{{"ABC", "*****"}}, "****(ABC)"},
		{"controls", []value{{"A\nB\x1b[2J\u202eC\xff\x00", "hunter22"}}, "****(AB[2JC)"},
		{"only controls", []value{{"\n\t", "hunter22"}}, "****"},
		{"letters", []value{{"clé de Zoë", "hunter22"}}, "****(clé de Zoë)"},
		{"long", []value{{strings.Repeat("é", 100), "hunter22"}}, "****(" + strings.Repeat("é", 64) + ")"},
	} {
		for name, prepare := range engines() {
			if got := through(t, exactly(t, c.values...), prepare, "["+c.values[0].bytes+"]"); got != "["+c.want+"]" {
				t.Errorf("%s, %s: got %q, want %q", c.name, name, got, c.want)
			}
		}
	}
}

// TestC10_MarksAreNotLookedAt: a mark together with what stands beside it is no value.
func TestC10_MarksAreNotLookedAt(t *testing.T) {
	set := exactly(t, value{"A", "hunter22"}, value{"B", "x****(A)y"})
	if got, want := through(t, set, func(io.WriteCloser) {}, "xhunter22", "y"), "x****(A)y"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestU_19_MarksTellNothing of the length of a value.
func TestU_19_MarksTellNothing(t *testing.T) {
	a, b := value{"ONE", token(40)}, value{"TWO", "Zq9!x7Lw#2"}
	got := through(t, withForms(t, a, b), func(io.WriteCloser) {}, "["+a.bytes+"] ["+b.bytes+"]\n")
	if got != "[****(ONE)] [****(TWO)]\n" {
		t.Errorf("got %q", got)
	}
}

// TestForms: how programs spell values, and what is left alone.
func TestForms(t *testing.T) {
	one, two := token(64), token(64)
	begin, end := "-----"+"BEGIN PRIVATE KEY-----\n", "-----"+"END PRIVATE KEY-----\n"
	pem := begin + one + "\n" + two + "\n" + end
	inJSON := `{"id": 1, "key": "` + strings.ReplaceAll(pem, "\n", `\n`) + `"}`
	short := "{\n  \"a\": 1,\n  \"password\": \"" + one[:12] + "\"\n}"
	for _, c := range []struct {
		name, value, text, want string
	}{
		{"whole", pem, pem, "****(K)"},
		{"by $(…)", pem, strings.TrimSuffix(pem, "\n") + ";", "****(K);"},
		{"on a terminal", pem, strings.ReplaceAll(pem, "\n", "\r\n"), "****(K)"},
		{"one line", pem, "3: " + two + "\n", "3: ****(K)\n"},
		{"indented", pem, "    " + one + "\n    " + two + "\n", "    ****(K)\n    ****(K)\n"},
		{"first and last line", pem, begin + end, begin + end},
		{"in a document", inJSON, pem, begin + "****(K)\n****(K)\n" + end},
		{"short lines", short, "{\n}\n\"a\": 1,\n", "{\n}\n\"a\": 1,\n"},
		{"a longer line", short, `  "password": "` + one[:12] + `"`, "****(K)"},
		{"of DOS, printed on Unix", "one\r\ntwo\r\n", "one\ntwo\n;one\ntwo;one\r\ntwo", "****(K);****(K);****(K)"},
		{"one line, a newline behind", "secret\n", "secret", "****(K)"},
		{"three bytes, a newline behind", "abc\n", "abc abc\n", "abc ****(K)"},
	} {
		if got := through(t, withForms(t, value{"K", c.value}), func(io.WriteCloser) {}, c.text); got != c.want {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}
