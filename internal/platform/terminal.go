package platform

import (
	"errors"
	"os"
)

var (
	// ErrInterrupted says that the person gave up at a hidden prompt, by the
	// interrupt or quit key, or that a signal asked this process to end.
	ErrInterrupted = errors.New("interrupted")
	// ErrLineTooLong says that a hidden line has more bytes than were offered.
	ErrLineTooLong = errors.New("line is too long")
)

// MaxHidden is the room to offer [ReadHidden], in bytes: the longest line that
// a terminal hands over in its ordinary mode on Linux.
const MaxHidden = 4096

// OpenTerminal opens the controlling terminal of this process, which no
// redirection of its standard streams can replace. It fails where there is
// none. The caller closes it.
func OpenTerminal() (*os.File, error) { return openTerminal() }

// ReadHidden hides what is typed at a terminal, shows the prompt, and reads one
// line straight into buf: who types as soon as the prompt is there is not shown.
// It returns how many bytes the line has without its end. The caller wipes buf, whatever the result; ReadHidden wipes what it does not return. It prints
// nothing else, not even the line end.
//
// The erase, kill and end-of-file keys of the terminal work, and nothing else
// edits. It fails with io.EOF at the end of the file, with [ErrLineTooLong], after
// the whole line was read and thrown away, and with an error wrapping
// [ErrInterrupted]. The modes of the terminal are as before when it returns or
// panics, when this process is asked to end or hang up, and while it is
// stopped. One call at a time reads a terminal.
func ReadHidden(tty *os.File, prompt string, buf []byte) (int, error) {
	return readHidden(tty, prompt, buf)
}
