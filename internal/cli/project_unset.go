package cli

import (
	"github.com/spf13/cobra"

	"warder/internal/api"
)

// newProjectUnset builds "warder project unset".
func newProjectUnset(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "unset PROJECT STAGE NAME...",
		Short:             "Remove variables of a stage",
		Long:              `Remove variables of a stage. 'warder item undo' takes it back.`,
		Example:           `  warder project unset shop development OLD_TOKEN`,
		Args:              between("a project, a stage and the names of variables", 3, -1),
		ValidArgsFunction: completeProjects(env, true, variableNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := &api.StageUnset{Project: args[0], Stage: args[1], Names: args[2:]}
			return stageChange{api.OpProjectUnset, in, nil, asJSON}.make(cmd.Context(), env)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
