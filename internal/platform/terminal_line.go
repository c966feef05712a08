package platform

import (
	"io"
	"unicode/utf8"
)

// lineKeys are the characters that end or edit a hidden line. A key of 0 is
// switched off.
type lineKeys struct{ interrupt, quit, end, erase, kill byte }

const backspace, del = 0x08, 0x7f

// hiddenLine collects a line, key by key, in a buffer of its caller's.
type hiddenLine struct {
	buf  []byte
	n    int
	over bool // more came than fits; the rest of the line is thrown away
	keys lineKeys
}

// key takes one byte and reports whether the line is complete.
func (l *hiddenLine) key(b byte) (done bool, err error) {
	is := func(key byte) bool { return key != 0 && b == key }
	switch {
	case b == '\n' || b == '\r':
		return true, l.verdict()
	case is(l.keys.interrupt), is(l.keys.quit):
		return true, ErrInterrupted
	case is(l.keys.end):
		if l.n == 0 && !l.over {
			return true, io.EOF
		}
		return true, l.verdict()
	case is(l.keys.kill):
		l.truncate(0)
		l.over = false
	case is(l.keys.erase), b == backspace, b == del:
		_, size := utf8.DecodeLastRune(l.buf[:l.n])
		l.truncate(l.n - size)
	case l.n == len(l.buf):
		l.over = true
	default:
		l.buf[l.n] = b
		l.n++
	}
	return false, nil
}

// truncate drops and wipes everything from n on.
func (l *hiddenLine) truncate(n int) {
	clear(l.buf[n:l.n])
	l.n = n
}

func (l *hiddenLine) verdict() error {
	if l.over {
		return ErrLineTooLong
	}
	return nil
}
