package mask

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// jsonGrow is what a character of one byte may become: \u0001, and escaped again \\u0001, both at once.
const jsonGrow = 6 + 7

// json is how a language writes a string.
type json struct {
	escaped   byteSet // beside what all escape
	ascii     bool    // nothing but ASCII
	upper     bool    // digits
	quote     bool    // \u0022, not \"
	separator bool    // U+2028 and U+2029 are escaped, which old JavaScript takes for line ends
	replaced  bool    // what is no UTF-8
	crlf      bool    // newlines
}

// jsonEscaped are the bytes that a language may write differently in JSON, or that all do.
func jsonEscaped() byteSet {
	s := bytesOf([]byte("\"\\/<>&'+`=\x7f"))
	s[0] |= 1<<' ' - 1
	s[2], s[3] = ^uint64(0), ^uint64(0)
	return s
}

// jsonOf is a value in a JSON string, and in a JSON string inside another one, as a log has what a server answered.
func jsonOf(v, room []byte, put func([]byte)) {
	dialects := [...]struct {
		escaped string
		json
	}{
		{"", json{}}, // JavaScript, Rust
		{"", json{separator: true, replaced: true}},                 // Go
		{"<>&", json{separator: true, replaced: true}},              // Go by default, Ruby on Rails
		{"", json{ascii: true}},                                     // Python
		{"/", json{ascii: true}},                                    // PHP
		{"/", json{separator: true}},                                // PHP, Unicode as it is
		{"<>&'+`\x7f", json{ascii: true, upper: true, quote: true}}, // .NET
		{"<>&'=", json{separator: true}},                            // Java: Gson
		{"", json{ascii: true, upper: true}},                        // Java: Jackson
	}
	has := bytesOf(v)
	if !has.meets(jsonEscaped()) {
		return
	}
	const withCRLF = 4 // of the dialects: the usual ones, since a key of many lines takes much memory in each
	var array [len(dialects) + withCRLF]json
	all := array[:0]
	for _, d := range dialects {
		d.json.escaped = bytesOf([]byte(d.escaped))
		all = append(all, d.json)
	}
	for _, d := range all[:withCRLF] {
		d.crlf = true
		all = append(all, d)
	}
	spoken := distinct(all, narrowJSON(v, has))
	for i, d := range spoken {
		once := d.spell(v, room)
		again := once[len(once):]
		if len(once) > len(v) {
			put(once)
			put(backslashed(once, again, bytesOf([]byte(`'\`)), false)) // a document as Python shows it
		}
		outer := spoken[i : i+1]
		if d.escaped == (byteSet{}) && !d.ascii && !d.crlf { // what escapes least is what others get to escape
			outer = spoken
		}
		for _, o := range outer {
			if o.crlf && len(outer) > 1 { // there are no newlines any more
				continue
			}
			if twice := o.spell(once, again); len(twice) > len(once) {
				put(twice)
			}
		}
	}
}

// narrowJSON makes what narrows a dialect to what v has.
func narrowJSON(v []byte, has byteSet) func(json) json {
	control, wide := has[0]&(1<<' '-1) != 0, has[2]|has[3] != 0
	text, separator := utf8.Valid(v), bytes.Contains(v, []byte("\u2028")) || bytes.Contains(v, []byte("\u2029"))
	return func(d json) json {
		d.escaped = d.escaped.both(has)
		d.ascii = d.ascii && wide
		d.upper = d.upper && (d.ascii || control || d.escaped != byteSet{})
		d.quote = d.quote && has.has('"')
		d.separator = d.separator && separator && !d.ascii
		d.replaced = d.replaced && !text
		d.crlf = d.crlf && has.has('\n')
		return d
	}
}

func (d json) spell(v, out []byte) []byte {
	digits := lowerHex
	if d.upper {
		digits = upperHex
	}
	judged := byteSet{d.escaped[0] | 1<<'"' | (1<<' ' - 1), d.escaped[1] | 1<<('\\'-64), ^uint64(0), ^uint64(0)}
	for i := 0; i < len(v); {
		c := v[i]
		if !judged.has(c) {
			out = append(out, c)
			i++
			continue
		}
		if c < utf8.RuneSelf {
			if c == '\n' && d.crlf && (i == 0 || v[i-1] != '\r') {
				out = append(out, '\\', 'r')
			}
			out = d.char(out, c, digits)
			i++
			continue
		}
		r, n := utf8.DecodeRune(v[i:])
		invalid := r == utf8.RuneError && n == 1
		switch {
		case invalid && d.replaced:
			out = append(out, `\ufffd`...)
		case !invalid && (d.ascii || d.separator && (r == '\u2028' || r == '\u2029')):
			out = appendUnits(out, r, digits)
		default:
			out = append(out, v[i:i+n]...)
		}
		i += n
	}
	return out
}

func (d json) char(out []byte, c byte, digits string) []byte {
	switch {
	case c == '"' && !d.quote, c == '\\':
		return append(out, '\\', c)
	case c == '/' && d.escaped.has(c):
		return append(out, '\\', c)
	case c < ' ':
		if name := named(c, "\b\t\n\f\r", "btnfr"); name != 0 {
			return append(out, '\\', name)
		}
	}
	return append(out, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

// named is the letter by which an escape tells a character; 0: there is none.
func named(c byte, chars, letters string) byte {
	for i := range len(chars) {
		if chars[i] == c {
			return letters[i]
		}
	}
	return 0
}

// appendUnits writes a character as the one or two units of UTF-16 that it is.
func appendUnits(out []byte, r rune, digits string) []byte {
	if r >= 0x10000 {
		r -= 0x10000
		return appendUnits(appendUnits(out, 0xd800+r>>10, digits), 0xdc00+r&0x3ff, digits)
	}
	return appendDigits(append(out, '\\', 'u'), r, 4, digits)
}

func appendDigits(out []byte, r rune, n int, digits string) []byte {
	for n--; n >= 0; n-- {
		out = append(out, digits[r>>(4*n)&15])
	}
	return out
}

// literal is how a language writes a string in its source, or for whoever debugs it.
type literal struct {
	quote       byte   // 0: none is escaped
	chars       string // what has names
	names       string
	ascii, byte bool // nothing but ASCII; characters are bytes
}

// goOf is a value as %q and %+q print it.
func goOf(v, room []byte, put func([]byte)) {
	d := literal{quote: '"', chars: "\a\b\f\n\r\t\v", names: "abfnrtv"}
	putLiteral(v, room, d, put)
	d.ascii = true
	putLiteral(v, room, d, put)
}

// pythonOf is a value as Python shows a string and bytes. It takes the quote that needs no escape, if there is one.
func pythonOf(v, room []byte, put func([]byte)) {
	d := literal{chars: "\n\r\t", names: "nrt"}
	if has := bytesOf(v); has.has('\'') && has.has('"') {
		d.quote = '\''
	}
	putLiteral(v, room, d, put)
	d.ascii = true
	putLiteral(v, room, d, put)
	d.byte = true
	putLiteral(v, room, d, put)
}

func putLiteral(v, room []byte, d literal, put func([]byte)) {
	if out := d.spell(v, room); len(out) > len(v) {
		put(out)
	}
}

func (d literal) spell(v, out []byte) []byte {
	for i := 0; i < len(v); {
		c := v[i]
		if c >= utf8.RuneSelf && !d.byte {
			r, n := utf8.DecodeRune(v[i:])
			if r != utf8.RuneError || n > 1 {
				out = d.char(out, r)
				i += n
				continue
			}
		}
		switch name := named(c, d.chars, d.names); {
		case c == '\\' || c == d.quote && c != 0:
			out = append(out, '\\', c)
		case name != 0:
			out = append(out, '\\', name)
		case c < ' ' || c >= 0x7f:
			out = append(out, '\\', 'x', lowerHex[c>>4], lowerHex[c&15])
		default:
			out = append(out, c)
		}
		i++
	}
	return out
}

// char writes what is beyond ASCII.
func (d literal) char(out []byte, r rune) []byte {
	switch {
	case unicode.IsPrint(r) && !d.ascii:
		return utf8.AppendRune(out, r)
	case d.quote != '"' && r < 0x100: // Go keeps \x for bytes
		return appendDigits(append(out, '\\', 'x'), r, 2, lowerHex)
	case r < 0x10000:
		return appendDigits(append(out, '\\', 'u'), r, 4, lowerHex)
	}
	return appendDigits(append(out, '\\', 'U'), r, 8, lowerHex)
}

// entity is how a language writes text in XML and HTML.
type entity struct {
	quote, apostrophe string // empty: as they are
	greater           bool   // is escaped
	hex, decimal      bool   // blanks but the space are escaped, as hexadecimal or decimal numbers
	latin             bool   // the characters from U+00A0 to U+00FF and beyond U+FFFF are escaped
}

// entitiesOf is a value in XML and HTML.
func entitiesOf(v, room []byte, put func([]byte)) {
	dialects := [...]entity{
		{},              // the least
		{greater: true}, // text
		{quote: "&#34;", apostrophe: "&#39;", greater: true},               // Go
		{quote: "&#34;", apostrophe: "&#39;", greater: true, hex: true},    // Go: encoding/xml
		{quote: "&quot;", greater: true},                                   // an attribute
		{greater: true, decimal: true},                                     // an attribute between single quotes
		{quote: "&quot;", greater: true, decimal: true},                    // the same, with its newlines kept
		{quote: "&quot;", apostrophe: "&#39;", greater: true},              // JavaScript, Java
		{quote: "&quot;", apostrophe: "&#39;", greater: true, latin: true}, // .NET
		{quote: "&quot;", apostrophe: "&#x27;", greater: true},             // Python
		{quote: "&quot;", apostrophe: "&#039;", greater: true},             // PHP
		{quote: "&quot;", apostrophe: "&apos;", greater: true},             // XML
	}
	has := bytesOf(v)
	wide, blank := has[2]|has[3] != 0, has.meets(bytesOf([]byte("\t\n\r")))
	for _, d := range distinct(dialects[:], func(d entity) entity {
		if !has.has('"') {
			d.quote = ""
		}
		if !has.has('\'') {
			d.apostrophe = ""
		}
		d.greater = d.greater && has.has('>')
		d.hex = d.hex && blank
		d.decimal = d.decimal && blank
		d.latin = d.latin && wide
		return d
	}) {
		if out := d.spell(v, room); len(out) > len(v) {
			put(out)
		}
	}
}

func (d entity) spell(v, out []byte) []byte {
	for i := 0; i < len(v); {
		c, n := v[i], 1
		switch text := d.char(c); {
		case text != "":
			out = append(out, text...)
		case c >= utf8.RuneSelf && d.latin:
			var r rune
			if r, n = utf8.DecodeRune(v[i:]); r >= 0x10000 || 0xa0 <= r && r < 0x100 {
				out = append(appendDecimal(append(out, '&', '#'), r), ';')
			} else {
				out = append(out, v[i:i+n]...)
			}
		default:
			out = append(out, c)
		}
		i += n
	}
	return out
}

// char is the entity of a character; empty: it stands for itself.
func (d entity) char(c byte) string {
	blank := ""
	switch c {
	case '&':
		return "&amp;"
	case '<':
		return "&lt;"
	case '>':
		if d.greater {
			return "&gt;"
		}
	case '"':
		return d.quote
	case '\'':
		return d.apostrophe
	case '\t':
		blank = "&#x9;&#9;"
	case '\n':
		blank = "&#xA;&#10;"
	case '\r':
		blank = "&#xD;&#13;"
	}
	switch {
	case blank != "" && d.hex:
		return blank[:5]
	case blank != "" && d.decimal:
		return blank[5:]
	}
	return ""
}

func appendDecimal(out []byte, r rune) []byte {
	if r >= 10 {
		out = appendDecimal(out, r/10)
	}
	return append(out, byte('0'+r%10))
}
