package seal

import "errors"

// ErrOpen is the one answer to everything that can't be opened or verified: a
// wrong password, a wrong key, changed or cut data, data of another place, KDF
// parameters out of bounds. Telling these apart would tell an attacker who
// changes files which of his changes got further than the others.
var ErrOpen = errors.New("cannot open: wrong key or changed data")

// inputError is a complaint about an input that comes from a person or a file.
// Sealing reports it as it is; opening turns it into ErrOpen.
type inputError string

func (e inputError) Error() string { return string(e) }

// indistinct replaces an input error by ErrOpen. What is left are faults of
// this process, such as a destroyed key or no memory, which no file can cause.
func indistinct(err error) error {
	if _, ok := errors.AsType[inputError](err); ok {
		return ErrOpen
	}
	return err
}
