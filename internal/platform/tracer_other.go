//go:build !linux

package platform

func tracer() (int, error) { return 0, ErrUnsupported }
