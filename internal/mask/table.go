package mask

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"

	"warder/internal/secret"
)

// pattern is one spelling of a value: a piece of the pool. Lengths are no secret here.
type pattern struct {
	off, len uint32
	value    uint32
	early    uint8 // how many of its characters may go out because nothing follows
	folds    bool  // it may have line breaks inside
}

// table is all that a search needs. It never changes, but for the automata, which are made when they are first needed.
// The values lie in pool; what is computed from them, hashes under a random multiplier, in image.
type table struct {
	pool, image secret.Value
	plan        plan
	patterns    []pattern // sorted by their bytes, none twice
	folding     []pattern // those of them that fold
	marks       []string  // by value
	multiplier  uint64    // odd and random, so that output can't be made to collide
	view        view      // of image

	mu    sync.Mutex // guards automata
	autos [2]*automaton
}

// plan says how a table searches, and where the parts of its image lie.
type plan struct {
	shortest, longest int
	longestFolding    int // 0 if nothing folds
	// gram is q. Each occurrence has a gram that begins at a multiple of stride, since shortest ≥ stride + gram - 1.
	gram, stride int
	// broken says that the sample has the grams of folding patterns with line breaks in them, too. It does where they are
	// few: to look for newlines costs as much as all the rest.
	broken bool

	inside int      // where the set of bytes lies that a pattern has before its last one
	grams  bitmapAt // grams of the sample
	sure   bitmapAt // the same, as a filter
	quick  int      // where the same set lies with a byte for each hash, if they are few; else 0
	starts bitmapAt // the first three, and four, bytes of each pattern
	inner  bitmapAt // four bytes that lie in a pattern before its last one
	begin  openPlan // how patterns begin; of all
	fold   openPlan // of those that fold
	joins  bitmapAt // six characters that lie in a folding pattern

	bucketLog int // the logarithm of the number of buckets
	heads     int // where the heads of buckets lie: 4 bytes each, the number of the first entry
	entries   int // where the entries lie: 8 bytes each, in the order of their buckets
	size      int // of all
}

// openPlan is where the sets lie that tell how some of the patterns begin.
type openPlan struct {
	first  int      // the set of first bytes, exact
	second bitmapAt // the first two bytes, exact
}

// bitmapAt is where a bitmap lies, and the logarithm of its size in bits.
type bitmapAt struct{ off, log int }

const (
	// Where patterns are many, a stride over usualStride would leave too few places to choose grams from: keys of one kind
	// begin alike.
	maxStride, usualStride = 26, 13
	fewPatterns            = 64
	// choices is among how many places of each residue the gram is chosen that a pattern is found by.
	choices = 8
	// An entry has, from its upper bits down, the number of a pattern, how many entries follow that differ in the offset
	// alone, the offset of the gram in the pattern, and a tag of the gram. An offset is under maxStride * choices.
	runBits, offsetBits, tagBits = 5, 8, 24
	// brokenGrams is in how many ways eight bytes of folded text may have line breaks in them, and none, and mostBroken how
	// many such grams a sample may have.
	brokenGrams, mostBroken = 293, 1 << 15
	// A set of few grams has a table with a byte for each: a lookup in bits takes twice as many instructions, and one in
	// bytes eight times as much of the cache.
	quickSize, fewGrams = 1 << 16, 1 << 11
	// setSize is the size of an exact set of bytes.
	setSize = 256 / 8
	// loadSlack is how much is behind the pool, so that eight bytes can be read anywhere in it.
	loadSlack = 8
)

