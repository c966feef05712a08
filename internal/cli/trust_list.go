package cli

import (
	"github.com/spf13/cobra"

	"warder/internal/api"
)

// newTrustList builds "warder trust list".
func newTrustList(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the trusted directories",
		Long:    `List the directories in which agents may work.`,
		Example: `  warder trust list --json`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list := api.TrustList{Dirs: []string{}}
			if err := env.do(cmd.Context(), api.OpTrustList, nil, &list); err != nil {
				return err
			}
			if asJSON {
				return printJSON(env.Out, list)
			}
			if len(list.Dirs) == 0 {
				return env.none("no directories are trusted yet; warder trust DIR")
			}
			rows := columns{}
			for _, dir := range list.Dirs {
				rows.add(dir)
			}
			return rows.print(env.Out)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
