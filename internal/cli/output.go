package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"warder/internal/api"
	"warder/internal/secret"
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
		c.err = api.Errorf(api.Internal, "writing output: %v", err).
			WithHint("what was printed is incomplete: check where it goes to").WithCause(err)
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

// printValue writes the bytes of a value and a newline, without a copy.
func printValue(w io.Writer, v secret.Value) error {
	var failed error
	if err := v.Use(func(b []byte) { _, failed = w.Write(b) }); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// columns are rows of text that stand under each other. The last cell of a row
// is as long as it likes.
type columns struct {
	indent string
	rows   [][]string
}

// add appends a row. Its cells are made printable.
func (c *columns) add(cells ...string) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = printable(cell)
	}
	c.rows = append(c.rows, row)
}

// print writes the rows.
func (c *columns) print(w io.Writer) error {
	var widths []int
	for _, row := range c.rows {
		for i, cell := range row[:max(len(row)-1, 0)] {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var text strings.Builder
	for _, row := range c.rows {
		line := c.indent
		for i, cell := range row {
			line += cell
			if i < len(row)-1 {
				line += strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2)
			}
		}
		text.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// none says that a list is empty and how something gets into it, to a person
// who would see nothing else. For a program nothing is said.
func (env *Env) none(text string) error {
	if !isTerminal(env.Err) {
		return nil
	}
	_, err := fmt.Fprintln(env.Err, text)
	return err
}

// colour is an ANSI sequence that begins a colour.
type colour string

const (
	red    colour = "\x1b[31m"
	green  colour = "\x1b[32m"
	yellow colour = "\x1b[33m"
)

// noColour is the variable by which people ask for no colours.
const noColour = "NO_COLOR" //nolint:misspell // its name

// paint colours text where output goes to a terminal and nobody asked for none.
func (env *Env) paint(c colour, text string) string {
	if env.Getenv(noColour) != "" || env.Getenv("TERM") == "dumb" || !isTerminal(env.Out) {
		return text
	}
	return string(c) + text + "\x1b[0m"
}

// isTerminal reports whether stream, a reader or writer, is a terminal: a
// character device other than the one that swallows everything.
func isTerminal(stream any) bool {
	if c, ok := stream.(*checkedWriter); ok {
		stream = c.w
	}
	f, ok := stream.(*os.File)
	if !ok {
		return false
	}
	fi, err := f.Stat()
	if err != nil || fi.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(fi, null)
}

// plural is "1 item" or "3 items".
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// sentence makes the message of an error one that stands alone.
func sentence(message string) string {
	r, size := utf8.DecodeRuneInString(message)
	return string(unicode.ToUpper(r)) + message[size:] + "."
}
