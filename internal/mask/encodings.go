package mask

import (
	"strings"
	"unicode/utf8"
)

const (
	// minBase64 is the length below which a value's base64 is not looked for (C-09).
	minBase64 = 8
	// maxEncoded is the length above which a value is looked for as it is alone: nobody prints so much in a URL.
	maxEncoded = 64 << 10
)

// base64Of is a value in base64 of both alphabets, wherever in a longer text it stands: only the characters that the
// value alone decides are looked for. What stands before it shifts it by 0, 1 or 2 bytes.
func base64Of(v, room []byte, put func([]byte)) {
	const common = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	if len(v) < minBase64 {
		return
	}
	for _, alphabet := range []string{common + "+/", common + "-_"} {
		for shift := range 3 {
			out := room
			for i := (8*shift + 5) / 6; 6*(i+1) <= 8*(shift+len(v)); i++ {
				bit := 6*i - 8*shift
				two := uint(v[bit/8]) << 8
				if bit/8+1 < len(v) {
					two |= uint(v[bit/8+1])
				}
				out = append(out, alphabet[two>>(10-bit%8)&63])
			}
			put(out)
		}
	}
}

const lowerHex, upperHex = "0123456789abcdef", "0123456789ABCDEF"

func hexOf(v, room []byte, put func([]byte)) {
	for _, digits := range []string{lowerHex, upperHex} {
		out := room
		for _, c := range v {
			out = append(out, digits[c>>4], digits[c&15])
		}
		put(out)
	}
}

// percentOf is a value in a URL. Languages differ in what they leave alone, and forms write a blank as a plus.
func percentOf(v, room []byte, put func([]byte)) {
	for _, d := range []struct {
		kept, digits string
		plus         bool
	}{
		{"-_.~", upperHex, false},
		{"-_.~", lowerHex, false},
		{"-_.~/", upperHex, false},
		{"-_.~!'()*", upperHex, false},
		{"-_.~$&+=:@", upperHex, false},
		{"-_.~", upperHex, true},
		{"-_.*", upperHex, true},
	} {
		out := room
		for _, c := range v {
			switch {
			case isAlphanumeric(c) || strings.IndexByte(d.kept, c) >= 0:
				out = append(out, c)
			case c == ' ' && d.plus:
				out = append(out, '+')
			default:
				out = append(out, '%', d.digits[c>>4], d.digits[c&15])
			}
		}
		put(out)
	}
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// jsonOf is a value in a JSON string: as it must be, as it may stand in HTML, in ASCII alone, and with slashes escaped.
func jsonOf(v, room []byte, put func([]byte)) {
	for _, d := range []struct {
		escaped string
		ascii   bool
	}{{"", false}, {"<>&", false}, {"", true}, {"/", true}, {"/", false}} {
		out := room
		for i := 0; i < len(v); {
			r, n := utf8.DecodeRune(v[i:])
			switch c := v[i]; {
			case n == 1 && r != utf8.RuneError:
				out = jsonByte(out, c, d.escaped)
			case d.ascii && n > 1:
				out = jsonRune(out, r)
			default:
				out = append(out, v[i:i+n]...)
			}
			i += n
		}
		put(out)
	}
}

func jsonByte(out []byte, c byte, escaped string) []byte {
	switch i := strings.IndexByte("\"\\\n\r\t\b\f", c); {
	case i >= 0:
		return append(out, '\\', `"\nrtbf`[i])
	case c == '/' && escaped == "/":
		return append(out, '\\', '/')
	case c < ' ' || strings.IndexByte(escaped, c) >= 0:
		return append(out, '\\', 'u', '0', '0', lowerHex[c>>4], lowerHex[c&15])
	}
	return append(out, c)
}

func jsonRune(out []byte, r rune) []byte {
	if r >= 0x10000 { // two halves
		r -= 0x10000
		return jsonRune(jsonRune(out, 0xd800+r>>10), 0xdc00+r&0x3ff)
	}
	return append(out, '\\', 'u', lowerHex[r>>12&15], lowerHex[r>>8&15], lowerHex[r>>4&15], lowerHex[r&15])
}

// shellOf is a value inside quotes of a shell, or with a backslash before what means something to one.
func shellOf(v, room []byte, put func([]byte)) {
	for _, quote := range []string{`'\''`, `'"'"'`} {
		out := room
		for _, c := range v {
			if c == '\'' {
				out = append(out, quote...)
			} else {
				out = append(out, c)
			}
		}
		put(out)
	}
	for _, special := range []string{"\"\\$`", "'\\", " \t!\"#$&'()*,;<=>?[\\]^`{|}~", " \t!\"#$&'()*;<>?[\\]^`{|}"} {
		out := room
		for _, c := range v {
			if strings.IndexByte(special, c) >= 0 {
				out = append(out, '\\')
			}
			out = append(out, c)
		}
		put(out)
	}
	// $'…': what can't be seen has names.
	out := room
	for _, c := range v {
		if i := strings.IndexByte("\n\r\t'\\", c); i >= 0 {
			out = append(out, '\\', `nrt'\`[i])
		} else {
			out = append(out, c)
		}
	}
	put(out)
}
