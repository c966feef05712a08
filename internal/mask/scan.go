package mask

import (
	"bytes"
	"encoding/binary"

	"warder/internal/secret"
)

// lent is a table while it is used.
type lent struct {
	*view
	pool []byte // lent only when it is needed: most output has nothing that must be compared
}

// view is what a table's image holds. It is to be used while the image is lent.
type view struct {
	*plan
	t           *table
	patterns    []pattern
	folding     []pattern
	multiplier  uint64
	inside      []byte
	heads       []byte
	entries     []byte
	grams       bitmap
	sure        filter
	quick       *[quickSize]byte // nil if the grams are too many
	starts      bitmap
	inner       bitmap
	begin, fold opener
	joins       filter
}

// rooms are what views of the output are made in, kept from one search to the next.
type rooms struct {
	plain    plainText // without escape sequences
	unfolded plainText // without line breaks
}

// filter is a set of hashes too, with two bits for each in one word: slower, and it tells more apart in less room.
type filter struct {
	bits  []byte
	shift int
}

// bit is set in the lowest place if the filter has the hash.
func (f filter) bit(h uint64) uint64 {
	w := binary.LittleEndian.Uint64(f.bits[h>>(f.shift&63)<<3:])
	return w >> (h >> 30 & 63) & (w >> (h >> 36 & 63))
}

func (f filter) has(h uint64) bool { return f.bit(h)&1 != 0 }

func (f filter) set(h uint64) {
	b := f.bits[h>>(f.shift&63)<<3:]
	binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)|1<<(h>>30&63)|1<<(h>>36&63))
}

// bitmap is a set of hashes, as far as their uppermost bits tell them apart.
type bitmap struct {
	bits  []byte
	shift int
}

// bit is the bit of a hash in the lowest place, below others.
func (b bitmap) bit(h uint64) byte {
	i := h >> (b.shift & 63)
	return b.bits[i>>3] >> (i & 7)
}

func (b bitmap) has(h uint64) bool { return b.bit(h)&1 != 0 }

func (b bitmap) set(h uint64) {
	i := h >> (b.shift & 63)
	b.bits[i>>3] |= 1 << (i & 7)
}

func (b bitmapAt) in(image []byte) bitmap {
	return bitmap{image[b.off : b.off+1<<b.log/8], 64 - b.log}
}

func (b bitmapAt) filterIn(image []byte) filter {
	return filter{b.in(image).bits, 64 - b.log + 6}
}

// open says where in a table's image its parts are.
func (v *view) open(t *table, image []byte) {
	p := &t.plan
	v.plan, v.t, v.patterns, v.folding, v.multiplier = p, t, t.patterns, t.folding, t.multiplier
	v.inside = image[p.inside : p.inside+setSize]
	v.grams = p.grams.in(image)
	v.sure = p.sure.filterIn(image)
	if p.quick > 0 {
		v.quick = (*[quickSize]byte)(image[p.quick:])
	}
	v.starts, v.inner = p.starts.in(image), p.inner.in(image)
	v.begin = p.begin.in(image)
	if p.longestFolding > 0 {
		v.fold = p.fold.in(image)
		v.joins = p.joins.filterIn(image)
	}
	v.heads, v.entries = image[p.heads:p.entries], image[p.entries:p.size]
}

// borrow takes the table in force, and holds it until there is another, or it is given back: a writer that took it for each
// write would do little else.
func (l *lent) borrow(s *Set) error {
	for {
		t, err := s.table()
		if err != nil || l.view == &t.view {
			return err
		}
		l.giveBack()
		if _, err := secret.Hold(t.image); err == nil {
			l.view = &t.view
			return nil
		} // else the set has grown in between
	}
}

// giveBack lets the table go.
func (l *lent) giveBack() {
	if l.view != nil {
		secret.Release(l.t.image)
		l.view = nil
	}
}

// withPool lends the pool too, while f runs.
func (l *lent) withPool(f func()) error {
	return l.t.pool.Use(func(pool []byte) {
		l.pool = pool
		f()
		l.pool = nil
	})
}

func (v *view) hash(b []byte) uint64 { return v.gramAt(b) * v.multiplier }

// gramAt is the gram that b begins with.
func (v *view) gramAt(b []byte) uint64 {
	if v.gram == 8 {
		return binary.LittleEndian.Uint64(b)
	}
	return uint64(word(b))
}

// bucket takes bits of a hash that depend on all bytes of a gram: an upper bit of a product depends on all lower ones of a
// factor.
func (v *view) bucket(h uint64) int { return int(h >> (64 - v.bucketLog)) }

// entry is one place of a pattern by which it is found.
type entry uint64

func newEntry(pattern, off uint32, h uint64) entry {
	return entry(uint64(pattern)<<(runBits+offsetBits+tagBits) | uint64(off)<<tagBits | tagOf(h))
}

// tagOf takes bits that the bucket mostly doesn't say.
func tagOf(h uint64) uint64 { return h >> 22 & (1<<tagBits - 1) }

