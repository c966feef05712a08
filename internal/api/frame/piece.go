package frame

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// The limits of pieces (F5).
const (
	// MaxPiece is the most bytes of a piece that a client sends.
	MaxPiece = 64 << 10
	// MaxAnswer is the most bytes of a piece that answers one.
	MaxAnswer = 256 << 10
	// MaxTexts is how many texts go through one dialogue.
	MaxTexts = 4

	pieceHead = 2 // text, flags
)

// The flags of a piece.
const (
	flagLast = 1
	flagMore = 2
	// noText is the text of the piece that ends a dialogue.
	noText = 0xff
)

// Piece is a part of one of the texts that a dialogue is about. The client sends one, the daemon answers with one of the same text.
type Piece struct {
	Text  int    // which, from 0 on and below MaxTexts
	Last  bool   // of a client: nothing follows of this text
	More  bool   // of an answer: there is more, for which the client asks with an empty piece
	Bytes []byte // valid until the next piece is read
}

// flags are those of a piece as it is sent.
func (p Piece) flags() byte {
	var f byte
	if p.Last {
		f |= flagLast
	}
	if p.More {
		f |= flagMore
	}
	return f
}

// writePiece sends one.
func (w *wire) writePiece(p Piece) error {
	head := appendHeader(make([]byte, 0, headerSize+pieceHead+len(p.Bytes)), kindPiece, pieceHead+len(p.Bytes))
	_, err := w.nc.Write(append(append(head, byte(p.Text), p.flags()), p.Bytes...))
	return err
}

// readPiece reads the rest of one whose frame has n bytes, into room. io.EOF is the one that ends a dialogue.
func (w *wire) readPiece(n int, room *[]byte) (Piece, error) {
	if n < pieceHead {
		return Piece{}, fmt.Errorf("a piece of %d bytes: %w", n, ErrMalformed)
	}
	if cap(*room) < n {
		*room = make([]byte, n)
	}
	b := (*room)[:n]
	if err := readAll(w.nc, b); err != nil {
		return Piece{}, err
	}
	switch {
	case b[0] == noText && n == pieceHead:
		return Piece{}, io.EOF
	case b[0] >= MaxTexts || b[1]&^(flagLast|flagMore) != 0:
		return Piece{}, fmt.Errorf("a piece of text %d with flags %#x: %w", b[0], b[1], ErrMalformed)
	}
	return Piece{Text: int(b[0]), Last: b[1]&flagLast != 0, More: b[1]&flagMore != 0, Bytes: b[pieceHead:]}, nil
}

// ReadPiece waits for the next piece of a dialogue, for as long as the client likes. io.EOF says that the client is done, and waits for the
// reply.
func (c *ServerConn) ReadPiece() (Piece, error) {
	if err := c.w.nc.SetReadDeadline(time.Time{}); err != nil {
		return Piece{}, err
	}
	if c.broken.Load() { // else Break might have come before that deadline was lifted
		return Piece{}, io.ErrUnexpectedEOF
	}
	k, n, err := c.w.readHeader(sendTime)
	if err == nil {
		err = expect(k, n, kindPiece, pieceHead+MaxPiece)
	}
	if err != nil {
		return Piece{}, noEOF(err) // the client has gone without a word
	}
	return c.w.readPiece(n, &c.room)
}

// WritePiece answers a piece.
func (c *ServerConn) WritePiece(p Piece) error {
	if len(p.Bytes) > MaxAnswer {
		return fmt.Errorf("writing a piece: %d bytes, the limit is %d", len(p.Bytes), MaxAnswer)
	}
	if err := c.w.nc.SetWriteDeadline(time.Now().Add(takeTime)); err != nil {
		return err
	}
	return c.w.writePiece(p)
}

// Break ends the waiting for a piece, from another goroutine.
func (c *ServerConn) Break() {
	c.broken.Store(true)
	_ = c.w.nc.SetReadDeadline(time.Unix(1, 0))
}

