package mask

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
)

// behind is a search that looks behind escape sequences.
type behind struct{ *search }

// scanBehind finds the occurrences in buf that escape sequences interrupt, and the first place where one may still begin;
// state is where in a sequence buf begins. It looks at what is close to a sequence alone: all else was found without.
func (b behind) scanBehind(buf []byte, state sequence) (keep int, err error) {
	keep = len(buf)
	reach := max(b.longest, (maxReturns+2)*b.longestFolding)
	for at := 0; at < len(buf) && b.left >= 0; {
		first := at // the first sequence
		if at > 0 || state == ground {
			n := bytes.IndexByte(buf[at:], escape)
			if n < 0 {
				return keep, nil
			}
			first += n
		}
		p := &b.plain
		p.begin(lens{sequences: true}, ground)
		if first == 0 {
			p.state = state
		}
		begin := max(0, first-reach)
		end := b.seeThrough(buf, begin, first, reach)
		b.left -= (end - begin) / 2
		open, err := b.scanText(end == len(buf))
		if err != nil {
			return keep, err
		}
		keep = min(keep, open)
		at = end
	}
	return keep, nil
}

// seeThrough takes the output from begin on, with the sequence at first and all that follow close to one another, and says
// how far that is.
func (b behind) seeThrough(buf []byte, begin, first, reach int) int {
	p := &b.plain
	if begin < first {
		p.show(buf[begin:first], begin)
	}
	for i := first; ; {
		start := i
		i, p.state = p.state.skip(buf, i)
		p.gap += i - start
		p.end = i
		n := nextEscape(buf[i:min(len(buf), i+2*reach)])
		if n < 0 {
			n = min(len(buf), i+reach) - i
			if n > 0 {
				p.show(buf[i:i+n], i)
			}
			return i + n
		}
		if n > 0 {
			p.show(buf[i:i+n], i)
		}
		i += n
	}
}

// nextEscape is where the next sequence begins, -1 if there is none. In coloured text it is mostly near, where a call of
// IndexByte takes longer than looking at eight bytes at once.
func nextEscape(b []byte) int {
	const ones = 0x0101010101010101
	if len(b) >= 8 {
		unlike := binary.LittleEndian.Uint64(b) ^ escape*ones
		// The lowest bit that is set is right: a borrow goes upwards only.
		if found := (unlike - ones) &^ unlike & (0x80 * ones); found != 0 {
			return bits.TrailingZeros64(found) / 8
		}
	}
	return bytes.IndexByte(b, escape)
}

// scanText searches the text that was seen through, and says where in the output an occurrence may begin if that text is
// all that there is so far; beyond all output if none does.
func (b behind) scanText(last bool) (keep int, err error) {
	p := &b.plain
	found := b.found
	b.found = b.seen[:0]
	err = b.scanAll(p.text)
	b.found, b.seen = found, b.found
	if err != nil {
		return 0, err
	}
	for _, s := range b.seen {
		if o, ok := p.out(s); ok {
			b.found = append(b.found, o)
		}
	}
	if !last {
		return math.MaxInt, nil
	}
	cut := p.lastCut()
	text := p.text[cut:]
	if i, err := b.openAll(text); err != nil || i < len(text) {
		return p.place(cut + i), err
	}
	return math.MaxInt, nil
}