func (e entry) pattern() uint32 { return uint32(e >> (runBits + offsetBits + tagBits)) }
func (e entry) run() int        { return int(e >> (offsetBits + tagBits) & (1<<runBits - 1)) }
func (e entry) off() int        { return int(e >> tagBits & (1<<offsetBits - 1)) }
func (e entry) tag() uint64     { return uint64(e & (1<<tagBits - 1)) }

// before is e with the run of what follows it, and that.
func (e entry) before(next entry) entry {
	return e | entry(min(next.run()+1, 1<<runBits-1))<<(offsetBits+tagBits)
}

func (v *view) entry(i uint32) entry { return entry(binary.LittleEndian.Uint64(v.entries[8*i:])) }

func (v *view) setEntry(i uint32, e entry) { binary.LittleEndian.PutUint64(v.entries[8*i:], uint64(e)) }

// What the parts of a search cost, in about nanoseconds; the automaton takes some three for each byte.
const (
	costOfHit     = 3
	costOfEntry   = 3
	costOfCompare = 5
	costShift     = 4 // a compare takes another nanosecond for each 16 bytes
	costOfSearch  = 60
)

// search is one run over a buffer: what was found, and how much work is left before it costs too much. It is kept from one
// run to the next, for its room.
type search struct {
	lent // the writer's to choose
	rooms
	found []span
	seen  []span // room for what is found behind escape sequences
	left  int
	// What was found last is from here to there, what it overlaps included; a scan finds things nearly in order.
	from, reach int
	last        int // its number in found
	stuck       int // where the scan stopped for want of the pool; -1: it didn't
}

// scan finds all occurrences in buf from i on that have no line break within. It stops early when no work is left, and
// when a gram must be compared and there is no pool.
func (s *search) scan(buf []byte, i int) {
	s.stuck = -1
	switch {
	case len(buf) < s.shortest:
	case s.gram == 8:
		switch {
		case s.quick != nil:
			i = s.scanQuick(buf, i)
		case s.stride == usualStride:
			i = s.scanUsual(buf, i)
		default:
			i = s.scanFar(buf, i)
		}
		if s.left >= 0 && s.stuck < 0 {
			s.scanNear(buf, i)
		}
	default:
		s.scanNear(buf, i)
	}
}

// scanFar is scan for grams of eight bytes, but for the last ones, and says where those begin. It looks up four at once,
// since a lookup waits for memory and not for the others.
func (s *search) scanFar(buf []byte, i int) int {
	m, grams, stride := s.multiplier, s.grams, s.stride
	for four := 3*stride + 8; i+four <= len(buf); i += 4 * stride {
		w := buf[i : i+four]
		h0 := binary.LittleEndian.Uint64(w) * m
		h1 := binary.LittleEndian.Uint64(w[stride:]) * m
		h2 := binary.LittleEndian.Uint64(w[2*stride:]) * m
		h3 := binary.LittleEndian.Uint64(w[3*stride:]) * m
		if (grams.bit(h0)|grams.bit(h1)|grams.bit(h2)|grams.bit(h3))&1 != 0 && !s.four(buf, i, [4]uint64{h0, h1, h2, h3}) {
			break
		}
	}
	return i
}

// scanUsual is scanFar for the usual stride, which the compiler then knows.
func (s *search) scanUsual(buf []byte, i int) int {
	const four = 3*usualStride + 8
	m, grams := s.multiplier, s.grams
	for ; i+four <= len(buf); i += 4 * usualStride {
		w := (*[four]byte)(buf[i:])
		h0 := binary.LittleEndian.Uint64(w[0:]) * m
		h1 := binary.LittleEndian.Uint64(w[usualStride:]) * m
		h2 := binary.LittleEndian.Uint64(w[2*usualStride:]) * m
		h3 := binary.LittleEndian.Uint64(w[3*usualStride:]) * m
		if (grams.bit(h0)|grams.bit(h1)|grams.bit(h2)|grams.bit(h3))&1 != 0 && !s.four(buf, i, [4]uint64{h0, h1, h2, h3}) {
			break
		}
	}
	return i
}

// scanQuick is scanUsual for few grams.
func (s *search) scanQuick(buf []byte, i int) int {
	const four = 3*usualStride + 8
	m, quick := s.multiplier, s.quick
	for ; i+four <= len(buf); i += 4 * usualStride {
		w := (*[four]byte)(buf[i:])
		h0 := binary.LittleEndian.Uint64(w[0:]) * m
		h1 := binary.LittleEndian.Uint64(w[usualStride:]) * m
		h2 := binary.LittleEndian.Uint64(w[2*usualStride:]) * m
		h3 := binary.LittleEndian.Uint64(w[3*usualStride:]) * m
		if quick[h0>>48]|quick[h1>>48]|quick[h2>>48]|quick[h3>>48] == 0 {
			continue
		}
		if quick[h0>>48] != 0 && !s.candidates(buf, i, h0) ||
			quick[h1>>48] != 0 && !s.candidates(buf, i+usualStride, h1) ||
			quick[h2>>48] != 0 && !s.candidates(buf, i+2*usualStride, h2) ||
			quick[h3>>48] != 0 && !s.candidates(buf, i+3*usualStride, h3) {
			break
		}
	}
	return i
}

