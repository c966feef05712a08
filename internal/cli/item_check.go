package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"warder/internal/api"
)

// exitEmpty is the status of a check that found no value.
const exitEmpty = 1

// newItemCheck builds "warder item check".
func newItemCheck(env *Env) *cobra.Command {
	var vault string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check ITEM[/FIELD]",
		Short: "Say whether a value is set, without the value",
		Long: `Say whether an item, or one field of it, holds a value: prints "set" with exit
status 0 or "empty" with 1. What is not there, or not open to the caller, is 7.
This is how a script or an agent finds out without seeing anything.`,
		Example: `  warder item check github-token
  warder item check github-token/token --json
  warder item check warder://personal/github-token/token`,
		Args:              itemArgument(),
		ValidArgsFunction: completeItems(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			return checkItem(cmd.Context(), env, api.ItemCheck{Vault: vault, Name: args[0]}, asJSON)
		},
	}
	cmd.Flags().StringVar(&vault, "vault", "", vaultUsage)
	jsonFlag(cmd, &asJSON)
	return cmd
}

func checkItem(ctx context.Context, env *Env, in api.ItemCheck, asJSON bool) error {
	var checked api.ItemChecked
	if err := env.do(ctx, api.OpItemCheck, in, &checked); err != nil {
		return err
	}
	word, status := "set", error(nil)
	if !checked.Set {
		word, status = "empty", outcome(exitEmpty)
	}
	var err error
	if asJSON {
		err = printJSON(env.Out, checked)
	} else {
		_, err = fmt.Fprintln(env.Out, word)
	}
	if err != nil {
		return err
	}
	return status
}
