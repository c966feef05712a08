package cli

import "github.com/spf13/cobra"

// newPolicyPending builds "warder policy pending".
func newPolicyPending(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "pending",
		Short: "List what waits to be accepted",
		Long: `List what your files ask for and what waits to be accepted, as a difference from
what counts. An agent is told which file it is, and no more.`,
		Example: `  warder policy pending --json`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listPending(cmd.Context(), env, asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
