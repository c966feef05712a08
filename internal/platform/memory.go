package platform

import (
	"fmt"
	"os"
	"unsafe"
)

// MemoryKind says how well the pages of a mapping are kept from everybody else. Its text is fit for a status line.
type MemoryKind string

const (
	// MemorySecret pages come from memfd_secret: never in swap, a core dump or a hibernation image, and absent from the
	// kernel's own direct map, so that neither /proc/PID/mem nor ptrace reads them, not even for root.
	MemorySecret MemoryKind = "memfd_secret"
	// MemoryLocked pages are pinned in memory (mlock, VirtualLock) and, on Linux, left out of core dumps. A debugger
	// that may attach to the process reads them.
	MemoryLocked MemoryKind = "mlock"
	// MemoryPlain pages may be swapped out: the system has no locking or the user's lock limit is spent.
	MemoryPlain MemoryKind = "none"
)

// AllocLocked maps size zeroed bytes, rounded up to whole pages, outside the Go heap, where the collector neither
// moves nor copies them. The mapping has the best kind that the system grants at this moment. A spent lock limit
// (RLIMIT_MEMLOCK is 8 MiB or 64 KiB for ordinary users) lowers the kind and is no error; err means that size is not
// positive or that there is no memory at all.
func AllocLocked(size int) (mem []byte, kind MemoryKind, err error) {
	if size <= 0 {
		return nil, MemoryPlain, fmt.Errorf("mapping memory: size %d is not positive", size)
	}
	mem, kind, err = mapLocked(wholePages(size))
	if err != nil {
		return nil, MemoryPlain, fmt.Errorf("mapping %d bytes of memory: %w", size, err)
	}
	return mem, kind, nil
}

// AllocPinned is AllocLocked for what is not secret enough for memfd_secret, whose pages are dear: the best kind is
// MemoryLocked. FreeLocked gives it back.
func AllocPinned(size int) (mem []byte, kind MemoryKind, err error) {
	if size <= 0 {
		return nil, MemoryPlain, fmt.Errorf("mapping memory: size %d is not positive", size)
	}
	mem, kind, err = mapPinned(wholePages(size))
	if err != nil {
		return nil, MemoryPlain, fmt.Errorf("mapping %d bytes of memory: %w", size, err)
	}
	return mem, kind, nil
}

func wholePages(size int) int {
	page := os.Getpagesize()
	return (size + page - 1) / page * page
}

// FreeLocked wipes mem and gives its pages back. mem must be a whole slice returned by AllocLocked; any use of it
// afterwards faults.
func FreeLocked(mem []byte) error {
	clear(mem)
	if err := unmapLocked(mem); err != nil {
		return fmt.Errorf("unmapping %d bytes of memory: %w", len(mem), err)
	}
	return nil
}

// AliasString is the bytes of mem as a string, without a copy. It is valid as long as nothing changes mem.
func AliasString(mem []byte) string {
	return unsafe.String(unsafe.SliceData(mem), len(mem)) // #nosec G103 -- what this function is for
}
