//go:build !linux

package platform

func tracer(string) (int, error) { return 0, ErrUnsupported }
