package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"warder/internal/api"
)

// newProjectLink builds "warder project link" or, to remove one, "unlink".
func newProjectLink(env *Env, remove bool) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "link PROJECT ITEM",
		Short: "Let an item belong to a project",
		Long: `Let an item belong to a project: agents that may use the project may then use the
item, unless its own level is none.`,
		Example: `  warder project link shop github-token
  warder project link shop personal/github-token --json`,
		Args: exactly("a project and an item", "PROJECT", "ITEM"),
		ValidArgsFunction: completeProjects(env, false, func(api.ProjectShown, string) []cobra.Completion {
			return itemNames(env)
		}),
	}
	done := "linked"
	if remove {
		cmd.Use, cmd.Short, done = "unlink PROJECT ITEM", "Take an item out of a project", "unlinked"
		cmd.Long = `Take an item out of a project. The item itself stays.`
		cmd.Example = `  warder project unlink shop github-token`
		cmd.ValidArgsFunction = completeProjects(env, false, func(p api.ProjectShown, _ string) []cobra.Completion {
			return append([]cobra.Completion(nil), p.Links...)
		})
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		in := &api.ProjectLink{Project: args[0], Item: args[1], Remove: remove}
		var changed api.Changed
		if err := env.do(cmd.Context(), api.OpProjectLink, in, &changed); err != nil {
			return err
		}
		if asJSON {
			return printJSON(env.Out, changedProject{Changed: true, Project: args[0], Item: args[1], Undo: changed.Undo})
		}
		_, err := fmt.Fprintf(env.Out, "%s %s: %s\n", done, printable(args[0]), printable(args[1]))
		return err
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// changedProject is what a change of a project prints for a program.
type changedProject struct {
	Changed bool   `json:"changed"`
	Project string `json:"project"`
	Stage   string `json:"stage,omitempty"`
	Item    string `json:"item,omitempty"`
	Level   string `json:"level,omitempty"` // that was asked for
	Undo    string `json:"undo"`
}
