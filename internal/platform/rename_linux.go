package platform

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func renameNoReplace(dir uintptr, oldName, newName string) error {
	err := unix.Renameat2(int(dir), oldName, int(dir), newName, unix.RENAME_NOREPLACE)
	// EINVAL is the kernel's word for a file system without the flag. The names
	// can't be its cause: both are siblings.
	if isOneOf(err, unix.EINVAL, unix.ENOSYS, unix.EOPNOTSUPP) {
		return fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	return err
}
