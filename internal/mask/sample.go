package mask

import (
	"encoding/binary"
	"math/bits"
)

// anchor is a gram by which a pattern is found.
type anchor struct{ pattern, off uint32 }

// newSample chooses the grams by which patterns are found and writes them into the view. It counts in the room of the
// entries, which come last: pages of locked memory are dear.
func newSample(v lent) {
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
	lent
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
const goodEnough = 1<<8 + 4

// rarest is the place of one residue whose gram is the rarest among all patterns (keys of one kind begin alike) and, of
// those, one that is unusual in what programs print.
func (c *census) rarest(pattern []byte, residue int) int {
	best, least := residue, 1<<30
	for off := residue; off < c.places(pattern); off += c.stride {
		gram := c.gramAt(pattern[off:])
		cost := int(c.counts[gram*c.multiplier>>c.shift])<<8 + commonness(gram)
		if cost < least {
			best, least = off, cost
		}
		if least <= goodEnough {
			break
		}
	}
	return best
}

// commonness judges how often a gram may occur in what programs print: small letters and repeats do. It works on all
// bytes of the gram at once, one of which is never carried into the next.
func commonness(gram uint64) int {
	const (
		ones  = 0x0101010101010101
		upper = 0x80 * ones
	)
	low := gram &^ upper
	letters := (low + (0x80-'a')*ones) &^ (low + (0x80-'z'-1)*ones) &^ gram & upper
	unlike := gram ^ gram>>8
	repeats := ^((unlike&^upper + 0x7f*ones) | unlike) & upper
	return bits.OnesCount64(letters) + 2*bits.OnesCount64(repeats)
}

// enter writes the sample: a bit for each anchor, and the entries sorted by bucket.
func enter(v lent, anchors []anchor) {
	// Counting sort: heads[b+2] counts, then heads[b+1] is where the next entry of b goes.
	for _, a := range anchors {
		h := v.hash(v.patterns[a.pattern].of(v.pool)[a.off:])
		v.grams.set(h)
		v.sure.set(h)
		if v.quick != nil {
			v.quick[h>>48] = 1
		}
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
		v.setEntry(next, newEntry(a.pattern, a.off, h))
	}
	for i := len(v.entries)/8 - 2; i >= 0; i-- {
		if this, next := v.entry(uint32(i)), v.entry(uint32(i)+1); this.pattern() == next.pattern() && this.tag() == next.tag() {
			v.setEntry(uint32(i), this.before(next))
		}
	}
}

// enterBroken enters the first grams of a folding pattern, with line breaks wherever there may be some: of each occurrence,
// however it is folded, one stands at a multiple of the stride.
func enterBroken(v *view, pattern []byte) {
	g := brokenGram{view: v, pattern: pattern}
	for i := range v.stride {
		g.character(0, i)
		if i > 0 {
			g.lineBreak(0, i) // which may have begun before
		}
	}
}

// brokenGram is a gram as far as it is made.
type brokenGram struct {
	*view
	pattern []byte
	bytes   [8]byte
}

// character goes on at byte n with character i of the pattern, and what may stand behind it.
func (g *brokenGram) character(n, i int) {
	if n >= len(g.bytes) {
		h := binary.LittleEndian.Uint64(g.bytes[:]) * g.multiplier
		g.grams.set(h)
		g.sure.set(h)
		return
	}
	if i == len(g.pattern) {
		return // a gram that is not all within the pattern is none of it
	}
	g.bytes[n] = g.pattern[i]
	n, i = n+1, i+1
	g.character(n, i)
	if n == len(g.bytes) || i == len(g.pattern) {
		return
	}
	g.lineBreak(n, i)
}

// lineBreak goes on at byte n with each kind of line break, and character i behind it.
func (g *brokenGram) lineBreak(n, i int) {
	for returns := range maxReturns + 1 {
		at := n
		for range returns {
			at = g.put(at, '\r')
		}
		g.character(g.put(at, '\n'), i)
	}
}

// put puts c at byte n, if there is one, and says which is next.
func (g *brokenGram) put(n int, c byte) int {
	if n < len(g.bytes) {
		g.bytes[n] = c
	}
	return n + 1
}
