package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"warder/internal/api"
)

// newProjectShow builds "warder project show".
func newProjectShow(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show PROJECT [STAGE]",
		Short: "Show the variables of a project, without values",
		Long: `Show a project, or one stage of it: names of variables, whether they are set, their
levels, what they refer to, and which of them an agent set. What an agent made is tagged by-agent.`,
		Example: `  warder project show shop
  warder project show shop production --json`,
		Args:              between("a project and, for one stage alone, the stage", 1, 2),
		ValidArgsFunction: completeProjects(env, true, nil),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := api.ProjectShowIn{Project: args[0]}
			if len(args) > 1 {
				in.Stage = args[1]
			}
			var shown api.ProjectShown
			if err := env.do(cmd.Context(), api.OpProjectShow, in, &shown); err != nil {
				return err
			}
			if asJSON {
				return printJSON(env.Out, shown)
			}
			return printProject(env, &shown)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func printProject(env *Env, p *api.ProjectShown) error {
	fmt.Fprintf(env.Out, "%s, level %s%s\n", printable(place(p.Vault, p.Name)), printable(p.Level), tagText(p.Tags))
	if len(p.Links) > 0 {
		fmt.Fprintf(env.Out, "items: %s\n", printable(strings.Join(p.Links, ", ")))
	}
	for _, s := range p.Detail {
		fmt.Fprintf(env.Out, "\n%s, level %s%s\n", printable(s.Name), printable(s.Level), tagText(s.Tags))
		rows := columns{indent: "  "}
		for _, v := range s.Variables {
			content := fieldText(api.ItemField{Set: v.Set, Concealed: v.Concealed})
			if v.Ref != "" {
				content = v.Ref
			}
			level := ""
			if v.Level != "unset" {
				level = v.Level
			}
			rows.add(v.Name, content, level, agentText(v.Maker))
		}
		if err := rows.print(env.Out); err != nil {
			return err
		}
	}
	return nil
}

// agentText names the agent that set something; what a person set needs no word.
func agentText(m api.Maker) string {
	if m.By != "agent" {
		return ""
	}
	return strings.TrimSpace("by agent " + m.Client)
}

// tagText is the tags behind a name.
func tagText(tags []string) string {
	if len(tags) == 0 {
		return ""
	}
	return ", tags " + printable(strings.Join(tags, " "))
}
