package daemon

import (
	"context"
	"errors"
	"testing"
	"time"

	"warder/internal/vault"
)

// TestAfterShortWait: a short wait is waited out and tried once more, a longer one is told, and who has gone is not waited for.
func TestAfterShortWait(t *testing.T) {
	short, long := &vault.WaitError{Wait: time.Millisecond}, &vault.WaitError{Wait: shortWait + 1}
	for name, c := range map[string]struct {
		answers []error
		want    error
	}{
		"right":            {[]error{nil}, nil},
		"wrong":            {[]error{vault.ErrWrongPassword}, vault.ErrWrongPassword},
		"too early":        {[]error{short, nil}, nil},
		"too early, twice": {[]error{short, short}, short},
		"far too early":    {[]error{long}, long},
	} {
		tries := 0
		err := afterShortWait(t.Context(), func() error {
			tries++
			return c.answers[tries-1]
		})
		if !errors.Is(err, c.want) || tries != len(c.answers) {
			t.Errorf("%s: %v after %d tries", name, err, tries)
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	tries := 0
	err := afterShortWait(gone, func() error {
		cancel()
		tries++
		return &vault.WaitError{Wait: shortWait}
	})
	if !errors.Is(err, context.Canceled) || tries != 1 {
		t.Errorf("for nobody: %v after %d tries", err, tries)
	}
}
