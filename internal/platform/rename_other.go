//go:build !linux && !darwin

package platform

func renameNoReplace(uintptr, string, string) error { return ErrUnsupported }
