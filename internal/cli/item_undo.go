package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"warder/internal/api"
)

// newItemUndo builds "warder item undo".
func newItemUndo(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "undo TAG",
		Short: "Take an act back",
		Long: `Take back everything that one act changed: an item that was added or edited, or
all variables of an import. Each act prints its tag, and 'warder item history'
lists them.`,
		Example: `  warder item undo i5yno3ldopxmytcu`,
		Args:    oneArgument("TAG", "the tag of an act"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var undone api.ItemUndone
			if err := env.do(cmd.Context(), api.OpItemUndo, &api.ItemUndo{Tag: args[0]}, &undone); err != nil {
				return err
			}
			if asJSON {
				return printJSON(env.Out, undone)
			}
			_, err := fmt.Fprintf(env.Out, "took back %s\n", plural(undone.Count, "change"))
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
