package platform

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// duplicate makes to another descriptor of what from is.
func duplicate(from, to int) error { return unix.Dup3(from, to, 0) }

// programPath is the file that this process runs. Its name keeps the process's
// name readable in listings; where another file has it by now, /proc leads to
// the right one.
func programPath() (string, error) {
	const self = "/proc/self/exe"
	name, err := os.Readlink(self)
	if err != nil {
		return os.Executable()
	}
	if sameFile(self, name) {
		return name, nil
	}
	return self, nil
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

func procProgram(pid int) (fs.FileInfo, error) { return os.Stat(procPath(pid, "exe")) }

func openProcProgram(pid int) (*os.File, error) { return os.Open(procPath(pid, "exe")) }

func fileIdentity(fi fs.FileInfo) (string, bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return "", false
	}
	return fmt.Sprint(st.Dev, st.Ino, st.Size, st.Ctim.Sec, st.Ctim.Nsec), true
}

func ownProgramFile() (*os.File, error) { return os.Open("/proc/self/exe") }

func sinceBoot() (time.Duration, error) {
	var ts unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts)
	if errors.Is(err, unix.EINVAL) {
		return 0, ErrUnsupported
	}
	return time.Duration(ts.Nano()), err
}
