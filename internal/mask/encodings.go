package mask

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"unicode/utf8"
)

// minBase64 is the length below which a value's base64 is not looked for (C-09).
const minBase64 = 8

// base64Of is a value in base64 of both alphabets, wherever in a longer text it stands: only the characters that the
// value alone decides are looked for. What stands before it shifts it by 0, 1 or 2 bytes.
func base64Of(v, room []byte, put func([]byte)) {
	if len(v) < minBase64 {
		return
	}
	putBase64(v, room, 0, put)
	putBase64(v, room, 4, put)
	putBase64(v, room, 6, put)
}

// putBase64 hands out base64 of v in both alphabets, without the few bits before the first character that v alone
// decides: of its first byte the low have bits, or all of it if have is 0, go into characters. Bits at the end that
// don't fill one go nowhere, and padding with them.
func putBase64(v, room []byte, have uint, put func([]byte)) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	out := room
	var bits uint
	if have > 0 {
		bits = uint(v[0]) & (1<<have - 1)
		v = v[1:]
	}
	if have == 6 {
		out = append(out, alphabet[bits])
		have = 0
	}
	for len(v) >= 3 {
		bits = bits<<24 | uint(v[0])<<16 | uint(v[1])<<8 | uint(v[2])
		four := bits >> have
		out = append(out, alphabet[four>>18&63], alphabet[four>>12&63], alphabet[four>>6&63], alphabet[four&63])
		v = v[3:]
	}
	for _, c := range v {
		bits = bits<<8 | uint(c)
		for have += 8; have >= 6; {
			have -= 6
			out = append(out, alphabet[bits>>have&63])
		}
	}
	put(out)
	if forURLs(out) {
		put(out)
	}
}

// forURLs changes base64 into that of the other alphabet. It reports whether there is a difference.
func forURLs(b []byte) (differs bool) {
	for _, change := range [...][2]byte{{'+', '-'}, {'/', '_'}} {
		for rest := b; ; {
			i := bytes.IndexByte(rest, change[0])
			if i < 0 {
				break
			}
			rest[i], rest, differs = change[1], rest[i+1:], true
		}
	}
	return differs
}

// basicOf is a value in the head of an HTTP request, behind its user's name. It is looked for as a whole, with and without
// padding: base64Of would leave the name, and a character at its end that says something of the value.
func basicOf(user, v, room []byte, put func([]byte)) {
	text := append(append(append(room, user...), ':'), v...)
	if len(text) < minBase64 {
		return
	}
	putBase64(text, text[len(text):], 0, put)
	if len(text)%3 == 0 {
		return // that was all of it
	}
	for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		whole := alphabet.AppendEncode(text[len(text):], text)
		put(bytes.TrimRight(whole, "="))
		put(whole)
	}
}

const lowerHex, upperHex = "0123456789abcdef", "0123456789ABCDEF"

func hexOf(v, room []byte, put func([]byte)) {
	out := hex.AppendEncode(room, v)
	put(out)
	letters := false
	for i, c := range out {
		if c >= 'a' {
			out[i], letters = c-'a'+'A', true
		}
	}
	if letters {
		put(out)
	}
}

// percent is how a language writes a value in a URL.
type percent struct {
	escaped           byteSet
	lower, plus, crlf bool
}

// percentOf is a value in a URL. Languages differ in what they leave alone, forms write a blank as a plus and, in
// browsers, a newline as CRLF.
func percentOf(v, room []byte, put func([]byte)) {
	const unreserved = "-_.~"
	dialects := [...]struct {
		kept              string
		lower, plus, crlf bool
	}{
		{kept: unreserved},                         // RFC 3986, Go, Python with no safe characters, curl
		{kept: unreserved, lower: true},            // what writes lower case in general
		{kept: unreserved + "/"},                   // Python
		{kept: unreserved + "!'()*"},               // JavaScript: one component
		{kept: unreserved + "!'()*;,/?:@&=+$#"},    // JavaScript: a whole URL
		{kept: unreserved + "$&+=:@"},              // Go: a segment of a path
		{kept: unreserved + "$&+=:@,;/"},           // Go: a path
		{kept: unreserved + "$&+=,;"},              // Go: the password before a host
		{kept: unreserved + "!$&'()*+,%"},          // browsers: the same
		{kept: unreserved, plus: true},             // Go and Python: a query
		{kept: "-_.", plus: true},                  // PHP
		{kept: "-_.*", plus: true},                 // Java, browsers: a form
		{kept: "-_.!*()", lower: true, plus: true}, // .NET
		{kept: unreserved, lower: true, plus: true},
		{kept: unreserved, crlf: true},
		{kept: unreserved, plus: true, crlf: true},
		{kept: "-_.*", plus: true, crlf: true},
	}
	has := bytesOf(v)
	alphanumeric := plainBytes().without(bytesOf([]byte("-_.")))
	var all [len(dialects)]percent
	for i, d := range dialects {
		all[i] = percent{has.without(alphanumeric).without(bytesOf([]byte(d.kept))), d.lower, d.plus, d.crlf}
	}
	for _, d := range distinct(all[:], func(d percent) percent {
		d.plus = d.plus && d.escaped.has(' ')
		d.crlf = d.crlf && d.escaped.has('\n')
		d.lower = d.lower && d.escaped != byteSet{}
		return d
	}) {
		put(d.spell(v, room))
	}
}

func (d percent) spell(v, out []byte) []byte {
	digits := upperHex
	if d.lower {
		digits = lowerHex
	}
	for i, c := range v {
		switch {
		case !d.escaped.has(c):
			out = append(out, c)
		case c == ' ' && d.plus:
			out = append(out, '+')
		case c == '\n' && d.crlf && (i == 0 || v[i-1] != '\r'):
			out = append(out, '%', '0', digits[13], '%', '0', digits[10])
		default:
			out = append(out, '%', digits[c>>4], digits[c&15])
		}
	}
	return out
}

// utf16Of is text as Windows has it in files and memory. What is no text has no such spelling.
func utf16Of(v, room []byte, put func([]byte)) {
	if !utf8.Valid(v) {
		return
	}
	out := room
	for i := 0; i < len(v); {
		r, n := utf8.DecodeRune(v[i:])
		i += n
		if r >= 0x10000 { // two halves
			r -= 0x10000
			high, low := 0xd800+r>>10, 0xdc00+r&0x3ff
			out = append(out, byte(high), byte(high>>8), byte(low), byte(low>>8))
		} else {
			out = append(out, byte(r), byte(r>>8))
		}
	}
	put(out)
	for i := 0; i < len(out); i += 2 {
		out[i], out[i+1] = out[i+1], out[i]
	}
	put(out)
}

// reversed is a value backwards: its bytes, and its characters.
func reversed(v, room []byte, put func([]byte)) {
	out := room
	for i := range v {
		out = append(out, v[len(v)-1-i])
	}
	put(out)
	out = room
	for rest := v; len(rest) > 0; {
		_, n := utf8.DecodeLastRune(rest)
		out = append(out, rest[len(rest)-n:]...)
		rest = rest[:len(rest)-n]
	}
	put(out)
}
