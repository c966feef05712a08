package secret

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestOrderOf(t *testing.T) {
	for n := 1; n <= slabSize; n++ {
		order := orderOf(n)
		if size := unit << order; size < n || order > 0 && size/2 >= n || order > maxOrder {
			t.Fatalf("orderOf(%d) = %d: blocks of %d bytes", n, order, size)
		}
	}
}

// TestSlab_blocksDontOverlap takes and gives blocks in any order: each is aligned, inside, zeroed and nobody else's;
// a refusal means that the slab has no such hole; and when all are given back it is as new.
func TestSlab_blocksDontOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, err := newSlab(slabSize)
		if err != nil {
			t.Fatal(err)
		}
		defer s.unmap()
		fresh := slices.Clone(s.free)
		var used []block
		owner := make([]bool, units)
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				order := rapid.IntRange(0, maxOrder).Draw(t, "order")
				off, ok := s.take(order)
				if !ok {
					if hole(owner, order) {
						t.Fatalf("order %d refused in spite of a hole", order)
					}
					return
				}
				b := block{s, off, order}
				used = append(used, b)
				claim(t, owner, b)
			},
			"give": func(t *rapid.T) {
				if len(used) == 0 {
					t.Skip("nothing to give")
				}
				i := rapid.IntRange(0, len(used)-1).Draw(t, "which")
				b := used[i]
				used = slices.Delete(used, i, i+1)
				s.give(b.off, b.order)
				for u := range 1 << b.order {
					owner[b.off/unit+u] = false
				}
			},
		})
		for _, b := range used {
			s.give(b.off, b.order)
		}
		if !slices.Equal(s.free, fresh) || !s.empty() {
			t.Fatal("an emptied slab differs from a new one")
		}
	})
}

// hole says whether an aligned run of free units of that order exists.
func hole(owner []bool, order int) bool {
	for from := 0; from < units; from += 1 << order {
		if !slices.Contains(owner[from:from+1<<order], true) {
			return true
		}
	}
	return false
}

// claim checks a new block and fills it, so that a neighbour's bytes would show.
func claim(t *rapid.T, owner []bool, b block) {
	size := unit << b.order
	if b.off%size != 0 || b.off < 0 || b.off+size > slabSize {
		t.Fatalf("block of %d bytes at %d", size, b.off)
	}
	for u := b.off / unit; u < (b.off+size)/unit; u++ {
		if owner[u] {
			t.Fatalf("block of %d bytes at %d overlaps another", size, b.off)
		}
		owner[u] = true
	}
	mem := b.bytes(size)
	if len(bytes.Trim(mem, "\x00")) != 0 {
		t.Fatalf("block of %d bytes at %d isn't zeroed", size, b.off)
	}
	for i := range mem {
		mem[i] = 0xff
	}
}
