package platform

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

func dieWithParent() error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("binding a process to its parent: %w", err)
	}
	return nil
}

// stopOurselves signals the very thread that calls, which takes the signal before it goes on; another one of this process might take it
// later.
func stopOurselves() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGSTOP); err != nil {
		return fmt.Errorf("stopping this process: %w", err)
	}
	return nil
}

func memoryFile(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making a file in memory: %w", err)
	}
	return os.NewFile(uintptr(fd), name), nil // #nosec G115 -- a descriptor
}

func growPipe(f *os.File, size int) error {
	err := withFD(f, func(fd uintptr) error {
		_, err := unix.FcntlInt(fd, unix.F_SETPIPE_SZ, size)
		return err
	})
	if err != nil {
		return fmt.Errorf("making room in a pipe: %w", err)
	}
	return nil
}

func moveTo(f *os.File, fd int) error {
	err := withFD(f, func(number uintptr) error { return unix.Dup3(int(number), fd, 0) })
	if err != nil {
		return fmt.Errorf("moving a file to descriptor %d: %w", fd, err)
	}
	return nil
}
