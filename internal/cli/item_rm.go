package cli

import (
	"github.com/spf13/cobra"

	"warder/internal/api"
)

// newItemRemove builds "warder item rm".
func newItemRemove(env *Env) *cobra.Command {
	var vault string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "rm ITEM",
		Aliases: []string{"remove", "delete"},
		Short:   "Remove an item",
		Long: `Remove an item. It can be taken back: by the word that is printed, which
'warder item history ITEM' shows too.`,
		Example: `  warder item rm github-token
  warder item rm personal/github-token --json`,
		Args:              itemArgument(),
		ValidArgsFunction: completeItems(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := &api.ItemName{Vault: vault, Name: args[0]}
			var done api.Changed
			if err := env.do(cmd.Context(), api.OpItemRemove, in, &done); err != nil {
				return err
			}
			return itemChange{"removed", asJSON}.print(env, args[0], &done)
		},
	}
	cmd.Flags().StringVar(&vault, "vault", "", vaultUsage)
	jsonFlag(cmd, &asJSON)
	return cmd
}
