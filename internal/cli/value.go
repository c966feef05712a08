package cli

import (
	"bytes"
	"errors"
	"fmt"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/secret"
)

// maxField is the most bytes that a field of the vault holds.
const maxField = frame.MaxValue - 1

// readValue gets a value that must not stand in a command line: from a hidden
// prompt where standard input is a terminal, else from standard input, without
// its final newline. The caller destroys it.
func (env *Env) readValue(prompt string) (secret.Value, error) {
	if isTerminal(env.In) {
		return env.askValue(prompt)
	}
	if env.In == nil {
		return secret.Value{}, nil
	}
	all, err := secret.Read(env.In, maxField+2)
	if errors.Is(err, secret.ErrTooLarge) {
		return secret.Value{}, tooLargeValue()
	}
	if err != nil {
		return secret.Value{}, fmt.Errorf("reading the value from standard input: %w", err)
	}
	defer all.Destroy()
	n := all.Len()
	if err := all.Use(func(b []byte) { n = withoutNewline(b) }); err != nil {
		return secret.Value{}, err
	}
	if n > maxField {
		return secret.Value{}, tooLargeValue()
	}
	return part(all, 0, n)
}

// askValue reads a value at a hidden prompt. It tells how long it is, which is
// how a slip of pasting is noticed.
func (env *Env) askValue(prompt string) (secret.Value, error) {
	if _, _, err := env.placesHere(); err != nil {
		return secret.Value{}, err // before anything is typed
	}
	c, err := env.console()
	if err != nil {
		return secret.Value{}, noTerminal(err)
	}
	defer c.close()
	v, err := c.hidden(prompt)
	if err != nil {
		return secret.Value{}, err
	}
	if err := c.say("(%s)", plural(v.Len(), "byte")); err != nil {
		v.Destroy()
		return secret.Value{}, err
	}
	return v, nil
}

func tooLargeValue() *api.Error {
	return api.Errorf(api.TooLarge, "the value has more than %d bytes, the limit of a field", maxField)
}

// noTerminal is the failure of a command that has to ask a person where there
// is no terminal.
func noTerminal(cause error) *api.Error {
	return usageError("there is no terminal to ask on").
		WithHint("run it in a terminal, or give the value on standard input").WithCause(cause)
}

// withoutNewline is how many bytes of b count: all but one final newline, which
// is no part of a value unless the value has lines.
func withoutNewline(b []byte) int {
	body, found := bytes.CutSuffix(b, []byte("\n"))
	if !found || bytes.ContainsRune(body, '\n') {
		return len(b)
	}
	return len(bytes.TrimSuffix(body, []byte("\r")))
}

// part copies bytes from to to of v into a value of their own.
func part(v secret.Value, from, to int) (secret.Value, error) {
	var out secret.Value
	var err error
	used := v.Use(func(b []byte) {
		out, err = secret.Make(to-from, func(dst []byte) error {
			copy(dst, b[from:to])
			return nil
		})
	})
	return out, errors.Join(used, err)
}
