package secret

import (
	"regexp"
	"sync"
)

// WhileArenaIsLocked runs f while nothing is wiped.
func WhileArenaIsLocked(f func()) {
	process.mu.Lock()
	defer process.mu.Unlock()
	f()
}

// Mappings counts what the arena of this process holds: slabs, and mappings of one large secret each.
func Mappings() (slabs, large int) {
	process.mu.Lock()
	defer process.mu.Unlock()
	return len(process.slabs), len(process.large)
}

// Waiting says that somebody has called Destroy and waits for a running Use.
func (v Value) Waiting() bool {
	users := v.c.users.Load()
	return users < 0 && users != dead
}

// SlabSize is the size of a slab in bytes.
const SlabSize = slabSize

// Steps counts the comparisons that judging b takes.
func Steps(b []byte) int {
	e := estimate{list: wordTree(packedWords)}
	e.read(b)
	e.cheapest()
	return e.steps
}

var longWords = sync.OnceValue(func() (long []string) {
	isLong := regexp.MustCompile(`^[a-z]{6,}$`)
	for word := range wordTree(packedWords).all() {
		if isLong.MatchString(word) {
			long = append(long, word)
		}
	}
	return long
})

// SomeWords draws words that a passphrase generator would use: of six letters and more.
func SomeWords(intN func(int) int, n int) []string {
	long := longWords()
	drawn := make([]string, n)
	for i := range drawn {
		drawn[i] = long[intN(len(long))]
	}
	return drawn
}

// Wiped says that the bytes are gone.
func (v Value) Wiped() bool {
	v.c.mu.Lock()
	defer v.c.mu.Unlock()
	return v.c.place == nil
}
