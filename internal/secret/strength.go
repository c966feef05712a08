package secret

import (
	"math/bits"
	"runtime"
)

// judged is the number of characters that Strength looks at. A password that is weak so far may be strong by what
// follows, but then it is longer than anybody types; and the bound keeps any input under a millisecond.
const judged = 64

// effort is the logarithm of a number of guesses, in sixteenths of a bit: whole numbers add up to the same score on
// every machine.
type effort int32

const (
	bit effort = 16
	// join is what a guesser pays for not knowing that a piece of a kind other than a single character stands here.
	join = bit
	// unreached is more than 64 characters of any kind cost.
	unreached effort = 1 << 24
)

// Strength judges how many guesses find a password, from 0 to 4:
//
//	0  under 10^3: among the first that anybody tries
//	1  under 10^6: falls to guessing through a login that slows it down
//	2  under 10^8: falls to guessing through a login that doesn't
//	3  under 10^10: holds for a while against somebody who has the file and a slow key derivation to run
//	4  10^10 and more
//
// The steps are those of the scores of zxcvbn 4 (Wheeler, USENIX Security 2016), so that they mean what people know;
// the estimator is another. It looks for the cheapest way to put the password together from words and known passwords (in any case, with
// digits and signs for letters, or backwards), known numbers, rows of keys, walks over the keyboard, alphabets, years and
// dates, repeats and single characters. A piece
// costs the logarithm of the number of such pieces, so several words side by side count by the rank of each.
//
// Only the first 64 characters count. It knows English and Latin keyboards: a word of another language counts letter
// by letter, hence too much. Nothing is unpacked or prepared: the first call takes half a millisecond, the time to load
// pages of the word list. Nothing of b is copied to the heap, and the copy on the stack is wiped.
func Strength(b []byte) int {
	e := estimate{list: wordTree(packedWords)}
	defer e.wipe()
	e.read(b)
	return score(e.cheapest())
}

// score places a sum of effort among the steps 10^3, 10^6, 10^8 and 10^10.
func score(total effort) int {
	for s, step := range [...]effort{159, 319, 425, 532} { // log2(10^n) × 16, rounded
		if total < step {
			return s
		}
	}
	return 4
}

// estimate is the work on one password. It has a fixed size and lives on the stack, where wipe reaches it.
type estimate struct {
	list   wordTree
	n      int
	glyphs [judged]glyph
	// least[i] is the cheapest way found so far to write the first i glyphs.
	least [judged + 1]effort
	steps int // comparisons made: what the test of the bound counts
}

// wipe clears the characters. It isn't inlined, so that the compiler can't see that nobody reads them again.
//
//go:noinline
func (e *estimate) wipe() {
	clear(e.glyphs[:])
	clear(e.least[:])
	runtime.KeepAlive(e)
}

// cheapest goes through the glyphs from left to right; when it comes to i, least[i] is final, since pieces only lead
// forward.
func (e *estimate) cheapest() effort {
	for i := range e.n {
		e.least[i+1] = unreached
	}
	for i := range e.n {
		e.reach(i, i+1, e.glyphs[i].alone)
		e.wordsFrom(i)
		e.wordsBackTo(i)
		e.rows(i)
		e.walk(i)
		e.dates(i)
		e.repeats(i)
	}
	return e.least[e.n]
}

// reach says that the glyphs from i up to j can be written for cost.
func (e *estimate) reach(i, j int, cost effort) {
	e.steps++
	e.least[j] = min(e.least[j], e.least[i]+cost)
}

// choice is the effort of one among n equally likely things. Between powers of two it is read off a straight line,
// at most 0.09 bits too low.
func choice(n int) effort {
	whole := bits.Len(uint(n)) - 1
	return bit*effort(whole) + effort(uint(bit)*uint(n)>>whole) - bit
}

// capitals is the effort of knowing which of n letters are capital.
func capitals(upper, n int) effort {
	if upper == 0 {
		return 0
	}
	return bit + bit*effort(min(upper, n-upper))
}
