package mask_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"warder/internal/mask"
)

// fuzzedNeedles reads patterns parted by bars; one that begins with a slash folds, if it may.
func fuzzedNeedles(data []byte) []needle {
	var needles []needle
	for i, b := range bytes.Split(data, []byte("|")) {
		n := needle{value: value{fmt.Sprint(i), string(b)}}
		if b, folds := strings.CutPrefix(n.bytes, "/"); folds && mayFold(b) {
			n.bytes, n.folds = b, true
		}
		if len(n.bytes) >= mask.MinLength && len(needles) < 50 {
			needles = append(needles, n)
		}
	}
	return needles
}

// fuzzedPieces cuts a text at the distances that are in cuts.
func fuzzedPieces(text, cuts []byte) []string {
	var pieces []string
	rest := string(text)
	for _, n := range cuts {
		n := min(int(n), len(rest))
		pieces = append(pieces, rest[:n])
		rest = rest[n:]
	}
	return append(pieces, rest)
}

// equalHoweverCut compares both ways of searching with the reference, the text whole and in pieces. Of a text that has
// nothing to hide the writer behind gets the caller's own slice, up to what is held.
func equalHoweverCut(t *testing.T, needles []needle, text string, cuts ...[]string) {
	t.Helper()
	want := hideAll(text, needles...)
	atOnce(t, func(t *testing.T) {
		set := setOf(t, needles...)
		for name, prepare := range engines() {
			for _, pieces := range append(cuts, []string{text}) {
				if got := through(t, set, prepare, pieces...); got != want {
					t.Fatalf("%s: patterns %s, writes %q:\n got %q\nwant %q", name, needles, pieces, got, want)
				}
			}
			if want == text && !ownSlice(t, set, prepare, []byte(text)) {
				t.Fatalf("%s: patterns %s, text %q: copied", name, needles, text)
			}
		}
	})
}

// ownSlice reports whether one write of text passes on a part of text itself, in one call at most.
func ownSlice(t *testing.T, set *mask.Set, prepare func(io.WriteCloser), text []byte) bool {
	t.Helper()
	dst := &calls{same: text}
	w := mask.NewWriter(dst, set)
	prepare(w)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	out := len(text) - mask.Held(w)
	own := out == 0 && len(dst.got) == 0 || len(dst.got) == 1 && dst.all && len(dst.got[0]) == out
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return own
}

// FuzzSplits: whatever the values, the text and the places where it is cut, both ways of searching hide the union of all
// occurrences and nothing else.
func FuzzSplits(f *testing.F) {
	f.Add([]byte("abcd|abcdefgh"), []byte("xabcdefghabcd"), []byte{3, 200, 1})
	f.Fuzz(func(t *testing.T, data, text, cuts []byte) {
		needles := fuzzedNeedles(data)
		if len(needles) == 0 || len(text) > 2000 {
			return
		}
		equalHoweverCut(t, needles, string(text), fuzzedPieces(text, cuts))
	})
}

// FuzzSteps: writes, pauses and values that come later, in any order, against the reference after each step.
func FuzzSteps(f *testing.F) {
	f.Add([]byte("abcdefghijklmnopqrst|cdefgh"), []byte("+abcd~+efghij~klmnopqrst"))
	f.Fuzz(func(t *testing.T, data, steps []byte) {
		needles := fuzzedNeedles(data)
		if len(steps) > 500 {
			return
		}
		for name, prepare := range engines() {
			synctest.Test(t, func(t *testing.T) {
				p, waiting := newPlay(t, prepare), needles
				for _, step := range bytes.SplitAfter(steps, nil) {
					switch {
					case step[0] == '+' && len(waiting) > 0:
						p.add(waiting[0])
						waiting = waiting[1:]
					case step[0] == '~':
						p.pause()
					default:
						p.write(string(step))
					}
				}
				if p.close(); p.wrong != "" {
					t.Errorf("%s: patterns %s, steps %q: %s", name, needles, p.done, p.wrong)
				}
			})
		}
	})
}

