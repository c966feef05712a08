package frame

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Code names a kind of error. Scripts and agents branch on it. Package api holds the table of all codes.
type Code string

// The codes that a connection itself can end with.
const (
	Usage       Code = "usage"       // not a request
	TooLarge    Code = "too_large"   // over a limit of F5
	Unreachable Code = "unreachable" // no daemon answers, or the connection broke
	Sandboxed   Code = "sandboxed"   // this process may not reach the socket
	Version     Code = "version"     // the daemon is of another version
)

// maxText is the most bytes of a message and of a hint on the wire. Whatever JSON makes of them fits into maxError.
const maxText = 4 << 10

// Error is an error as it crosses the socket and as a user sees it.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint"` // the next step
	ID      string `json:"id"`   // of the audit record that tells more
	// Hash is that of the act which a person is asked about. It is a claim on nothing: whoever sends the proof says with it
	// what was shown. Challenge is the word that the proof has to hold, for one use. Both are empty unless the error asks for a
	// person's presence.
	Hash      string `json:"hash,omitempty"`
	Challenge string `json:"challenge,omitempty"`

	cause error // never crosses the socket
}

// Errorf makes an Error without hint and cause.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause, which only this process knows.
func (e *Error) Unwrap() error { return e.cause }

// WithHint returns a copy of e with another hint.
func (e *Error) WithHint(hint string) *Error {
	c := *e
	c.Hint = hint
	return &c
}

// WithCause returns a copy of e that wraps cause. It is for this process's log and for errors.Is; no message holds it.
func (e *Error) WithCause(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// cut is e as it is sent.
func (e *Error) cut() *Error {
	return &Error{
		Code: e.Code, Message: Text(e.Message), Hint: Text(e.Hint), ID: Text(e.ID), Hash: Text(e.Hash), Challenge: Text(e.Challenge),
	}
}

// Text is as much of a text as an error carries.
func Text(s string) string {
	if len(s) <= maxText {
		return s
	}
	return strings.ToValidUTF8(s[:maxText], "")
}

// decodeError reads the JSON of an error. Members it does not know are passed over: an error of a newer daemon must be
// readable, or nobody learns that it is newer.
func decodeError(body []byte) (*Error, error) {
	var e Error
	if err := json.Unmarshal(body, &e); err != nil {
		return nil, fmt.Errorf("reading an error: %w", err)
	}
	if e.Code == "" {
		return nil, fmt.Errorf("reading an error: it has no code: %w", ErrMalformed)
	}
	return &e, nil
}
