package cli

import (
	"github.com/spf13/cobra"

	"warder/internal/api"
)

// newItemRemove builds "warder item rm".
func newItemRemove(env *Env) *cobra.Command {
	var vault string
	cmd := &cobra.Command{
		Use:     "rm NAME",
		Aliases: []string{"remove", "delete"},
		Short:   "Remove an item",
		Long: `Remove an item. It can be taken back: by the word that is printed, which
'warder item history NAME' shows too.`,
		Example:           `  warder item rm github-token`,
		Args:              oneArgument("NAME", "an item's name"),
		ValidArgsFunction: completeItems(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := &api.ItemName{Vault: vault, Name: args[0]}
			var done api.Changed
			if err := env.do(cmd.Context(), api.OpItemRemove, in, &done); err != nil {
				return err
			}
			return printChanged(env, "removed "+args[0], &done)
		},
	}
	cmd.Flags().StringVar(&vault, "vault", "", "the vault (default personal)")
	return cmd
}
