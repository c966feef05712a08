package mask_test

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"warder/internal/mask"
)

// This file says what a writer must do, in the simplest way: it keeps the whole stream, looks for every pattern at every
// place after each step, and has positions in the stream where the writer has some in its buffer. Its rules:
//
//   - Raw view: an occurrence is the pattern, byte by byte. One that folds may have one break (\n, \r\n, \r\r\n) between any
//     two of its characters. Patterns that fold have characters of base64 only, ten or more: [mayFold].
//   - Stripped view: the same, in what is left of the stream without its escape sequences. It covers what stands between
//     its first and its last character. At most maxGap bytes of sequences stand together there, without a byte of a break
//     between.
//   - A sequence is what [sequence] matches at an ESC, complete or not: a byte that doesn't fit is text, or a new ESC.
//   - Occurrences that overlap are hidden as one, with all that is in them. The name is that of the earliest, of those of the longest pattern, of
//     those of the value that was added first. The mark is the best one that contains no pattern.
//   - Undecided is the stream from the first place on where, in one of the views, all that follows is the beginning of an
//     occurrence and not all of it. Nothing else is held. What began before, when a value is added, is not looked for.
//   - An early release follows a write that leaves something held which is not out, once. Of each occurrence that is
//     begun, in either view, only so many characters go out as may; whatever stands before the first one that must stay
//     goes out too. A mark whose union begins there goes out as well.

const maxGap = 256

// sequence is the longest beginning of an escape sequence: CSI, OSC, nF, or two bytes. A string terminator, ESC \, is a
// sequence of two bytes behind an OSC.
var sequence = regexp.MustCompile(`^\x1b(?:\[[0-?]*[ -/]*[@-~]?|\][^\x00-\x1f]*\x07?|[ -/]+[0-~]?|[0-Z\\^-~])?`)

type value struct{ name, bytes string }

// needle is a pattern of the reference.
type needle struct {
	value
	folds bool
	whole int // length of the value that it spells; 0: it is the value
}

// length is that of the value.
func (n needle) length() int { return cmp.Or(n.whole, len(n.bytes)) }

// early is how many characters may go out before the rest is known.
func (n needle) early() int {
	if len(n.bytes) < 16 || n.length() < 16 {
		return 0
	}
	return min(4, len(n.bytes)/8)
}

func (n needle) String() string {
	folds := ""
	if n.folds {
		folds = "/"
	}
	return fmt.Sprintf("%s:%s%q", n.name, folds, n.bytes)
}

type span struct{ start, end int }

func (s span) overlaps(o span) bool { return s.start < o.end && o.start < s.end }

// occurrence is one of a pattern; needle is its number. A union has that of the one whose name it bears.
type occurrence struct {
	span
	needle int
}

type reference struct {
	needles []needle
	stream  []byte
	skipped []bool // by place: it is part of a sequence
	parsed  int    // what lies before is known to be, or not
	decided int    // what begins before is known
	shown   int    // what lies before is out, or has a mark
	due     bool   // an early release comes
	found   []occurrence
	marked  []span // unions whose mark is out
	out     bytes.Buffer
}

func newReference(needles ...needle) *reference {
	r := &reference{}
	for _, n := range needles {
		r.add(n)
	}
	return r
}

// add adds a pattern. One that is there already keeps its name, and from then on does what either does.
func (r *reference) add(n needle) {
	for i := range r.needles {
		if o := &r.needles[i]; o.bytes == n.bytes {
			o.folds = o.folds || n.folds
			o.whole = min(o.length(), n.length())
			return
		}
	}
	r.needles = append(r.needles, n)
}

func (r *reference) write(p []byte) {
	if len(p) == 0 {
		return
	}
	r.stream = append(r.stream, p...)
	r.look()
	r.pass(r.decided, r.decided)
	r.due = r.shown < len(r.stream)
}

func (r *reference) close() {
	r.look()
	r.pass(len(r.stream), len(r.stream))
}

// held is how many bytes the writer must hold, what went out early included.
func (r *reference) held() int { return len(r.stream) - r.decided }

// idle lets go early what may.
func (r *reference) idle() {
	if !r.due {
		return
	}
	r.due = false
	r.look()
	r.pass(r.decided, r.decided)
	end := len(r.stream)
	r.each(func(n int, w walk) {
		if most := r.needles[n].early(); w.open && len(w.places) > most {
			end = min(end, w.places[most])
		}
	})
	end = max(end, r.shown)
	r.pass(end, end+1)
}

// parse tells sequences from text. A sequence at the end may go on: it is looked at again.
func (r *reference) parse() {
	r.skipped = append(r.skipped, make([]bool, len(r.stream)-len(r.skipped))...)
	for r.parsed < len(r.stream) {
		var s []byte
		if r.stream[r.parsed] == '\x1b' {
			s = sequence.Find(r.stream[r.parsed:])
		}
		for i := range s {
			r.skipped[r.parsed+i] = true
		}
		end := r.parsed + max(1, len(s))
		if len(s) > 0 && end == len(r.stream) {
			return
		}
		r.parsed = end
	}
}

