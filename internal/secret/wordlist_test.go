package secret

import (
	"encoding/binary"
	"encoding/json"
	"flag"
	"iter"
	"maps"
	"math/bits"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var sources = flag.String("wordlist", "", "folder of the raw lists; makes wordlist/words.tree from them (see wordlist/README.md)")

// maxPacked keeps the list a small part of the program.
const maxPacked = 400 << 10

func TestWordList_isWellFormed(t *testing.T) {
	if *sources != "" {
		writeWordList(t, *sources)
		return
	}
	if len(packedWords) > maxPacked {
		t.Errorf("packed list has %d bytes, want at most %d", len(packedWords), maxPacked)
	}
	allowed := regexp.MustCompile(`^[a-z0-9]{3,24}$`)
	before, count := "", 0
	for word, rank := range wordTree(packedWords).all() {
		if word <= before {
			t.Fatalf("%q isn't in order or stands twice", word)
		}
		if !allowed.MatchString(word) {
			t.Fatalf("%q has other characters or another length", word)
		}
		if !worthIt(word, rank) {
			t.Fatalf("%q never costs less than its letters", word)
		}
		before = word
		count++
	}
	if count < 80_000 {
		t.Errorf("only %d words", count)
	}
}

// all goes through the words in order.
func (w wordTree) all() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) { w.below("", w.root(), yield) }
}

func (w wordTree) below(before string, t twig, yield func(string, int) bool) bool {
	for at := t.row; at >= 0; {
		number, next, after := w.node(at)
		word := before + letters[number:number+1]
		if next.rank > 0 && !yield(word, next.rank) || !w.below(word, next, yield) {
			return false
		}
		at = after
	}
	return true
}

const letters = "0123456789abcdefghijklmnopqrstuvwxyz"

// Each number stands for the letter that has it.
func TestLetterNumber(t *testing.T) {
	for i := range len(letters) {
		if got := letterNumber(letters[i]); int(got) != i {
			t.Errorf("%c has the number %d, want %d", letters[i], got, i)
		}
	}
}

// What pack writes is what the tree reads, whatever the words: alone, beginning each other, with rows beside and below.
func TestWordTree_roundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := ranks(rapid.MapOfN(rapid.StringMatching(`[a-c09]{1,6}`), rapid.IntRange(1, 24), 1, 60).Draw(t, "words"))
		tree := wordTree(want.pack())
		if got := ranks(maps.Collect(tree.all())); !maps.Equal(got, want) {
			t.Fatalf("read %v, want %v", got, want)
		}
		word := rapid.StringMatching(`[a-c09]{1,6}`).Draw(t, "other")
		if got := rankIn(tree, word); got != want[word] {
			t.Fatalf("%s has rank %d, want %d", word, got, want[word])
		}
	})
}

// rankIn is the rank of a word, 0 if it is none.
func rankIn(w wordTree, word string) int {
	t, ok := w.root(), true
	for k := 0; k < len(word) && ok; k++ {
		t, _, ok = w.grow(t, word[k])
	}
	return t.rank
}

func TestWordList_ranks(t *testing.T) {
	for word, want := range map[string][2]int{
		"password": {1, 2}, "dragon": {3, 5}, "michael": {4, 6}, "letmein": {4, 6}, "company": {7, 10},
		"horse": {7, 12}, "staple": {10, 15}, "acme": {1, 10}, "zygote": {12, 17},
		"8675309": {8, 10}, "4815162342": {8, 10}, "zaq12wsx": {9, 11}, "blink182": {8, 10}, "24601": {1, 10},
	} {
		if got := rankIn(wordTree(packedWords), word); got < want[0] || got > want[1] {
			t.Errorf("%s has rank 2^%d, want 2^%d to 2^%d", word, got, want[0], want[1])
		}
	}
}

// worthIt says whether a word of that rank costs less than its letters one by one; others only take room.
func worthIt(word string, rank int) bool {
	alone := effort(0)
	for _, letter := range word {
		alone += aloneCost(letter)
	}
	return join+bit*effort(rank) < alone
}

