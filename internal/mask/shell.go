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
		put(quotesApart(v, room))
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
	// bash's %q: two characters are special where a word or path begins.
	special := bytesOf([]byte(" \t!\"$&'()*,;<>?[\\]^`{|}"))
	if has.meets(special) || has.meets(bytesOf([]byte("#~"))) {
		put(backslashed(v, room, special, true))
	}
	dollars(v, room, has, put)
}

// quotesApart is a value between single quotes with each run of them between double ones, as dash has it. Behind a run at
// the end it opens no others.
func quotesApart(v, out []byte) []byte {
	for i, c := range v {
		if c == '\'' && (i == 0 || v[i-1] != c) {
			out = append(out, `'"`...)
		}
		out = append(out, c)
		if c == '\'' && i+1 < len(v) && v[i+1] != c {
			out = append(out, `"'`...)
		}
	}
	if v[len(v)-1] == '\'' {
		out = append(out, '"')
	}
	return out
}

func backslashed(v, out []byte, special byteSet, start bool) []byte {
	for i, c := range v {
		switch {
		case special.has(c),
			start && i == 0 && (c == '#' || c == '~'),
			start && i > 0 && c == '~' && (v[i-1] == '=' || v[i-1] == ':'):
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

// unseen says how many bytes the character takes that v begins with, and whether it is escaped between $' and '.
func unseen(v []byte, ascii bool) (n int, escaped bool) {
	if c := v[0]; c < utf8.RuneSelf {
		return 1, c < ' ' || c == 0x7f
	}
	r, n := utf8.DecodeRune(v)
	return n, ascii || r == utf8.RuneError && n == 1 || !unicode.In(r, unicode.GraphicRanges...) && !unicode.In(r, unicode.Cf, unicode.Co)
}

// ansi is a value between $' and '.
func ansi(v, out []byte, ascii bool) []byte {
	for len(v) > 0 {
		n, escaped := unseen(v, ascii)
		switch {
		case escaped:
			out = octal(out, v[:n], "\a\b\f\n\r\t\v\x1b", "abfnrtvE")
		case v[0] == '\'' || v[0] == '\\':
			out = append(out, '\\', v[0])
		default:
			out = append(out, v[:n]...)
		}
		v = v[n:]
	}
	return out
}

// mixed is a value between single quotes with parts between $' and '.
func mixed(v, out []byte, ascii bool) []byte {
	inside := true // quotes at the beginning are no part of the spelling
	for i := 0; len(v) > 0; i++ {
		n, escaped := unseen(v, ascii)
		switch {
		case escaped && !inside:
			out = append(out, `'$'`...)
		case !escaped && inside && v[0] != '\'' && i > 0:
			out = append(out, `''`...)
		}
		switch inside = escaped; {
		case escaped:
			out = octal(out, v[:n], "\a\b\f\n\r\t\v", "abfnrtv")
		case v[0] == '\'':
			out = append(out, `'\''`...)
		default:
			out = append(out, v[:n]...)
		}
		v = v[n:]
	}
	return out
}

// octal writes bytes by their numbers, some by names.
func octal(out, v []byte, chars, names string) []byte {
	for _, c := range v {
		if name := named(c, chars, names); name != 0 {
			out = append(out, '\\', name)
		} else {
			out = append(out, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		}
	}
	return out
}
