//go:build !linux

package platform

import (
	"fmt"
	"os"
)

func openPTY() (keyboard, tty *os.File, err error) {
	return nil, nil, fmt.Errorf("opening a pseudo terminal: %w", ErrUnsupported)
}

func setTerminalSize(*os.File, uint16, uint16) error {
	return fmt.Errorf("setting the size of a terminal: %w", ErrUnsupported)
}
