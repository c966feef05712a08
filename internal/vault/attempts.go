package vault

import (
	"errors"
	"io/fs"
	"time"
)

// Wrong passwords are counted on disk, so that starting a new process does not reset the wait. This slows a person or agent that types
// guesses; it does nothing against who copies the files and guesses elsewhere (Argon2id and the device secret do).
const (
	attemptsFile = "attempts"
	maxWait      = time.Minute
)

// attempts is how often in a row an unlock failed, and when last.
type attempts struct {
	failures int64
	last     time.Time
}

// wait is how long the next try must wait: 1, 2, 4 … 60 seconds after the last wrong one. A clock that jumped back never makes it longer
// than that.
func (a attempts) wait(now time.Time) time.Duration {
	if a.failures == 0 {
		return 0
	}
	pause := maxWait
	if a.failures <= 6 {
		pause = min(maxWait, time.Second<<(a.failures-1))
	}
	passed := max(0, now.Sub(a.last))
	return max(0, pause-passed)
}

func readAttempts(d folder) (a attempts, err error) {
	file, err := d.Read(attemptsFile, limitSmall)
	if errors.Is(err, fs.ErrNotExist) {
		return attempts{}, nil
	}
	if err != nil {
		return attempts{}, err
	}
	return decodeAttempts(file), nil
}

// decodeAttempts takes a damaged file for one failure long ago, rather than refuse the owner for ever.
func decodeAttempts(file []byte) (a attempts) {
	err := decode(file, func(d *decoder) {
		d.object(func(key string) {
			switch key {
			case "failures":
				a.failures = int64(readUpTo(d, maxInt)) // #nosec G115 -- bounded
			case "last":
				a.last = readTime(d)
			default:
				d.skip()
			}
		})
	})
	if err != nil {
		return attempts{failures: 1}
	}
	return a
}

// countAttempt notes one more failure before the password is tried, so that killing the process in the middle does not hide it.
func countAttempt(local tree, now time.Time) error {
	return local.in("device", func(d folder) error {
		a, err := readAttempts(d)
		if err != nil {
			return err
		}
		w := a.wait(now)
		if w > 0 && !now.Before(a.last) {
			return &WaitError{Wait: w}
		}
		if w == 0 {
			a.failures = min(a.failures+1, maxInt)
		}
		// After a jump of the clock the wait is counted from now on, or it would last until the old time comes again.
		a.last = now
		if err := a.write(d); err != nil {
			return err
		}
		if w > 0 {
			return &WaitError{Wait: w}
		}
		return nil
	})
}

func (a attempts) put(e *encoder) {
	e.object(nil, numMember("failures", a.failures), timeMember("last", a.last))
}

func (a attempts) write(d folder) error {
	text, err := encode(a.put)
	if err == nil {
		err = d.Replace(attemptsFile, text)
	}
	if unwritable(err) {
		return nil // reads are still served; who can bring this about can guess offline anyway
	}
	return err
}

// clearAttempts forgets the failures after a right password.
func clearAttempts(local tree) error {
	return local.in("device", func(d folder) error {
		if err := d.Remove(attemptsFile); err != nil && !unwritable(err) {
			return err
		}
		return nil
	})
}
