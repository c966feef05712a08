package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"

	"warder/internal/api/frame"
	"warder/internal/secret"
)

// converse serves a connection that speaks frames.
func (s *Server) converse(c *conn) {
	fc, err := frame.Accept(c.Conn, s.hello, s.budget)
	if err != nil {
		s.log.LogAttrs(s.ops.calls, slog.LevelDebug, "no handshake", slog.Int("pid", c.pid), slog.String("cause", err.Error()))
		return
	}
	for s.exchange(fc, c) {
	}
}

// exchange serves one request and reports whether another may follow. Values are read only for an operation that takes as
// many; those of a refused request are not read at all, so nothing can follow them.
func (s *Server) exchange(fc *frame.ServerConn, c *conn) (again bool) {
	defer fc.Done()
	req, err := fc.ReadRequest()
	if err != nil {
		refuse(fc, err)
		return false
	}
	op, err := s.ops.lookUp(req.Op)
	if err == nil && req.Values > op.Takes {
		err = Errorf(Usage, "%s takes %d values at most, not %d", req.Op, op.Takes, req.Values)
	}
	if err != nil {
		return refuse(fc, err) && req.Values == 0
	}
	values, err := fc.ReadValues(req.Values)
	if err != nil {
		refuse(fc, err)
		return false
	}
	defer frame.DestroyAll(values)
	if !s.conns.begin(c) {
		return false
	}
	call := &Call{Op: req.Op, Input: req.Input, Values: values, Peer: c.peer, Client: fc.Client()}
	fit := s.answer(fc, op, call)
	return s.conns.end(c) && fit
}

// refuse tells the client why its request is not served, where that is worth telling, and reports whether it was told.
func refuse(fc *frame.ServerConn, err error) bool {
	var answer *Error
	return errors.As(err, &answer) && fc.WriteError(answer) == nil
}

// answer runs the operation and sends what comes of it. It reports whether the connection is still in step.
func (s *Server) answer(fc *frame.ServerConn, op Op, call *Call) bool {
	if op.Dialogue != nil {
		return s.converseOn(fc, op, call)
	}
	ctx, cancel := context.WithCancel(s.ops.lifeOf(op))
	defer cancel()
	stop := fc.Watch(cancel)
	var output json.RawMessage
	var values []secret.Value
	var failed *Error
	sent := true
	if op.Stream != nil {
		failed = s.ops.stream(ctx, op, call, func(item json.RawMessage) error {
			err := fc.WriteItem(item)
			sent = sent && err == nil
			return err
		})
	} else {
		output, values, failed = s.ops.call(ctx, op, call)
		defer frame.DestroyAll(values)
	}
	if !stop() || !sent {
		return false
	}
	if failed != nil {
		return fc.WriteError(failed) == nil
	}
	return fc.WriteReply(output, values) == nil
}

// converseOn runs an operation that answers piece by piece. It reports whether the connection is still in step.
func (s *Server) converseOn(fc *frame.ServerConn, op Op, call *Call) bool {
	ctx, cancel := context.WithCancel(s.ops.lifeOf(op))
	defer cancel()
	stop := context.AfterFunc(ctx, fc.Break)
	d := &dialogue{conn: fc}
	output, failed := s.ops.converse(ctx, op, call, d)
	d.lost = !stop() || d.lost
	if failed != nil {
		return fc.WriteError(failed) == nil && !d.lost
	}
	return fc.WriteReply(output, nil) == nil && !d.lost
}

// dialogue is a [Dialogue] over a connection.
type dialogue struct {
	conn *frame.ServerConn
	lost bool // the connection is not in step
	over bool // the client is done
}

func (d *dialogue) Begin(item any) error {
	text, err := json.Marshal(item)
	if err != nil {
		return err
	}
	return d.note(d.conn.WriteItem(text))
}

func (d *dialogue) Next() (frame.Piece, error) {
	if d.over {
		return frame.Piece{}, io.EOF
	}
	p, err := d.conn.ReadPiece()
	if d.over = errors.Is(err, io.EOF); d.over {
		return p, err
	}
	return p, d.note(err)
}

func (d *dialogue) Answer(p frame.Piece) error { return d.note(d.conn.WritePiece(p)) }

func (d *dialogue) note(err error) error {
	d.lost = d.lost || err != nil
	return err
}
