package mask

import "bytes"

const (
	// minLine is the length below which a line of a value is not looked for on its own, such as a brace of JSON.
	minLine = 12
	// escapedNewline is a newline as JSON writes it.
	escapedNewline = `\n`
	// blanks are what stands around words and lines.
	blanks = " \t\r\n"
)

// trimmed is the value without the line ends behind it.
func trimmed(v, _ []byte, put func([]byte)) {
	if t := withoutEnd(v); len(t) < len(v) {
		put(t)
	}
}

// crlf is what a terminal makes of a value with newlines.
func crlf(v, room []byte, put func([]byte)) {
	out := room
	for i, c := range v {
		if c == '\n' && (i == 0 || v[i-1] != '\r') {
			out = append(out, '\r')
		}
		out = append(out, c)
	}
	if len(out) > len(v) {
		put(out)
		trimmed(out, nil, put)
	}
}

// lf is what a program makes of a value that was written with the line ends of DOS.
func lf(v, room []byte, put func([]byte)) {
	out := room
	for i, c := range v {
		if c != '\r' || i+1 == len(v) || v[i+1] != '\n' {
			out = append(out, c)
		}
	}
	if len(out) < len(v) {
		put(out)
		trimmed(out, nil, put)
	}
}

// escapedNewlines is a value on one line with nothing but its line ends escaped, as files of variables have it.
func escapedNewlines(v, room []byte, put func([]byte)) {
	end := len(withoutEnd(v))
	out := room
	for i, c := range v {
		if i == end && i > 0 {
			put(out)
		}
		switch c {
		case '\n':
			out = append(out, '\\', 'n')
		case '\r':
			out = append(out, '\\', 'r')
		default:
			out = append(out, c)
		}
	}
	put(out)
}

// spaces is a value that a shell split into words, or a program into lines, and joined again. Shells take the ends of
// lines of DOS for parts of words.
func spaces(v, room []byte, put func([]byte)) {
	v = bytes.Trim(v, blanks)
	put(words(v, room, bytesOf([]byte(blanks))))
	put(words(v, room, bytesOf([]byte(" \t\n"))))
	out := room
	for i, c := range v {
		switch {
		case c == '\r' && v[i+1] == '\n': // no blank ends v
		case c == '\n':
			out = append(out, ' ')
		default:
			out = append(out, c)
		}
	}
	put(out)
}

// words is text that doesn't begin with a blank, with one space in the place of blanks.
func words(v, out []byte, blank byteSet) []byte {
	for i, c := range v {
		if !blank.has(c) {
			out = append(out, c)
		} else if !blank.has(v[i-1]) {
			out = append(out, ' ')
		}
	}
	return out
}

// lines are those of a value of several lines, which programs like to indent, number or quote.
func lines(v, _ []byte, put func([]byte)) {
	for line := range bytes.Lines(v) {
		line = bytes.Trim(line, "\r\n")
		putLine(line, put)
		if bare := bytes.Trim(line, blanks); len(bare) < len(line) {
			putLine(bare, put)
		}
	}
}

// linesInJSON are the lines as a log in JSON has them, which takes one at a time.
func linesInJSON(v, room []byte, put func([]byte)) {
	lines(v, nil, func(line []byte) {
		if bytesOf(line).meets(jsonEscaped()) {
			jsonOf(line, room, put)
		}
	})
}

// escapedLines are the lines of a key that stands inside a JSON document, with \n for its newlines: whoever reads the
// document prints the key with true ones.
func escapedLines(v, _ []byte, put func([]byte)) {
	for line := range bytes.Lines(v) {
		for piece := range bytes.SplitSeq(bytes.Trim(line, blanks), []byte(escapedNewline)) {
			putLine(bytes.TrimSuffix(piece, []byte(`\r`)), put)
		}
	}
}

// putLine leaves out what is short and what all keys have in common.
func putLine(line []byte, put func([]byte)) {
	if len(line) < minLine || bytes.Contains(line, []byte("-----BEGIN ")) || bytes.Contains(line, []byte("-----END ")) {
		return
	}
	put(line)
}
