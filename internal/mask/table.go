package mask

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"warder/internal/secret"
)

// pattern is one spelling of a value: a piece of the pool. Lengths are no secret here.
type pattern struct {
	off, len uint32
	value    uint32
}

// table is all that a search needs. It never changes, but for the automaton, which is made when it is first needed.
// What is computed from bytes of values lies in image; multiplier says nothing about them.
type table struct {
	image      secret.Value
	plan       plan
	patterns   []pattern // sorted by their bytes, none twice
	marks      []string  // by value
	multiplier uint64    // odd and random, so that output can't be made to collide

	mu   sync.Mutex // guards auto
	auto *automaton
}

// plan says how a table searches, and where the parts of its image lie.
type plan struct {
	shortest, longest int
	// gram is q. Each occurrence has a gram that begins at a multiple of stride, since shortest ≥ stride + gram - 1.
	gram, stride int

	poolSize int      // bytes; the pool is the first part
	inside   int      // where the set of bytes lies that a pattern has before its last one
	grams    bitmapAt // grams of the sample
	sure     bitmapAt // the same, as a filter
	starts   bitmapAt // the first one, two, three and four bytes of each pattern
	inner    bitmapAt // four bytes that lie in a pattern before its last one

	bucketLog int // the logarithm of the number of buckets
	heads     int // where the heads of buckets lie: 4 bytes each, the number of the first entry
	entries   int // where the entries lie: 8 bytes each, in the order of their buckets
	size      int // of all
}

// bitmapAt is where a bitmap lies, and the logarithm of its size in bits.
type bitmapAt struct{ off, log int }

const (
	maxStride = 13
	// choices is among how many places of each residue the gram is chosen that a pattern is found by.
	choices = 8
	// An entry has, from its upper bits down, the number of a pattern, the offset of the gram in it, and a tag of the gram.
	offsetBits, tagBits = 24, 16
)

// newTable takes over what an earlier table has and adds what waits. Neither is changed.
func newTable(old *table, pending []needles, names []string) (*table, error) {
	if old == nil && len(pending) == 0 {
		return &table{}, nil
	}
	stage, patterns, err := gather(old, pending)
	if err != nil {
		return nil, err
	}
	defer stage.Destroy()
	t := &table{}
	var seed [8]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return nil, err
	}
	t.multiplier = binary.LittleEndian.Uint64(seed[:]) | 1<<63 | 1
	used := stage.Use(func(raw []byte) {
		t.patterns = sortPatterns(raw, patterns)
		if t.plan, err = planFor(t.patterns); err != nil {
			return
		}
		t.image, err = secret.Make(t.plan.size, func(image []byte) error {
			t.fill(image, raw)
			return nil
		})
	})
	if used != nil {
		return nil, used
	}
	if err != nil {
		return nil, err
	}
	if err := t.chooseMarks(names); err != nil {
		t.destroy()
		return nil, err
	}
	return t, nil
}

// gather copies all patterns into one piece of locked memory.
func gather(old *table, pending []needles) (secret.Value, []pattern, error) {
	total := 0
	if old != nil {
		total = old.plan.poolSize
	}
	for _, n := range pending {
		total += n.bytes.Len()
	}
	if total > secret.MaxSize {
		return secret.Value{}, nil, fmt.Errorf("%d bytes of values and their spellings: %w", total, secret.ErrTooLarge)
	}
	var patterns []pattern
	stage, err := secret.Make(total, func(dst []byte) error {
		at := 0
		if old != nil {
			patterns = append(patterns, old.patterns...)
			at = old.plan.poolSize
			if err := old.image.Use(func(image []byte) { copy(dst, image[:at]) }); err != nil {
				return err
			}
		}
		for _, n := range pending {
			if err := n.bytes.Use(func(b []byte) { copy(dst[at:], b) }); err != nil {
				return err
			}
			for _, length := range n.lengths {
				patterns = append(patterns, pattern{off: uint32(at), len: uint32(length), value: uint32(n.value)})
				at += length
			}
		}
		return nil
	})
	return stage, patterns, err
}

func (p pattern) of(pool []byte) []byte { return pool[p.off : p.off+p.len] }

