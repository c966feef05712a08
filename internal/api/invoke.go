package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"runtime/debug"

	"warder/internal/api/frame"
	"warder/internal/secret"
)

// operations runs the operations. Their contexts end when the client goes, and no later than calls or streams do.
type operations struct {
	known          map[string]Op
	log            *slog.Logger
	calls, streams context.Context // calls are given time to finish when the server shuts down, streams have no end of their own
}

// lookUp finds an operation.
func (o *operations) lookUp(name string) (Op, error) {
	op, known := o.known[name]
	if !known {
		return Op{}, Errorf(Usage, "the daemon knows no operation %q", name)
	}
	return op, nil
}

// lifeOf is how long a call of op may live at most.
func (o *operations) lifeOf(op Op) context.Context {
	if op.Call == nil {
		return o.streams
	}
	return o.calls
}

// call runs an operation that answers once. The caller destroys the values that come back.
func (o *operations) call(ctx context.Context, op Op, call *Call) (json.RawMessage, []secret.Value, *Error) {
	reply, err := o.guarded(call.Op, func() (*Reply, error) { return op.Call(ctx, call) })
	if err == nil {
		var output json.RawMessage
		if output, err = reply.encode(op); err == nil {
			return output, reply.values(), nil
		}
	}
	reply.destroy()
	return nil, nil, o.told(ctx, call.Op, err)
}

// stream runs an operation that answers with items.
func (o *operations) stream(ctx context.Context, op Op, call *Call, write func(json.RawMessage) error) *Error {
	var lost error
	send := func(item any) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		text, err := json.Marshal(item)
		if err != nil {
			return fmt.Errorf("encoding a stream item: %w", err)
		}
		if len(text) > frame.MaxJSON {
			return Errorf(TooLarge, "an item of %d bytes, the limit is %d", len(text), frame.MaxJSON)
		}
		lost = write(text)
		return lost
	}
	_, err := o.guarded(call.Op, func() (*Reply, error) { return nil, op.Stream(ctx, call, send) })
	switch {
	case err == nil:
		return nil
	case lost != nil:
		return Errorf(Unreachable, "the client does not take the stream") // nobody reads it; the log need not have it
	}
	return o.told(ctx, call.Op, err)
}

// converse runs an operation that answers piece by piece.
func (o *operations) converse(ctx context.Context, op Op, call *Call, d *dialogue) (json.RawMessage, *Error) {
	reply, err := o.guarded(call.Op, func() (*Reply, error) { return op.Dialogue(ctx, call, d) })
	var output json.RawMessage
	if err == nil {
		output, err = reply.encode(op)
	}
	switch {
	case err == nil:
		return output, nil
	case d.lost && ctx.Err() == nil:
		return nil, Errorf(Unreachable, "the client does not go on") // nobody reads it; the log need not have it
	}
	return nil, o.told(ctx, call.Op, err)
}

// guarded runs a handler and turns its panic into an error: one bad request must not lock the account of everybody. The
// panic's value is not logged, since it may be made of an input; what the runtime itself says, and the stack, are.
func (o *operations) guarded(op string, run func() (*Reply, error)) (reply *Reply, err error) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		text := fmt.Sprintf("%T", p)
		var fault runtime.Error
		if e, ok := p.(error); ok && errors.As(e, &fault) {
			text = fault.Error()
		}
		o.log.LogAttrs(o.calls, slog.LevelError, "operation panicked",
			slog.String("op", op), slog.String("panic", text), slog.String("stack", string(debug.Stack())))
		reply, err = nil, Errorf(Internal, "something went wrong inside the daemon")
	}()
	return run()
}

// told is what the client learns of an error. Causes go to the log.
func (o *operations) told(ctx context.Context, op string, err error) *Error {
	var e *Error
	switch {
	case errors.As(err, &e):
		if cause := e.Unwrap(); cause != nil {
			o.log.LogAttrs(ctx, slog.LevelInfo, "operation failed",
				slog.String("op", op), slog.String("code", string(e.Code)), slog.String("cause", cause.Error()))
		}
		return AsError(e)
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), errShutdown):
		return Errorf(Unreachable, "%v", errShutdown).WithHint("try again: the next command finds or starts another one")
	case ctx.Err() == nil:
		o.log.LogAttrs(ctx, slog.LevelError, "operation failed",
			slog.String("op", op), slog.String("code", string(Internal)), slog.String("cause", err.Error()))
	}
	return Errorf(Internal, "something went wrong inside the daemon") // if the client has gone, nobody reads it
}
