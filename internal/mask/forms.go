package mask

import "bytes"

const (
	// MinLength is the length below which a value is never looked for: it would hide half of what a program prints.
	MinLength = 4
	// minLine is the length below which a line of a value is not looked for on its own, such as a brace of JSON.
	minLine = 12
	// escapedNewline is a newline as JSON writes it.
	escapedNewline = `\n`
)

// form is one way in which programs spell a value.
type form struct {
	name string
	// has is what a value has if there is anything to spell in this way.
	has string
	// grow is how many times longer than the value a spelling may be. 0: spellings are pieces of the value.
	grow int
	// spell hands each spelling to put, which copies it. room is empty, has room for grow times the value, and is
	// locked memory as v is; v and room must not be kept.
	spell func(v, room []byte, put func([]byte))
}

// forms are the spellings that are looked for beside the value itself.
func forms() []form {
	return []form{
		{"trimmed", "", 0, trimmed},
		{"crlf", "\n", 2, crlf},
		{"lf", "\r\n", 1, lf},
		{"lines", "\n", 0, lines},
		{"escaped lines", escapedNewline, 0, escapedLines},
		{"base64", "", 2, base64Of},
		{"hex", "", 2, hexOf},
		{"percent", "", 3, percentOf},
		{"json", "", 6, jsonOf},
		{"shell", "", 5, shellOf},
	}
}

// formsOf are the forms that apply to a value, and how often its length is the room that they need.
func formsOf(v []byte) (apply []form, grow int) {
	for _, f := range forms() {
		if f.grow > 0 && len(v) > maxEncoded {
			continue
		}
		if bytes.Contains(v, []byte(f.has)) {
			apply = append(apply, f)
			grow = max(grow, f.grow)
		}
	}
	return apply, grow
}

// trimmed is the value as a shell's $(…) and most readers of files take it: without the line ends behind it.
func trimmed(v, _ []byte, put func([]byte)) {
	if t := bytes.TrimRight(v, "\r\n"); len(t) < len(v) {
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

// lines are those of a value of several lines, which programs like to indent, number or quote.
func lines(v, _ []byte, put func([]byte)) {
	for line := range bytes.Lines(v) {
		putLine(bytes.Trim(line, "\r\n"), put)
	}
}

// escapedLines are the lines of a key that stands inside a JSON document, with \n for its newlines: whoever reads the
// document prints the key with true ones.
func escapedLines(v, _ []byte, put func([]byte)) {
	for line := range bytes.Lines(v) {
		for piece := range bytes.SplitSeq(bytes.Trim(line, "\r\n"), []byte(escapedNewline)) {
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
