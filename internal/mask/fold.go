package mask

import (
	"bytes"
	"encoding/binary"
)

const (
	// joinGram is how many characters around a line break are looked up: one before it and five behind, and five before
	// and one behind.
	joinGram = 6
	// minFolding is the length of the shortest pattern that folds: a break in it has five characters on one of its sides.
	// The base64 of eight bytes has ten characters that they alone decide.
	minFolding = 10
)

// joined are the first six bytes of b, of which there are eight.
func joined(b []byte) uint64 { return binary.LittleEndian.Uint64(b) & (1<<48 - 1) }

// breaks is a search that passes over line breaks.
type breaks struct{ *search }

// scanFolded finds the occurrences of folding patterns in buf that have a line break where scan would have needed a gram.
// The others scan finds.
func (b breaks) scanFolded(buf []byte) error {
	before := -joinGram // the newline before this one
	tried := true       // that was tried
	for at := 0; b.left >= 0; {
		n := bytes.IndexByte(buf[at:], '\n')
		if n < 0 {
			return nil
		}
		n += at
		at = n + 1
		short := n-before <= joinGram+maxReturns+1
		// Lines so short that what is looked up has another break in it are tried without.
		if short && !tried {
			if err := b.tryJoin(buf, breakStart(buf, before), before+1); err != nil {
				return err
			}
		}
		before, tried = n, short || b.mayJoin(buf, n)
		if tried {
			if err := b.tryJoin(buf, breakStart(buf, n), n+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// mayJoin reports whether a folding pattern may go on over the newline at n.
func (b breaks) mayJoin(buf []byte, n int) bool {
	if n == 0 || n+1+8 > len(buf) {
		return true
	}
	behind := binary.LittleEndian.Uint64(buf[n+1:])
	before := eightBefore(buf, n)
	if before>>56 == '\r' {
		if n = breakStart(buf, n); n == 0 {
			return true
		}
		before = eightBefore(buf, n)
	}
	const five = 1<<40 - 1
	oneFive := before>>56 | behind&five<<8
	fiveOne := before>>24 | behind<<56>>16
	return (b.joins.bit(oneFive*b.multiplier)|b.joins.bit(fiveOne*b.multiplier))&1 != 0
}

// eightBefore are the eight bytes before place n of buf, which has so many at least; zeros stand for those before its first.
func eightBefore(buf []byte, n int) uint64 {
	if n < 8 {
		return binary.LittleEndian.Uint64(buf) << (64 - 8*n)
	}
	return binary.LittleEndian.Uint64(buf[n-8:])
}

// breakStart is where the line break begins whose newline is at n.
func breakStart(buf []byte, n int) int {
	for i := 0; i < maxReturns && n > 0 && buf[n-1] == '\r'; i++ {
		n--
	}
	return n
}

// breakEnd is where a line break ends that begins at i; i if there is none.
func breakEnd(buf []byte, i int) int {
	for j := i; j < len(buf) && j <= i+maxReturns; j++ {
		if buf[j] == '\n' {
			return j + 1
		}
		if buf[j] != '\r' {
			break
		}
	}
	return i
}

// isBase64 reports whether c is a character of either alphabet, or padding.
func isBase64(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '/' <= c && c <= '9' || c == '+' || c == '-' || c == '_' || c == '='
}

// tryJoin looks for folding patterns in the text around a line break, from start to end.
func (b breaks) tryJoin(buf []byte, start, end int) error {
	b.left -= costOfHit
	if start == 0 || end == len(buf) || !isBase64(buf[start-1]) || !isBase64(buf[end]) {
		return nil
	}
	return b.tryAround(buf, start, end)
}

// tryAround looks for folding patterns in the text before start and from end on, between which is a line break or nothing.
func (b breaks) tryAround(buf []byte, start, end int) error {
	var room [2 * joinReach]byte
	reach := min(joinReach, b.stride*choices+b.gram)
	first := joinReach // what stands before the break is room[first:joinReach]
	for i := start; first > joinReach-reach; {
		if i = previous(buf, i); i < 0 {
			break
		}
		first--
		room[first] = buf[i]
	}
	text := room[first:joinReach]
	for i := end; len(text) < joinReach-first+reach && i < len(buf) && isBase64(buf[i]); {
		text = append(text, buf[i]) // within room
		i = breakEnd(buf, i+1)
	}
	b.left -= len(text) >> 1
	for i := 0; i+b.gram <= len(text); i += b.stride {
		h := b.hash(text[i:])
		if !b.grams.has(h) || !b.sure.has(h) {
			continue
		}
		var err error
		back := joinReach - first - i // so many characters before start
		if b.pool != nil {
			b.foldedCandidates(buf, start, back, h)
		} else {
			err = b.withPool(func() { b.foldedCandidates(buf, start, back, h) })
		}
		if err != nil || b.left < 0 {
			return err
		}
	}
	return nil
}

// joinReach is how far from a line break the grams lie, at most, by which patterns are found that go over it.
const joinReach = maxStride*choices + 8

// foldedCandidates compares the folding patterns that have this gram where it stands, back characters before start.
func (b breaks) foldedCandidates(buf []byte, start, back int, h uint64) {
	from, to := b.entriesOf(h)
	b.left -= costOfEntry * int(to-from)
	for ; from < to && b.left >= 0; from++ {
		e := b.entry(from)
		if p := &b.patterns[e.pattern()]; e.tag() == tagOf(h) && p.folds {
			b.compareFrom(buf, start, back+e.off(), p)
		}
	}
}

// compareFolded adds what is a folding pattern with line breaks in it, whose gram off was found at at.
func (b breaks) compareFolded(buf []byte, at, off int, p *pattern) {
	// All but some of what is compared here is only like a pattern, and has no line break at all.
	start := at - off
	if bytes.IndexByte(buf[start:min(len(buf), start+int(p.len)+maxReturns)], '\n') >= 0 {
		b.compareFrom(buf, at, off, p)
	}
}

// compareFrom adds what is a folding pattern, if it begins so many characters before place i. Where i is behind the
// beginning a negative number says so.
func (b breaks) compareFrom(buf []byte, i, characters int, p *pattern) {
	b.left -= costOfCompare + max(characters, -characters)
	for ; characters > 0; characters-- {
		if i = previous(buf, i); i < 0 {
			return
		}
	}
	for ; characters < 0; characters++ {
		i = breakEnd(buf, i)
		if i++; i >= len(buf) {
			return
		}
	}
	start := breakEnd(buf, i)
	end, n := matchFolded(buf, start, p.of(b.pool))
	b.left -= n
	if n == int(p.len) {
		b.found = append(b.found, span{start: start, end: end, value: int(p.value), longest: n})
	}
}

// tryGram looks for folding patterns around the gram at at, in which there may be a line break.
func (b breaks) tryGram(buf []byte, at int) error {
	if buf[at] == '\n' || buf[at] == '\r' {
		at = breakStart(buf, at)
	}
	return b.tryAround(buf, at, breakEnd(buf, at))
}

// previous is where the base64 character stands before place i, a line break between left out; -1 without one.
func previous(buf []byte, i int) int {
	if i == 0 {
		return -1
	}
	if buf[i-1] == '\n' {
		if i = breakStart(buf, i-1); i == 0 {
			return -1
		}
	}
	if !isBase64(buf[i-1]) {
		return -1
	}
	return i - 1
}

// matchFolded compares a pattern with what begins at i, and says where that ends and how many characters are alike.
func matchFolded(buf []byte, i int, pattern []byte) (end, n int) {
	for n < len(pattern) {
		if n > 0 {
			i = breakEnd(buf, i)
		}
		if i == len(buf) || buf[i] != pattern[n] {
			break
		}
		i++
		n++
	}
	return i, n
}

// openFolded is openEnd for folding patterns that have a line break in what is there.
func (b breaks) openFolded(buf []byte) (int, error) {
	n := len(buf)
	end := n // without the break, or what may become one, that ends buf
	if end > 0 && buf[end-1] == '\n' {
		end--
	}
	end = breakStart(buf, end)
	if end == 0 || !isBase64(buf[end-1]) {
		return n, nil
	}
	// Nearly always a short look tells that at most three characters are open, and stand on one line.
	if end >= 4 {
		last := word(buf[end-4:])
		if lines := last ^ 0x0a0a0a0a; (lines-0x01010101)&^lines&0x80808080 == 0 && !b.inner.has(uint64(last)*b.multiplier) {
			open, err := b.openShort(buf[end-4 : end])
			if open == 0 {
				return n, err
			}
			return end - open, err
		}
	}
	start := end
	for characters := 1; characters < b.longestFolding; characters++ {
		i := previous(buf, start)
		if i < 0 {
			break
		}
		start = i
	}
	p := &b.unfolded
	p.begin(lens{breaks: true}, ground)
	p.take(buf, start)
	b.left -= len(buf) - start
	cut := p.lastCut()
	i, err := b.openIn(&b.fold, b.folding, b.longestFolding, p.text[cut:])
	if cut+i == len(p.text) {
		return n, err
	}
	return p.place(cut + i), err
}

// openShort is how many of the last three of four characters are open.
func (b breaks) openShort(last []byte) (int, error) {
	if b.starts.has(three(last[1:]) * b.multiplier) {
		if begins, err := b.begins(b.folding, last[1:]); begins || err != nil {
			return 3, err
		}
	}
	switch c := last[3]; {
	case b.fold.second.has(two(last[2:])):
		return 2, nil
	case b.fold.first[c/8]>>(c%8)&1 != 0:
		return 1, nil
	}
	return 0, nil
}
