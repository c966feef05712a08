package mask

import (
	"bytes"
	"sort"
)

// openEnd is where the earliest end of buf begins that is the beginning of a pattern and not all of it; without one it
// is the length of buf. It stops early when no work is left.
func (v *view) openEnd(buf []byte, s *search) int {
	n := len(buf)
	if last := buf[n-1]; v.inside[last/8]>>(last%8)&1 == 0 {
		return n
	}
	// Whatever is open and has four bytes or more ends in four bytes from within a pattern.
	if n >= 4 && v.inner.has(v.hash4(buf[n-4:])) {
		from := max(0, n-v.longest+1)
		s.left -= (n - from) / 2
		for i := from; i <= n-4 && s.left >= 0; i++ {
			if v.starts.has(v.hash4(buf[i:])) && v.begins(buf[i:], s) {
				return i
			}
		}
	}
	for i := max(0, n-3); i < n; i++ {
		if v.starts.has(v.hashStart(buf[i:], n-i)) && v.begins(buf[i:], s) {
			return i
		}
	}
	return n
}

// dictionary is all patterns, in order.
type dictionary struct {
	patterns []pattern
	pool     []byte
}

// begins reports whether some pattern begins with b and goes on.
func (d *dictionary) begins(b []byte, s *search) bool {
	s.left -= costOfSearch + len(b)>>costShift
	i := d.firstFrom(b)
	if i < len(d.patterns) && int(d.patterns[i].len) == len(b) && bytes.Equal(d.patterns[i].of(d.pool), b) {
		i++ // the pattern itself, which is complete; what begins with it stands right behind
	}
	return i < len(d.patterns) && bytes.HasPrefix(d.patterns[i].of(d.pool), b)
}

// firstFrom is the number of the first pattern that is not before b.
func (d *dictionary) firstFrom(b []byte) int {
	return sort.Search(len(d.patterns), func(i int) bool {
		return bytes.Compare(d.patterns[i].of(d.pool), b) >= 0
	})
}

// shortestFrom is the length of the shortest pattern that begins with b and goes on, 0 if there is none.
func (d *dictionary) shortestFrom(b []byte) int {
	shortest := 0
	for i := d.firstFrom(b); i < len(d.patterns) && bytes.HasPrefix(d.patterns[i].of(d.pool), b); i++ {
		if n := int(d.patterns[i].len); n > len(b) && (shortest == 0 || n < shortest) {
			shortest = n
		}
	}
	return shortest
}

const (
	// earlyMost is how many bytes of a value may go out early, and earlyShare the share of a value that they may be.
	earlyMost, earlyShare = 4, 8
	// earlyLeast is the length below which nothing of a value goes out early: little would be left to guess.
	earlyLeast = 16
)

// early is how much of the beginning of what is held back may go out because nothing follows: of each pattern that
// begins in it, at most the first few bytes.
func (v *view) early(held []byte) int {
	end := len(held)
	for i := 0; i < end; i++ {
		switch n := v.shortestFrom(held[i:]); {
		case n == 0:
		case n < earlyLeast:
			end = i
		default:
			end = min(end, i+min(earlyMost, n/earlyShare))
		}
	}
	return end
}
