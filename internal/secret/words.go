package secret

import (
	"bytes"
	"compress/gzip"
	_ "embed" // for the word list
	"io"
	"sync"
)

// packedWords is the list that wordlist/README.md describes: gzip over one entry a word, in the order of the words.
// An entry is a byte that says how many letters it shares with the word before, the other letters, and a byte
// '@' + rank that ends it.
//
//go:embed wordlist/words.gz
var packedWords []byte

// words unpacks the list on first use, and never in a process that judges no password.
var words = sync.OnceValue(func() *wordList {
	l, err := unpackWords(packedWords)
	if err != nil {
		panic("secret: damaged word list: " + err.Error()) // it is part of the program
	}
	return l
})

// wordList holds sorted words of a–z and 0–9.
type wordList struct {
	text  []byte   // all words, one after the other
	start []uint32 // where each begins in text, and at last where text ends
	rank  []uint8  // log2 of the guesses that come to each, rounded up: 1 for the two most common
}

func unpackWords(packed []byte) (*wordList, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	entries, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	// Room for a little more than there is: an entry has 4.3 bytes on average, a word 7.4 letters.
	l := &wordList{
		text:  make([]byte, 0, 2*len(entries)),
		start: make([]uint32, 0, len(entries)/4),
		rank:  make([]uint8, 0, len(entries)/4),
	}
	before := 0
	for at := 0; at < len(entries); at++ {
		l.start = append(l.start, uint32(len(l.text)))
		l.text = append(l.text, l.text[before:before+int(entries[at])]...)
		before = int(l.start[len(l.start)-1])
		for at++; entries[at] < '@' || entries[at] >= 'a'; at++ {
			l.text = append(l.text, entries[at])
		}
		l.rank = append(l.rank, entries[at]-'@')
	}
	l.start = append(l.start, uint32(len(l.text)))
	return l, nil
}

func (l *wordList) len() int { return len(l.rank) }

func (l *wordList) wordLen(i int) int { return int(l.start[i+1] - l.start[i]) }

// letter is the k-th letter of word i, or 0 past its end.
func (l *wordList) letter(i, k int) byte {
	if k >= l.wordLen(i) {
		return 0
	}
	return l.text[int(l.start[i])+k]
}

// narrow takes the words from lo up to hi, which have their first k letters in common, and returns those among them
// that go on with a letter. If one ends there, it is the first.
func (l *wordList) narrow(lo, hi, k int, letter byte) (from, to int) {
	from = l.search(lo, hi, k, letter)
	if from == hi || l.letter(from, k) != letter {
		return from, from
	}
	return from, l.search(from, hi, k, letter+1)
}

// search finds the first of such words whose k-th letter is not below a letter.
func (l *wordList) search(lo, hi, k int, letter byte) int {
	for lo < hi {
		if middle := (lo + hi) / 2; l.letter(middle, k) < letter {
			lo = middle + 1
		} else {
			hi = middle
		}
	}
	return lo
}
