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
	return &cobra.Command{
		Use:   "lock",
		Short: "Lock the account now",
		Long: `Lock the account: the daemon forgets the keys and everything that they opened.
Anybody may lock; only a person unlocks.`,
		Example: `  warder lock`,
		Args:    noArguments,
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
			case errors.Is(err, frame.ErrNotRunning), codeOf(err) == api.Locked:
				_, err = fmt.Fprintln(env.Out, "locked already")
				return err
			case err != nil:
				return err
			}
			_, err = fmt.Fprintln(env.Out, "locked")
			return err
		},
	}
}
