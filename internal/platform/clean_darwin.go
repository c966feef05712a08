package platform

import (
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// duplicate makes to another descriptor of what from is.
func duplicate(from, to int) error { return unix.Dup2(from, to) }

func programPath() (string, error) { return os.Executable() }

func procProgram(int) (fs.FileInfo, error) { return nil, ErrUnsupported }

func openProcProgram(int) (*os.File, error) { return nil, ErrUnsupported }

func fileIdentity(fs.FileInfo) (string, bool) { return "", false }

func ownProgramFile() (*os.File, error) { return openExecutable() }

// sinceBoot reads the clock that goes on while the system sleeps.
func sinceBoot() (time.Duration, error) {
	var ts unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return time.Duration(ts.Nano()), err
}
