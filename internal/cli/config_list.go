package cli

import (
	"github.com/spf13/cobra"
)

// newConfigList builds "warder config list".
func newConfigList(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the settings and where each value came from",
		Long: `List the settings, each with its value and where that came from, and those whose
value does not count yet marked. What could not be used is said on standard error.`,
		Example: `  warder config list`,
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			s, err := loadSettings(env)
			if err != nil {
				return err
			}
			s.warn(env)
			if asJSON {
				return printJSON(env.Out, map[string][]setting{"settings": s.all(env)})
			}
			rows := columns{}
			for _, x := range s.all(env) {
				mark := ""
				if x.Waits {
					mark = "waits: warder policy"
				}
				rows.add(x.Name, x.Value, x.Origin, mark)
			}
			return rows.print(env.Out)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
