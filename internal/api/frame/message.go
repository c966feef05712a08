package frame

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxOp is the most bytes of an operation's name.
const maxOp = 64

// Request is the JSON of a request: which operation, its input, and how many values follow.
type Request struct {
	Op     string          `json:"op"`
	Input  json.RawMessage `json:"input,omitempty"`
	Values int             `json:"values,omitempty"`
}

// reply is the JSON of a reply.
type reply struct {
	Output json.RawMessage `json:"output,omitempty"`
	Values int             `json:"values,omitempty"`
}

// ValidOp reports whether op can be the name of an operation: 1 to 64 lower-case letters, digits, '.', '_' and '-',
// beginning with a letter.
func ValidOp(op string) bool {
	if op == "" || len(op) > maxOp || op[0] < 'a' || op[0] > 'z' {
		return false
	}
	for _, c := range []byte(op) {
		letter := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
		if !letter && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// decodeRequest reads the JSON of a request.
func decodeRequest(body []byte) (Request, error) {
	var r Request
	if err := Decode(body, &r); err != nil {
		return Request{}, err
	}
	if !ValidOp(r.Op) {
		return Request{}, errors.New("not the name of an operation")
	}
	return r, checkCount(r.Values)
}

// decodeReply reads the JSON of a reply.
func decodeReply(body []byte) (reply, error) {
	var r reply
	if err := Decode(body, &r); err != nil {
		return reply{}, err
	}
	return r, checkCount(r.Values)
}

func checkCount(values int) error {
	if values < 0 || values > MaxValues {
		return fmt.Errorf("%d values, the limit is %d", values, MaxValues)
	}
	return nil
}

// Decode reads exactly one JSON value into a struct. A member that the struct does not have is an error: an end that
// does not know it would otherwise act on half of what it was told.
func Decode(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("reading JSON: %w", noEOF(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("reading JSON: more follows after the first value")
	}
	return nil
}
