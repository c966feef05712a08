package api

import (
	"context"
	"encoding/json"
	"fmt"

	"warder/internal/api/frame"
	"warder/internal/secret"
)

// Client is a connection to the daemon that encodes inputs and decodes outputs. Calls on it run one after the other; a
// program that needs them at once dials again. After a call that was broken off it has to.
type Client struct{ *frame.ClientConn }

// Dial connects, with the checks and the errors of [frame.Dialer.Dial].
func Dial(ctx context.Context, d frame.Dialer) (*Client, error) {
	conn, err := d.Dial(ctx)
	if err != nil {
		return nil, err
	}
	return &Client{conn}, nil
}

// Call asks for one operation with in, and reads its output into out; nil stands for none. values go with the call and
// stay the caller's, who also destroys the values that come back. Errors are those of [frame.ClientConn.Call].
func (c *Client) Call(ctx context.Context, op string, in, out any, values ...secret.Value) ([]secret.Value, error) {
	input, err := encode(op, in)
	if err != nil {
		return nil, err
	}
	output, got, err := c.ClientConn.Call(ctx, op, input, values)
	if err != nil || out == nil || len(output) == 0 {
		return got, err
	}
	if err := json.Unmarshal(output, out); err != nil {
		frame.DestroyAll(got)
		return nil, Errorf(Internal, "the daemon's answer to %s does not fit", op).WithCause(err)
	}
	return got, nil
}

// Stream asks for one operation that answers with a stream and hands each item to each, whose error ends it. Errors are
// those of [frame.ClientConn.Stream].
func (c *Client) Stream(ctx context.Context, op string, in any, each func(item json.RawMessage) error) error {
	input, err := encode(op, in)
	if err != nil {
		return err
	}
	return c.ClientConn.Stream(ctx, op, input, each)
}

// Talk is what is said before and after the pieces of a dialogue: the input, what the daemon says at the beginning, and its output, each a
// pointer to what it is read into.
type Talk struct{ In, Begun, Out any }

// Dialogue asks for one operation that answers piece by piece. Errors are those of [frame.ClientConn.Dialogue].
func (c *Client) Dialogue(ctx context.Context, op string, t Talk, with func(d *frame.Dialogue) error) error {
	input, err := encode(op, t.In)
	if err != nil {
		return err
	}
	fit := func(text json.RawMessage, into any) error {
		if err := json.Unmarshal(text, into); err != nil {
			return Errorf(Internal, "the daemon's answer to %s does not fit", op).WithCause(err)
		}
		return nil
	}
	output, err := c.ClientConn.Dialogue(ctx, op, input, func(item json.RawMessage, d *frame.Dialogue) error {
		if err := fit(item, t.Begun); err != nil {
			return err
		}
		return with(d)
	})
	if err != nil {
		return err
	}
	return fit(output, t.Out)
}

func encode(op string, in any) (json.RawMessage, error) {
	if in == nil {
		return nil, nil
	}
	input, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("encoding the input of %s: %w", op, err)
	}
	return input, nil
}
