package platform

import "golang.org/x/sys/unix"

func mapLocked(size int) ([]byte, MemoryKind, error) {
	if mem, err := mapSecret(size); err == nil {
		return mem, MemorySecret, nil
	}
	return mapPinned(size)
}

func mapPinned(size int) ([]byte, MemoryKind, error) {
	mem, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, MemoryPlain, err
	}
	// Both are hardening beyond the kind that is reported; a kernel too old for one still has the rest.
	_ = unix.Madvise(mem, unix.MADV_DONTDUMP)
	_ = unix.Madvise(mem, unix.MADV_WIPEONFORK)
	if unix.Mlock(mem) != nil {
		return mem, MemoryPlain, nil
	}
	return mem, MemoryLocked, nil
}

// mapSecret maps memory that the kernel itself can't reach any more. It fails on kernels before 5.14, where the
// feature is switched off (secretmem.enable=0, some seccomp profiles) and, with EAGAIN, when the lock limit is spent.
func mapSecret(size int) ([]byte, error) {
	// The only flag is O_CLOEXEC; FD_CLOEXEC, which the manual page names, has another value and is refused.
	fd, err := unix.MemfdSecret(unix.O_CLOEXEC)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd) // the mapping lives on, and no descriptor is left to be inherited or opened through /proc
	if err := unix.Ftruncate(fd, int64(size)); err != nil {
		return nil, err
	}
	mem, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	// A shared mapping would be live in a forked child too; WIPEONFORK is for private mappings only.
	_ = unix.Madvise(mem, unix.MADV_DONTFORK)
	return mem, nil
}

func unmapLocked(mem []byte) error { return unix.Munmap(mem) }
