package platform

import (
	"errors"
	"io/fs"
	"os"
)

// ErrUnsupported says that this system lacks a feature. It is an answer, not a
// failure: the caller decides to refuse the work or to warn and go on.
var ErrUnsupported = errors.New("not supported on this system")

// isOneOf reports whether err is or wraps one of targets.
func isOneOf(err error, targets ...error) bool {
	for _, t := range targets {
		if errors.Is(err, t) {
			return true
		}
	}
	return false
}

// withFD calls f with the descriptor of file, which stays open during the call
// even if another goroutine closes file meanwhile.
func withFD(file *os.File, f func(fd uintptr) error) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = f(fd) }); err != nil {
		return fs.ErrClosed // the one cause, which package os tells by a private error
	}
	return inner
}
