package vault

import (
	"errors"
	"io/fs"

	"warder/internal/state"
)

// WrongPasswords is how many wrong passwords were tried on this device since the last right one. It needs no password.
func WrongPasswords(cfg Config) (int64, error) {
	local, err := state.OpenDir(cfg.StateDir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer local.Close() //nolint:errcheck // nothing is written through it
	var a attempts
	err = newTree(local, cfg.wrap).in("device", func(d folder) error {
		a, err = readAttempts(d)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return a.failures, err
}
