package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"warder/internal/api"
)

// newGroup builds a command that has commands below it and does nothing itself.
func newGroup(name, short, long string, subs ...*cobra.Command) *cobra.Command {
	group := &cobra.Command{Use: name, Short: short, Long: long, ValidArgsFunction: nothing}
	group.AddCommand(subs...)
	return group
}

// suggest names the words by which people look for commands of a group that are called otherwise.
func suggest(group *cobra.Command, words map[string][]string) *cobra.Command {
	for _, sub := range group.Commands() {
		sub.SuggestFor = words[sub.Name()]
	}
	return group
}

// jsonFlag adds --json.
func jsonFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print one JSON object")
}

// noArguments is the argument check of a command that takes none. Cobra's own
// speaks of an unknown command.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageError("%s takes no arguments, got %q", cmd.CommandPath(), args[0]).WithHint(usedAs(cmd))
}

// oneArgument is the argument check of a command that takes exactly one.
func oneArgument(name, what string) cobra.PositionalArgs {
	return exactly(what, name)
}

// exactly is the argument check of a command that takes the named ones. what
// says it in words, for the message.
func exactly(what string, names ...string) cobra.PositionalArgs {
	return between(what, len(names), len(names))
}

// between is the argument check of a command that takes some at least and at
// most; a negative most is no limit.
func between(what string, least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usageError("%s wants %s", cmd.CommandPath(), what).
				WithHint(usedAs(cmd))
		case most >= 0 && len(args) > most:
			return usageError("%s wants %s, and %q is too much", cmd.CommandPath(), what, args[most]).
				WithHint(usedAs(cmd) + "; values never stand in a command line")
		}
		return nil
	}
}

// usedAs is the hint that shows how a command is used.
func usedAs(cmd *cobra.Command) string { return "it is used as: " + cmd.UseLine() }

// completion answers a shell that asks what may stand at a place.
type completion = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective)

// nothing completes nothing, not even names of files.
func nothing(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// files completes names of files.
func files(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// completeWords offers the words that a flag takes.
func completeWords(cmd *cobra.Command, flag string, words []string) {
	// The error is a flag that does not exist, which the test of the tree finds.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// completionTime is how long a completion may take: a person waits for it.
const completionTime = time.Second

// lookUp asks the daemon for a completion. Where none runs, or it does not
// answer at once, there is nothing to offer.
func lookUp(env *Env, op string, in, out any) error {
	ctx, cancel := context.WithTimeout(context.Background(), completionTime)
	defer cancel()
	r, err := env.glance()
	if err != nil {
		return err
	}
	defer r.close()
	_, err = r.call(ctx, op, in, out)
	return err
}

// completeItems offers the names of items as the first argument.
func completeItems(env *Env) completion {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nothing(cmd, args, word)
		}
		return itemNames(env), cobra.ShellCompDirectiveNoFileComp
	}
}

// itemNames are the items that the caller may know of.
func itemNames(env *Env) []cobra.Completion {
	var list api.ItemList
	if lookUp(env, api.OpItemList, api.ItemListIn{}, &list) != nil {
		return nil
	}
	var names []cobra.Completion
	for _, item := range list.Items {
		names = append(names, cobra.CompletionWithDesc(item.Name, item.Type))
	}
	return names
}

// completeProjects offers a project as the first argument, one of its stages as
// the second if wanted, and what then returns behind those.
func completeProjects(env *Env, stages bool, then func(p api.ProjectShown, stage string) []cobra.Completion) completion {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		depth := len(args)
		switch {
		case depth == 0:
			return projectNames(env), cobra.ShellCompDirectiveNoFileComp
		case depth == 1 && stages:
			return stageNames(env, args[0]), cobra.ShellCompDirectiveNoFileComp
		case then == nil:
			return nothing(cmd, args, word)
		}
		stage := ""
		if stages {
			stage = args[1]
		}
		var p api.ProjectShown
		if lookUp(env, api.OpProjectShow, api.ProjectShowIn{Project: args[0], Stage: stage}, &p) != nil {
			return nothing(cmd, args, word)
		}
		return then(p, stage), cobra.ShellCompDirectiveNoFileComp
	}
}

// projectNames are the projects that the caller may know of.
func projectNames(env *Env) []cobra.Completion {
	var list api.ProjectList
	if lookUp(env, api.OpProjectList, nil, &list) != nil {
		return nil
	}
	var names []cobra.Completion
	for _, p := range list.Projects {
		names = append(names, p.Name)
	}
	return names
}

// stageNames are the stages of a project.
func stageNames(env *Env, project string) []cobra.Completion {
	var p api.ProjectShown
	if lookUp(env, api.OpProjectShow, api.ProjectShowIn{Project: project}, &p) != nil {
		return nil
	}
	return append([]cobra.Completion(nil), p.Stages...)
}

// stageFlags adds --project and --stage, which name a set of variables.
func stageFlags(env *Env, cmd *cobra.Command, project, stage *string) {
	cmd.Flags().StringVar(project, "project", "", "the project")
	cmd.Flags().StringVar(stage, "stage", "", "its stage, such as production")
	_ = cmd.RegisterFlagCompletionFunc("project", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return projectNames(env), cobra.ShellCompDirectiveNoFileComp
	})
	_ = cmd.RegisterFlagCompletionFunc("stage", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return stageNames(env, *project), cobra.ShellCompDirectiveNoFileComp
	})
}
