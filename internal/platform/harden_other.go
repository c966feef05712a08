//go:build !linux && !darwin

package platform

func dropDumps() error { return ErrUnsupported }
