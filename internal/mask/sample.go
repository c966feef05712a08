package mask

import (
	"encoding/binary"
	"math/bits"
)

// anchor is a gram by which a pattern is found.
type anchor struct{ pattern, off uint32 }

// newSample chooses the grams by which patterns are found and writes them into the view. It counts in the room of the
// entries, which come last: pages of locked memory are dear.
func newSample(v *view) {
	anchors := make([]anchor, 0, len(v.patterns)*v.stride)
	log := bits.Len(uint(len(v.entries))) - 1
	c := census{v, v.entries[:1<<log], 64 - log}
	for _, p := range v.patterns {
		c.take(p.of(v.pool))
	}
	for i, p := range v.patterns {
		for residue := range v.stride {
			anchors = append(anchors, anchor{uint32(i), uint32(c.rarest(p.of(v.pool), residue))})
		}
	}
	clear(c.counts)
	enter(v, anchors)
}

// census counts how often grams occur at the places of patterns where an anchor may be.
type census struct {
	*view
	counts []byte // by hash
	shift  int
}

// places is how many grams of a pattern are looked at.
func (c *census) places(pattern []byte) int {
	return min(c.stride*choices, len(pattern)-c.gram+1)
}

func (c *census) take(pattern []byte) {
	for off := range c.places(pattern) {
		if n := &c.counts[c.hash(pattern[off:])>>c.shift]; *n < 255 {
			*n++
		}
	}
}

// goodEnough is the cost of a gram that is nowhere else and has little that is common.
const goodEnough = 1<<8 + 3

// rarest is the place of one residue whose gram is the rarest among all patterns (keys of one kind begin alike) and, of
// those, one that is unusual in what programs print.
func (c *census) rarest(pattern []byte, residue int) int {
	best, least := residue, 1<<30
	for off := residue; off < c.places(pattern); off += c.stride {
		cost := int(c.counts[c.hash(pattern[off:])>>c.shift])<<8 + commonness(pattern[off:off+c.gram])
		if cost < least {
			best, least = off, cost
		}
		if least <= goodEnough {
			break
		}
	}
	return best
}

// commonness judges how often a gram may occur in what programs print: small letters, blanks and repeats do.
func commonness(gram []byte) int {
	n := 0
	for i, c := range gram {
		if 'a' <= c && c <= 'z' || c == ' ' || c == '\n' || c == '-' {
			n++
		}
		if i > 0 && c == gram[i-1] {
			n += 2
		}
	}
	return n
}

// enter writes the sample: a bit for each anchor, and the entries sorted by bucket.
func enter(v *view, anchors []anchor) {
	// Counting sort: heads[b+2] counts, then heads[b+1] is where the next entry of b goes.
	for _, a := range anchors {
		h := v.hash(v.patterns[a.pattern].of(v.pool)[a.off:])
		v.grams.set(h)
		v.sure.set(h)
		head := v.heads[4*(v.bucket(h)+2):]
		putWord(head, word(head)+1)
	}
	for at := 4; at < len(v.heads); at += 4 {
		putWord(v.heads[at:], word(v.heads[at:])+word(v.heads[at-4:]))
	}
	for _, a := range anchors {
		h := v.hash(v.patterns[a.pattern].of(v.pool)[a.off:])
		head := v.heads[4*(v.bucket(h)+1):]
		next := word(head)
		putWord(head, next+1)
		entry := uint64(a.pattern)<<(offsetBits+tagBits) | uint64(a.off)<<tagBits | uint64(tag(h))
		binary.LittleEndian.PutUint64(v.entries[8*next:], entry)
	}
}
