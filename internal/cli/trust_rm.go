package cli

import (
	"github.com/spf13/cobra"

	"warder/internal/api"
)

// newTrustRemove builds "warder trust rm".
func newTrustRemove(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "rm DIR",
		Aliases:           []string{"remove"},
		Short:             "Trust a directory no longer",
		Long:              `Trust a directory no longer. Sessions that work there end with their next call.`,
		Example:           `  warder trust rm ~/src/shop`,
		Args:              oneArgument("DIR", "a trusted directory"),
		ValidArgsFunction: completeTrusted(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeTrust(cmd.Context(), env, api.OpTrustRemove, args[0], trustChange{"no longer trusted:", asJSON})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// completeTrusted offers the trusted directories.
func completeTrusted(env *Env) completion {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var list api.TrustList
		if lookUp(env, api.OpTrustList, nil, &list) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return append([]cobra.Completion(nil), list.Dirs...), cobra.ShellCompDirectiveNoFileComp
	}
}
