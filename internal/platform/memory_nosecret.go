//go:build !linux

package platform

// mapLocked has nothing better than pinned pages here.
func mapLocked(size int) ([]byte, MemoryKind, error) { return mapPinned(size) }
