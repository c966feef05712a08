package secret

import (
	"slices"
	"sync"

	"warder/internal/platform"
)

// process is the arena of this process. It is the package's one piece of global state, because what it shares out is
// global too: the lock limit is one per process, and MemoryKind answers for all secrets together.
var process arena

// arena keeps secrets in slabs, mappings that many of them share: a mapping for each would spend a page of the lock
// limit on 32 bytes. Slabs are filled in the order they were made, hence the best protected first. One empty slab is
// kept in reserve and any other goes back to the system, so that neither a peak nor churn leaves memory behind.
type arena struct {
	mu    sync.Mutex // guards everything below
	slabs []*slab
	large map[*slab]struct{} // mappings of one block each, for what doesn't fit into a slab
}

// block is a piece of a slab: 2^order units from off on. The zero block has no bytes.
type block struct {
	slab  *slab
	off   int // bytes
	order int // -1: the whole mapping
}

// bytes gives the first n bytes. Their capacity ends there too, so that an append can't run into the next secret.
func (b block) bytes(n int) []byte {
	if b.slab == nil {
		return nil
	}
	return b.slab.mem[b.off : b.off+n : b.off+n]
}

// alloc finds n zeroed bytes. It never fails for lack of locking, only for lack of memory.
func (a *arena) alloc(n int) (block, error) {
	if n == 0 {
		return block{}, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if n > slabSize {
		return a.allocLarge(n)
	}
	order := orderOf(n)
	for _, s := range a.slabs {
		if off, ok := s.take(order); ok {
			return block{s, off, order}, nil
		}
	}
	s, err := newSlab(slabSize)
	if err != nil {
		return block{}, err
	}
	a.slabs = append(a.slabs, s)
	off, _ := s.take(order)
	return block{s, off, order}, nil
}

func (a *arena) allocLarge(n int) (block, error) {
	s, err := newSlab(n)
	if err != nil {
		return block{}, err
	}
	if a.large == nil {
		a.large = map[*slab]struct{}{}
	}
	a.large[s] = struct{}{}
	return block{slab: s, order: -1}, nil
}

// allocDerived finds n zeroed bytes of pinned memory, in a mapping of their own that the arena doesn't know.
func (a *arena) allocDerived(n int) (block, error) {
	if n == 0 {
		return block{}, nil
	}
	mem, _, err := platform.AllocPinned(n)
	if err != nil {
		return block{}, err
	}
	return block{slab: &slab{mem: mem}, order: -1}, nil
}

// free wipes the block before anybody else can get it.
func (a *arena) free(b block) {
	if b.slab == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if b.order < 0 {
		delete(a.large, b.slab)
		b.slab.unmap()
		return
	}
	b.slab.give(b.off, b.order)
	if b.slab.empty() && a.hasOtherEmpty(b.slab) {
		a.slabs = slices.DeleteFunc(a.slabs, func(s *slab) bool { return s == b.slab })
		b.slab.unmap()
	}
}

func (a *arena) hasOtherEmpty(s *slab) bool {
	return slices.ContainsFunc(a.slabs, func(o *slab) bool { return o != s && o.empty() })
}

// MemoryKind tells how well secrets are kept from swap, core dumps and debuggers right now: the weakest kind among
// all mappings in use, or what the system grants if there are none yet.
func MemoryKind() platform.MemoryKind { return process.kind() }

func (a *arena) kind() platform.MemoryKind {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.slabs) == 0 {
		s, err := newSlab(slabSize)
		if err != nil {
			return platform.MemoryPlain
		}
		a.slabs = append(a.slabs, s)
	}
	weakest := platform.MemorySecret
	for _, s := range a.slabs {
		weakest = weaker(weakest, s.kind)
	}
	for s := range a.large {
		weakest = weaker(weakest, s.kind)
	}
	return weakest
}

func weaker(a, b platform.MemoryKind) platform.MemoryKind {
	for _, k := range []platform.MemoryKind{platform.MemoryPlain, platform.MemoryLocked} {
		if a == k || b == k {
			return k
		}
	}
	return platform.MemorySecret
}
