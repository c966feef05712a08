package secret

// This file holds the pieces that a password may be put together from. Each function takes a place and tells, by
// reach, which pieces begin (or, read backwards, end) there and what they cost.

// trail is a walk along the glyphs that still spells the beginning of some words.
type trail struct {
	twig
	length int // letters so far
	upper  int // capitals among them
	looks  int // of them, letters written as something else
}

// cost is the effort of the word that a trail spells: its rank, its capitals, and a yes or no for each letter that is
// written as something else.
func (t trail) cost() effort {
	return bit*effort(t.rank) + capitals(t.upper, t.length) + bit*effort(t.looks)
}

// wordsFrom finds the words that begin at i.
func (e *estimate) wordsFrom(i int) {
	e.follow(i, 1, trail{twig: e.list.root()}, func(t trail) {
		e.reach(i, i+t.length, join+t.cost())
	})
}

// wordsBackTo finds the words that, read from i to the left, stand there backwards.
func (e *estimate) wordsBackTo(i int) {
	e.follow(i, -1, trail{twig: e.list.root()}, func(t trail) {
		if t.length > 3 { // backwards, any three letters are a word
			e.reach(i+1-t.length, i+1, join+bit+t.cost())
		}
	})
}

// follow walks on from glyph i in a direction and calls found for each word on its way.
func (e *estimate) follow(i, direction int, t trail, found func(trail)) {
	if i < 0 || i >= e.n {
		return
	}
	g := &e.glyphs[i]
	for reading, letter := range g.as {
		if letter == 0 {
			continue
		}
		grown, hops, ok := e.list.grow(t.twig, letter)
		e.steps += hops
		if !ok {
			continue
		}
		next := t
		next.twig = grown
		next.length++
		if g.upper {
			next.upper++
		}
		if reading > 0 {
			next.looks++
		}
		if next.rank > 0 {
			found(next)
		}
		e.follow(i+direction, direction, next, found)
	}
}

// keyRows are the orders in which characters are known by heart, one a line: alphabet, digits and their even and odd
// halves, rows of American, German and French keyboards, the signs above the digits, columns, zigzags and the number
// pad. All are ASCII.
const keyRows = `
abcdefghijklmnopqrstuvwxyz
0123456789
12345678901234567890
02468
13579
qwertyuiop[]
asdfghjkl;'
zxcvbnm,./
qwertzuiop
yxcvbnm,.-
azertyuiop
qsdfghjklm
wxcvbn
!@#$%^&*()_+
1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.0p;/
qazwsxedcrfvtgbyhnujmikolp
zaq1xsw2cde3vfr4bgt5nhy6mju7
1q2w3e4r5t6y7u8i9o0p
q1w2e3r4t5y6u7i8o9p0
147258369
789456123
741852963
159753
`

// rows finds pieces of three and more characters of a key row, in either direction.
func (e *estimate) rows(i int) {
	first := e.glyphs[i].fold
	if first == '\n' {
		return
	}
	for at := range len(keyRows) {
		if rune(keyRows[at]) == first {
			e.row(i, at, 1)
			e.row(i, at, -1)
		}
	}
	e.steps += len(keyRows)
}

// row follows a key row in a direction from where it has glyph i.
func (e *estimate) row(i, at, direction int) {
	cost := join + choice(2*(len(keyRows)-1)) // any place, either direction
	if keyRows[at-direction] == '\n' {
		cost = join + choice(8) // from the end of a row: these are tried first
	}
	upper := 0
	for n := 0; i+n < e.n; n++ {
		key := keyRows[at+n*direction]
		if key == '\n' || e.glyphs[i+n].fold != rune(key) {
			return
		}
		if e.glyphs[i+n].upper {
			upper++
		}
		if n+1 >= 3 {
			e.reach(i, i+n+1, cost+choice(n+1)+capitals(upper, n+1))
		}
	}
}

// repeats finds what stands to the left of i already: again and again right before, or once anywhere.
func (e *estimate) repeats(i int) {
	for from := range i {
		period := i - from
		for n := 0; i+n < e.n && e.glyphs[from+n].fold == e.glyphs[i+n].fold; n++ {
			length := n + 1
			switch {
			case length >= period && length > 1:
				e.reach(i, i+length, join+choice((length+period-1)/period+1))
			case length > 2:
				e.reach(i, i+length, join+choice(16*16)) // which part of the past, and how much of it
			}
		}
		e.steps++
	}
}
