//go:build !linux && !darwin

package platform

import "os"

func openTerminal() (*os.File, error) { return nil, ErrUnsupported }

func readHidden(*os.File, string, []byte) (int, error) { return 0, ErrUnsupported }
