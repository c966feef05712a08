package secret

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// glyph is one character of a password, in the readings that a guesser tries.
type glyph struct {
	fold  rune    // lower case
	upper bool    // fold is not what was typed
	as    [3]byte // the letters it may stand for: itself first, then by look (leet, accents); 0 for none
	alone effort  // its cost as a single character
	key   key     // where it is typed
}

const (
	anyLetter effort = 75  // log2(26): capitals count for nothing, people put them where others do
	anyDigit  effort = 53  // log2(10)
	usualSign effort = 57  // log2(12): the signs below
	anySign   effort = 81  // log2(33): the rest of ASCII
	anyByte   effort = 112 // log2(128): not UTF-8
	anyScript effort = 80  // log2(32): an alphabet other than Latin, and accents
	anyIdeo   effort = 128 // log2(256): few of the many ideographs, syllables and emoji are common

	usualSigns = " -_.,!?@#$*&"
)

// read takes the first characters of b. Combining marks are dropped, though counted: what was typed as é may come as
// e and a mark.
func (e *estimate) read(b []byte) {
	for range judged {
		r, size := utf8.DecodeRune(b)
		if size == 0 {
			return
		}
		switch {
		case r == utf8.RuneError && size == 1:
			e.glyphs[e.n] = glyph{fold: unicode.MaxRune + 1 + rune(b[0]), alone: anyByte}
			e.n++
		case !unicode.Is(unicode.Mn, r):
			e.glyphs[e.n] = newGlyph(r, e.glyphs[:e.n])
			e.n++
		}
		b = b[size:]
	}
}

func newGlyph(r rune, before []glyph) glyph {
	fold := unicode.ToLower(r)
	g := glyph{fold: fold, upper: fold != r, alone: aloneCost(fold), key: keyOf(fold)}
	if isLetter(fold) || isDigit(fold) {
		g.as[0] = byte(fold)
	}
	copy(g.as[1:], looksLike(fold))
	// The second sign of a kind tells little: people separate words by the same one.
	if g.alone == usualSign || g.alone == anySign {
		for _, other := range before {
			if other.fold == fold {
				g.alone = bit
			}
		}
	}
	return g
}

func aloneCost(fold rune) effort {
	switch {
	case isLetter(fold):
		return anyLetter
	case isDigit(fold):
		return anyDigit
	case fold >= 0x2e80: // from here on ideographs, syllables, emoji
		return anyIdeo
	case fold >= utf8.RuneSelf:
		return anyScript
	case strings.ContainsRune(usualSigns, fold):
		return usualSign
	}
	return anySign
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' }
func isDigit(r rune) bool  { return '0' <= r && r <= '9' }

// looksLike gives the letters, two at most, that a sign, digit or accented letter is typed for.
func looksLike(r rune) string {
	switch r {
	case '4', '@':
		return "a"
	case '8':
		return "b"
	case '(', '<', '{', '[', '¢', '©':
		return "c"
	case '3', '€':
		return "e"
	case '6', '9':
		return "g"
	case '1', '!', '|':
		return "il"
	case '0':
		return "o"
	case '5', '$', '§':
		return "s"
	case '7', '+':
		return "t"
	case '2':
		return "z"
	}
	if 'à' <= r && r <= 'ÿ' {
		const bare = "aaaaaaaceeeeiiiidnooooo/ouuuuyty"
		return bare[r-'à' : r-'à'+1]
	}
	if r == 'ß' {
		return "s"
	}
	return ""
}
