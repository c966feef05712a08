package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"warder/internal/api"
	"warder/internal/api/frame"
)

// newLock builds "warder lock".
func newLock(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "lock",
		Short: "Lock the account now",
		Long: `Lock the account: the daemon forgets the keys and everything that they opened.
Anybody may lock; only a person unlocks.`,
		Example: `  warder lock
  warder lock --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := env.glance()
			if err != nil {
				return err
			}
			defer r.close()
			_, err = r.call(cmd.Context(), api.OpLock, nil, nil)
			switch {
			case errors.Is(err, frame.ErrNotRunning) && r.install == nil:
				return noAccount(r)
			case errors.Is(err, frame.ErrNotRunning):
				if err := silent(cmd.Context(), r); err != nil {
					return err
				}
				warnStranger(r)
				return printAccount(env, asJSON, accountChange{State: accountLocked}, "locked already")
			case codeOf(err) == api.Locked:
				return printAccount(env, asJSON, accountChange{State: accountLocked}, "locked already")
			case err != nil:
				return err
			}
			return printAccount(env, asJSON, accountChange{true, accountLocked}, "locked")
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// accountChange is what locking and unlocking print for a program.
type accountChange struct {
	Changed bool   `json:"changed"` // false: it was so before
	State   string `json:"state"`   // "locked" or "unlocked"
}

// printAccount says what became of the account.
func printAccount(env *Env, asJSON bool, change accountChange, text string) error {
	if asJSON {
		return printJSON(env.Out, change)
	}
	_, err := fmt.Fprintln(env.Out, text)
	return err
}