// four looks at four grams from place i on, one of which may be one of the sample, and says whether to go on.
func (s *search) four(buf []byte, i int, h [4]uint64) bool {
	return (!s.grams.has(h[0]) || s.candidates(buf, i, h[0])) &&
		(!s.grams.has(h[1]) || s.candidates(buf, i+s.stride, h[1])) &&
		(!s.grams.has(h[2]) || s.candidates(buf, i+2*s.stride, h[2])) &&
		(!s.grams.has(h[3]) || s.candidates(buf, i+3*s.stride, h[3]))
}

// scanNear is scan for any stride.
func (s *search) scanNear(buf []byte, i int) {
	stride, gram, grams := s.stride, s.gram, s.grams
	for ; i <= len(buf)-gram; i += stride {
		if h := s.hash(buf[i:]); grams.has(h) && !s.candidates(buf, i, h) {
			return
		}
	}
}

// candidates compares the patterns that have this gram where buf has it, and says whether to go on.
func (s *search) candidates(buf []byte, at int, h uint64) bool {
	s.left -= costOfHit
	if !s.sure.has(h) {
		return s.left >= 0
	}
	if s.pool == nil {
		s.stuck = at
		return false
	}
	from, to := s.entriesOf(h)
	want := tagOf(h)
	s.left -= costOfEntry * int(to-from)
	for ; from < to && s.left >= 0; from++ {
		e := s.entry(from)
		if e.tag() != want {
			continue
		}
		p := &s.patterns[e.pattern()]
		start := at - e.off()
		end := start + int(p.len)
		if start < 0 || end > len(buf) {
			continue
		}
		switch {
		case p.folds:
			s.compare(buf, at, start, p)
			continue
		case start > s.from && end <= s.reach:
			// What lies within what was found says nothing new, but for its name where both begin.
		case word(buf[end-4:]) == word(s.pool[p.off+p.len-4:]): // most of what is only like a pattern ends otherwise
			s.left -= costOfCompare + (end-start)>>costShift
			if bytes.Equal(buf[start:end], p.of(s.pool)) {
				s.add(span{start: start, end: end, value: int(p.value), longest: end - start})
			}
		}
		if end <= s.reach && at-maxStride*choices > s.from {
			from += uint32(e.run()) // those end sooner, and lie within it too
		}
	}
	if s.broken {
		// The pool is lent: this needs no other memory that could be gone.
		_ = breaks{s}.tryGram(buf, at)
	}
	return s.left >= 0
}

// entriesOf is where the entries of a gram's bucket begin and end.
func (v *view) entriesOf(h uint64) (from, to uint32) {
	b := v.bucket(h)
	return word(v.heads[4*b:]), word(v.heads[4*b+4:])
}

// compare adds what is a folding pattern, from start on, one of whose grams was found at at.
func (s *search) compare(buf []byte, at, start int, p *pattern) {
	end := start + int(p.len)
	s.left -= costOfCompare + int(p.len)>>costShift
	switch {
	case bytes.Equal(buf[start:end], p.of(s.pool)):
		s.add(span{start: start, end: end, value: int(p.value), longest: end - start})
	case !s.broken:
		breaks{s}.compareFolded(buf, at, at-start, p)
	}
}

// add adds an occurrence. One that goes on from the last is joined to it.
func (s *search) add(c span) {
	switch {
	case c.start >= s.reach: // touches nothing before it
		s.from, s.reach, s.last = c.start, c.end, len(s.found)
	case c.start > s.from:
		s.reach = max(s.reach, c.end)
		s.found[s.last].end = s.reach
		return
	}
	s.found = append(s.found, c)
}

// scanAll finds all occurrences in buf but those that escape sequences interrupt.
func (s *search) scanAll(buf []byte) error {
	s.from, s.reach = 0, 0
	s.scan(buf, 0)
	if s.stuck >= 0 {
		if err := s.withPool(func() { s.scan(buf, s.stuck) }); err != nil {
			return err
		}
	}
	if s.longestFolding == 0 || s.broken {
		return nil
	}
	return breaks{s}.scanFolded(buf)
}

// openAll is where the earliest end of buf begins that may become an occurrence, escape sequences left aside.
func (s *search) openAll(buf []byte) (int, error) {
	keep, err := s.openEnd(buf)
	if err != nil || s.longestFolding == 0 || len(buf) == 0 {
		return keep, err
	}
	folded, err := breaks{s}.openFolded(buf)
	return min(keep, folded), err
}

// occursIn reports whether text contains a pattern. The pool must be lent.
func (s *search) occursIn(text []byte) bool {
	s.found, s.left = s.found[:0], 1<<40
	s.from, s.reach = 0, 0
	s.scan(text, 0)
	return len(s.found) > 0
}