// Dialogue is a client's end of an operation that answers piece by piece. It is safe for concurrent use.
type Dialogue struct {
	c    *ClientConn
	mu   sync.Mutex // held from a piece to its answer
	room []byte
	err  error // how it ended before its time
	over bool  // by a word of the daemon's, after which the connection is in step
}

// Ask sends a piece and returns the answer to it, whose bytes are valid until the next Ask of anybody; so use takes them. An error is
// final; one of the daemon is an [*Error].
func (d *Dialogue) Ask(p Piece, use func(answer Piece)) error {
	if len(p.Bytes) > MaxPiece || p.Text < 0 || p.Text >= MaxTexts {
		return Errorf(Usage, "a piece of %d bytes of text %d", len(p.Bytes), p.Text)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return d.err
	}
	answer, err := d.ask(p)
	if err != nil {
		d.err = err
		return err
	}
	use(answer)
	return nil
}

func (d *Dialogue) ask(p Piece) (Piece, error) {
	err := d.c.w.writePiece(p)
	if err != nil {
		if err = d.c.lastWord(err); errors.Is(err, ErrNotSent) { // what was sent before is done
			err = broken(err)
		}
		return Piece{}, err
	}
	k, n, err := d.c.w.readHeader(0)
	if err != nil {
		return Piece{}, broken(noEOF(err))
	}
	if k != kindPiece {
		_, _, err := d.c.rest(k, n)
		var answer *Error
		if d.over = errors.As(err, &answer); d.over {
			return Piece{}, answer
		}
		return Piece{}, broken(cmp.Or(err, ErrMalformed))
	}
	if err := expect(k, n, kindPiece, pieceHead+MaxAnswer); err != nil {
		return Piece{}, broken(err)
	}
	answer, err := d.c.w.readPiece(n, &d.room)
	if err == nil && answer.Text != p.Text {
		err = fmt.Errorf("an answer for text %d in place of %d: %w", answer.Text, p.Text, ErrMalformed)
	}
	if err != nil {
		return Piece{}, broken(err)
	}
	return answer, nil
}

// Dialogue asks for one operation that answers piece by piece. with gets what the daemon says at the beginning, and asks as it likes; its
// error breaks the operation off and is returned as it is. Else the daemon's reply is returned, and errors are those of [ClientConn.Call].
func (c *ClientConn) Dialogue(ctx context.Context, op string, input json.RawMessage, with func(begun json.RawMessage, d *Dialogue) error) (json.RawMessage, error) {
	request, err := prepare(op, input, nil)
	if err != nil {
		return nil, err
	}
	var output json.RawMessage
	var stopped error
	err = c.exchange(ctx, func() error {
		if err := c.send(request, nil); err != nil {
			return err
		}
		k, body, err := c.receive()
		if err != nil {
			return err
		}
		if k != kindItem {
			return fmt.Errorf("no beginning of a dialogue: %w", ErrMalformed)
		}
		d := &Dialogue{c: c}
		switch stopped = with(body, d); {
		case stopped == nil:
		case d.isOver():
			return nil
		default:
			return c.Close()
		}
		output, err = d.end()
		return err
	})
	if stopped != nil {
		return nil, stopped
	}
	return output, err
}

// isOver says whether the daemon ended it.
func (d *Dialogue) isOver() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.over
}

// end says that nothing more is asked, and hears the reply.
func (d *Dialogue) end() (json.RawMessage, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return nil, d.err
	}
	d.err = ErrNotSent
	if _, err := d.c.w.nc.Write(append(appendHeader(nil, kindPiece, pieceHead), noText, 0)); err != nil {
		return nil, broken(d.c.lastWord(err))
	}
	k, body, err := d.c.receive()
	if err != nil {
		return nil, err
	}
	if k != kindReply {
		return nil, fmt.Errorf("no reply at the end of a dialogue: %w", ErrMalformed)
	}
	output, values, err := d.c.finish(body)
	DestroyAll(values)
	return output, err
}