// FuzzAnsi: sequences of any kind between the characters of values. In gaps, a byte is the number of a character, and
// what follows up to the next 0xff goes behind it.
func FuzzAnsi(f *testing.F) {
	f.Add([]byte("abcdefgh|/cdefabcdef"), []byte("xxabcdefabcdefghyy"), []byte("\x03\x1b[1m\xff\x05\x1b]0;a\x07\xff\x06\n\x1b[K"), []byte{4, 4})
	f.Fuzz(func(t *testing.T, data, text, gaps, cuts []byte) {
		needles := fuzzedNeedles(data)
		if len(needles) == 0 || len(text)+len(gaps) > 2000 {
			return
		}
		behind := map[int]string{}
		for gap := range bytes.SplitSeq(gaps, []byte{0xff}) {
			if len(gap) > 1 {
				behind[int(gap[0])] += string(gap[1:])
			}
		}
		var b strings.Builder
		for i := range text {
			b.WriteByte(text[i])
			b.WriteString(behind[i])
		}
		equalHoweverCut(t, needles, b.String(), fuzzedPieces([]byte(b.String()), cuts))
	})
}

// FuzzFolded: a pattern that folds is hidden at whatever width the text is folded, with whatever breaks, and what is
// left is the text around it.
func FuzzFolded(f *testing.F) {
	f.Add([]byte("QUJDREVGR0hJSktMTU5PUA"), []byte("before | behind"), []byte{1, 0, 20, 1, 76, 2}, []byte{5, 1})
	f.Fuzz(func(t *testing.T, pattern, around, folds, cuts []byte) {
		if len(pattern) < mask.MinLength || len(pattern) > 500 || len(around) > 500 || !mayFold(string(pattern)) {
			return
		}
		n := needle{value: value{"F", string(pattern)}, folds: true}
		folded := fold(string(pattern), folds)
		if want := hideAll(string(pattern), n); hideAll(folded, n) != want {
			t.Errorf("the reference: %q comes out as %q, want %q", folded, hideAll(folded, n), want)
		}
		before, behind, _ := strings.Cut(string(around), "|")
		text := before + folded + behind
		equalHoweverCut(t, []needle{n}, text, fuzzedPieces([]byte(text), cuts))
	})
}

// fold puts breaks into text: folds has pairs of a distance and a kind of break.
func fold(text string, folds []byte) string {
	var b strings.Builder
	for i := 0; i+1 < len(folds) && int(folds[i]) < len(text); i += 2 {
		n := max(1, int(folds[i]))
		if n >= len(text) {
			break
		}
		b.WriteString(text[:n] + []string{"\n", "\r\n", "\r\r\n"}[folds[i+1]%3])
		text = text[n:]
	}
	return b.String() + text
}

// FuzzForms: every spelling of a value is hidden where it is printed, however long it is, in lines and in colour too, and
// whatever stands beside it passes.
func FuzzForms(f *testing.F) {
	f.Add([]byte("a\nline of twelve\r\nanother line\\nof some length\n"), []byte("<|>"), []byte{20, 1}, []byte{3})
	f.Fuzz(func(t *testing.T, v, around, folds, cuts []byte) {
		if len(v) < mask.MinLength || len(v) > 5000 || len(around) > 200 {
			return
		}
		set := withForms(t, value{"", string(v)})
		needles := spelt(string(v))
		atOnce(t, func(t *testing.T) {
			for _, n := range needles {
				if got := through(t, set, func(io.WriteCloser) {}, n.bytes); strings.Trim(got, "*") != "" {
					t.Errorf("%q: %q came out as %q", v, n.bytes, got)
				}
			}
			if len(v) <= 100 { // the reference is slow: one of them
				pick := len(around)
				for _, c := range cuts {
					pick += int(c)
				}
				before, behind, _ := strings.Cut(string(around), "|")
				for _, text := range inWays(needles[pick%len(needles)], folds) {
					text = before + text + behind
					want := hideAll(text, needles...)
					if got := through(t, set, func(io.WriteCloser) {}, fuzzedPieces([]byte(text), cuts)...); got != want {
						t.Fatalf("value %q, text %q:%s", v, text, differ(got, want))
					}
				}
			}
		})
	})
}

// spelt is a value and all its spellings.
func spelt(v string) []needle {
	needles := []needle{{value: value{"", v}}}
	for _, s := range mask.SpelledBy([]byte(v), nil, mask.ValueOptions{}) {
		n := needle{value: value{"", s.Text}, folds: s.Folds, whole: len(v)}
		if len(s.Text) >= mask.MinLength && !slices.Contains(needles, n) {
			needles = append(needles, n)
		}
	}
	return needles
}

// inWays is a spelling as it is, in colour, and in lines.
func inWays(n needle, folds []byte) []string {
	half := len(n.bytes) / 2
	texts := []string{n.bytes, n.bytes[:half] + "\x1b[1m" + n.bytes[half:]}
	if n.folds {
		texts = append(texts, fold(n.bytes, folds))
	}
	return texts
}
