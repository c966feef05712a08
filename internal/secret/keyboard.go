package secret

import "strings"

// key is a place on the keyboard.
type key struct {
	row, column int8
	shift       bool // the sign is typed with shift; letters say so by glyph.upper
	known       bool
}

// The keys of an American keyboard, in rows of equal length, and the signs that shift makes of them. Each row lies
// half a key to the right of the one above, so that a key has two neighbours above it, in its own column and the next,
// and two below, in its own and the one before. Blanks are no keys.
const (
	rowLength = 14

	plainKeys = "`1234567890-= " +
		" qwertyuiop[]\\" +
		" asdfghjkl;'  " +
		" zxcvbnm,./   "
	shiftedKeys = "~!@#$%^&*()_+ " +
		"           {}|" +
		"          :\"  " +
		"        <>?   "

	keyCount = 47
)

func keyOf(fold rune) key {
	if fold == ' ' {
		return key{}
	}
	at, shift := strings.IndexRune(plainKeys, fold), false
	if at < 0 {
		at, shift = strings.IndexRune(shiftedKeys, fold), true
	}
	if at < 0 {
		return key{}
	}
	return key{row: int8(at / rowLength), column: int8(at % rowLength), shift: shift, known: true}
}

// heading is the way from a key to one of its six neighbours.
type heading struct{ down, right int8 }

func headingFrom(from, to key) (h heading, ok bool) {
	h = heading{to.row - from.row, to.column - from.column}
	switch h {
	case heading{0, 1}, heading{0, -1}, heading{-1, 0}, heading{-1, 1}, heading{1, 0}, heading{1, -1}:
		return h, from.known && to.known
	}
	return h, false
}

// What a step of a walk costs: six in ten go straight on, the others turn to one of five neighbours.
const (
	firstStep effort = 41 // log2(6)
	straight  effort = 12 // log2(1/0.6)
	turn      effort = 58 // log2(1/0.4) + log2(5)
)

// walk finds pieces of three and more characters of which each is typed beside the one before, such as zaq12wsx.
func (e *estimate) walk(i int) {
	cost, upper := join+choice(keyCount), 0
	var last heading
	for n := 0; i+n < e.n; n++ {
		g := &e.glyphs[i+n]
		if n > 0 {
			h, ok := headingFrom(e.glyphs[i+n-1].key, g.key)
			switch {
			case !ok:
				return
			case n == 1:
				cost += firstStep
			case h == last:
				cost += straight
			default:
				cost += turn
			}
			last = h
		}
		if g.upper || g.key.shift {
			upper++
		}
		if n+1 >= 3 {
			e.reach(i, i+n+1, cost+capitals(upper, n+1))
		}
	}
}
