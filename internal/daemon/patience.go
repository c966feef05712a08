package daemon

import (
	"context"
	"errors"
	"time"

	"warder/internal/vault"
)

// shortWait is a wait after wrong passwords that is over about when a person has typed the next one. It is waited out here;
// longer ones are told.
const shortWait = 2 * time.Second

// afterShortWait tries a password, and once more where only a short wait after wrong ones was in the way. Who guesses wins
// nothing: the wait is the same. Where ctx ends first nothing more is tried.
func afterShortWait(ctx context.Context, try func() error) error {
	err := try()
	var early *vault.WaitError
	if !errors.As(err, &early) || early.Wait > shortWait {
		return err
	}
	const grain = 10 * time.Millisecond // of clocks
	over := time.NewTimer(early.Wait + grain)
	defer over.Stop()
	select {
	case <-over.C:
		return try()
	case <-ctx.Done():
		return ctx.Err()
	}
}
