package state

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// entry is one key of the file with its value still as written.
type entry struct {
	name string // dotted
	kind unstable.Kind
	text string
	from Origin
}

// textFor returns the entry's value in the form of a flag, or an error if its
// TOML type is not one that the option's kind is written in.
func (e entry) textFor(k OptionKind) (string, error) {
	switch {
	case e.kind == unstable.String && k != KindInt && k != KindBool,
		e.kind == unstable.Bool && k == KindBool:
		return e.text, nil
	case e.kind == unstable.Integer && (k == KindInt || k == KindSize):
		// TOML also has 0x10, 1_000 and +1.
		n, err := strconv.ParseInt(e.text, 0, 64)
		if err != nil {
			return "", fmt.Errorf("%s is not a whole number", excerpt(e.text))
		}
		return strconv.FormatInt(n, 10), nil
	default:
		return "", fmt.Errorf("got TOML %s, want %s", strings.ToLower(e.kind.String()), k)
	}
}

// readTOML returns the keys of a TOML file in its order. A file that is
// not TOML as a whole gives none: half a file must not count.
func readTOML(file []byte, path string) ([]entry, error) {
	// The decoder checks what the parser below, which knows the lines, does not:
	// keys that are given twice and tables that contradict each other.
	var whole map[string]any
	if err := toml.Unmarshal(file, &whole); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			row, column := at.Position()
			return nil, fmt.Errorf("reading settings: %s:%d:%d: %w", path, row, column, err)
		}
		return nil, fmt.Errorf("reading settings: %s: %w", path, err)
	}
	w := walker{path: path}
	w.parser.Reset(file)
	var table string
	for w.parser.NextExpression() {
		node := w.parser.Expression()
		if node.Kind == unstable.KeyValue {
			w.keyValue(table, node)
			continue
		}
		table = w.name("", node)
		if node.Kind == unstable.ArrayTable {
			table += "[]" // no option lies in one
		}
	}
	if err := w.parser.Error(); err != nil {
		return nil, fmt.Errorf("reading settings: %s: %w", path, err)
	}
	return w.entries, nil
}

// walker collects the entries of a file.
type walker struct {
	parser  unstable.Parser
	path    string
	entries []entry
}

// keyValue adds the entry of one "key = value", and those of an inline table.
func (w *walker) keyValue(table string, node *unstable.Node) {
	name, value := w.name(table, node), node.Value()
	if value.Kind == unstable.InlineTable {
		for it := value.Children(); it.Next(); {
			w.keyValue(name, it.Node())
		}
		return
	}
	w.entries = append(w.entries, entry{
		name: name, kind: value.Kind, text: string(value.Data),
		from: Origin{Kind: FromFile, Name: w.path, Line: w.line(node)},
	})
}

// name is the dotted key of node below table. An element that is no plain word
// is quoted, so that "lock.idle" in quotes, one key, is not the option.
func (w *walker) name(table string, node *unstable.Node) string {
	var parts []string
	if table != "" {
		parts = append(parts, table)
	}
	for it := node.Key(); it.Next(); {
		part := string(it.Node().Data)
		if part == "" || strings.ContainsAny(part, ".[]\"") {
			part = strconv.Quote(part)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ".")
}

// line is the line on which the key of node begins.
func (w *walker) line(node *unstable.Node) int {
	it := node.Key()
	if !it.Next() {
		return 0
	}
	return w.parser.Shape(it.Node().Raw).Start.Line
}
