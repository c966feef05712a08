package platform

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

func dieWithParent() error { return ErrUnsupported }

func stopOurselves() error { return signalProcess(os.Getpid(), SigStop) }

func memoryFile(string) (*os.File, error) { return nil, ErrUnsupported }

func growPipe(*os.File, int) error { return ErrUnsupported }

func moveTo(f *os.File, fd int) error {
	err := withFD(f, func(number uintptr) error { return unix.Dup2(int(number), fd) })
	if err != nil {
		return fmt.Errorf("moving a file to descriptor %d: %w", fd, err)
	}
	return nil
}
