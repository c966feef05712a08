package mask

import "io"

// output passes on text and marks, in few calls and few copies.
type output struct {
	dst  io.Writer
	room []byte // what is not passed on yet
}

// longText is how much text between two marks goes on as it is, rather than by a copy.
const longText = 8 << 10

// whole passes on text that no mark stands in, as it is.
func (o *output) whole(b []byte) error {
	if err := o.flush(); err != nil {
		return err
	}
	return o.put(b)
}

// text passes on what stands before, between or behind marks.
func (o *output) text(b []byte) error {
	if len(b) >= longText {
		return o.whole(b)
	}
	o.room = append(o.room, b...)
	return nil
}

// mark passes on a mark.
func (o *output) mark(m string) { o.room = append(o.room, m...) }

// flush passes on what waits.
func (o *output) flush() error {
	b := o.room
	o.room = o.room[:0]
	return o.put(b)
}

// put hands b to the writer behind.
func (o *output) put(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	n, err := o.dst.Write(b)
	if err == nil && n != len(b) {
		err = io.ErrShortWrite
	}
	return err
}
