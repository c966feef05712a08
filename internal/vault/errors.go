package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"warder/internal/state"
)

// Errors that callers branch on.
var (
	// ErrNoAccount says that there is no account at the place.
	ErrNoAccount = errors.New("no account here")
	// ErrExists says that an account, a vault or an item of that name is there already.
	ErrExists = errors.New("already exists")
	// ErrWrongPassword is all that a failed unlock tells: a wrong password, a changed keyset and a wrong device secret look alike.
	ErrWrongPassword = errors.New("wrong password, or the keyset or device secret was changed")
	// ErrNoDeviceSecret says that the account needs this device's secret and it is not there: restore it from the recovery kit.
	ErrNoDeviceSecret = errors.New("the device secret is missing")
	// ErrLocked says that the account was locked.
	ErrLocked = errors.New("account is locked")
	// ErrNotFound says that there is no such item, vault, revision or tag.
	ErrNotFound = errors.New("not found")
	// ErrChanged says that an item was changed by somebody else since it was opened.
	ErrChanged = errors.New("changed since it was opened")
	// ErrNotEnrolled says that this device is not on the account's roster and can only read.
	ErrNotEnrolled = errors.New("this device is not enrolled in the account")
	// ErrDamaged says that an item's file is missing or was changed, and no intact older revision is left.
	ErrDamaged = errors.New("damaged, and no intact older revision is left")
)

// errHalfRead guards against writing what would drop the part that was not read. Whoever writes reads all of it first, so nobody meets it.
var errHalfRead = errors.New("the account was read in part only")

// isUnfit says whether err comes from a file that is not to be read as it is: a link, open to others, too large, forbidden. One that
// nothing lists is junk then, and harms nobody; one that is listed is an error, so that a person can put it right.
func isUnfit(err error) bool {
	var unsafe *state.UnsafeError
	return errors.As(err, &unsafe) || errors.Is(err, state.ErrTooLarge) || errors.Is(err, fs.ErrPermission)
}

// WaitError refuses an unlock that comes too soon after wrong ones.
type WaitError struct{ Wait time.Duration }

// Error says how long to wait, in whole seconds that are enough.
func (e *WaitError) Error() string {
	return fmt.Sprintf("too many wrong passwords: try again in %s", (e.Wait + time.Second - 1).Truncate(time.Second))
}

// WeakPasswordError refuses a master password.
type WeakPasswordError struct {
	Length, MinLength int // characters
	Score, MinScore   int // 0–4; Score is 0 when the length already failed
}

// Error says what is wanted.
func (e *WeakPasswordError) Error() string {
	if e.Length < e.MinLength {
		return fmt.Sprintf("the master password has %d characters, at least %d are needed", e.Length, e.MinLength)
	}
	return fmt.Sprintf("the master password is too easy to guess (strength %d of 4, at least %d is needed)", e.Score, e.MinScore)
}

// AlarmError refuses a write while findings stand that say the store was changed behind our back.
type AlarmError struct{ Findings []Finding }

// Error names the findings.
func (e *AlarmError) Error() string {
	texts := make([]string, len(e.Findings))
	for i, f := range e.Findings {
		texts[i] = f.Text
	}
	return "writing is stopped: " + strings.Join(texts, "; ")
}
