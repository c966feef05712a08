package frame_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"testing"
	"time"

	"warder/internal/api/frame"
	"warder/internal/secret"
)

// canned is a connection whose other end said everything at once and reads everything.
type canned struct{ r *bytes.Reader }

func (c canned) Read(b []byte) (int, error)       { return c.r.Read(b) }
func (c canned) Write(b []byte) (int, error)      { return len(b), nil }
func (c canned) Close() error                     { return nil }
func (c canned) LocalAddr() net.Addr              { return nil }
func (c canned) RemoteAddr() net.Addr             { return nil }
func (c canned) SetDeadline(time.Time) error      { return nil }
func (c canned) SetReadDeadline(time.Time) error  { return nil }
func (c canned) SetWriteDeadline(time.Time) error { return nil }

// FuzzServerConn serves whatever bytes a client sends.
func FuzzServerConn(f *testing.F) {
	f.Fuzz(func(t *testing.T, sent []byte) {
		nc := canned{bytes.NewReader(sent)}
		budget := frame.NewBudget(1 << 20)
		server, err := accept(nc, budget)
		if err != nil {
			return
		}
		if client := server.Client(); client.Check() != nil || client.Protocol != frame.Protocol {
			t.Fatalf("accepted %+v", client)
		}
		for {
			req, values, err := readRequest(server)
			if err != nil {
				break
			}
			checkRequest(t, req, values)
			server.WriteReply(req.Input, values)
			frame.DestroyAll(values)
			server.Done()
		}
		server.Done()
		if budget.Left() != 1<<20 {
			t.Fatalf("left %d of the budget", budget.Left())
		}
	})
}

func readRequest(server *frame.ServerConn) (frame.Request, []secret.Value, error) {
	req, err := server.ReadRequest()
	if err != nil {
		return req, nil, err
	}
	values, err := server.ReadValues(req.Values)
	return req, values, err
}

func checkRequest(t *testing.T, req frame.Request, values []secret.Value) {
	if !frame.ValidOp(req.Op) || len(values) != req.Values || len(values) > frame.MaxValues {
		t.Fatalf("read %+v with %d values", req, len(values))
	}
	if len(req.Input) > 0 && !json.Valid(req.Input) {
		t.Fatalf("input %q", req.Input)
	}
	for _, v := range values {
		if v.Len() > frame.MaxValue {
			t.Fatalf("a value of %d bytes", v.Len())
		}
	}
}

// FuzzClientConn believes whatever bytes a daemon answers.
func FuzzClientConn(f *testing.F) {
	f.Fuzz(func(t *testing.T, sent []byte) {
		client, err := frame.Handshake(t.Context(), canned{bytes.NewReader(sent)}, self())
		if err != nil {
			return
		}
		err = client.Stream(t.Context(), "op", nil, func(item json.RawMessage) error {
			if len(item) > frame.MaxJSON {
				t.Fatalf("an item of %d bytes", len(item))
			}
			return nil
		})
		var e *frame.Error
		if err != nil && (!errors.As(err, &e) || e.Code == "") {
			t.Fatalf("an error of no code: %v", err)
		}
		for {
			output, values, err := client.Call(t.Context(), "op", nil, nil)
			if err != nil && len(values) > 0 {
				t.Fatal("values beside an error")
			}
			if err == nil && len(output) > 0 && !json.Valid(output) {
				t.Fatalf("output %q", output)
			}
			frame.DestroyAll(values)
			if errors.As(err, &e) && e.Unwrap() != nil {
				return // the connection ended
			}
		}
	})
}

// FuzzRequest decodes the JSON of a request: what is read once and written again is read the same.
func FuzzRequest(f *testing.F) {
	f.Fuzz(func(t *testing.T, body []byte) {
		req, err := frame.DecodeRequest(body)
		if err != nil {
			return
		}
		if !frame.ValidOp(req.Op) || req.Values < 0 || req.Values > frame.MaxValues {
			t.Fatalf("read %+v", req)
		}
		text, err := json.Marshal(req)
		if err != nil {
			t.Fatal(err)
		}
		again, err := frame.DecodeRequest(text)
		if err != nil || again.Op != req.Op || again.Values != req.Values {
			t.Fatalf("%q became %q: %v", body, text, err)
		}
	})
}
