package mask

import (
	"bytes"
	"encoding/binary"
)

// view is a table while its image is lent.
type view struct {
	*plan
	dictionary
	t                    *table
	multiplier           uint64
	inside               []byte
	heads, entries       []byte
	grams, starts, inner bitmap
	sure                 filter
}

// filter is a set of hashes too, with two bits for each in one word: slower, and it tells more apart in less room.
type filter struct {
	bits  []byte
	shift int
}

func (f filter) has(h uint64) bool {
	w := binary.LittleEndian.Uint64(f.bits[h>>(f.shift&63)<<3:])
	return w>>(h>>30&63)&(w>>(h>>36&63))&1 != 0
}

func (f filter) set(h uint64) {
	b := f.bits[h>>(f.shift&63)<<3:]
	binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)|1<<(h>>30&63)|1<<(h>>36&63))
}

// bitmap is a set of hashes, as far as their uppermost bits tell them apart.
type bitmap struct {
	bits  []byte
	shift int
}

func (b bitmap) has(h uint64) bool {
	i := h >> (b.shift & 63)
	return b.bits[i>>3]>>(i&7)&1 != 0
}

func (b bitmap) set(h uint64) {
	i := h >> (b.shift & 63)
	b.bits[i>>3] |= 1 << (i & 7)
}

func (b bitmapAt) in(image []byte) bitmap {
	return bitmap{image[b.off : b.off+1<<b.log/8], 64 - b.log}
}

// lend puts a table into the view.
func (v *view) lend(t *table, image []byte) {
	p := &t.plan
	v.plan, v.t, v.patterns, v.multiplier = p, t, t.patterns, t.multiplier
	v.pool = image[:p.poolSize]
	v.inside = image[p.inside : p.inside+256/8]
	v.grams, v.starts, v.inner = p.grams.in(image), p.starts.in(image), p.inner.in(image)
	v.sure = filter{p.sure.in(image).bits, 64 - p.sure.log + 6}
	v.heads, v.entries = image[p.heads:p.entries], image[p.entries:p.size]
}

func (v *view) hash(b []byte) uint64 {
	if v.gram == 8 {
		return binary.LittleEndian.Uint64(b) * v.multiplier
	}
	return v.hash4(b)
}

// hashStart is a hash for the first n bytes of a pattern, 1 to 3.
func (v *view) hashStart(b []byte, n int) uint64 {
	h := uint64(n)
	for _, c := range b[:n] {
		h = h<<8 | uint64(c)
	}
	return h * v.multiplier
}

func (v *view) hash4(b []byte) uint64 { return uint64(binary.LittleEndian.Uint32(b)) * v.multiplier }

// bucket and tag take bits that together depend on all bytes of a gram: an upper bit of a product depends on all lower
// ones of a factor, a lower one doesn't depend on the upper ones.
func (v *view) bucket(h uint64) int { return int(h >> (64 - v.bucketLog)) }

func tag(h uint64) uint16 { return uint16(h >> 26) }

// What the parts of a search cost, in about nanoseconds; the automaton takes some three for each byte.
const (
	costOfHit     = 3
	costOfEntry   = 2
	costOfCompare = 5
	costShift     = 4 // a compare takes another nanosecond for each 16 bytes
	costOfSearch  = 60
)

// search is one run over a buffer: what was found, and how much work is left before it costs too much.
type search struct {
	found []span
	left  int
}

// scan finds all occurrences in buf. It stops early when no work is left.
func (v *view) scan(buf []byte, s *search) {
	if len(buf) < v.shortest {
		return
	}
	if v.gram == 8 {
		v.scan8(buf, s)
	} else {
		v.scan4(buf, s)
	}
}

func (v *view) scan8(buf []byte, s *search) {
	multiplier, stride, grams := v.multiplier, v.stride, v.grams
	for i := 0; i <= len(buf)-8; i += stride {
		if h := binary.LittleEndian.Uint64(buf[i:]) * multiplier; grams.has(h) {
			if v.candidates(buf, i, h, s); s.left < 0 {
				return
			}
		}
	}
}

func (v *view) scan4(buf []byte, s *search) {
	multiplier, stride, grams := v.multiplier, v.stride, v.grams
	for i := 0; i <= len(buf)-4; i += stride {
		if h := uint64(binary.LittleEndian.Uint32(buf[i:])) * multiplier; grams.has(h) {
			if v.candidates(buf, i, h, s); s.left < 0 {
				return
			}
		}
	}
}

// candidates compares the patterns that have this gram where buf has it.
func (v *view) candidates(buf []byte, at int, h uint64, s *search) {
	s.left -= costOfHit
	if !v.sure.has(h) {
		return
	}
	b := v.bucket(h)
	from, to := int(word(v.heads[4*b:])), int(word(v.heads[4*b+4:]))
	want := tag(h)
	s.left -= costOfEntry * (to - from)
	for ; from < to && s.left >= 0; from++ {
		entry := binary.LittleEndian.Uint64(v.entries[8*from:])
		if uint16(entry) != want {
			continue
		}
		p := v.patterns[entry>>(offsetBits+tagBits)]
		start := at - int(entry>>tagBits&(1<<offsetBits-1))
		end := start + int(p.len)
		if start < 0 || end > len(buf) {
			continue
		}
		s.left -= costOfCompare
		pattern := p.of(v.pool)
		if word(buf[end-4:]) != word(pattern[len(pattern)-4:]) {
			continue
		}
		s.left -= len(pattern) >> costShift
		if bytes.Equal(buf[start:end], pattern) {
			s.found = append(s.found, span{start: start, end: end, value: int(p.value), longest: end - start})
		}
	}
}

// occursIn reports whether text contains a pattern.
func (v *view) occursIn(text []byte) bool {
	s := search{left: 1 << 40}
	v.scan(text, &s)
	return len(s.found) > 0
}