// newTable takes over what an earlier table has and adds what waits. Neither is changed.
func newTable(old *table, pending []needle, names []string) (*table, error) {
	t := &table{}
	t.view.t = t
	if old == nil && len(pending) == 0 {
		return t, nil
	}
	var seed [8]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return nil, err
	}
	t.multiplier = binary.LittleEndian.Uint64(seed[:]) | 1<<63 | 1
	if err := t.gather(old, pending); err != nil {
		return nil, err
	}
	used := t.pool.Use(func(pool []byte) {
		t.patterns = sortPatterns(pool, t.patterns)
		for _, p := range t.patterns {
			if p.folds {
				t.folding = append(t.folding, p)
			}
		}
		if t.plan = planFor(t.patterns, t.folding); t.plan.size > secret.MaxDerived || len(t.patterns) >= 1<<(64-runBits-offsetBits-tagBits) {
			return
		}
		var err error
		if t.image, err = secret.MakeDerived(t.plan.size, func(image []byte) error {
			t.fill(image, pool)
			return nil
		}); err != nil {
			t.plan.size = 0
		}
	})
	if used == nil && t.image.IsZero() {
		used = fmt.Errorf("%d spellings of values: %w", len(t.patterns), secret.ErrTooLarge)
	}
	if used == nil {
		used = t.chooseMarks(names)
	}
	if used != nil {
		t.destroy()
		return nil, used
	}
	return t, nil
}

// gather copies what the table before has, and spells what waits, into one piece of secret memory. Spellings are made in
// pinned memory first, since how long they are is known then.
func (t *table) gather(old *table, pending []needle) error {
	had := 0
	if old != nil && len(old.patterns) > 0 {
		had = old.pool.Len() - loadSlack
		t.patterns = slices.Clone(old.patterns)
	}
	s, err := newSpeller(pending)
	if err != nil {
		return err
	}
	defer s.close()
	for i := range pending {
		if err := s.spell(&pending[i]); err != nil {
			return err
		}
	}
	total := had + s.size + loadSlack
	if total > secret.MaxSize {
		return fmt.Errorf("%d bytes of values and their spellings: %w", total, secret.ErrTooLarge)
	}
	for _, p := range s.patterns {
		p.off += uint32(had)
		t.patterns = append(t.patterns, p)
	}
	t.pool, err = secret.Make(total, func(dst []byte) error {
		if had > 0 {
			if err := old.pool.Use(func(pool []byte) { copy(dst, pool[:had]) }); err != nil {
				return err
			}
		}
		return s.room.Use(func(room []byte) { copy(dst[had:], room[:s.size]) })
	})
	return err
}

func (p pattern) of(pool []byte) []byte { return pool[p.off : p.off+p.len] }

// sortPatterns sorts by bytes and drops what is there twice; the value that was added first gives the name. A piece that
// both folds and doesn't does.
func sortPatterns(pool []byte, patterns []pattern) []pattern {
	slices.SortFunc(patterns, func(a, b pattern) int {
		if x, y := key(pool, a), key(pool, b); x != y {
			return cmp.Compare(x, y)
		}
		return cmp.Or(bytes.Compare(a.of(pool), b.of(pool)), cmp.Compare(a.value, b.value))
	})
	kept := patterns[:0]
	for _, p := range patterns {
		if n := len(kept); n > 0 && bytes.Equal(kept[n-1].of(pool), p.of(pool)) {
			kept[n-1].folds = kept[n-1].folds || p.folds
			kept[n-1].early = min(kept[n-1].early, p.early)
			continue
		}
		kept = append(kept, p)
	}
	return kept
}

// key orders patterns by their first bytes, in one comparison. No pattern is under four bytes.
func key(pool []byte, p pattern) uint32 { return binary.BigEndian.Uint32(pool[p.off:]) }