// look finds all occurrences that begin where nothing is decided, and the first place where one may still begin.
func (r *reference) look() {
	r.parse()
	r.found = slices.DeleteFunc(r.found, func(o occurrence) bool { return o.start >= r.decided })
	open := len(r.stream)
	r.each(func(n int, w walk) {
		first := w.places[0]
		if w.open {
			open = min(open, first)
		} else {
			r.found = append(r.found, occurrence{span{first, w.places[len(w.places)-1] + 1}, n})
		}
	})
	r.decided = open
}

// walk is a way along a pattern: the places of the characters that are there. If it is open, the stream ends before all are.
type walk struct {
	places []int
	open   bool
}

// each hands out all ways in both views that begin where nothing is decided.
func (r *reference) each(f func(needle int, w walk)) {
	for at := r.decided; at < len(r.stream); at++ {
		for n := range r.needles {
			for _, stripped := range []bool{false, true} {
				if w, ok := r.walk(r.needles[n], at, stripped); ok {
					f(n, w)
				}
			}
		}
	}
}

func (r *reference) walk(n needle, at int, stripped bool) (walk, bool) {
	var w walk
	for i := range len(n.bytes) {
		if i > 0 {
			next, ok := r.over(at, n.folds, stripped)
			switch {
			case !ok:
				return w, false
			case next == len(r.stream):
				w.open = true
				return w, true
			}
			at = next
		}
		if r.stream[at] != n.bytes[i] || stripped && r.skipped[at] {
			return w, false
		}
		w.places = append(w.places, at)
		at++
	}
	return w, true
}

// over goes over what may stand between two characters of an occurrence.
func (r *reference) over(at int, folds, stripped bool) (next int, ok bool) {
	together, broken := 0, ""
	for ; at < len(r.stream); at++ {
		c := string(r.stream[at : at+1])
		switch {
		case stripped && r.skipped[at]:
			if together++; together > maxGap {
				return at, false
			}
		case folds && beginsBreak(broken+c):
			together, broken = 0, broken+c
		default:
			return at, broken == "" || strings.HasSuffix(broken, "\n")
		}
	}
	return at, true
}

func beginsBreak(b string) bool {
	return strings.HasPrefix("\n", b) || strings.HasPrefix("\r\n", b) || strings.HasPrefix("\r\r\n", b)
}

// unions are what occurrences that overlap hide.
func (r *reference) unions() []occurrence {
	sorted := slices.Clone(r.found)
	slices.SortStableFunc(sorted, func(a, b occurrence) int {
		longer := cmp.Compare(len(r.needles[b.needle].bytes), len(r.needles[a.needle].bytes))
		return cmp.Or(cmp.Compare(a.start, b.start), longer, cmp.Compare(a.needle, b.needle))
	})
	var unions []occurrence
	for _, o := range sorted {
		if last := len(unions) - 1; last >= 0 && o.start < unions[last].end {
			unions[last].end = max(unions[last].end, o.end)
		} else {
			unions = append(unions, o)
		}
	}
	return unions
}

// pass lets out the stream up to a place, with the marks of the unions that begin before another.
func (r *reference) pass(to, through int) {
	at := r.shown
	for _, u := range r.unions() {
		if u.start >= through {
			break
		}
		if u.end <= r.shown { // out, or hidden, or out before its value was added
			continue
		}
		if at < u.start {
			r.out.Write(r.stream[at:u.start])
		}
		if !slices.ContainsFunc(r.marked, u.overlaps) {
			r.out.WriteString(r.mark(u.needle))
			r.marked = append(r.marked, u.span)
		}
		at = max(at, u.end)
	}
	if at < to {
		r.out.Write(r.stream[at:to])
	}
	r.shown = max(r.shown, to)
}

func (r *reference) mark(n int) string {
	marks := []string{"****(" + r.needles[n].name + ")", "****"}
	if r.needles[n].name == "" {
		marks = marks[1:]
	}
	for _, m := range marks {
		if !slices.ContainsFunc(r.needles, func(o needle) bool { return strings.Contains(m, o.bytes) }) {
			return m
		}
	}
	return "***" // shorter than any value
}

// strip is a text without its sequences.
func strip(text string) string {
	r := reference{stream: []byte(text)}
	r.parse()
	var b strings.Builder
	for i := range text {
		if !r.skipped[i] {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// hideAll is what must come out of text, however it is cut.
func hideAll(text string, needles ...needle) string {
	r := newReference(needles...)
	r.write([]byte(text))
	r.close()
	return r.out.String()
}

// hide is hideAll for values that have no other spelling.
func hide(text string, values []value) string {
	return hideAll(text, plainly(values...)...)
}

// plainly are values as patterns that don't fold.
func plainly(values ...value) []needle {
	needles := make([]needle, len(values))
	for i, v := range values {
		needles[i].value = v
	}
	return needles
}

// mayFold reports whether a pattern is one of which foldings can be looked for.
func mayFold(b string) bool {
	return len(b) >= 10 && strings.Trim(b, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") == ""
}

// least is how long a needle is at least.
const least = mask.MinLength
