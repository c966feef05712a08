package cli

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Env is all that a command may use of the world outside. The executable fills
// it from its process; tests put their own there.
type Env struct {
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	Getenv func(name string) string
	Now    func() time.Time
}

// Run executes the command that args name (without the program's own name) and
// returns the process's exit status.
func Run(ctx context.Context, env Env, args []string) int {
	out := &checkedWriter{w: env.Out}
	env.Out = out
	cmd, err := execute(ctx, newRoot(&env), args)
	if err == nil {
		err = out.err
	}
	if err == nil {
		return exitOK
	}
	f := asFailure(err)
	if f.code == codeUsage && f.hint == "" {
		f.hint = hintFor(cmd)
	}
	f.report(&env, wantsJSON(args))
	return f.code.status()
}

// execute finds and runs one command of the tree and returns it, also with an
// error.
func execute(ctx context.Context, root *cobra.Command, args []string) (*cobra.Command, error) {
	if cmd, word := strayWord(root, args); cmd != nil {
		return cmd, unknownCommand(cmd, word)
	}
	root.SetArgs(args)
	return root.ExecuteContextC(ctx)
}

// strayWord returns the first word of args that should name a command and does
// not, and the command below which it was looked for. Cobra finds it only at
// the root: below that it prints the group's help and reports success.
func strayWord(root *cobra.Command, args []string) (*cobra.Command, string) {
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		return nil, "" // the command that answers shells joins the tree later
	}
	cmd, rest, _ := root.Find(args)
	if !cmd.HasSubCommands() {
		return nil, ""
	}
	for _, word := range rest {
		if word == "-" || !strings.HasPrefix(word, "-") {
			return cmd, word
		}
	}
	return nil, ""
}

// newRoot builds the whole tree, and nothing but the tree: start-up time is a
// feature, so no command does work before it is run.
func newRoot(env *Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "warder",
		Short: "Agents get hands, not keys",
		Long: `warder stands between AI coding agents and the machine they work on.
An agent may use a credential, a file or a command only through warder's gate,
which knows who asks and decides by the user's rules.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	root.AddCommand(newVersion(env))
	root.SetHelpCommand(newHelp())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	finish(root)
	return root
}

// finish makes an error that a command returns without a code an internal one,
// which leaves the errors of cobra's own parsing as the only ones without.
func finish(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			return coded(run(cmd, args))
		}
	}
	for _, sub := range cmd.Commands() {
		finish(sub)
	}
}

// noArguments is the argument check of a command that takes none. Cobra's own
// speaks of an unknown command.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageError("%s takes no arguments, got %q", cmd.CommandPath(), args[0])
}
