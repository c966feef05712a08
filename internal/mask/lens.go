package mask

import (
	"bytes"
	"sort"

	"warder/internal/secret"
)

// A lens says what of the output a reader would see: escape sequences and the line breaks of folded text are no part of
// a value that stands around them.
type lens struct{ sequences, breaks bool }

// lenses are all ways to look at output, the plain one first.
func lenses() [4]lens {
	return [4]lens{{}, {breaks: true}, {sequences: true}, {sequences: true, breaks: true}}
}

const (
	escape = 0x1b
	bell   = 0x07
	// maxGap is how many bytes of sequences may stand between two other bytes. It bounds what is held back.
	maxGap = 256
	// maxReturns is how many carriage returns a line break may have before its newline: a terminal makes two of CRLF.
	maxReturns = 2
)

// sequence is where in an escape sequence the output stands (ECMA-48, and xterm's for OSC).
type sequence uint8

const (
	ground  sequence = iota
	begun            // behind ESC
	control          // in a control sequence, ESC [: parameters
	between          // in one: intermediate bytes
	charset          // in ESC and intermediate bytes
	command          // in an operating system command, ESC ]
)

// step goes on by a byte. taken is false if it is none of a sequence.
func (e sequence) step(c byte) (next sequence, taken bool) {
	if c == escape {
		return begun, true
	}
	switch e {
	case ground:
	case begun:
		return afterEscape(c)
	case control:
		if 0x30 <= c && c <= 0x3f {
			return control, true
		}
		return intermediate(c, between, 0x40)
	case between:
		return intermediate(c, between, 0x40)
	case charset:
		return intermediate(c, charset, 0x30)
	case command:
		if c == bell {
			return ground, true
		}
		if c >= 0x20 {
			return command, true
		}
	}
	return ground, false
}

func afterEscape(c byte) (sequence, bool) {
	switch {
	case c == '[':
		return control, true
	case c == ']':
		return command, true
	case 0x30 <= c && c <= 0x7e:
		return ground, true
	}
	return intermediate(c, charset, 0x7f)
}

// intermediate goes on in a sequence that has intermediate bytes and ends with one from final on.
func intermediate(c byte, more sequence, final byte) (sequence, bool) {
	switch {
	case 0x20 <= c && c <= 0x2f:
		return more, true
	case final <= c && c <= 0x7e:
		return ground, true
	}
	return ground, false
}

// skip goes on over buf from i on until the end of the sequence, or of buf.
func (e sequence) skip(buf []byte, i int) (int, sequence) {
	if end := colourAt(buf, i); end > 0 {
		return end, ground
	}
	for ; i < len(buf); i++ {
		next, taken := e.step(buf[i])
		if !taken {
			return i, ground
		}
		if e = next; e == ground {
			return i + 1, ground
		}
	}
	return i, e
}

// colourAt is the end of a control sequence without intermediate bytes, as nearly all are, that begins at i; 0 if there is
// no such.
func colourAt(buf []byte, i int) int {
	if i+2 >= len(buf) || buf[i] != escape || buf[i+1] != '[' {
		return 0
	}
	for i += 2; i < len(buf); i++ {
		if c := buf[i]; c < 0x30 || c > 0x3f {
			if 0x40 <= c && c <= 0x7e {
				return i + 1
			}
			break
		}
	}
	return 0
}

// over is where the output stands behind buf.
func (e sequence) over(buf []byte) sequence {
	// Whatever came before, an ESC begins anew.
	i := max(0, bytes.LastIndexByte(buf, escape))
	if i == 0 && e == ground && (len(buf) == 0 || buf[0] != escape) {
		return ground
	}
	for i < len(buf) {
		if e == ground && buf[i] != escape {
			return ground // no other ESC follows
		}
		i, e = e.skip(buf, i)
	}
	return e
}

// plainText is output seen through a lens.
type plainText struct {
	lens
	text   []byte
	pieces []piece
	state  sequence
	gap    int // bytes of sequences since the last character
	// returns is how many carriage returns were left out since the last character, and broken that a newline was.
	returns int
	broken  bool
	end     int // of the output that was taken
}

// piece is a part of the text that is one part of the output too.
type piece struct {
	at, from int
	cut      bool // nothing reaches from before into it
}

// begin begins anew, with output that stands there.
func (p *plainText) begin(l lens, state sequence) {
	*p = plainText{lens: l, text: p.text[:0], pieces: p.pieces[:0], state: state}
}

