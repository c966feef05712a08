package mask

import (
	"bytes"
	"encoding/binary"
)

// joinGram is how many characters around a line break are looked up: three before and three behind it, or all six on
// one side. The shortest folding pattern has ten, so each break in one is found by one of the three.
const joinGram = 6

// joined are the first six bytes of b, of which there are eight.
func joined(b []byte) uint64 { return binary.LittleEndian.Uint64(b) & (1<<48 - 1) }

// scanFolded finds the occurrences of folding patterns in buf that have a line break where scan would have needed a gram.
// The others scan finds.
func (v *view) scanFolded(buf []byte, s *search) error {
	before := -joinGram // the newline before this one
	tried := true       // it was tried already
	for at := 0; s.left >= 0; {
		n := bytes.IndexByte(buf[at:], '\n')
		if n < 0 {
			return nil
		}
		n += at
		at = n + 1
		short := n-before <= joinGram+maxReturns+1
		// Lines so short that what is looked up has another break in it are tried without.
		if short && !tried {
			if err := v.tryJoin(buf, before, s); err != nil {
				return err
			}
		}
		before, tried = n, short || v.mayJoin(buf, n)
		if tried {
			if err := v.tryJoin(buf, n, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// mayJoin reports whether a folding pattern may go on over the newline at n.
func (v *view) mayJoin(buf []byte, n int) bool {
	if n < 8+maxReturns || n+1+8 > len(buf) {
		return true
	}
	behind := binary.LittleEndian.Uint64(buf[n+1:])
	before := binary.LittleEndian.Uint64(buf[n-8:])
	if before>>56 == '\r' {
		before = binary.LittleEndian.Uint64(buf[breakStart(buf, n)-8:])
	}
	around := before>>40 | behind&(1<<24-1)<<24
	m := v.multiplier
	return (v.joins.bit(around*m)|v.edges.bit(before>>16*m)|v.edges.bit(behind&(1<<48-1)*m))&1 != 0
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

// isBase64 reports whether c is a character of either alphabet.
func isBase64(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '/' <= c && c <= '9' || c == '+' || c == '-' || c == '_'
}

// tryJoin looks for folding patterns in what the line break at n parts.
func (v *view) tryJoin(buf []byte, n int, s *search) error {
	s.left -= costOfHit
	start := breakStart(buf, n)
	if start == 0 || n+1 == len(buf) || !isBase64(buf[start-1]) || !isBase64(buf[n+1]) {
		return nil
	}
	var room [2 * joinReach]byte
	reach := min(joinReach, v.stride*choices+v.gram)
	first := joinReach // the text is room[first:last]
	for i := start; first > joinReach-reach; {
		if i = previous(buf, i); i < 0 {
			break
		}
		first--
		room[first] = buf[i]
	}
	last := joinReach
	for i := n + 1; last < joinReach+reach && i < len(buf) && isBase64(buf[i]); last++ {
		room[last] = buf[i]
		i = breakEnd(buf, i+1)
	}
	s.left -= (last - first) >> 1
	text := room[first:last]
	for i := 0; i+v.gram <= len(text); i += v.stride {
		h := v.hash(text[i:])
		if !v.grams.has(h) || !v.sure.has(h) {
			continue
		}
		var err error
		back := joinReach - first - i // so many characters before the break
		if v.pool != nil {
			v.foldedCandidates(buf, n, back, h, s)
		} else {
			err = v.withPool(func() { v.foldedCandidates(buf, n, back, h, s) })
		}
		if err != nil || s.left < 0 {
			return err
		}
	}
	return nil
}

// joinReach is how far from a line break the grams lie, at most, by which patterns are found that go over it.
const joinReach = maxStride*choices + 8

// foldedCandidates compares the folding patterns that have this gram where it stands, back characters before the break
// at n.
func (v *view) foldedCandidates(buf []byte, n, back int, h uint64, s *search) {
	from, to := v.entriesOf(h)
	want := tag(h)
	s.left -= costOfEntry * (to - from)
	for ; from < to && s.left >= 0; from++ {
		entry := binary.LittleEndian.Uint64(v.entries[8*from:])
		if uint32(entry)&(1<<tagBits-1) != want {
			continue
		}
		if p := v.patterns[entry>>(offsetBits+tagBits)]; p.folds {
			v.compareFrom(buf, breakStart(buf, n), back+int(entry>>tagBits&(1<<offsetBits-1)), p, s)
		}
	}
}

// compareFolded adds what is a folding pattern with line breaks in it, whose gram off was found at at.
func (v *view) compareFolded(buf []byte, at, off int, p pattern, s *search) {
	// All but some of what is compared here is only like a pattern, and has no line break at all.
	if bytes.IndexByte(buf[at-off:at-off+int(p.len)], '\n') >= 0 {
		v.compareFrom(buf, at, off, p, s)
	}
}

// compareFrom adds what is a folding pattern, if it begins so many characters before place i. Where i is behind the
// beginning a negative number says so.
func (v *view) compareFrom(buf []byte, i, characters int, p pattern, s *search) {
	s.left -= costOfCompare + max(characters, -characters)
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
	end, n := matchFolded(buf, start, p.of(v.pool))
	s.left -= n
	if n == int(p.len) {
		s.found = append(s.found, span{start: start, end: end, value: int(p.value), longest: n})
	}
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
func (v *view) openFolded(buf []byte, s *search) (int, error) {
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
		last := buf[end-4 : end]
		if bytes.IndexByte(last, '\n') < 0 && !v.fold.inner.has(uint64(word(last))*v.multiplier) {
			i, err := v.openIn(&v.fold, v.folding, v.longestFolding, last, s)
			if i == len(last) {
				return n, err
			}
			return end - 4 + i, err
		}
	}
	start := end
	for characters := 1; characters < v.longestFolding; characters++ {
		i := previous(buf, start)
		if i < 0 {
			break
		}
		start = i
	}
	p := &v.unfolded
	p.begin(lens{breaks: true}, ground)
	defer p.wipe()
	p.take(buf, start)
	s.left -= len(buf) - start
	cut := p.lastCut()
	i, err := v.openIn(&v.fold, v.folding, v.longestFolding, p.text[cut:], s)
	if cut+i == len(p.text) {
		return n, err
	}
	return p.place(cut + i), err
}
