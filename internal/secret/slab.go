package secret

import (
	"math/bits"

	"warder/internal/platform"
)

const (
	// slabSize is 64 KiB: the smallest lock limit in the field (Linux before 5.16) grants one such slab, which then
	// holds a thousand keys.
	slabSize = 64 << 10
	// unit is the smallest block. Sizes are powers of two from here to a whole slab.
	unit     = 16
	units    = slabSize / unit
	maxOrder = 12 // slabSize = unit << maxOrder
)

// slab is one mapping, shared out by the buddy method: a block of each size is split from one of twice the size, and
// two free halves join again. All sizes thus share each slab, and its books lie outside of it, where writing beyond
// a secret can't reach them.
type slab struct {
	mem  []byte
	kind platform.MemoryKind
	// free is a binary tree in heap order: node 1 is the whole slab, node i has the halves 2i and 2i+1, and the
	// leaves are units. An entry is 1 + the order of the largest free block in that part, or 0 for none.
	// nil in a mapping of one block.
	free []uint8
}

// newSlab maps at least size bytes; only one of slabSize can be shared out.
func newSlab(size int) (*slab, error) {
	mem, kind, err := platform.AllocLocked(size)
	if err != nil {
		return nil, err
	}
	s := &slab{mem: mem, kind: kind}
	if size != slabSize {
		return s, nil
	}
	s.free = make([]uint8, 2*units)
	for i := 1; i < len(s.free); i++ {
		s.free[i] = uint8(maxOrder + 2 - bits.Len(uint(i)))
	}
	return s, nil
}

// unmap gives a slab without blocks back. An error leaves a wiped mapping behind, and nobody could do anything about
// it.
func (s *slab) unmap() {
	_ = platform.FreeLocked(s.mem)
	s.mem = nil
}

// orderOf is the order of the smallest block that holds n bytes, 1 ≤ n ≤ slabSize.
func orderOf(n int) int { return bits.Len(uint(n-1) / unit) }

func (s *slab) empty() bool { return s.free[1] == maxOrder+1 }

// take splits off a block and says where it begins.
func (s *slab) take(order int) (off int, ok bool) {
	want := uint8(order + 1)
	if s.free[1] < want {
		return 0, false
	}
	i := 1
	for o := maxOrder; o > order; o-- {
		i *= 2
		// The half with the smaller sufficient block keeps large ones whole.
		if l, r := s.free[i], s.free[i+1]; l < want || r >= want && r < l {
			i++
		}
	}
	s.free[i] = 0
	s.update(i)
	return (i<<order - units) * unit, true
}

// give wipes a block and joins it with its free neighbours.
func (s *slab) give(off, order int) {
	clear(s.mem[off : off+unit<<order])
	i := (off/unit + units) >> order
	s.free[i] = uint8(order + 1)
	s.update(i)
}

// update brings the entries above node i up to date.
func (s *slab) update(i int) {
	for i /= 2; i > 0; i /= 2 {
		l, r := s.free[2*i], s.free[2*i+1]
		half := uint8(maxOrder + 1 - bits.Len(uint(i))) // an entry of a wholly free half
		if l == half && r == half {
			s.free[i] = half + 1
		} else {
			s.free[i] = max(l, r)
		}
	}
}
