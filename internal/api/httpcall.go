package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"warder/internal/api/frame"
)

const (
	// The headers of the handshake, in both directions.
	headerProtocol = "Warder-Protocol"
	headerVersion  = "Warder-Version"
	headerSHA256   = "Warder-Sha256"

	callPath   = "/v1/"
	streamPath = "/v1/stream/"

	bodyTime = 10 * time.Second // for a request's body once its head is there
	takeTime = 30 * time.Second // for a client to take an answer, or one item of a stream
)

// ServeHTTP implements http.Handler.
func (h *httpSide) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := h.server
	head := w.Header()
	head.Set(headerProtocol, strconv.Itoa(s.hello.Protocol))
	head.Set(headerVersion, s.hello.Version)
	if s.hello.SHA256 != "" {
		head.Set(headerSHA256, s.hello.SHA256)
	}
	head.Set("Cache-Control", "no-store")
	head.Set("X-Content-Type-Options", "nosniff")
	c, ok := r.Context().Value(connKey{}).(*conn)
	if !ok {
		return // net/http was given nothing else
	}
	share := s.budget.Share()
	defer share.Give()
	op, call, err := h.readCall(w, r, &share)
	if err != nil {
		writeError(w, AsError(err))
		return
	}
	if !s.conns.begin(c) {
		c.drop() // displaced, or shutting down: closed without an answer, and nothing was done
		return
	}
	defer s.conns.end(c)
	call.Peer = c.peer
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	life := s.ops.lifeOf(op)
	defer context.AfterFunc(life, func() { cancel(context.Cause(life)) })()
	if op.Stream != nil {
		h.stream(ctx, w, op, call)
		return
	}
	output, _, failed := s.ops.call(ctx, op, call)
	if failed != nil {
		writeError(w, failed)
		return
	}
	writeJSON(w, http.StatusOK, output)
}

// readCall reads a request.
func (h *httpSide) readCall(w http.ResponseWriter, r *http.Request, share *frame.Share) (Op, *Call, error) {
	client, err := h.server.meets(r.Header)
	if err != nil {
		return Op{}, nil, err
	}
	name, wantStream, err := route(r)
	if err != nil {
		return Op{}, nil, err
	}
	op, err := h.server.ops.lookUp(name)
	if err != nil {
		return Op{}, nil, err
	}
	switch {
	case op.carriesValues() || op.Dialogue != nil:
		return Op{}, nil, Errorf(Usage, "%s carries values, which cross in frames alone", name)
	case wantStream != (op.Stream != nil):
		return Op{}, nil, Errorf(Usage, "%s is not the way to %s: POST %sOP, or GET %sOP for streams", r.Method+" "+r.URL.Path, name, callPath, streamPath)
	}
	input := []byte(r.URL.Query().Get("input"))
	if !wantStream {
		if input, err = readInput(w, r, share); err != nil {
			return Op{}, nil, err
		}
	}
	if len(input) == 0 {
		return op, &Call{Op: name, Client: client}, nil
	}
	if !json.Valid(input) {
		return Op{}, nil, Errorf(Usage, "the input of %s is not JSON", name)
	}
	return op, &Call{Op: name, Input: input, Client: client}, nil
}

// meets checks the handshake. Asking for a header that no form and no plain link can send also keeps a request out that a
// browser, or a program that fetches foreign URLs, was tricked into.
func (s *Server) meets(head http.Header) (frame.Hello, error) {
	protocol, err := strconv.Atoi(head.Get(headerProtocol))
	if err != nil {
		return frame.Hello{}, Errorf(Usage, "the header %s is missing or no number", headerProtocol)
	}
	client := frame.Hello{Protocol: protocol, Version: head.Get(headerVersion), SHA256: head.Get(headerSHA256)}
	if client.Version == "" {
		client.Version = "unknown"
	}
	if err := client.Check(); err != nil {
		return frame.Hello{}, Errorf(Usage, "the headers of the handshake: %v", err)
	}
	if client.Protocol != s.hello.Protocol {
		err := &frame.VersionError{Client: client, Server: s.hello}
		return frame.Hello{}, Errorf(Version, "%s", err.Error()).WithCause(err)
	}
	return client, nil
}

