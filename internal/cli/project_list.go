package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"warder/internal/api"
)

// newProjectList builds "warder project list".
func newProjectList(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the projects",
		Long: `List the projects that the caller may know of, with their levels, stages and tags.
What an agent made is tagged by-agent.`,
		Example: `  warder project list --json`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list := api.ProjectList{Projects: []api.ProjectRow{}}
			if err := env.do(cmd.Context(), api.OpProjectList, nil, &list); err != nil {
				return err
			}
			if asJSON {
				return printJSON(env.Out, list)
			}
			if len(list.Projects) == 0 {
				return env.none("no projects yet; warder import FILE --project P --stage S")
			}
			rows := columns{}
			for _, p := range list.Projects {
				rows.add(p.Name, p.Level, strings.Join(p.Stages, ", "), strings.Join(p.Tags, " "))
			}
			return rows.print(env.Out)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
