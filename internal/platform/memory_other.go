//go:build !linux && !darwin && !windows

package platform

// mapPinned has nothing better than the heap here. The collector doesn't move heap objects of this size today, but
// nothing keeps them from swap, and MemoryPlain says so.
func mapPinned(size int) ([]byte, MemoryKind, error) {
	return make([]byte, size), MemoryPlain, nil
}

func unmapLocked([]byte) error { return nil }
