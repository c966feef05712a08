package dotenv

import (
	"bytes"
	"fmt"
	"slices"
)

// Reasons are fixed texts: no byte of the file ever gets into an error.
const (
	reasonSize     = "larger than 16 MiB"
	reasonEntries  = "more than 65536 entries"
	reasonNUL      = "NUL byte: not a text file"
	reasonUTF16    = "UTF-16 text: save it as UTF-8"
	reasonNoEquals = "no = after the key"
	reasonKey      = "want KEY=value, a KEY of letters, digits, _ . and - that begins with none of . and -"
	reasonKeySize  = "key longer than 128 bytes"
	reasonOpen     = "the quote that begins here is never closed"
	reasonTail     = "text after the closing quote"
)

const bom = "\xef\xbb\xbf"

// Parse reads the content of a .env file by the package's grammar; name is only
// for errors. The result shares no memory with data. Any error is a *SyntaxError,
// and then no value is left in memory but in data.
func Parse(name string, data []byte) (*File, error) {
	p := parser{file: name, rest: data, line: 1, place: map[string]int{}}
	if err := p.checkWhole(); err != nil {
		return nil, err
	}
	p.rest = bytes.TrimPrefix(p.rest, []byte(bom))
	return p.finish()
}

// parser consumes rest from the front; every byte is looked at a bounded number of
// times, whatever the input.
type parser struct {
	file  string
	rest  []byte
	line  int // of rest[0], from 1
	out   File
	place map[string]int // name → index in out.Entries
}

func (p *parser) fail(line int, reason string) error {
	return &SyntaxError{File: p.file, Line: line, Reason: reason}
}

func (p *parser) checkWhole() error {
	if len(p.rest) > MaxFile {
		return p.fail(0, reasonSize)
	}
	i := bytes.IndexByte(p.rest, 0)
	if i < 0 {
		return nil
	}
	if bytes.HasPrefix(p.rest, []byte("\xff\xfe")) || bytes.HasPrefix(p.rest, []byte("\xfe\xff")) {
		return p.fail(0, reasonUTF16) // what PowerShell's > writes
	}
	return p.fail(1+countEOL(p.rest[:i]), reasonNUL)
}

// finish reads all lines that are left: all of them, or the file has none.
func (p *parser) finish() (*File, error) {
	for len(p.rest) > 0 {
		if err := p.readLine(); err != nil {
			p.out.Wipe()
			return nil, err
		}
	}
	// Replaced entries have no name; dropping them here keeps duplicates linear.
	p.out.Entries = slices.DeleteFunc(p.out.Entries, func(e Entry) bool { return e.Name == "" })
	return &p.out, nil
}

// readLine reads one line, or several if a quoted value spans them.
func (p *parser) readLine() error {
	p.skipBlanks()
	text := p.untilEOL()
	switch {
	case len(text) == 0, text[0] == '#':
		p.rest = p.rest[len(text):]
	default:
		if err := p.readEntry(text); err != nil {
			return err
		}
	}
	p.skipEOL()
	return nil
}

// readEntry reads an entry that begins with text, the rest of its first line.
func (p *parser) readEntry(text []byte) error {
	line := p.line
	key, after, reason := cutKey(text)
	if reason != "" {
		return p.fail(line, reason)
	}
	p.rest = p.rest[len(text)-len(after):]
	var value []byte
	if q := bytes.TrimLeft(after, " \t"); len(q) > 0 && (q[0] == '"' || q[0] == '\'') {
		p.skipBlanks()
		var err error
		if value, err = p.readQuoted(); err != nil {
			return err
		}
	} else {
		value = p.unquoted(after)
		p.rest = p.rest[len(after):]
	}
	return p.add(key, value, line)
}

// cutKey splits "[export] key =value" into key and all that follows the "=".
func cutKey(text []byte) (key, after []byte, reason string) {
	if rest, ok := bytes.CutPrefix(text, []byte("export")); ok {
		trimmed := bytes.TrimLeft(rest, " \t")
		if len(trimmed) < len(rest) && keyLength(trimmed) > 0 {
			text = trimmed
		}
	}
	n := keyLength(text)
	after = bytes.TrimLeft(text[n:], " \t")
	switch {
	case n == 0:
		return nil, nil, reasonKey
	case len(after) == 0:
		return nil, nil, reasonNoEquals
	case after[0] != '=':
		return nil, nil, reasonKey
	case n > maxKey:
		return nil, nil, reasonKeySize
	}
	return text[:n], after[1:], ""
}

// unquoted returns a copy of the value in text, which runs from the "=" to the end
// of the line.
func (p *parser) unquoted(text []byte) []byte {
	end, open := commentStart(text)
	if open {
		p.warn("the text from # on was taken as a comment, though a \" before it is open: quote the whole value to keep it")
	}
	return append([]byte{}, bytes.Trim(text[:end], " \t")...)
}

