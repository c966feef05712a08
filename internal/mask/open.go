package mask

import (
	"bytes"
	"encoding/binary"
	"sort"
)

// opener are the sets that tell how some of the patterns begin.
type opener struct {
	first  []byte
	second bitmap
}

func (o *openPlan) in(image []byte) opener {
	return opener{image[o.first : o.first+setSize], o.second.in(image)}
}

// enter puts a pattern into the sets.
func (o *opener) enter(b []byte) {
	o.first[b[0]/8] |= 1 << (b[0] % 8)
	o.second.set(two(b))
}

// two are the first two bytes as a hash of their own: the set of them is exact.
func two(b []byte) uint64 { return uint64(binary.LittleEndian.Uint16(b)) << 48 }

// three are the first three bytes, made unlike any four.
func three(b []byte) uint64 { return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | 1<<32 }

// openEnd is where the earliest end of buf begins that is the beginning of a pattern and not all of it; without one it
// is the length of buf. It stops early when no work is left.
func (s *search) openEnd(buf []byte) (int, error) {
	n := len(buf)
	if n == 0 {
		return 0, nil
	}
	if last := buf[n-1]; s.inside[last/8]>>(last%8)&1 == 0 {
		return n, nil
	}
	return s.openIn(&s.begin, s.patterns, s.longest, buf)
}

// openIn is openEnd for some of the patterns, the longest of which has so many bytes.
func (s *search) openIn(o *opener, of []pattern, longest int, buf []byte) (int, error) {
	n := len(buf)
	// Whatever is open and has four bytes or more ends in four bytes from within a pattern.
	if n >= 4 && s.inner.has(uint64(word(buf[n-4:]))*s.multiplier) {
		from := max(0, n-longest+1)
		s.left -= (n - from) / 2
		for i := from; i <= n-4 && s.left >= 0; i++ {
			if !s.starts.has(uint64(word(buf[i:])) * s.multiplier) {
				continue
			}
			if begins, err := s.begins(of, buf[i:]); begins || err != nil {
				return i, err
			}
		}
	}
	if n >= 3 && s.starts.has(three(buf[n-3:])*s.multiplier) {
		if begins, err := s.begins(of, buf[n-3:]); begins || err != nil {
			return n - 3, err
		}
	}
	switch last := buf[n-1]; {
	case n >= 2 && o.second.has(two(buf[n-2:])):
		return n - 2, nil
	case o.first[last/8]>>(last%8)&1 != 0:
		return n - 1, nil
	}
	return n, nil
}

// begins reports whether one of these patterns, which are sorted, begins with b and goes on.
func (s *search) begins(of []pattern, b []byte) (found bool, err error) {
	s.left -= costOfSearch + len(b)>>costShift
	if s.pool != nil {
		return s.goesOn(of, b), nil
	}
	err = s.withPool(func() { found = s.goesOn(of, b) })
	return found, err
}

func (l *lent) goesOn(of []pattern, b []byte) bool {
	i := l.firstFrom(of, b)
	if i < len(of) && int(of[i].len) == len(b) && bytes.Equal(of[i].of(l.pool), b) {
		i++ // the pattern itself, which is complete; what begins with it stands right behind
	}
	return i < len(of) && bytes.HasPrefix(of[i].of(l.pool), b)
}

// firstFrom is the number of the first pattern that is not before b.
func (l *lent) firstFrom(of []pattern, b []byte) int {
	return sort.Search(len(of), func(i int) bool { return bytes.Compare(of[i].of(l.pool), b) >= 0 })
}

// allowance is how many bytes may go out early of the patterns that begin with b and go on; ok is false if there are none.
func (l *lent) allowance(of []pattern, b []byte) (least int, ok bool) {
	for i := l.firstFrom(of, b); i < len(of) && bytes.HasPrefix(of[i].of(l.pool), b); i++ {
		if p := of[i]; int(p.len) > len(b) && (!ok || int(p.early) < least) {
			least, ok = int(p.early), true
		}
	}
	return least, ok
}

const (
	// earlyMost is how many bytes of a spelling may go out early, and earlyShare the share of it that they may be.
	earlyMost, earlyShare = 4, 8
	// earlyLeast is the length below which nothing of a value, or a spelling, goes out early: little would be left to
	// guess.
	earlyLeast = 16
)

// earlyOf is how much of a spelling of n bytes may go out early.
func earlyOf(n int) uint8 {
	if n < earlyLeast {
		return 0
	}
	return uint8(min(earlyMost, n/earlyShare))
}

// early is how much of the beginning of what is held back may go out because nothing follows: of each pattern that
// begins in it, in any view, at most the first few bytes. The pool must be lent.
func early(s *search, held []byte, from sequence) int {
	end := len(held)
	for _, l := range lenses() {
		of := s.patterns
		if l.breaks {
			of = s.folding
		}
		if len(of) == 0 {
			continue
		}
		p := &s.unfolded
		p.begin(l, from)
		p.take(held, 0)
		text := p.text
		for i := p.lastCut(); i < len(text); i++ {
			if n, ok := s.allowance(of, text[i:]); ok && i+n < len(text) {
				end = min(end, p.place(i+n))
			}
		}
	}
	return end
}
