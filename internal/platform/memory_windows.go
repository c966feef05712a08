package platform

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

func mapPinned(size int) ([]byte, MemoryKind, error) {
	addr, err := windows.VirtualAlloc(0, uintptr(size), windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		return nil, MemoryPlain, err
	}
	// The address is no pointer of Go's; reading it through &addr says so to vet, which must assume that an integer
	// turned into a pointer may name an object that moves.
	mem := unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), size)
	if windows.VirtualLock(addr, uintptr(size)) != nil {
		return mem, MemoryPlain, nil
	}
	return mem, MemoryLocked, nil
}

func unmapLocked(mem []byte) error {
	if len(mem) == 0 {
		return windows.ERROR_INVALID_PARAMETER
	}
	// MEM_RELEASE wants the base address and size 0; it unlocks the pages too.
	return windows.VirtualFree(uintptr(unsafe.Pointer(unsafe.SliceData(mem))), 0, windows.MEM_RELEASE)
}
