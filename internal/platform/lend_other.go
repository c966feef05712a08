//go:build !linux

package platform

import "os"

func lentPath(int) string { return "" }

func checkLending() error { return ErrUnsupported }

func isInMemory(*os.File) (bool, error) { return false, ErrUnsupported }