// commentStart is the index of the "#" that begins the comment of an unquoted value, or the length of text; open
// says that there is a comment and a double quote without its second before it.
func commentStart(text []byte) (end int, open bool) {
	// Where one quote has no second, none of its kind after it has: not searching again keeps this linear.
	lonelySingle := false
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '#' && i > 0 && isBlank(text[i-1]):
			return i, open
		case text[i] == '"' && !open && (i == 0 || text[i-1] != '\\'):
			n := closingQuote(text[i+1:], '"')
			open = n < 0
			i += n + 1
		case text[i] == '\'' && !lonelySingle && (i == 0 || !inWord(text[i-1])):
			n := closingSingle(text[i+1:])
			lonelySingle = n < 0
			i += n + 1
		}
	}
	return len(text), false
}

// closingSingle is the index of the first single quote in body that no word goes on after, -1 if there is none.
func closingSingle(body []byte) int {
	for i, c := range body {
		if c == '\'' && (i+1 == len(body) || !inWord(body[i+1])) {
			return i
		}
	}
	return -1
}

// inWord reports whether a single quote beside c may be an apostrophe. Bytes above 127 count: they are letters
// more often than not.
func inWord(c byte) bool { return isWord(c) || c > 127 }

// readQuoted reads a quoted value from its opening quote up to the end of the
// line that holds the closing one.
func (p *parser) readQuoted() ([]byte, error) {
	begin, quote := p.line, p.rest[0]
	body := p.rest[1:]
	end := closingQuote(body, quote)
	if end < 0 {
		return nil, p.fail(begin, reasonOpen)
	}
	body, p.rest = body[:end], body[end+1:]
	p.line += countEOL(body)

	tail := p.untilEOL()
	if t := bytes.TrimLeft(tail, " \t"); len(t) > 0 && (t[0] != '#' || len(t) == len(tail)) {
		reason := reasonTail
		if begin < p.line {
			reason += fmt.Sprintf(" of the value that begins on line %d", begin)
		}
		return nil, p.fail(p.line, reason)
	}
	p.rest = p.rest[len(tail):]
	return unquote(body, quote == '"'), nil
}

// closingQuote is the index of the quote that ends body, -1 if there is none.
func closingQuote(body []byte, quote byte) int {
	for i := 0; i < len(body); i++ {
		switch {
		case body[i] == quote:
			return i
		case body[i] == '\\' && quote == '"':
			i++
		}
	}
	return -1
}

// unquote returns the value between two quotes. It never grows its buffer,
// which would leave a copy behind.
func unquote(body []byte, escapes bool) []byte {
	out := make([]byte, 0, len(body))
	for i := 0; i < len(body); i++ {
		c := body[i]
		if i+1 < len(body) {
			next := body[i+1]
			if c == '\r' && next == '\n' {
				continue
			}
			if plain, ok := unescape(next); escapes && c == '\\' && ok {
				c = plain
				i++
			}
		}
		out = append(out, c)
	}
	return out
}

// unescape is the byte that a backslash before c stands for; false if the
// backslash is itself.
func unescape(c byte) (byte, bool) {
	switch c {
	case 'n':
		return '\n', true
	case 'r':
		return '\r', true
	case 't':
		return '\t', true
	case '"', '\\', '$', '`':
		return c, true
	}
	return 0, false
}

// add takes value over.
func (p *parser) add(key, value []byte, line int) error {
	if len(p.out.Entries) == MaxEntries {
		wipe(value)
		return p.fail(line, reasonEntries)
	}
	name := string(key)
	if i, ok := p.place[name]; ok {
		old := &p.out.Entries[i]
		p.warnAt(line, fmt.Sprintf("%s is set on line %d and again on line %d: the last one wins", name, old.Line, line))
		wipe(old.Value)
		old.Name = ""
	}
	p.place[name] = len(p.out.Entries)
	p.out.Entries = append(p.out.Entries, Entry{Name: name, Value: value, Line: line})
	return nil
}

func (p *parser) warn(text string) { p.warnAt(p.line, text) }

func (p *parser) warnAt(line int, text string) {
	p.out.Warnings = append(p.out.Warnings, Warning{Line: line, Text: text})
}

func (p *parser) skipBlanks() { p.rest = bytes.TrimLeft(p.rest, " \t") }

// untilEOL is what is left of this line. It stops at the first CR or LF: a search
// for one and then the other would be quadratic on a file that has only CRs.
func (p *parser) untilEOL() []byte {
	for i, c := range p.rest {
		if c == '\n' || c == '\r' {
			return p.rest[:i]
		}
	}
	return p.rest
}

// skipEOL steps over the line end that rest begins with, if any is left.
func (p *parser) skipEOL() {
	switch {
	case len(p.rest) == 0:
		return
	case bytes.HasPrefix(p.rest, []byte("\r\n")):
		p.rest = p.rest[2:]
	default:
		p.rest = p.rest[1:]
	}
	p.line++
}

// countEOL counts the line ends in b.
func countEOL(b []byte) int {
	return bytes.Count(b, []byte("\n")) + bytes.Count(b, []byte("\r")) - bytes.Count(b, []byte("\r\n"))
}
