package mask

import (
	"unicode"
	"unicode/utf8"
)

// shellGrow is for a control character alone between single quotes, which are closed around a part in others.
const shellGrow = 7

// shellOf is a value inside quotes of a shell, or with a backslash before what means something to one.
func shellOf(v, room []byte, put func([]byte)) {
	has := bytesOf(v)
	if has.has('\'') {
		for _, quote := range [...]string{`'\''`, `'"'"'`, `''`} { // the last one in PowerShell, and in SQL
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
	}
	for _, special := range distinct([]byteSet{
		bytesOf([]byte("\"\\$`")),  // between double quotes
		bytesOf([]byte("\"\\$`!")), // the same, where ! calls old commands back
		bytesOf([]byte(`'\`)),
		bytesOf([]byte(" \t!\"#$&'()*,;<=>?[\\]^`{|}~")), // all that any shell takes for special
		bytesOf([]byte(" \t!\"#$&'()*;<>?[\\]^`{|}")),
		bytesOf([]byte(" !\"#$%&'()*;<=>?[\\]^`{|}~")), // Ruby
	}, has.both) {
		if special != (byteSet{}) {
			put(backslashed(v, room, special, false))
		}
	}
	// bash's %q: two characters are special at the beginning alone.
	special := bytesOf([]byte(" \t!\"$&'()*,;<>?[\\]^`{|}"))
	if has.meets(special) || v[0] == '#' || v[0] == '~' {
		put(backslashed(v, room, special, true))
	}
	dollars(v, room, has, put)
}

func backslashed(v, out []byte, special byteSet, start bool) []byte {
	for i, c := range v {
		if special.has(c) || start && i == 0 && (c == '#' || c == '~') {
			out = append(out, '\\')
		}
		out = append(out, c)
	}
	return out
}

// dollars are the spellings with $'…', where what can't be seen has a name or an octal number. bash writes a whole value
// like this, other programs only what must be. A terminal without UTF-8 shows nothing but ASCII.
func dollars(v, room []byte, has byteSet, put func([]byte)) {
	wide := has[2]|has[3] != 0
	if !wide && !has.within(visible()) || wide || has.meets(bytesOf([]byte(`'\`))) {
		put(ansi(v, room, false))
		if wide {
			put(ansi(v, room, true))
		}
	}
	if !has.within(visible()) {
		put(mixed(v, room, false))
		if wide {
			put(mixed(v, room, true))
		}
	}
}

// visible are the characters of ASCII that can be seen, and the space.
func visible() byteSet { return byteSet{^uint64(1<<' ' - 1), 1<<63 - 1} }

// unseen is how many of the bytes that v begins with are escaped between $' and ', 0 if none.
func unseen(v []byte, ascii bool) int {
	if c := v[0]; c < utf8.RuneSelf {
		if c < ' ' || c == 0x7f {
			return 1
		}
		return 0
	}
	r, n := utf8.DecodeRune(v)
	if ascii || r == utf8.RuneError && n == 1 || !unicode.IsPrint(r) {
		return n
	}
	return 0
}

// ansi is a value between $' and '.
func ansi(v, out []byte, ascii bool) []byte {
	for i := 0; i < len(v); {
		n := unseen(v[i:], ascii)
		switch c := v[i]; {
		case n > 0:
			out = octal(out, v[i:i+n])
		case c == '\'' || c == '\\':
			out = append(out, '\\', c)
			n = 1
		default:
			out = append(out, c)
			n = 1
		}
		i += n
	}
	return out
}

// mixed is a value between single quotes with parts between $' and '.
func mixed(v, out []byte, ascii bool) []byte {
	inside := false
	for i := 0; i < len(v); {
		n := unseen(v[i:], ascii)
		switch {
		case n > 0 && !inside:
			out = append(out, `'$'`...)
		case n == 0 && inside:
			out = append(out, `''`...)
		}
		if inside = n > 0; inside {
			out = octal(out, v[i:i+n])
		} else if n = 1; v[i] == '\'' {
			out = append(out, `'\''`...)
		} else {
			out = append(out, v[i])
		}
		i += n
	}
	return out
}

func octal(out, v []byte) []byte {
	for _, c := range v {
		if name := named(c, "\a\b\x1b\f\n\r\t\v", "abEfnrtv"); name != 0 {
			out = append(out, '\\', name)
		} else {
			out = append(out, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		}
	}
	return out
}
