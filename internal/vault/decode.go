package vault

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"unicode/utf8"

	"warder/internal/secret"
)

// This file reads canonical JSON (F1.1).

// scanner walks over the bytes. The first error sticks, and every later call returns zero values.
type scanner struct {
	in    []byte
	at    int
	depth int
	err   error
}

// decoder reads canonical JSON strictly.
type decoder struct{ scanner }

// decode runs read over the whole of in.
func decode(in []byte, read func(*decoder)) error {
	d := &decoder{scanner{in: in}}
	read(d)
	if d.err == nil && d.at != len(d.in) {
		d.fail()
	}
	return d.err
}

func (s *scanner) fail() {
	if s.err == nil {
		s.err = errNotCanonical
	}
}

// failWith makes a value error of the caller's stick.
func (s *scanner) failWith(err error) {
	if s.err == nil && err != nil {
		s.err = err
	}
}

func (s *scanner) peek() byte {
	if s.err != nil || s.at >= len(s.in) {
		return 0
	}
	return s.in[s.at]
}

func (s *scanner) take(c byte) {
	if s.peek() != c {
		s.fail()
		return
	}
	s.at++
}

// object calls f for each member in turn; f reads exactly one value. Keys must ascend, which also refuses one twice.
func (d *decoder) object(f func(key string)) {
	d.enter('{')
	last, first := "", true
	for d.err == nil && d.peek() != '}' {
		if !first {
			d.take(',')
		}
		key := d.str()
		if !first && key <= last {
			d.fail()
		}
		last, first = key, false
		d.take(':')
		if d.err == nil {
			f(key)
		}
	}
	d.leave('}')
}

func (d *decoder) list(f func()) {
	d.enter('[')
	first := true
	for d.err == nil && d.peek() != ']' {
		if !first {
			d.take(',')
		}
		first = false
		if d.err == nil {
			f()
		}
	}
	d.leave(']')
}

func (s *scanner) enter(c byte) {
	s.take(c)
	if s.depth++; s.depth > maxDepth {
		s.fail()
	}
}

func (s *scanner) leave(c byte) {
	s.take(c)
	s.depth--
}

// quoted returns the bytes between the quotes and whether an escape is among them.
func (s *scanner) quoted() (body []byte, escaped bool) {
	s.take('"')
	if s.err != nil {
		return nil, false
	}
	start := s.at
	for s.at < len(s.in) {
		switch c := s.in[s.at]; {
		case c == '"':
			body = s.in[start:s.at]
			s.at++
			return body, escaped
		case c < 0x20:
			s.fail()
			return nil, false
		case c == '\\':
			escaped = true
			s.at++
		}
		s.at++
	}
	s.fail()
	return nil, false
}

func (d *decoder) str() string {
	body, escaped := d.quoted()
	if d.err != nil {
		return ""
	}
	if escaped {
		if body, escaped = unescape(body); !escaped {
			d.fail()
		}
	}
	if !utf8.Valid(body) {
		d.fail()
		return ""
	}
	return string(body)
}

// unescape resolves the escapes that the encoder would have written, and no others: one spelling for one string.
func unescape(body []byte) ([]byte, bool) {
	out := make([]byte, 0, len(body))
	for len(body) > 0 {
		if body[0] != '\\' {
			out, body = append(out, body[0]), body[1:]
			continue
		}
		c, n := unescapeOne(body)
		if n == 0 {
			return nil, false
		}
		out, body = append(out, c), body[n:]
	}
	return out, true
}

// escapesFit is unescape without a result: for what may be a secret.
func escapesFit(body []byte) bool {
	for i := bytes.IndexByte(body, '\\'); i >= 0; i = bytes.IndexByte(body, '\\') {
		_, n := unescapeOne(body[i:])
		if n == 0 {
			return false
		}
		body = body[i+n:]
	}
	return true
}

// unescapeOne resolves the escape at the start of b. Its length is 0 if it is none or not spelled as the encoder spells it.
func unescapeOne(b []byte) (c byte, n int) {
	c, n = resolve(b)
	if n == 0 || escape(c) != string(b[:n]) {
		return 0, 0
	}
	return c, n
}

