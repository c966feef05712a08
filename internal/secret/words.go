package secret

import (
	_ "embed" // for the words
)

// packedWords is the list that wordlist/README.md describes, as a tree that is searched where it stands in the
// program: nothing is unpacked, and a process that judges no password does not even load it.
//
// The tree is a row of siblings, from the lowest letter to the highest, each with the row of its children behind it:
//
//	row   = *node, the last one marked
//	node  = head [ rank ] [ size ] [ row ]
//	head  = number of the letter << 2 | 2 if it is the last of its row | 1 if a word ends here
//	rank  = log2 of the guesses that come to the word, rounded up | 0x80 if no longer word begins with it
//	size  = bytes of the row that follows, seven bits a byte from the lowest, 0x80 in all but the last
//
// The rank is there if a word ends, the size if a sibling comes after the children. The letters are 0–9 and a–z.
//
//go:embed wordlist/words.tree
var packedWords string

const (
	lastSibling = 2
	wordEnds    = 1
	noChildren  = 0x80
	moreSize    = 0x80
)

// wordTree is such a tree.
type wordTree string

// twig is what hangs on the tree behind the letters that lead to it.
type twig struct {
	rank int // log2 of the guesses that come to the word of these letters, at least 1; 0 if they are none
	row  int // where the row of those that may follow begins, -1 if there is none
}

// root is where every word begins.
func (wordTree) root() twig { return twig{} }

// grow goes on from t with a letter; hops are the siblings that it passed.
func (w wordTree) grow(t twig, letter byte) (next twig, hops int, ok bool) {
	want, at := letterNumber(letter), t.row
	for at >= 0 {
		hops++
		number, found, after := w.node(at)
		if number == want {
			return found, hops, true
		}
		if number > want {
			break
		}
		at = after
	}
	return twig{}, hops, false
}

// node reads the node at a place: the number of its letter, its twig, and where its next sibling is, -1 for none.
func (w wordTree) node(at int) (number byte, t twig, after int) {
	head := w[at]
	at++
	if head&wordEnds != 0 {
		t.rank, t.row = int(w[at]&^noChildren), at+1
		if w[at]&noChildren != 0 {
			t.row = -1
		}
		at++
	} else {
		t.row = at
	}
	switch {
	case head&lastSibling != 0:
		after = -1
	case t.row < 0:
		after = at
	default:
		size := 0
		for shift := 0; ; shift += 7 {
			size |= int(w[at]&^moreSize) << shift
			at++
			if w[at-1]&moreSize == 0 {
				break
			}
		}
		t.row, after = at, at+size
	}
	return head >> 2, t, after
}

// letterNumber is the place of a letter in the order of ASCII; the ten digits come first.
func letterNumber(letter byte) byte {
	if letter <= '9' {
		return letter - '0'
	}
	return letter - 'a' + 10
}
