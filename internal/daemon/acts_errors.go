package daemon

import (
	"errors"
	"fmt"

	"warder/internal/api"
	"warder/internal/approval"
	"warder/internal/credential"
	"warder/internal/gate"
	"warder/internal/policy"
	"warder/internal/state"
	"warder/internal/vault"
)

// told is an error of the gate or of an act as the caller is told it.
func (r *request) told(planned *act, err error) error {
	var refused *gate.Refusal
	if errors.As(err, &refused) {
		return r.named(planned.faults.explain(refused.Decision))
	}
	return r.named(vaultError(r, gateError(err)))
}

// gateError tells of the gate's own errors.
func gateError(err error) error {
	var (
		refused *gate.Refusal
		asked   *approval.Asked
		lost    *gate.RecordError
	)
	switch {
	case errors.As(err, &refused):
		return refusal(refused.Decision)
	case errors.As(err, &asked):
		e := api.Errorf(api.NeedsApproval, "%s", asked.Shown).WithHint("type the master password to allow exactly this")
		e.Hash, e.Challenge = asked.Act, asked.Challenge
		return e
	case errors.As(err, &lost):
		hint := state.Hint(err)
		if hint == "" {
			hint = "see what is wrong with the log: warder audit verify, warder doctor"
		}
		return api.Errorf(api.Denied, "%v", lost).WithHint(hint).WithCause(lost.Err)
	}
	return err
}

// refusal is the error that tells of a denial.
func refusal(d policy.Decision) *api.Error {
	e := api.Errorf(api.Code(d.Code), "%s", d.Reason)
	if d.Hint != "" {
		e = e.WithHint(d.Hint)
	}
	return e
}

// inputError is an error of package credential as a caller is told it.
func inputError(err error) error {
	var bad *credential.InvalidError
	if !errors.As(err, &bad) {
		return err
	}
	e := api.Errorf(api.Usage, "%s", bad.Text)
	if bad.Hint != "" {
		e = e.WithHint(bad.Hint)
	}
	return e
}

// vaultError is an error of the vault as a caller is told it. Those texts of the vault that name what the caller did not name
// itself are for persons only. They are no causes either: the daemon's log is a file that agents may read.
func vaultError(r *request, err error) error {
	var known *api.Error
	if err = inputError(err); err == nil || errors.As(err, &known) {
		return err
	}
	if e := typedError(r, err); e != nil {
		return e
	}
	if e := storeError(err); e != nil {
		return e
	}
	if hint := state.Hint(err); hint != "" {
		return api.Errorf(api.Internal, "the account's files can't be used as they are").WithHint(hint).WithCause(err)
	}
	return err // logged, and told as an internal error without its text
}

// typedError tells of the vault's errors that have fields.
func typedError(r *request, err error) *api.Error {
	var (
		name   *vault.NameError
		item   *vault.ContentError
		size   *vault.SizeError
		alarm  *vault.AlarmError
		newer  *vault.FormatError
		wait   *vault.WaitError
		weak   *vault.WeakPasswordError
		unsafe *state.UnsafeError
		locked *state.LockedError
	)
	switch {
	case errors.As(err, &name):
		return api.Errorf(api.Usage, "%v", name).WithHint("a name is up to 128 bytes without slash and control characters, and begins with neither - nor .")
	case errors.As(err, &item) && r.isPerson():
		return api.Errorf(api.Usage, "%v", err) // it says which field
	case item != nil:
		return api.Errorf(api.Usage, "%v", item)
	case errors.As(err, &size):
		if !r.isPerson() {
			return api.Errorf(api.TooLarge, "%d bytes are too much, the limit is %d", size.Have, size.Max)
		}
		return api.Errorf(api.TooLarge, "%v", size)
	case errors.As(err, &alarm):
		if !r.isPerson() {
			return api.Errorf(api.Integrity, "writing is stopped, because the store was changed by something other than warder")
		}
		return api.Errorf(api.Integrity, "%v", alarm).WithHint("see what was found and how to go on: warder status, warder repair")
	case errors.As(err, &newer):
		return api.Errorf(api.Version, "%v", newer).WithHint("install the newer warder")
	case errors.As(err, &wait):
		return api.Errorf(api.WrongPassword, "%v", wait).WithHint("wait, then type it again")
	case errors.As(err, &weak):
		return api.Errorf(api.Usage, "%v", weak).WithHint("take several words that nobody says together")
	case errors.As(err, &locked):
		return api.Errorf(api.Internal, "nothing was done: %v", locked).WithHint(state.Hint(err))
	case errors.As(err, &unsafe):
		return api.Errorf(api.Integrity, "%v", unsafe).WithHint(state.Hint(err))
	}
	return nil
}

// storeError tells of the vault's other errors.
func storeError(err error) *api.Error {
	switch {
	case errors.Is(err, vault.ErrLocked):
		return api.Errorf(api.Locked, "the account is locked")
	case errors.Is(err, vault.ErrWrongPassword):
		return api.Errorf(api.WrongPassword, "%v", vault.ErrWrongPassword)
	case errors.Is(err, vault.ErrNotFound):
		return api.Errorf(api.NotFound, "it is not there any more")
	case errors.Is(err, vault.ErrExists):
		return api.Errorf(api.Exists, "there is something of that name already")
	case errors.Is(err, vault.ErrChanged):
		return api.Errorf(api.Internal, "it was changed by somebody else meanwhile, and nothing was done").WithHint("look at it and try again")
	case errors.Is(err, vault.ErrDamaged):
		return api.Errorf(api.Integrity, "what is stored is %v", vault.ErrDamaged).WithHint("see what there is to do: warder repair")
	case errors.Is(err, vault.ErrNotEnrolled):
		return api.Errorf(api.Integrity, "%v", vault.ErrNotEnrolled).WithHint("take this device in: warder repair")
	}
	return nil
}

// usage is an error in the input.
func usage(format string, args ...any) error {
	return api.Errorf(api.Usage, "%s", fmt.Sprintf(format, args...))
}