func resolve(b []byte) (c byte, n int) {
	if len(b) < 2 {
		return 0, 0
	}
	switch b[1] {
	case '"', '\\':
		return b[1], 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		if len(b) < 6 {
			return 0, 0
		}
		x, err := strconv.ParseUint(string(b[2:6]), 16, 8)
		if err != nil || x >= 0x20 {
			return 0, 0
		}
		return byte(x), 6
	}
	return 0, 0
}

func (d *decoder) num() int64 {
	if d.err != nil {
		return 0
	}
	start := d.at
	for d.at < len(d.in) && (d.in[d.at] == '-' || d.in[d.at] >= '0' && d.in[d.at] <= '9') {
		d.at++
	}
	text := string(d.in[start:d.at])
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n > maxInt || n < -maxInt || strconv.FormatInt(n, 10) != text {
		d.fail()
		return 0
	}
	return n
}

// count is num for what can't be negative.
func (d *decoder) count() uint64 {
	n := d.num()
	if n < 0 {
		d.fail()
		return 0
	}
	return uint64(n)
}

func (d *decoder) flag() bool {
	for _, lit := range [2]string{"true", "false"} {
		if d.err == nil && bytes.HasPrefix(d.in[d.at:], []byte(lit)) {
			d.at += len(lit)
			return lit == "true"
		}
	}
	d.fail()
	return false
}

func (d *decoder) strs() []string {
	var out []string
	d.list(func() { out = append(out, d.str()) })
	return out
}

// base64 reads a string of bytes into locked memory.
func (d *decoder) base64() secret.Value {
	body, escaped := d.quoted()
	if d.err != nil || escaped {
		d.fail()
		return secret.Value{}
	}
	n := base64.StdEncoding.DecodedLen(len(body))
	if len(body) >= 1 && body[len(body)-1] == '=' {
		n--
	}
	if len(body) >= 2 && body[len(body)-2] == '=' {
		n--
	}
	v, err := secret.Make(n, func(b []byte) error {
		// Decode wants room for the padded length: the last group goes through a scratch of its own.
		return decodeBase64(b, body)
	})
	d.failWith(err)
	return v
}

// decodeBase64 fills dst, whose length is the exact decoded length of src.
func decodeBase64(dst, src []byte) error {
	whole := len(src) / 4 * 4
	if whole != len(src) {
		return errNotCanonical
	}
	if whole == 0 {
		return nil
	}
	strict := base64.StdEncoding.Strict()
	head := whole - 4
	n, err := strict.Decode(dst, src[:head])
	if err != nil || n != head/4*3 {
		return errNotCanonical
	}
	var last [3]byte
	defer secret.Wipe(last[:])
	m, err := strict.Decode(last[:], src[head:])
	if err != nil || m != len(dst)-n {
		return errNotCanonical
	}
	copy(dst[n:], last[:m])
	return nil
}

// publicBytes reads a base64 string that is no secret.
func (d *decoder) publicBytes() []byte {
	body, escaped := d.quoted()
	if d.err != nil || escaped {
		d.fail()
		return nil
	}
	b, err := base64.StdEncoding.Strict().DecodeString(string(body))
	if err != nil {
		d.fail()
		return nil
	}
	return b
}

// raw skips one value and returns its bytes, which alias the input.
func (d *decoder) raw() []byte {
	start := d.at
	d.skip()
	if d.err != nil {
		return nil
	}
	return d.in[start:d.at]
}

func (d *decoder) skip() {
	switch c := d.peek(); {
	case c == '{':
		d.object(func(string) { d.skip() })
	case c == '[':
		d.list(d.skip)
	case c == '"':
		// Not str: what is skipped may be a secret, which must not become a Go string.
		if body, escaped := d.quoted(); !utf8.Valid(body) || escaped && !escapesFit(body) {
			d.fail()
		}
	case c == 't' || c == 'f':
		_ = d.flag()
	default:
		_ = d.num()
	}
}

// unknown keeps a member this version does not know.
func (d *decoder) unknown(extra *[]rawMember, key string) {
	*extra = append(*extra, rawMember{key, bytes.Clone(d.raw())})
}
