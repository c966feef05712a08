package frame

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"warder/internal/secret"
)

const (
	// sendTime is how long a client may take over a request once it began one. The largest takes milliseconds.
	sendTime = 10 * time.Second
	// takeTime is how long a client may take to read one frame of an answer, as much as a suspended terminal needs.
	takeTime = 30 * time.Second
)

// ServerConn is the daemon's end of a connection. One goroutine uses it at a time.
type ServerConn struct {
	w      wire
	client Hello
	share  Share // what the request under way takes of the budget

	room   []byte      // for a piece
	broken atomic.Bool // by Break
}

// Accept hears a client's hello over nc, whose first byte, [Mark], has been read, and answers with self. A client of
// another protocol is told so in an error frame, and Accept fails with a [*VersionError]. The caller closes nc.
func Accept(nc net.Conn, self Hello, budget *Budget) (*ServerConn, error) {
	hello, err := greeting(self)
	if err != nil {
		return nil, err
	}
	c := &ServerConn{w: wire{nc: nc}, share: budget.Share()}
	if err := nc.SetDeadline(time.Now().Add(helloTime)); err != nil {
		return nil, err
	}
	if c.client, err = c.w.readGreeting(1); err != nil {
		return nil, fmt.Errorf("hearing a client's hello: %w", err)
	}
	if _, err := nc.Write(hello); err != nil {
		return nil, fmt.Errorf("answering a client's hello: %w", err)
	}
	if c.client.Protocol != self.Protocol {
		err := &VersionError{Client: c.client, Server: self}
		_ = c.WriteError(err.asError()) // the client may know already and have gone
		return nil, err
	}
	return c, nc.SetDeadline(time.Time{})
}

// Client is what the client said about itself: evidence of nothing.
func (c *ServerConn) Client() Hello { return c.client }

// ReadRequest waits for the next request, without its values: they follow, and reading on or closing is up to the caller.
// io.EOF is the orderly end. An [*Error] may be sent to the client before closing.
func (c *ServerConn) ReadRequest() (Request, error) {
	_ = c.w.nc.SetReadDeadline(time.Time{}) // the last request's; fails on a closed connection, which reading tells
	k, n, err := c.w.readHeader(sendTime)
	if err != nil {
		return Request{}, err
	}
	if k == kindRequest && n > MaxJSON {
		return Request{}, Errorf(TooLarge, "a request of %d bytes, the limit is %d", n, MaxJSON)
	}
	if err := expect(k, n, kindRequest, MaxJSON); err != nil {
		return Request{}, err
	}
	if err := c.reserve(n); err != nil {
		return Request{}, err
	}
	body, err := c.w.readBody(n)
	if err != nil {
		return Request{}, err
	}
	r, err := decodeRequest(body)
	if err != nil {
		return Request{}, Errorf(Usage, "not a request: %v", err)
	}
	return r, nil
}

// ReadValues reads the values of the request that was read last, straight into secret memory. The caller destroys them.
func (c *ServerConn) ReadValues(count int) ([]secret.Value, error) {
	return c.w.readValues(count, c.reserve)
}

// Done ends a request: what it took of the budget is free again.
func (c *ServerConn) Done() { c.share.Give() }

func (c *ServerConn) reserve(n int) error {
	if !c.share.Take(n) {
		return Errorf(Unreachable, "the daemon has too many large requests to serve at once").WithHint("try again in a moment")
	}
	return nil
}

// WriteReply answers with output, JSON or nil, and values, which stay the caller's.
func (c *ServerConn) WriteReply(output json.RawMessage, values []secret.Value) error {
	if err := CheckValues(values); err != nil {
		return fmt.Errorf("writing a reply: %w", err)
	}
	if len(output) > MaxOutput {
		return fmt.Errorf("writing a reply: %d bytes, the limit is %d", len(output), MaxOutput)
	}
	body, err := json.Marshal(reply{Output: output, Values: len(values)})
	if err != nil {
		return fmt.Errorf("writing a reply: %w", err)
	}
	if err := c.write(kindReply, body); err != nil {
		return err
	}
	return c.w.writeValues(values)
}

// WriteItem sends one item of a stream.
func (c *ServerConn) WriteItem(item json.RawMessage) error {
	if len(item) > MaxJSON {
		return fmt.Errorf("writing a stream item: %d bytes, the limit is %d", len(item), MaxJSON)
	}
	return c.write(kindItem, item)
}

// WriteError answers with an error, cut to what a client reads.
func (c *ServerConn) WriteError(e *Error) error {
	body, err := json.Marshal(e.cut())
	if err != nil {
		return fmt.Errorf("writing an error: %w", err)
	}
	return c.write(kindError, body)
}

func (c *ServerConn) write(k kind, body []byte) error {
	if err := c.w.nc.SetWriteDeadline(time.Now().Add(takeTime)); err != nil {
		return err
	}
	return c.w.write(k, body)
}

// Watch calls gone once, from another goroutine, if the client closes the connection or speaks out of turn before stop is
// called. stop reports whether the connection is still fit for an answer; it waits for the watching to end. In between
// nobody may read.
func (c *ServerConn) Watch(gone func()) (stop func() bool) {
	present := true
	done := make(chan struct{})
	_ = c.w.nc.SetReadDeadline(time.Time{}) // as in ReadRequest
	go func() {
		defer close(done)
		var b [1]byte
		n, err := c.w.nc.Read(b[:])
		if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
		present = false
		gone()
	}()
	return func() bool {
		_ = c.w.nc.SetReadDeadline(time.Unix(1, 0))
		<-done
		_ = c.w.nc.SetReadDeadline(time.Time{})
		return present
	}
}
