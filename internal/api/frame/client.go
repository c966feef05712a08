package frame

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"warder/internal/secret"
)

// ErrNotSent says that the daemon had closed the connection before the request was with it, as it does when it needs the
// room or is replaced. Nothing was done, and asking again over a new connection is safe.
var ErrNotSent = errors.New("the request was not sent")

// ClientConn is a client's end of a connection. It serves one call or stream at a time; further ones wait for their turn.
// An answer that is an error leaves it usable. A call that was broken off does not: the daemon can't be told to forget
// it but by closing the connection, and later calls fail.
type ClientConn struct {
	w      wire
	server Hello
	pid    int           // of the server; 0 where the system does not tell
	turn   chan struct{} // holds one token, the right to use w
}

// handshake says hello over nc and hears the server's.
func handshake(ctx context.Context, nc net.Conn, self Hello) (*ClientConn, error) {
	c := &ClientConn{w: wire{nc: nc}, turn: make(chan struct{}, 1)}
	c.turn <- struct{}{}
	hello, err := greeting(self)
	if err != nil {
		return nil, err
	}
	err = c.during(ctx, func() error {
		if _, err := nc.Write(hello); err != nil {
			return err
		}
		c.server, err = c.w.readGreeting(0)
		return err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Server is what the daemon said about itself.
func (c *ClientConn) Server() Hello { return c.server }

// ServerPID is the daemon's process id, 0 where the system does not tell it.
func (c *ClientConn) ServerPID() int { return c.pid }

// Close closes the connection. The daemon cancels what it does for it.
func (c *ClientConn) Close() error { return c.w.nc.Close() }

// Call asks for one operation. input is JSON or nil; values, at most MaxValues of at most MaxValue bytes, stay the
// caller's. The caller destroys the values that come back. An error of the daemon is an [*Error] of its code; one of the
// connection has the code Unreachable, and wraps ErrNotSent where nothing can have been done; the end of ctx is returned
// as such and breaks the call off.
func (c *ClientConn) Call(ctx context.Context, op string, input json.RawMessage, values []secret.Value) (json.RawMessage, []secret.Value, error) {
	request, err := prepare(op, input, values)
	if err != nil {
		return nil, nil, err
	}
	var output json.RawMessage
	var got []secret.Value
	err = c.exchange(ctx, func() error {
		if err := c.send(request, values); err != nil {
			return err
		}
		k, body, err := c.receive()
		if err != nil {
			return err
		}
		if k != kindReply {
			return fmt.Errorf("stream item in place of a reply: %w", ErrMalformed)
		}
		output, got, err = c.finish(body)
		return err
	})
	return output, got, err
}

// Stream asks for one operation that answers with a stream, and hands each item to each until the daemon ends it or ctx
// ends. An error of each breaks the stream off and is returned as it is.
func (c *ClientConn) Stream(ctx context.Context, op string, input json.RawMessage, each func(item json.RawMessage) error) error {
	request, err := prepare(op, input, nil)
	if err != nil {
		return err
	}
	var stopped error
	err = c.exchange(ctx, func() error {
		if err := c.send(request, nil); err != nil {
			return err
		}
		for {
			k, body, err := c.receive()
			if err != nil {
				return err
			}
			if k == kindReply {
				_, values, err := c.finish(body)
				DestroyAll(values)
				return err
			}
			if stopped = each(body); stopped != nil {
				return c.Close()
			}
		}
	})
	if stopped != nil {
		return stopped
	}
	return err
}

// exchange waits for its turn and runs f, whose error is an answer of the daemon or the end of the connection.
func (c *ClientConn) exchange(ctx context.Context, f func() error) error {
	select {
	case <-c.turn:
	case <-ctx.Done():
		return fmt.Errorf("waiting for the connection: %w", context.Cause(ctx))
	}
	defer func() { c.turn <- struct{}{} }()
	err := c.during(ctx, f)
	var answer *Error
	if err == nil || errors.As(err, &answer) {
		return err
	}
	_ = c.Close()
	if ctx.Err() != nil {
		return fmt.Errorf("waiting for the daemon: %w", context.Cause(ctx))
	}
	return broken(err)
}

// broken is the error for a connection that is of no use any more.
func broken(err error) *Error {
	return Errorf(Unreachable, "the connection to the daemon broke").
		WithHint("see whether it runs, and what it did last: warder status, warder audit tail").WithCause(err)
}

// during runs f and breaks its reading and writing off when ctx ends. The connection is of no use then, even if f was
// done: the deadline may have struck at any point.
func (c *ClientConn) during(ctx context.Context, f func() error) error {
	stop := context.AfterFunc(ctx, func() { _ = c.w.nc.SetDeadline(time.Unix(1, 0)) })
	err := f()
	if !stop() {
		_ = c.Close()
	}
	return err
}

// prepare makes the JSON of a request, and refuses one that can't be sent whole.
func prepare(op string, input json.RawMessage, values []secret.Value) ([]byte, error) {
	switch err := CheckValues(values); {
	case errors.Is(err, secret.ErrDestroyed):
		return nil, fmt.Errorf("calling %s: %w", op, err)
	case err != nil:
		return nil, Errorf(TooLarge, "%s: %v", op, err)
	}
	request, err := json.Marshal(Request{Op: op, Input: input, Values: len(values)})
	if err != nil {
		return nil, Errorf(Usage, "%s: the input is not JSON", op).WithCause(err)
	}
	if len(request) > MaxJSON {
		return nil, Errorf(TooLarge, "%s: the input has %d bytes, the limit is %d", op, len(request), MaxJSON)
	}
	return request, nil
}

// send writes a request and its values.
func (c *ClientConn) send(request []byte, values []secret.Value) error {
	err := c.w.write(kindRequest, request)
	if err == nil {
		err = c.w.writeValues(values)
	}
	if err != nil {
		return c.lastWord(err)
	}
	return nil
}

// lastWord looks for the daemon's reason to close the connection before it had the whole request, such as values that the
// operation does not take.
func (c *ClientConn) lastWord(cause error) error {
	if errors.Is(cause, secret.ErrDestroyed) {
		return cause // of this end's own making: the daemon waits and has nothing to say
	}
	var answer *Error
	if _, _, err := c.receive(); errors.As(err, &answer) {
		return answer
	}
	return fmt.Errorf("%w: %w", ErrNotSent, cause)
}

// receive reads the next answer: the JSON of a reply or of a stream item. An error of the daemon is returned as such.
func (c *ClientConn) receive() (kind, []byte, error) {
	k, n, err := c.w.readHeader(0)
	if err != nil {
		return 0, nil, noEOF(err)
	}
	return c.rest(k, n)
}

// rest reads what follows the header of an answer.
func (c *ClientConn) rest(k kind, n int) (kind, []byte, error) {
	if err := expect(k, n, k, answerLimit(k)); err != nil {
		return 0, nil, err
	}
	body, err := c.w.readBody(n)
	if err != nil {
		return 0, nil, err
	}
	if k != kindError {
		return k, body, nil
	}
	answer, err := decodeError(body)
	if err != nil {
		return 0, nil, err
	}
	return 0, nil, answer
}

// answerLimit is the most bytes of an answer's JSON; -1 for a frame that is no answer.
func answerLimit(k kind) int {
	switch k {
	case kindReply:
		return MaxReply
	case kindItem:
		return MaxJSON
	case kindError:
		return maxError
	default:
		return -1
	}
}

// finish decodes a reply and reads its values.
func (c *ClientConn) finish(body []byte) (json.RawMessage, []secret.Value, error) {
	r, err := decodeReply(body)
	if err != nil {
		return nil, nil, fmt.Errorf("reading a reply: %w", err)
	}
	values, err := c.w.readValues(r.Values, func(int) error { return nil })
	return r.Output, values, err
}
