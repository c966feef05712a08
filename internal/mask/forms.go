package mask

import "bytes"

const (
	// MinLength is the length below which a value is never looked for: it would hide half of what a program prints.
	MinLength = 4
	// maxEncoded is the length above which a value is looked for as it is alone: nobody prints so much in a URL.
	maxEncoded = 64 << 10
)

// form is one way in which programs spell a value.
type form struct {
	name string
	// has are bytes of which a value has at least one if there is anything to spell in this way; empty: any value.
	has string
	// grow is how many times longer than the value the room is that the spellings are made in, and more what it takes
	// beside that. 0: spellings are pieces of the value.
	grow, more int
	// folds says that the spellings are looked for folded over lines too.
	folds bool
	// spell hands each spelling to put, which copies it. room is empty, has the room that the form needs, and is
	// locked memory as v is; v and room must not be kept.
	spell func(v, room []byte, put func([]byte))
}

// room is how many bytes a form needs to spell a value of n bytes.
func (f form) room(n int) int { return f.grow*n + f.more }

// pieces are the spellings of a value of several lines that are made of its own bytes.
func pieces() []form {
	return []form{
		{name: "without its last line end", has: "\r\n", spell: trimmed},
		{name: "single lines", has: "\n", spell: lines},
		{name: "lines of an escaped key", has: `\`, spell: escapedLines},
		{name: "single lines in JSON", has: "\n", grow: jsonGrow, spell: linesInJSON},
		{name: "newlines as CRLF", has: "\n", grow: 2, spell: crlf},
		{name: "newlines as LF", has: "\r", grow: 1, spell: lf},
		{name: `newlines as \n`, has: "\r\n", grow: 2, spell: escapedNewlines},
		{name: "newlines as spaces", has: " \t\r\n", grow: 1, spell: spaces},
	}
}

// codes are the spellings that share no character with the value.
func codes(user []byte, o ValueOptions) []form {
	found := []form{
		{name: "base64", grow: 2, more: 4, folds: !o.Unfolded, spell: base64Of},
		{name: "hex", grow: 2, spell: hexOf},
	}
	if len(user) > 0 {
		found = append(found, form{
			name: "base64 of user:value", grow: 3, more: 3 * (len(user) + 2), folds: !o.Unfolded, spell: func(v, room []byte, put func([]byte)) {
				basicOf(user, v, room, put)
			},
		})
	}
	if o.Extended {
		found = append(
			found,
			form{name: "UTF-16", grow: 2, spell: utf16Of},
			form{name: "reversed", grow: 1, spell: reversed},
		)
	}
	return found
}

// escapes are the spellings that replace single characters.
func escapes() []form {
	return []form{
		{name: "percent-encoded", grow: 6, spell: percentOf},
		{name: "in JSON, once or twice", grow: jsonGrow, spell: jsonOf},
		{name: "quoted for a shell", grow: shellGrow, spell: shellOf},
		{name: "as Go quotes it", grow: 5, spell: goOf},
		{name: "as Python shows it", grow: 4, spell: pythonOf},
		{name: "in XML or HTML", grow: 6, spell: entitiesOf},
	}
}

// formsOf are the forms that apply to a value of a user, who may be nobody, and the most room that one of them needs.
// Nearly all keys have nothing to escape: one look at their bytes tells, since adding a key must cost next to nothing.
func formsOf(v, user []byte, o ValueOptions) (apply []form, room int) {
	has := bytesOf(v)
	all := codes(user, o)
	if !has.within(plainBytes()) {
		all = append(all, escapes()...)
		if end := len(withoutEnd(v)); end < len(v) {
			all = append(all, ended(all)...)
		}
		all = append(all, pieces()...)
	}
	apply = all[:0]
	for _, f := range all {
		if f.grow > 0 && len(v) > maxEncoded || f.has != "" && !has.meets(bytesOf([]byte(f.has))) {
			continue
		}
		apply = append(apply, f)
		room = max(room, f.room(len(v)))
	}
	return apply, room
}

// ended are the forms of a value without the line ends behind it: as a shell's $(…) and most readers of files take it.
func ended(forms []form) []form {
	var found []form
	for _, f := range forms {
		spell := f.spell
		f.spell = func(v, room []byte, put func([]byte)) {
			if v = withoutEnd(v); len(v) >= MinLength {
				spell(v, room, put)
			}
		}
		found = append(found, f)
	}
	return found
}

func withoutEnd(v []byte) []byte { return bytes.TrimRight(v, "\r\n") }

// byteSet is a set of bytes.
type byteSet [4]uint64

func bytesOf(v []byte) (s byteSet) {
	for _, c := range v {
		s[c>>6] |= 1 << (c & 63)
	}
	return s
}

// plainBytes are those that no form escapes. Single dialects do escape a dot or dash, but no usual one.
func plainBytes() byteSet {
	const (
		upper = (1<<26 - 1) << ('A' - 64)
		lower = (1<<26 - 1) << ('a' - 64)
	)
	return byteSet{(1<<10-1)<<'0' | 1<<'-' | 1<<'.', upper | lower | 1<<('_'-64)}
}

func (s byteSet) has(c byte) bool { return s[c>>6]>>(c&63)&1 != 0 }

// both are the bytes that are in both sets.
func (s byteSet) both(o byteSet) byteSet {
	return byteSet{s[0] & o[0], s[1] & o[1], s[2] & o[2], s[3] & o[3]}
}

func (s byteSet) without(o byteSet) byteSet {
	return byteSet{s[0] &^ o[0], s[1] &^ o[1], s[2] &^ o[2], s[3] &^ o[3]}
}

func (s byteSet) meets(o byteSet) bool  { return s.both(o) != byteSet{} }
func (s byteSet) within(o byteSet) bool { return s.without(o) == byteSet{} }

// distinct keeps of the dialects of a form those that spell a value differently, each being narrowed to what the value
// has. It changes the list.
func distinct[D comparable](dialects []D, narrow func(D) D) []D {
	kept := dialects[:0]
next:
	for _, d := range dialects {
		d = narrow(d)
		for _, k := range kept {
			if k == d {
				continue next
			}
		}
		kept = append(kept, d)
	}
	return kept
}