// take adds buf from i on.
func (p *plainText) take(buf []byte, i int) {
	p.end = i
	for i < len(buf) {
		start := i
		if p.sequences && (p.state != ground || buf[i] == escape) {
			i, p.state = p.state.skip(buf, i)
			p.gap += i - start
			p.end = i
			if i > start {
				continue
			}
		}
		if p.breaks && p.breakAt(buf[i]) {
			if p.gap > maxGap {
				p.returns = maxReturns + 1
			}
			p.gap = 0
			i++
			p.end = i
			continue
		}
		i = p.run(buf, i)
		p.show(buf[start:i], start)
	}
}

// far is how far run looks ahead: what it looks for in vain is looked for again in what follows.
const far = 512

// run is where the characters end that begin at i.
func (p *plainText) run(buf []byte, i int) int {
	if !p.sequences && !p.breaks {
		return len(buf)
	}
	end := min(len(buf), i+far)
	if p.sequences {
		end = firstOf(buf, i, end, escape)
	}
	if p.breaks {
		end = firstOf(buf, i, firstOf(buf, i, end, '\n'), '\r')
	}
	return end
}

// firstOf is where in buf, between i and end, c stands first; end if it doesn't.
func firstOf(buf []byte, i, end int, c byte) int {
	if n := bytes.IndexByte(buf[i:end], c); n >= 0 {
		return i + n
	}
	return end
}

// breakAt leaves out c if it is part of a line break. What turns out to be none is a cut: no folding pattern has it inside.
func (p *plainText) breakAt(c byte) bool {
	switch {
	case c == '\r':
		p.returns++
	case c != '\n':
		return false
	case p.broken:
		p.returns = maxReturns + 1
	default:
		p.broken = true
		return true
	}
	if p.broken {
		p.returns = maxReturns + 1
	}
	return true
}

// show adds characters that stand at from in the output.
func (p *plainText) show(b []byte, from int) {
	cut := p.gap > maxGap || p.returns > maxReturns || p.returns > 0 && !p.broken
	p.gap, p.returns, p.broken = 0, 0, false
	last := len(p.pieces) - 1
	if last < 0 || cut || p.pieces[last].from+len(p.text)-p.pieces[last].at != from {
		p.pieces = append(p.pieces, piece{len(p.text), from, cut})
	}
	p.text = append(p.text, b...)
	p.end = from + len(b)
}

// closed says that what follows can't go on with what is there.
func (p *plainText) closed() bool { return p.gap > maxGap || p.returns > maxReturns }

// piece is the number of the piece in which the text's byte i lies.
func (p *plainText) piece(i int) int {
	return sort.Search(len(p.pieces), func(n int) bool { return p.pieces[n].at > i }) - 1
}

// place is where the text's byte i lies in the output.
func (p *plainText) place(i int) int {
	if i >= len(p.text) {
		return p.end
	}
	at := p.pieces[p.piece(i)]
	return at.from + i - at.at
}

// lastCut is where the text begins that what follows may go on with.
func (p *plainText) lastCut() int {
	if p.closed() {
		return len(p.text)
	}
	for i := len(p.pieces) - 1; i >= 0; i-- {
		if p.pieces[i].cut {
			return p.pieces[i].at
		}
	}
	return 0
}

// out is an occurrence in the text as one in the output. ok is false if it has no gap, hence was found there too, or is none.
func (p *plainText) out(s span) (o span, ok bool) {
	first, last := p.piece(s.start), p.piece(s.end-1)
	if first == last {
		return s, false
	}
	for _, at := range p.pieces[first+1 : last+1] {
		if at.cut {
			return s, false
		}
	}
	s.start = p.pieces[first].from + s.start - p.pieces[first].at
	s.end = p.pieces[last].from + s.end - p.pieces[last].at
	return s, true
}

// drop forgets what lies before place n of the output, which now begins there.
func (p *plainText) drop(n int) {
	kept := 0
	for kept < len(p.pieces)-1 && p.pieces[kept+1].from <= n {
		kept++
	}
	p.pieces = p.pieces[:copy(p.pieces, p.pieces[kept:])]
	before := len(p.text)
	if len(p.pieces) > 0 {
		first, end := &p.pieces[0], len(p.text)
		if len(p.pieces) > 1 {
			end = p.pieces[1].at
		}
		if first.from < n {
			first.at = min(first.at+n-first.from, end)
			first.from = n
		}
		before = first.at
	}
	p.text = p.text[:copy(p.text, p.text[before:])]
	for i := range p.pieces {
		p.pieces[i].at -= before
		p.pieces[i].from -= n
	}
	p.end -= n
}

// wipe leaves nothing of the text behind.
func (p *plainText) wipe() {
	secret.Wipe(p.text[:cap(p.text)])
	p.text, p.pieces = nil, nil
}
