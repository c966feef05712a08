package platform

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

func lentPath(fd int) string { return "/proc/" + strconv.Itoa(os.Getpid()) + "/fd/" + strconv.Itoa(fd) }

func checkLending() error {
	f, err := memoryFile("warder")
	if err != nil {
		return err
	}
	defer f.Close()
	return withFD(f, func(fd uintptr) error {
		again, err := os.Open(lentPath(int(fd))) // #nosec G115 -- a descriptor
		if err != nil {
			return fmt.Errorf("opening a file in memory by its path: %w", err)
		}
		defer again.Close()
		made, err := f.Stat()
		if err != nil {
			return err
		}
		opened, err := again.Stat()
		if err != nil || !os.SameFile(made, opened) {
			return fmt.Errorf("%s is another file: %w", again.Name(), ErrUnsupported)
		}
		return nil
	})
}

func isInMemory(dir *os.File) (inMemory bool, err error) {
	err = withFD(dir, func(fd uintptr) error {
		var system unix.Statfs_t
		if err := unix.Fstatfs(int(fd), &system); err != nil { // #nosec G115 -- a descriptor
			return fmt.Errorf("asking for the file system of %s: %w", dir.Name(), err)
		}
		inMemory = system.Type == unix.TMPFS_MAGIC || system.Type == unix.RAMFS_MAGIC
		return nil
	})
	return inMemory, err
}
