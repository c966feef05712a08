package frame

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"warder/internal/secret"
)

// The limits of F5. A frame over its limit ends the connection before any of it is read.
const (
	// MaxJSON is the most bytes of a request's or a stream item's JSON.
	MaxJSON = 1 << 20
	// MaxReply is the most bytes of a reply's JSON: a list of 10,000 items with a name, tags and hosts each is 2 to 4 MB.
	MaxReply = 16 << 20
	// MaxOutput is the most bytes of an operation's output, which leaves room for what goes around it in a reply.
	MaxOutput = MaxReply - 64
	// MaxValues is the most values that go with one request or reply.
	MaxValues = 64
	// MaxValue is the most bytes of one value; a field of the vault holds one byte less (F1.5).
	MaxValue = 64 << 10

	maxHello = 4 << 10
	maxError = 64 << 10
)

// Protocol is the number of the protocol that this package speaks.
const Protocol = 1

// kind is what a frame holds.
type kind uint8

const (
	kindRequest kind = 1 // JSON of a request; its values follow
	kindValue   kind = 2 // the bytes of one value
	kindReply   kind = 3 // JSON of a reply, which also ends a stream; its values follow
	kindError   kind = 4 // JSON of an Error, in place of a reply
	kindItem    kind = 5 // JSON of one item of a stream
	kindHello   kind = 6 // JSON of a Hello
	kindPiece   kind = 7 // a piece of a text, in a dialogue
)

const (
	// Mark is the first byte of a connection that speaks frames. No HTTP request begins with it.
	Mark = 0x00

	prefaceSize = 4 // Mark, 'W', 'F', protocol
	headerSize  = 5 // kind, length in four bytes

	// firstRead is the room made for a body before any of it has arrived.
	firstRead = 4 << 10
)

// ErrMalformed says that the other end does not speak this protocol. The connection can't be used any more.
var ErrMalformed = errors.New("not a frame of this protocol")

// wire reads and writes frames. It reads exactly what it is asked for, never ahead: what comes next may be a value, and
// no buffer may hold that.
type wire struct {
	nc   net.Conn
	head [headerSize]byte
}

// readHeader waits for a frame and returns its kind and length. From the first byte of the header on, the other end has
// patience to send the rest of the frame and all that belongs to it; 0 is for ever. io.EOF means that the other end
// closed the connection between two frames.
func (w *wire) readHeader(patience time.Duration) (kind, int, error) {
	n, err := w.nc.Read(w.head[:])
	if n == 0 && err != nil {
		return 0, 0, err
	}
	if patience > 0 {
		if err := w.nc.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return 0, 0, err
		}
	}
	if err := readAll(w.nc, w.head[n:]); err != nil {
		return 0, 0, err
	}
	return kind(w.head[0]), int(binary.BigEndian.Uint32(w.head[1:])), nil
}

// readBody reads n bytes of JSON. Memory grows with what arrives: a claimed length alone allocates firstRead.
func (w *wire) readBody(n int) ([]byte, error) {
	var body []byte
	for len(body) < n {
		have := len(body)
		room := min(n-have, max(firstRead, have))
		body = slices.Grow(body, room)[:have+room]
		if err := readAll(w.nc, body[have:]); err != nil {
			return nil, err
		}
	}
	return body, nil
}

// readValues reads count frames of values, each straight into secret memory that reserve allowed before. On an error no
// value is left.
func (w *wire) readValues(count int, reserve func(n int) error) (values []secret.Value, err error) {
	defer func() {
		if err != nil {
			DestroyAll(values)
			values = nil
		}
	}()
	for range count {
		k, n, err := w.readHeader(0)
		if err == nil {
			err = expect(k, n, kindValue, MaxValue)
		}
		if err == nil {
			err = reserve(n)
		}
		if err != nil {
			return values, noEOF(err)
		}
		v, err := secret.Make(n, func(b []byte) error { return readAll(w.nc, b) })
		if err != nil {
			return values, fmt.Errorf("reading a value: %w", err)
		}
		values = append(values, v)
	}
	return values, nil
}

// write sends one frame.
func (w *wire) write(k kind, body []byte) error {
	_, err := w.nc.Write(appendFrame(nil, k, body))
	return err
}

// writeValues sends each value from where it lies. They stay the caller's.
func (w *wire) writeValues(values []secret.Value) error {
	for _, v := range values {
		if _, err := w.nc.Write(appendHeader(nil, kindValue, v.Len())); err != nil {
			return err
		}
		if v.Len() == 0 {
			continue
		}
		var err error
		if used := v.Use(func(b []byte) { _, err = w.nc.Write(b) }); used != nil {
			return fmt.Errorf("writing a value: %w", used)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CheckValues says what is wrong with values before anything is written: half a message can't be taken back.
func CheckValues(values []secret.Value) error {
	if len(values) > MaxValues {
		return fmt.Errorf("%d values at once, the limit is %d", len(values), MaxValues)
	}
	for _, v := range values {
		if v.Len() > MaxValue {
			return fmt.Errorf("a value of %d bytes, the limit is %d", v.Len(), MaxValue)
		}
		if err := v.Use(func([]byte) {}); err != nil {
			return err
		}
	}
	return nil
}

// DestroyAll destroys every one of values.
func DestroyAll(values []secret.Value) {
	for _, v := range values {
		v.Destroy()
	}
}

// expect refuses a frame of another kind or over the limit.
func expect(k kind, n int, want kind, limit int) error {
	if k != want {
		return fmt.Errorf("frame of kind %d in place of %d: %w", k, want, ErrMalformed)
	}
	if n > limit {
		return fmt.Errorf("frame of %d bytes, the limit is %d: %w", n, limit, ErrMalformed)
	}
	return nil
}

func appendHeader(to []byte, k kind, n int) []byte {
	return binary.BigEndian.AppendUint32(append(to, byte(k)), uint32(n))
}

func appendFrame(to []byte, k kind, body []byte) []byte {
	return append(appendHeader(slices.Grow(to, headerSize+len(body)), k, len(body)), body...)
}

// readAll fills b. An end within it is never io.EOF, which would look like an orderly end.
func readAll(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	return noEOF(err)
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