// planFor chooses gram and stride, and shares the image out.
func planFor(patterns, folding []pattern) plan {
	p := plan{shortest: math.MaxInt}
	size, folded := 0, 0
	for _, q := range patterns {
		size += int(q.len)
		p.shortest = min(p.shortest, int(q.len))
		p.longest = max(p.longest, int(q.len))
	}
	for _, q := range folding {
		folded += int(q.len)
		p.longestFolding = max(p.longestFolding, int(q.len))
	}
	p.gram = 4
	if p.shortest >= 12 {
		p.gram = 8
	}
	p.stride = min(usualStride, p.shortest-p.gram+1)
	if len(patterns) <= fewPatterns {
		p.stride = min(maxStride, p.shortest-p.gram+1)
		if p.stride*len(folding)*brokenGrams > mostBroken {
			p.stride = min(p.stride, usualStride)
		}
	}

	entries := len(patterns) * p.stride
	grams := entries
	if broken := len(folding) * p.stride * brokenGrams; p.gram == 8 && broken <= mostBroken {
		p.broken = broken > 0
		grams += broken
	}
	p.inside = 0
	p.grams = bitmapAt{setSize, logOf(sparse(96, 32, grams), 14, 27)}
	p.sure = p.grams.next(logOf(16*grams, 14, 27))
	at := p.sure.next(0).off
	if p.gram == 8 && p.stride == usualStride && grams <= fewGrams {
		p.quick = at
		at += quickSize
	}
	p.starts = bitmapAt{at, logOf(64*len(patterns), 10, 24)}
	p.inner = p.starts.next(logOf(sparse(12, 8, size), 10, 26))
	at = p.begin.share(p.inner.next(0).off)
	if len(folding) > 0 {
		at = p.fold.share(at)
		p.joins = bitmapAt{at, logOf(sparse(40, 12, folded), 14, 28)}
		at = p.joins.next(0).off
	}
	p.heads = at
	p.bucketLog = logOf(entries/2+1, 1, 24)
	p.entries = p.heads + 4*(1<<p.bucketLog+2)
	p.size = p.entries + 8*entries
	return p
}

// sparse is how many bits a set of n has: many for each, as long as that fits into a cache.
func sparse(many, few, n int) int {
	if many*n <= 1<<22 {
		return many * n
	}
	return few * n
}

// share lays the sets out from at on, and says where they end.
func (o *openPlan) share(at int) int {
	o.first = at
	o.second = bitmapAt{at + setSize, 16}
	return o.second.next(0).off
}

// logOf is the logarithm of the smallest power of two that is at least n, within bounds.
func logOf(n, least, most int) int { return min(max(bits.Len(uint(n-1)), least), most) }

func (b bitmapAt) next(log int) bitmapAt { return bitmapAt{b.off + 1<<b.log/8, log} }

// fill writes the image.
func (t *table) fill(image, pool []byte) {
	t.view.open(t, image)
	v := lent{&t.view, pool}
	for _, p := range t.patterns {
		b := p.of(pool)
		for i, c := range b[:len(b)-1] {
			v.inside[c/8] |= 1 << (c % 8)
			if i+4 < len(b) {
				v.inner.set(uint64(word(b[i:])) * v.multiplier)
			}
		}
		v.starts.set(three(b) * v.multiplier)
		v.starts.set(uint64(word(b)) * v.multiplier)
		v.begin.enter(b)
	}
	for _, p := range t.folding {
		b := p.of(pool)
		v.fold.enter(b)
		for i := 0; i+joinGram <= len(b) && !v.broken; i++ {
			v.joins.set(joined(pool[int(p.off)+i:]) * v.multiplier)
		}
		if v.broken {
			enterBroken(&t.view, b)
		}
	}
	newSample(v)
}

func word(b []byte) uint32       { return binary.LittleEndian.Uint32(b) }
func putWord(b []byte, w uint32) { binary.LittleEndian.PutUint32(b, w) }

// chooseMarks gives each value a mark that contains no value (C-10).
func (t *table) chooseMarks(names []string) error {
	t.marks = make([]string, len(names))
	s := search{lent: lent{view: &t.view}}
	return s.withPool(func() {
		for i, name := range names {
			for _, t.marks[i] = range marksFor(name) {
				if !s.occursIn([]byte(t.marks[i])) {
					break
				}
			}
		}
	})
}

// destroy wipes a table: the values, once no search needs them any more, and what was computed from them when no writer
// has it before itself. On nil it does nothing.
func (t *table) destroy() {
	if t == nil {
		return
	}
	secret.Retire(t.image)
	t.pool.Destroy()
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.autos {
		t.autos[i].destroy()
		t.autos[i] = nil
	}
}

// isDestroyed says that a table was wiped while it was to be used.
func isDestroyed(err error) bool { return errors.Is(err, secret.ErrDestroyed) }
