//go:build !linux && !darwin

package platform

import "os"

type terminalModes struct{}

func modesOf(*os.File) (TerminalModes, error) { return TerminalModes{}, ErrUnsupported }

func rawModes(m TerminalModes) TerminalModes { return m }

func plainOutput(m TerminalModes) TerminalModes { return m }

func setModesOn(*os.File, TerminalModes) error { return ErrUnsupported }

func terminalSize(*os.File) (rows, cols uint16, err error) { return 0, 0, ErrUnsupported }
