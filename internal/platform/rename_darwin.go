package platform

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func renameNoReplace(dir uintptr, oldName, newName string) error {
	err := unix.RenameatxNp(int(dir), oldName, int(dir), newName, unix.RENAME_EXCL)
	if isOneOf(err, unix.EINVAL, unix.ENOSYS, unix.ENOTSUP) {
		return fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	return err
}
