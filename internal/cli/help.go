package cli

import "github.com/spf13/cobra"

// newHelp builds "warder help". Cobra's own reports success after an unknown
// name.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Show what a command does",
		Long:  `Show what a command does, or without a name, which commands there are.`,
		Example: `  warder help
  warder help version`,
		ValidArgsFunction: completeCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(topic, rest[0])
			}
			topic.InitDefaultHelpFlag()
			return topic.Help()
		},
	}
}

// completeCommand offers the commands that may follow those already typed.
func completeCommand(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	topic, rest, err := cmd.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []cobra.Completion
	for _, sub := range topic.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, cobra.CompletionWithDesc(sub.Name(), sub.Short))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
