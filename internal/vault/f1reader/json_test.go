package f1reader

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth is how deep objects and lists may nest, the outermost counted.
const maxDepth = 16

// maxInteger is the largest integer of canonical JSON, as is its negative.
const maxInteger = 1<<53 - 1

// parseCanonical reads canonical JSON. Values are map[string]any, []any,
// string, int64 and bool; there is no null.
func parseCanonical(text []byte) (any, error) {
	p := &jsonParser{rest: string(text)}
	v, err := p.value(0)
	if err == nil && p.rest != "" {
		err = errors.New("bytes after the end")
	}
	if err != nil {
		return nil, fmt.Errorf("reading canonical JSON: %w", err)
	}
	return v, nil
}

// jsonParser consumes its text from the front.
type jsonParser struct{ rest string }

// eat consumes a prefix if it is there.
func (p *jsonParser) eat(prefix string) bool {
	rest, found := strings.CutPrefix(p.rest, prefix)
	if found {
		p.rest = rest
	}
	return found
}

// value reads one value inside depth others.
func (p *jsonParser) value(depth int) (any, error) {
	if depth == maxDepth && strings.IndexAny(p.rest, "[{") == 0 {
		return nil, errors.New("nested too deep")
	}
	switch {
	case p.eat("true"):
		return true, nil
	case p.eat("false"):
		return false, nil
	case p.eat(`"`):
		return p.text()
	case p.eat("{"):
		return p.object(depth + 1)
	case p.eat("["):
		return p.list(depth + 1)
	}
	return p.integer()
}

// object reads an object after its opening brace. Keys ascend by the bytes of
// what they stand for, not of how it is escaped.
func (p *jsonParser) object(depth int) (map[string]any, error) {
	members := map[string]any{}
	if p.eat("}") {
		return members, nil
	}
	for last := ""; ; {
		if !p.eat(`"`) {
			return nil, errors.New("no key")
		}
		key, err := p.text()
		if err != nil {
			return nil, err
		}
		if len(members) > 0 && key <= last {
			return nil, fmt.Errorf("key %q twice or out of order", key)
		}
		if !p.eat(":") {
			return nil, errors.New("no value")
		}
		if members[key], err = p.value(depth); err != nil {
			return nil, err
		}
		last = key
		if p.eat("}") {
			return members, nil
		}
		if !p.eat(",") {
			return nil, errors.New("object without end")
		}
	}
}

// list reads a list after its opening bracket.
func (p *jsonParser) list(depth int) ([]any, error) {
	values := []any{}
	if p.eat("]") {
		return values, nil
	}
	for {
		v, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
		if p.eat("]") {
			return values, nil
		}
		if !p.eat(",") {
			return nil, errors.New("list without end")
		}
	}
}

// integer reads a number. Digits that strconv writes otherwise, such as -0 or
// 01, are not canonical.
func (p *jsonParser) integer() (int64, error) {
	digits := p.rest[:len(p.rest)-len(strings.TrimLeft(p.rest, "-0123456789"))]
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != digits || n > maxInteger || n < -maxInteger {
		return 0, errors.New("no canonical value")
	}
	p.rest = p.rest[len(digits):]
	return n, nil
}

// text reads a string after its opening quote.
func (p *jsonParser) text() (string, error) {
	var out strings.Builder
	for {
		at := strings.IndexFunc(p.rest, func(r rune) bool { return r == '"' || r == '\\' || r < 0x20 })
		if at < 0 || p.rest[at] < 0x20 {
			return "", errors.New("string without end or with a bare control character")
		}
		out.WriteString(p.rest[:at])
		special := p.rest[at]
		p.rest = p.rest[at+1:]
		if special == '"' {
			break
		}
		b, err := p.escape()
		if err != nil {
			return "", err
		}
		out.WriteByte(b)
	}
	if !utf8.ValidString(out.String()) {
		return "", errors.New("string that is not UTF-8")
	}
	return out.String(), nil
}

// escape reads what follows a backslash. Each byte has one escape only.
func (p *jsonParser) escape() (byte, error) {
	for short, b := range map[string]byte{`"`: '"', `\`: '\\', "b": '\b', "f": '\f', "n": '\n', "r": '\r', "t": '\t'} {
		if p.eat(short) {
			return b, nil
		}
	}
	for b := range byte(0x20) {
		if !strings.ContainsRune("\b\f\n\r\t", rune(b)) && p.eat(fmt.Sprintf("u%04x", b)) {
			return b, nil
		}
	}
	return 0, errors.New("escape that is not canonical")
}
