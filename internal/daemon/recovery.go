package daemon

import (
	"context"
	"errors"
	"runtime/debug"

	"warder/internal/api"
	"warder/internal/secret"
	"warder/internal/vault"
)

const (
	mistypedHint  = "type it again, symbol by symbol as it stands on the recovery kit: warder unlock --recovery"
	wrongCodeHint = "take the code of the newest recovery kit, since each new kit ends the one before: warder unlock --recovery"
)

// mayRecover tries what a recovery takes and changes nothing but the count of wrong ones, so that a wrong code leaves the daemon
// that runs as it is.
func (d opener) mayRecover(ctx context.Context, r *startRequest) error {
	defer debug.FreeOSMemory()
	if r.unlock.DeviceSecret {
		if err := CheckDeviceSecret(d.opt.Data, d.opt.State, r.values[2]); err != nil {
			return err
		}
	}
	return recoveryError(afterShortWait(ctx, func() error {
		return vault.CheckRecovery(d.account.config(), r.values[0], r.values[1])
	}))
}

// recoveryError is what whoever typed a recovery code is told.
func recoveryError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, vault.ErrWrongPassword):
		return api.Errorf(api.WrongPassword, "the recovery code does not open this account").WithHint(wrongCodeHint).WithCause(err)
	}
	return accountError(err)
}

// CheckRecoveryCode says what is wrong with the form of a recovery code, before anything else is typed. It tries it on nothing.
func CheckRecoveryCode(text secret.Value) error { return recoveryError(vault.CheckRecoveryCode(text)) }

// CheckDeviceSecret says why a typed device secret can't be stored on this device.
func CheckDeviceSecret(data, state string, text secret.Value) error {
	err := vault.CheckDeviceSecret(configOf(data, state), text)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, vault.ErrExists):
		return api.Errorf(api.Exists, "this device has its device secret already").
			WithHint("leave --device-secret away: warder unlock --recovery").WithCause(err)
	}
	return accountError(err)
}

// CheckWait says whether wrong passwords make the next one wait, before it is typed. A short wait is none: it is waited out. What
// can't be read is left to whoever tries the password.
func CheckWait(data, state string) error {
	var wait *vault.WaitError
	if err := vault.CheckWait(configOf(data, state)); errors.As(err, &wait) && wait.Wait > shortWait {
		return accountError(err)
	}
	return nil
}

func configOf(data, state string) vault.Config {
	return vault.Config{AccountDir: accountDir(data), StateDir: state}
}