// sortPatterns sorts by bytes and drops what is there twice; the value that was added first gives the name. Offsets
// stay those in raw.
func sortPatterns(raw []byte, patterns []pattern) []pattern {
	slices.SortFunc(patterns, func(a, b pattern) int {
		if c := bytes.Compare(a.of(raw), b.of(raw)); c != 0 {
			return c
		}
		return cmp.Compare(a.value, b.value)
	})
	return slices.CompactFunc(patterns, func(a, b pattern) bool { return bytes.Equal(a.of(raw), b.of(raw)) })
}

// planFor chooses gram and stride, and shares the image out. A set so large that its sample would not fit is searched
// with a smaller stride, hence fewer entries.
func planFor(patterns []pattern) (plan, error) {
	p := plan{shortest: secret.MaxSize}
	for _, q := range patterns {
		p.poolSize += int(q.len)
		p.shortest = min(p.shortest, int(q.len))
		p.longest = max(p.longest, int(q.len))
	}
	p.gram = 4
	if p.shortest >= 12 {
		p.gram = 8
	}
	for p.stride = min(maxStride, p.shortest-p.gram+1); ; p.stride = (p.stride + 1) / 2 {
		p.share(len(patterns))
		if p.size <= secret.MaxSize {
			return p, nil
		}
		if p.stride == 1 {
			return plan{}, fmt.Errorf("%d spellings of values: %w", len(patterns), secret.ErrTooLarge)
		}
	}
}

// share lays the parts of the image one behind the other. Bitmaps are sparse while they fit into a cache.
func (p *plan) share(patterns int) {
	entries := patterns * p.stride
	p.inside = (p.poolSize + 7) &^ 7
	p.grams = bitmapAt{p.inside + 256/8, logOf(48*entries, 12, 22)}
	p.sure = p.grams.next(logOf(16*entries, 12, 22))
	p.starts = p.sure.next(logOf(64*patterns, 10, 21))
	p.inner = p.starts.next(logOf(16*p.poolSize, 10, 21))
	p.heads = p.inner.next(0).off
	p.bucketLog = logOf(entries/2+1, 1, 24)
	p.entries = p.heads + 4*(1<<p.bucketLog+2)
	p.size = p.entries + 8*entries
}

// logOf is the logarithm of the smallest power of two that is at least n, within bounds.
func logOf(n, least, most int) int { return min(max(bits.Len(uint(n-1)), least), most) }

func (b bitmapAt) next(log int) bitmapAt { return bitmapAt{b.off + 1<<b.log/8, log} }

// fill writes the image: the pool in the order of the patterns, then what is computed from it.
func (t *table) fill(image, raw []byte) {
	at := 0
	for i := range t.patterns {
		p := &t.patterns[i]
		n := copy(image[at:], p.of(raw))
		p.off = uint32(at)
		at += n
	}
	var v view
	v.lend(t, image)
	for _, p := range t.patterns {
		b := p.of(v.pool)
		v.starts.set(v.hash4(b))
		for n := 1; n <= 3; n++ {
			v.starts.set(v.hashStart(b, n))
		}
		for _, c := range b[:len(b)-1] {
			v.inside[c/8] |= 1 << (c % 8)
		}
		for i := 0; i+4 < len(b); i++ {
			v.inner.set(v.hash4(b[i:]))
		}
	}
	newSample(&v)
}

func word(b []byte) uint32       { return binary.LittleEndian.Uint32(b) }
func putWord(b []byte, w uint32) { binary.LittleEndian.PutUint32(b, w) }

// chooseMarks gives each value a mark that contains no value (C-10).
func (t *table) chooseMarks(names []string) error {
	t.marks = make([]string, len(names))
	var v view
	return t.use(&v, func() {
		for i, name := range names {
			for _, t.marks[i] = range marksFor(name) {
				if !v.occursIn([]byte(t.marks[i])) {
					break
				}
			}
		}
	})
}

// use lends the table to f, which finds it in v. Its only error is that the table was destroyed. v is the caller's, so
// that a write need not allocate one.
func (t *table) use(v *view, f func()) error {
	return t.image.Use(func(image []byte) {
		v.lend(t, image)
		f()
		*v = view{}
	})
}

// destroy wipes a table, once nobody uses it any more. On nil it does nothing.
func (t *table) destroy() {
	if t == nil {
		return
	}
	t.image.Destroy()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.auto.destroy()
	t.auto = nil
}
