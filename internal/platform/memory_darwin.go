package platform

import "golang.org/x/sys/unix"

func mapPinned(size int) ([]byte, MemoryKind, error) {
	mem, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, MemoryPlain, err
	}
	if unix.Mlock(mem) != nil {
		return mem, MemoryPlain, nil
	}
	return mem, MemoryLocked, nil
}

func unmapLocked(mem []byte) error { return unix.Munmap(mem) }
