package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"warder/internal/api/frame"
	"warder/internal/secret"
)

// Op is one operation of the daemon. It has one of Call, Stream and Dialogue.
type Op struct {
	// Takes is the most values that a call may bring. A request with more is refused before they are read.
	Takes int
	// Returns says that a reply may hold values. Like an operation that takes some, such a one is not open to HTTP.
	Returns bool

	Call   Handler
	Stream StreamHandler
	// Dialogue is for what passes through the daemon as it comes. Like values it is not open to HTTP.
	Dialogue DialogueHandler
}

// Handler does one call. ctx ends when the client goes or the server gives up. An [*Error] is told to the client as it
// is; any other error is logged and told as Internal without its text.
type Handler func(ctx context.Context, call *Call) (*Reply, error)

// StreamHandler does one call that answers with a stream of items. send encodes an item and waits until it is sent; after
// an error of send the client is gone. The stream ends when the handler returns. ctx also ends when the server shuts down.
type StreamHandler func(ctx context.Context, call *Call, send func(item any) error) error

// DialogueHandler does one call in which the client sends texts piece by piece, and gets an answer to each piece. ctx also ends when the
// server shuts down; that the client has gone is told by the dialogue.
type DialogueHandler func(ctx context.Context, call *Call, d Dialogue) (*Reply, error)

// Dialogue is the daemon's end of one. One goroutine uses it at a time. Each piece has to be answered before the next one is waited for, so
// that neither end ever waits for one that waits for it.
type Dialogue interface {
	// Begin tells the client that it may send. It comes first, and once.
	Begin(item any) error
	// Next waits for a piece. io.EOF says that the client is done.
	Next() (frame.Piece, error)
	// Answer answers it.
	Answer(frame.Piece) error
}

// Call is one request.
type Call struct {
	Op    string
	Input json.RawMessage // one JSON value, or nil
	// Values came with the request. They are destroyed when the handler returns: what shall live longer is a Clone.
	Values []secret.Value
	// Peer is what the server's Admit returned for this connection.
	Peer any
	// Client is what the client says about itself: evidence of nothing.
	Client frame.Hello
}

// Decode reads the input into a struct. A missing input leaves it as it is. Unknown members, and more than one value, are
// an [*Error] of code Usage.
func (c *Call) Decode(into any) error {
	if len(c.Input) == 0 {
		return nil
	}
	if err := frame.Decode(c.Input, into); err != nil {
		return Errorf(Usage, "the input of %s does not fit: %v", c.Op, err)
	}
	return nil
}

// Reply is what a Handler answers. nil is an empty one.
type Reply struct {
	Output any // encoded as JSON; nil for none
	// Values go back with it, at most frame.MaxValues of at most frame.MaxValue bytes. The server destroys them.
	Values []secret.Value
}

// check says what is wrong with the declaration of an operation.
func (o Op) check(name string) error {
	switch {
	case !frame.ValidOp(name):
		return fmt.Errorf("operation %q: not a valid name", name)
	case o.ways() != 1:
		return fmt.Errorf("operation %q: has not exactly one of Call, Stream and Dialogue", name)
	case o.Takes < 0 || o.Takes > frame.MaxValues:
		return fmt.Errorf("operation %q: takes %d values, at most %d", name, o.Takes, frame.MaxValues)
	case o.Call == nil && o.carriesValues():
		return fmt.Errorf("operation %q: a stream carries no values", name)
	}
	return nil
}

// ways counts the handlers.
func (o Op) ways() (n int) {
	for _, has := range []bool{o.Call != nil, o.Stream != nil, o.Dialogue != nil} {
		if has {
			n++
		}
	}
	return n
}

func (o Op) carriesValues() bool { return o.Takes > 0 || o.Returns }

// values are the values of a reply, which may be nil.
func (r *Reply) values() []secret.Value {
	if r == nil {
		return nil
	}
	return r.Values
}

// destroy destroys the values of a reply, which may be nil.
func (r *Reply) destroy() {
	frame.DestroyAll(r.values())
}

// encode makes the JSON of a reply to op, and checks its values.
func (r *Reply) encode(op Op) (json.RawMessage, error) {
	if r == nil {
		return nil, nil
	}
	if len(r.Values) > 0 && !op.Returns {
		return nil, errors.New("the operation returned values that it does not declare")
	}
	if err := frame.CheckValues(r.Values); err != nil {
		return nil, fmt.Errorf("the operation returned %w", err)
	}
	if r.Output == nil {
		return nil, nil
	}
	output, err := json.Marshal(r.Output)
	if err != nil {
		return nil, fmt.Errorf("encoding the output: %w", err)
	}
	if len(output) > frame.MaxOutput {
		return nil, Errorf(TooLarge, "the answer has %d bytes, the limit is %d", len(output), frame.MaxOutput).
			WithHint("ask for less at once")
	}
	return output, nil
}