// writeWordList is the recipe of wordlist/README.md.
func writeWordList(t *testing.T, dir string) {
	r := ranks{}
	r.addPasswords(list(t, dir, "passwords.json"))
	for i, w := range list(t, dir, "wikipedia.json")[:29_000] {
		r.add(w, i+1)
	}
	for i, w := range list(t, dir, "lastnames.json")[:10_000] {
		r.add(w, i+1)
	}
	r.addAll(list(t, dir, "firstnames.json"), 0) // in the order of the alphabet
	size := 0
	for _, level := range []string{"english-words.10", "english-words.20", "english-words.35", "english-words.40"} {
		ws := lines(t, filepath.Join(dir, level))
		r.addAll(ws, size)
		size += len(ws)
	}
	r.addAll(lines(t, "wordlist/extra.txt"), 0)
	r.addAll(lines(t, "wordlist/mixed.txt"), 0)
	tree := r.logarithms().pack()
	t.Logf("%d bytes", len(tree))
	if err := os.WriteFile("wordlist/words.tree", []byte(tree), 0o644); err != nil {
		t.Fatal(err)
	}
}

// ranks holds the best rank of each word.
type ranks map[string]int

var (
	usable = regexp.MustCompile(`^[a-z0-9]{3,24}$`)
	plain  = regexp.MustCompile(`^[a-z]+$`)
)

func (r ranks) add(word string, rank int) {
	word = strings.ToLower(word)
	if !usable.MatchString(word) {
		return
	}
	if best, ok := r[word]; !ok || rank < best {
		r[word] = rank
	}
}

// addAll adds words without an order: each has the rank of the last, which comes after others.
func (r ranks) addAll(words []string, others int) {
	for _, w := range words {
		r.add(w, others+len(words))
	}
}

// addPasswords adds each password as it is and without the digits around it, which are pieces of their own.
func (r ranks) addPasswords(ps []string) {
	for i, p := range ps {
		r.add(p, i+1)
		r.add(strings.Trim(p, "0123456789"), i+1)
	}
}

// logarithms rounds the ranks up to powers of two and leaves out what takes room for nothing: words that cost no less
// than their letters and, of those with digits, what costs no less when it is put together from the rest.
func (r ranks) logarithms() ranks {
	kept := ranks{}
	for w, rank := range r {
		if log := bits.Len(uint(rank)); plain.MatchString(w) && worthIt(w, log) {
			kept[w] = log
		}
	}
	words := wordTree(kept.pack())
	for w, rank := range r {
		log := bits.Len(uint(rank))
		e := estimate{list: words}
		e.read([]byte(w))
		if !plain.MatchString(w) && join+bit*effort(log) < e.cheapest() {
			kept[w] = log
		}
	}
	return kept
}

// pack writes the tree that words.go describes.
func (r ranks) pack() string {
	words := slices.Sorted(maps.Keys(r))
	return string(r.row(words, 0))
}

// row writes the nodes of sorted words that have their first depth letters in common.
func (r ranks) row(words []string, depth int) (row []byte) {
	for len(words) > 0 {
		end := 1
		for end < len(words) && words[end][depth] == words[0][depth] {
			end++
		}
		head, rank := letterNumber(words[0][depth])<<2, 0
		below := words[:end]
		if len(words[0]) == depth+1 {
			head |= wordEnds
			rank = r[words[0]]
			below = words[1:end]
		}
		children := r.row(below, depth+1)
		if end == len(words) {
			head |= lastSibling
		}
		row = append(row, head)
		switch {
		case rank > 0 && len(children) == 0:
			row = append(row, byte(rank|noChildren))
		case rank > 0:
			row = append(row, byte(rank))
		}
		if len(children) > 0 && end < len(words) {
			row = binary.AppendUvarint(row, uint64(len(children)))
		}
		row = append(row, children...)
		words = words[end:]
	}
	return row
}

func list(t *testing.T, dir, name string) (l []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &l); err != nil {
		t.Fatal(err)
	}
	return l
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(b))
}
