//go:build linux || darwin

package platform

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

type terminalModes = unix.Termios

func modesOf(tty *os.File) (m TerminalModes, err error) {
	err = withFD(tty, func(fd uintptr) error {
		modes, err := unix.IoctlGetTermios(int(fd), getModes)
		if err == nil {
			m.modes = *modes
		}
		return err
	})
	if err != nil {
		return m, fmt.Errorf("reading the modes of a terminal: %w", err)
	}
	return m, nil
}

func rawModes(m TerminalModes) TerminalModes {
	m = plainOutput(m)
	m.modes.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	m.modes.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	m.modes.Cflag &^= unix.CSIZE | unix.PARENB
	m.modes.Cflag |= unix.CS8
	m.modes.Cc[unix.VMIN], m.modes.Cc[unix.VTIME] = 1, 0
	return m
}

func plainOutput(m TerminalModes) TerminalModes {
	m.modes.Oflag &^= unix.OPOST
	return m
}

func setModesOn(tty *os.File, m TerminalModes) error {
	err := withFD(tty, func(fd uintptr) error {
		for {
			if err := unix.IoctlSetTermios(int(fd), setModesDrain, &m.modes); !errors.Is(err, unix.EINTR) {
				return err
			}
		}
	})
	if err != nil {
		return fmt.Errorf("setting the modes of a terminal: %w", err)
	}
	return nil
}

func terminalSize(tty *os.File) (rows, cols uint16, err error) {
	err = withFD(tty, func(fd uintptr) error {
		size, err := unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ)
		if err == nil {
			rows, cols = size.Row, size.Col
		}
		return err
	})
	if err != nil {
		return 0, 0, fmt.Errorf("asking a terminal for its size: %w", err)
	}
	return rows, cols, nil
}
