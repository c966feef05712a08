package cli

import (
	"encoding/json"
	"fmt"
	"io"
)

// checkedWriter remembers the first failed write. Cobra's help and completion
// ignore it, and so would every Fprintf: a full disk must not look like success.
type checkedWriter struct {
	w   io.Writer
	err error
}

// Write implements [io.Writer]. Its error carries a code.
func (c *checkedWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	if err == nil {
		return n, nil
	}
	if c.err == nil {
		c.err = &failure{
			code:    codeInternal,
			message: fmt.Sprintf("writing output: %v", err),
			hint:    "what was printed is incomplete: check where it goes to",
			cause:   err,
		}
	}
	return n, c.err
}

// printJSON writes v as one line, the form of every --json output.
func printJSON(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding output: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}
