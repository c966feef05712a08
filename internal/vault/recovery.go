package vault

import (
	"errors"
	"fmt"
	"io/fs"

	"warder/internal/secret"
	"warder/internal/state"
)

// CheckRecovery reports whether Recover would get as far as to change something: the password is good and the code opens the account.
// A wrong code counts as one. Nothing else is changed, and the code goes on to work: whoever has to give something up for a recovery
// asks first.
//
// Errors: those of Recover.
func CheckRecovery(cfg Config, code, password secret.Value) error {
	if err := checkPassword(password); err != nil {
		return err
	}
	c, raw, err := recoveryPlaces(cfg, code)
	if err != nil {
		return err
	}
	defer raw.Destroy()
	defer c.lock()
	return founder{c}.openByCode(raw)
}

// CheckRecoveryCode reads a recovery code as a person types it and tries it on nothing: ErrMistyped if it can't be one.
func CheckRecoveryCode(text secret.Value) error { return checkCode(text, recoveryCodeLen) }

// CheckDeviceSecret is CheckRecoveryCode for the device secret of a kit, which is for a device without one: ErrExists.
func CheckDeviceSecret(cfg Config, text secret.Value) error {
	if err := checkCode(text, deviceSecretLen); err != nil {
		return err
	}
	local, err := state.OpenDir(cfg.StateDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer local.Close() //nolint:errcheck // nothing is written through it
	ds, err := readDeviceSecret(newTree(local, cfg.wrap))
	ds.Destroy()
	switch {
	case errors.Is(err, ErrNoDeviceSecret):
		return nil
	case err == nil:
		return fmt.Errorf("device secret: %w", ErrExists)
	}
	return err
}

func checkCode(text secret.Value, n int) error {
	raw, err := parseCode(text, n)
	raw.Destroy()
	return err
}

// CheckWait returns the *WaitError that a password tried now would meet, nil if there is none. A clock that was set back counts as none,
// or nobody would come to try: it is the try that has the wait counted from the new time on.
func CheckWait(cfg Config) error {
	local, err := state.OpenDir(cfg.StateDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer local.Close() //nolint:errcheck // nothing is written through it
	var a attempts
	err = newTree(local, cfg.wrap).in("device", func(d folder) error {
		a, err = readAttempts(d)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	now := cfg.now()
	if w := a.wait(now); err == nil && w > 0 && !now.Before(a.last) {
		return &WaitError{Wait: w}
	}
	return err
}
