package platform

import "os"

// TerminalModes is how a terminal treats what is typed at it and shown on it.
type TerminalModes struct{ modes terminalModes }

// ModesOf reads the modes of a terminal. It fails for a file that is none, which
// is the way to find out.
func ModesOf(tty *os.File) (TerminalModes, error) { return modesOf(tty) }

// Raw is modes under which every byte passes as it is: keys send no signals and
// are not shown, and output is not changed.
func (m TerminalModes) Raw() TerminalModes { return rawModes(m) }

// PlainOutput is modes under which output is not changed.
func (m TerminalModes) PlainOutput() TerminalModes { return plainOutput(m) }

// SetOn gives a terminal these modes once all output to it was shown. A process
// in the background is stopped by it unless it ignores SIGTTOU.
func (m TerminalModes) SetOn(tty *os.File) error { return setModesOn(tty, m) }

// TerminalSize is how large the window of a terminal is.
func TerminalSize(tty *os.File) (rows, cols uint16, err error) { return terminalSize(tty) }
