package platform

import "os"

// OpenPTY opens a new pseudo terminal: what is written to keyboard is typed at
// tty, and what tty shows is read from keyboard. Neither becomes the controlling
// terminal of this process. The caller closes both. It returns an error wrapping
// ErrUnsupported on systems where warder makes no terminals.
func OpenPTY() (keyboard, tty *os.File, err error) {
	return openPTY()
}

// SetTerminalSize tells a terminal how large its window is; the programs in it
// are told by a signal. It returns an error wrapping ErrUnsupported where OpenPTY
// does.
func SetTerminalSize(tty *os.File, rows, cols uint16) error {
	return setTerminalSize(tty, rows, cols)
}
