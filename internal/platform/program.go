package platform

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ProcProgram is the program file of a process itself, whatever has its name by
// now: os.SameFile tells whether it is the one at a path. It fails where
// [ReadProcExe] fails, and with [ErrUnsupported] on systems without /proc.
func ProcProgram(pid int) (fs.FileInfo, error) {
	fi, err := procProgram(pid)
	if err != nil {
		return nil, fmt.Errorf("looking at the program of process %d: %w", pid, err)
	}
	return fi, nil
}

// OpenProcProgram opens that file. It fails where ProcProgram fails.
func OpenProcProgram(pid int) (*os.File, error) {
	f, err := openProcProgram(pid)
	if err != nil {
		return nil, fmt.Errorf("opening the program of process %d: %w", pid, err)
	}
	return f, nil
}

// FileIdentity is a text that a file has as long as nothing changed it or put
// another one in its place; ok is false where that can't be told.
func FileIdentity(fi fs.FileInfo) (identity string, ok bool) { return fileIdentity(fi) }

// OwnProgram opens the file that this process runs, for its hash and identity.
// On Linux it is that very file, also if another one has its name by now.
func OwnProgram() (*os.File, error) {
	f, err := ownProgramFile()
	if err != nil {
		return nil, fmt.Errorf("opening this process's program: %w", err)
	}
	return f, nil
}

// OwnProgramPath names the file that this process runs, in a way that works when it was replaced or removed since.
func OwnProgramPath() (string, error) { return programPath() }

// IsGoRun reports whether path is where "go run" and "go test" put a program
// that is gone when they end: a folder called go-build and anything below one,
// or the place of an executable in a build cache of another name.
func IsGoRun(path string) bool {
	parts := strings.Split(filepath.ToSlash(filepath.Clean(path)), "/")
	for i, part := range parts[:len(parts)-1] {
		if strings.HasPrefix(part, "go-build") {
			return true
		}
		key, cached := strings.CutSuffix(part, "-d")
		if cached && i > 0 && len(key) == 64 && isHex(key) && parts[i-1] == key[:2] {
			return true
		}
	}
	return false
}

func isHex(s string) bool {
	return strings.TrimLeft(s, "0123456789abcdef") == ""
}

// SinceBoot is a clock that nobody sets and that goes on while the machine
// sleeps.
func SinceBoot() (time.Duration, error) { return sinceBoot() }

// EndSignals are the signals that ask a process to end in order.
func EndSignals() []os.Signal { return endSignals() }