// route finds the operation's name.
func route(r *http.Request) (name string, stream bool, err error) {
	if name, ok := strings.CutPrefix(r.URL.Path, streamPath); ok && r.Method == http.MethodGet {
		return name, true, nil
	}
	if name, ok := strings.CutPrefix(r.URL.Path, callPath); ok && r.Method == http.MethodPost {
		return name, false, nil
	}
	return "", false, Errorf(Usage, "there is nothing at %q: POST %sOP, or GET %sOP for streams", r.Method+" "+r.URL.Path, callPath, streamPath)
}

// readInput reads the body.
func readInput(w http.ResponseWriter, r *http.Request, share *frame.Share) ([]byte, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, Errorf(Usage, "the input is not declared as application/json")
	}
	size := r.ContentLength
	if size < 0 {
		size = frame.MaxJSON // chunked: it may be as long
	}
	if size > frame.MaxJSON {
		return nil, Errorf(TooLarge, "an input of %d bytes, the limit is %d", size, frame.MaxJSON)
	}
	if !share.Take(int(size)) {
		return nil, Errorf(Unreachable, "the daemon has too many large requests to serve at once").WithHint("try again in a moment")
	}
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Now().Add(bodyTime)); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, frame.MaxJSON))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, Errorf(TooLarge, "the input has more than %d bytes", frame.MaxJSON)
	case err != nil:
		return nil, Errorf(Usage, "the input did not arrive").WithCause(err)
	}
	return body, control.SetReadDeadline(time.Time{})
}

// stream answers with NDJSON: {"item":…} for each item and {"error":{…}} at the end of a stream that failed. One that
// ended well ends with the body, whose chunks tell it from one that was cut.
func (h *httpSide) stream(ctx context.Context, w http.ResponseWriter, op Op, call *Call) {
	control := http.NewResponseController(w)
	began := false
	line := func(v any) error {
		if !began {
			w.Header().Set("Content-Type", "application/x-ndjson")
			began = true
		}
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if err := control.SetWriteDeadline(time.Now().Add(takeTime)); err != nil {
			return err
		}
		if _, err := w.Write(append(text, '\n')); err != nil {
			return err
		}
		return control.Flush()
	}
	failed := h.server.ops.stream(ctx, op, call, func(item json.RawMessage) error {
		return line(map[string]json.RawMessage{"item": item})
	})
	switch {
	case failed == nil && !began:
		w.Header().Set("Content-Type", "application/x-ndjson")
	case failed != nil && began:
		_ = line(map[string]*Error{"error": failed}) // the client may have gone
	case failed != nil:
		writeError(w, failed)
	}
}

func writeError(w http.ResponseWriter, e *Error) {
	text, err := json.Marshal(map[string]*Error{"error": e})
	if err != nil {
		text = []byte(`{"error":{"code":"internal","message":"unknown"}}`)
	}
	writeJSON(w, httpStatus(e.Code), text)
}

// writeJSON sends an answer. Its errors mean that the client has gone.
func writeJSON(w http.ResponseWriter, status int, text json.RawMessage) {
	if len(text) == 0 {
		text = json.RawMessage("null")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)+1))
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(takeTime))
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // #nosec G705 -- JSON, declared as such, and nosniff
}

// httpStatus is a status that fits the code, for tools that look at nothing else.
func httpStatus(code Code) int {
	if code == TooLarge {
		return http.StatusRequestEntityTooLarge
	}
	if code == Exists {
		return http.StatusConflict
	}
	switch RowOf(code).Exit {
	case ExitUsage:
		return http.StatusBadRequest
	case ExitDenied, ExitUnapproved:
		return http.StatusForbidden
	case ExitUnreachable:
		return http.StatusServiceUnavailable
	case ExitLocked:
		return http.StatusLocked
	case ExitNotFound:
		return http.StatusNotFound
	}
	return http.StatusInternalServerError
}
