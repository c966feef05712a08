package platform

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

func openPTY() (keyboard, tty *os.File, err error) {
	keyboard, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("opening a pseudo terminal: %w", err)
	}
	var number uint32
	err = withFD(keyboard, func(fd uintptr) error {
		if err := unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		number, err = unix.IoctlGetUint32(int(fd), unix.TIOCGPTN)
		return err
	})
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("opening a pseudo terminal: %w", err), keyboard.Close())
	}
	return keyboard, tty, nil
}

func setTerminalSize(tty *os.File, rows, cols uint16) error {
	err := withFD(tty, func(fd uintptr) error {
		return unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: cols})
	})
	if err != nil {
		return fmt.Errorf("setting the size of a terminal: %w", err)
	}
	return nil
}
