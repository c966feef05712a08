package secret

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
	v.c.mu.Lock()
	defer v.c.mu.Unlock()
	return v.c.dead && v.c.users > 0
}

// SlabSize is the size of a slab in bytes.
const SlabSize = slabSize

// Unpack does again what the first call of Strength does.
func Unpack() error {
	_, err := unpackWords(packedWords)
	return err
}

// Steps counts the comparisons that judging b takes.
func Steps(b []byte) int {
	e := estimate{list: words()}
	e.read(b)
	e.cheapest()
	return e.steps
}

// SomeWords draws words that a passphrase generator would use: of six letters and more.
func SomeWords(intN func(int) int, n int) []string {
	l := words()
	var drawn []string
	for len(drawn) < n {
		if i := intN(l.len()); l.wordLen(i) >= 6 {
			drawn = append(drawn, string(l.text[l.start[i]:l.start[i+1]]))
		}
	}
	return drawn
}
