package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// newConfigGet builds "warder config get".
func newConfigGet(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "get NAME",
		Short:             "Print one setting",
		Long:              `Print the value of one setting. With --json also where it came from, its default and what it means.`,
		Example:           `  warder config get lock.idle`,
		Args:              oneArgument("NAME", "a setting's name"),
		ValidArgsFunction: completeSettings,
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := loadSettings(env)
			if err != nil {
				return err
			}
			x, err := s.one(env, args[0])
			if err != nil {
				return err
			}
			s.warn(env)
			if x.Waits {
				warn(env.Err, "%s waits: %s", x.Name, waitsText)
			}
			if asJSON {
				return printJSON(env.Out, x)
			}
			_, err = fmt.Fprintln(env.Out, x.Value)
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
