package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"warder/internal/api"
)

// newItemHistory builds "warder item history".
func newItemHistory(env *Env) *cobra.Command {
	var in api.ItemName
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "history ITEM",
		Short: "List the kept revisions of an item",
		Long: `List the kept revisions of an item, newest first, each with who made it and the
tag that takes it back, or why nothing does any more: an act can be taken back
until something else is changed in the same place.`,
		Example:           `  warder item history github-token`,
		Args:              itemArgument(),
		ValidArgsFunction: completeItems(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Name = args[0]
			history := api.ItemHistory{Revisions: []api.ItemRevision{}}
			if err := env.do(cmd.Context(), api.OpItemHistory, &in, &history); err != nil {
				return err
			}
			if asJSON {
				return printJSON(env.Out, history)
			}
			rows := columns{}
			for _, r := range history.Revisions {
				undo := ""
				switch {
				case r.Undo != "":
					undo = "undo: warder item undo " + r.Undo
				case r.NoUndo != "":
					undo = "no undo: " + r.NoUndo
				}
				rows.add(r.Rev, r.Modified, strings.TrimSpace(r.By+" "+r.Client), undo)
			}
			return rows.print(env.Out)
		},
	}
	cmd.Flags().StringVar(&in.Vault, "vault", "", vaultUsage)
	jsonFlag(cmd, &asJSON)
	return cmd
}
