package secret

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"maps"
	"math/bits"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var sources = flag.String("wordlist", "", "folder of the raw lists; makes wordlist/words.gz from them (see wordlist/README.md)")

// maxPacked keeps the list a small part of the program.
const maxPacked = 250 << 10

func TestWordList_isWellFormed(t *testing.T) {
	if *sources != "" {
		writeWordList(t, *sources)
		return
	}
	if len(packedWords) > maxPacked {
		t.Errorf("packed list has %d bytes, want at most %d", len(packedWords), maxPacked)
	}
	l := words()
	allowed := regexp.MustCompile(`^[a-z0-9]{3,24}$`)
	before := ""
	for i := range l.len() {
		word := string(l.text[l.start[i]:l.start[i+1]])
		if word <= before {
			t.Fatalf("word %d isn't in order or stands twice", i)
		}
		if !allowed.MatchString(word) {
			t.Fatalf("word %d, %q, has other characters or another length", i, word)
		}
		if !worthIt(word, l.rank[i]) {
			t.Fatalf("word %d, %q, never costs less than its letters", i, word)
		}
		before = word
	}
	if l.len() < 80_000 {
		t.Errorf("only %d words", l.len())
	}
}

func TestWordList_ranks(t *testing.T) {
	l := words()
	for word, want := range map[string][2]uint8{
		"password": {1, 2}, "dragon": {3, 5}, "michael": {4, 6}, "letmein": {4, 6}, "company": {7, 10},
		"horse": {7, 12}, "staple": {10, 15}, "acme": {1, 10}, "zygote": {12, 17},
	} {
		lo, hi := 0, l.len()
		for k := range len(word) {
			lo, hi = l.narrow(lo, hi, k, word[k])
		}
		if lo == hi || l.wordLen(lo) != len(word) {
			t.Errorf("%s is missing", word)
			continue
		}
		if got := l.rank[lo]; got < want[0] || got > want[1] {
			t.Errorf("%s has rank 2^%d, want 2^%d to 2^%d", word, got, want[0], want[1])
		}
	}
}

func TestUnpackWords_damaged(t *testing.T) {
	for _, packed := range [][]byte{nil, []byte("no gzip"), packedWords[:len(packedWords)/2]} {
		if _, err := unpackWords(packed); err == nil {
			t.Errorf("%d bytes of no list are unpacked", len(packed))
		}
	}
}

// worthIt says whether a word of that rank costs less than its letters one by one; others only take room.
func worthIt(word string, rank uint8) bool {
	return join+bit*effort(rank) < anyLetter*effort(len(word))
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
	if err := os.WriteFile("wordlist/words.gz", pack(t, r), 0o644); err != nil {
		t.Fatal(err)
	}
}

// ranks holds the best rank of each word.
type ranks map[string]int

var (
	plain = regexp.MustCompile(`^[A-Za-z]{3,24}$`)
	mixed = regexp.MustCompile(`^[a-z][a-z0-9]{1,22}[a-z]$`)
)

func (r ranks) add(word string, rank int) {
	word = strings.ToLower(word)
	if !plain.MatchString(word) && !mixed.MatchString(word) {
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

// addPasswords cuts off the digits around a password, which are pieces of their own. Those inside stay where the
// password is well known; otherwise it is left out.
func (r ranks) addPasswords(ps []string) {
	for i, p := range ps {
		p = strings.Trim(p, "0123456789")
		if i < 5000 || plain.MatchString(p) {
			r.add(p, i+1)
		}
	}
}

func pack(t *testing.T, rank ranks) []byte {
	var entries []byte
	before := ""
	count := 0
	for _, w := range slices.Sorted(maps.Keys(rank)) {
		r := uint8(bits.Len(uint(rank[w])))
		if !worthIt(w, r) {
			continue
		}
		shared := 0
		for shared < min(len(w), len(before)) && w[shared] == before[shared] {
			shared++
		}
		entries = append(entries, byte(shared))
		entries = append(entries, w[shared:]...)
		entries = append(entries, '@'+r)
		before = w
		count++
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(entries); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d words in %d bytes", count, packed.Len())
	return packed.Bytes()
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
