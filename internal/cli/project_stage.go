package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"warder/internal/api"
)

// newProjectStage builds "warder project stage".
func newProjectStage(env *Env) *cobra.Command {
	var in api.StageIn
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "stage PROJECT [STAGE] [--level L]",
		Short: "Make a project or a stage, or change its level",
		Long: `Make a project, or a stage of one, or change what agents may do with all of its
variables. Raising the level of one that is there needs your password.`,
		Example: `  warder project stage shop production --level ask
  warder project stage shop --level use`,
		Args:              between("a project and, for a stage of it, the stage", 1, 2),
		ValidArgsFunction: completeProjects(env, true, nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			in.Project = args[0]
			if len(args) > 1 {
				in.Stage = args[1]
			}
			if err := checkLevel(in.Level); err != nil {
				return err
			}
			var changed api.Changed
			if err := env.do(cmd.Context(), api.OpProjectStage, &in, &changed); err != nil {
				return err
			}
			if asJSON {
				return printJSON(env.Out, changedProject{
					Changed: true, Project: in.Project, Stage: in.Stage, Level: in.Level, Undo: changed.Undo,
				})
			}
			level := ""
			if in.Level != "" {
				level = ", level " + in.Level
			}
			_, err := fmt.Fprintln(env.Out, printable(strings.Join(args, "/"))+level)
			return err
		},
	}
	cmd.Flags().StringVar(&in.Level, "level", "", "what agents may do: unset, none, ask, use or read")
	jsonFlag(cmd, &asJSON)
	completeWords(cmd, "level", levels())
	return cmd
}
