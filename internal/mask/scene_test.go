package mask_test

import (
	"fmt"
	mathrand "math/rand/v2"
	"strings"
)

// scene is a random set of patterns and a text that has much of them in it.
type scene struct {
	needles []needle
	text    string
}

// scenes makes some, from one alphabet, with or without patterns that fold and things that interrupt.
type scenes struct {
	*mathrand.Rand
	alphabet     string
	folds, marks bool // patterns fold; sequences interrupt
}

func newScene(r *mathrand.Rand) scene {
	const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	alphabets := []string{base64, base64, base64 + "\r\n\x1b[;m", "ab\ncdefghij"[:2+r.IntN(9)], "ab", "abc\r\n", "a1;m[", "ab\x1b[m1;K", "a0m;\x1b[\r\n", "a\x1b]\x07\\(B["}
	s := scenes{Rand: r, alphabet: alphabets[r.IntN(len(alphabets))], folds: r.IntN(2) == 0, marks: r.IntN(2) == 0}
	return s.scene()
}

func (r scenes) scene() scene {
	var s scene
	shortest, longer := []int{least, least, 10, 12, 30}[r.IntN(5)], []int{6, 12, 20, 40, 100}[r.IntN(5)]
	for i := range 1 + r.IntN(8) {
		b := r.some(shortest + r.IntN(longer))
		if i > 0 && r.IntN(2) == 0 { // a beginning, or more of one before
			before := s.needles[r.IntN(i)].bytes
			b = before[:shortest+r.IntN(len(before)-shortest+1)] + r.some(r.IntN(5))
		}
		n := needle{value: value{fmt.Sprint(i), b}, folds: r.folds && r.IntN(2) == 0}
		if n.folds {
			n.bytes = strings.NewReplacer("\r", "x", "\n", "y", "\x1b", "z", "[", "a", "]", "b", ";", "0", "\x07", "1", "\\", "a", "(", "b").Replace(b)
			n.folds = mayFold(n.bytes)
		}
		s.needles = append(s.needles, n)
	}
	var text strings.Builder
	for range r.IntN(30) {
		text.WriteString(r.piece(s.needles))
	}
	s.text = text.String()
	return s
}

func (r scenes) some(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = r.alphabet[r.IntN(len(r.alphabet))]
	}
	return string(b)
}

// piece is a pattern, a part of one, or anything.
func (r scenes) piece(needles []needle) string {
	n := needles[r.IntN(len(needles))]
	switch r.IntN(4) {
	case 0:
		return r.interrupt(n.bytes)
	case 1:
		return r.interrupt(n.bytes[:r.IntN(len(n.bytes))])
	case 2:
		return r.interrupt(n.bytes[r.IntN(len(n.bytes)):])
	default:
		if r.IntN(20) == 0 {
			return r.some(r.IntN(1500)) // further than a search looks ahead
		}
		return r.some(r.IntN(6))
	}
}

// interrupt puts something between some characters.
func (r scenes) interrupt(text string) string {
	if !r.folds && !r.marks || r.IntN(3) == 0 {
		return text
	}
	every := 1 + r.IntN(12)
	var b strings.Builder
	for i := range len(text) {
		b.WriteByte(text[i])
		if r.IntN(every) == 0 {
			b.WriteString(r.gap())
		}
	}
	return b.String()
}

// gap is a break or sequences or both, as they may stand between two characters, and now and then as they may not.
func (r scenes) gap() string {
	breaks := []string{"", "\n", "\r\n", "\r\r\n", "\r", "\r\r", "\n\n", "\r\n\n", "\r\r\r\n"}
	likely := breaks[r.IntN(4)]
	if r.IntN(12) == 0 {
		likely = breaks[r.IntN(len(breaks))]
	}
	switch {
	case !r.marks:
		return likely
	case !r.folds:
		return r.sequences()
	}
	inside := ""
	for i := range len(likely) {
		if r.IntN(4) == 0 {
			inside += r.sequences()
		}
		inside += likely[i : i+1]
	}
	if r.IntN(2) == 0 {
		inside += r.sequences()
	}
	return inside
}

// sequences are a few whole ones, broken ones, or as many bytes of them as may just stand in one gap, or one more.
func (r scenes) sequences() string {
	whole := []string{
		"\x1b[m", "\x1b[0m", "\x1b[01;31m", "\x1b[K", "\x1b[2 q", "\x1b(B", "\x1b7", "\x1b#8", "\x1b]0;ab\x07", "\x1b]8;;ab\x1b\\", "\x1b[?25l", "\x1b[>4;1m", "\x1b[ m",
	}
	broken := []string{
		"\x1b", "\x1b[", "\x1b[1", "\x1b]ab", "\x1b\x1b[m", "\x1b[1!2m", "\x1b\x07", "\x1b]a\nb", "\x1b[1\x1b[m", "\x1b(\x1b", "\x1b]a\x1b]b\x07", "\x1b[\xff", "\x1b]\x80\x07",
	}
	switch r.IntN(10) {
	case 0:
		return broken[r.IntN(len(broken))]
	case 1:
		return whole[r.IntN(len(whole))] + whole[r.IntN(len(whole))]
	case 2:
		if r.IntN(4) == 0 {
			return "\x1b[" + strings.Repeat("1", maxGap-4+r.IntN(3)) + "m"
		}
		return strings.Repeat("\x1b[1m", r.IntN(3))
	default:
		return whole[r.IntN(len(whole))]
	}
}
