package daemon

import (
	"errors"
	"time"

	"warder/internal/vault"
)

// shortWait is a wait after wrong passwords that is over about when a person has typed the next one. It is waited out here;
// longer ones are told.
const shortWait = 2 * time.Second

// afterShortWait tries a password, and once more where only a short wait after wrong ones was in the way. Who guesses wins
// nothing: the wait is the same.
func afterShortWait(try func() error) error {
	err := try()
	var early *vault.WaitError
	if !errors.As(err, &early) || early.Wait > shortWait {
		return err
	}
	const grain = 10 * time.Millisecond // of clocks
	time.Sleep(early.Wait + grain)
	return try()
}
