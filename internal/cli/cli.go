package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"warder/internal/api"
	"warder/internal/proc"
	"warder/internal/secret"
)

// Env is all that a command may use of the world outside. The executable fills
// it from its process; tests put their own there.
type Env struct {
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	Getenv func(name string) string
	// Environ is the whole environment, as NAME=value, for the programs that run starts.
	Environ func() []string
	Now     func() time.Time

	// Terminal opens the controlling terminal; nil means the process's own.
	Terminal func() (*os.File, error)

	rawOut io.Writer // Out without what Run puts around it

	// Tests put their own here.
	launch func(context.Context, order) (api.Started, []secret.Value, error)
	prover func(context.Context, order) (api.Proved, []secret.Value, error)
	judge  func() (api.Whoami, error)
}

// Run executes the command that args name (without the program's own name) and
// returns the process's exit status.
func Run(ctx context.Context, env Env, args []string) int {
	if len(args) > 0 && args[0] == proc.StageCommand {
		return proc.Stage(args[1:])
	}
	out := &checkedWriter{w: env.Out}
	env.rawOut, env.Out = env.Out, out
	cmd, err := execute(ctx, treeFor(&env, args), args)
	if err == nil {
		err = out.err
	}
	var said outcome
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &said) && out.err == nil:
		return int(said)
	}
	e := asError(err, cmd)
	report(&env, e, wantsJSON(args))
	if startsPrograms(cmd, args) {
		return exitRunFailed
	}
	return api.RowOf(e.Code).Exit
}

// startsPrograms says whether a failure has to be told apart from that of a program which the command starts.
func startsPrograms(cmd *cobra.Command, args []string) bool {
	if cmd.Parent() == nil || cmd.Parent().HasParent() {
		return false
	}
	return cmd.Name() == "run" || cmd.Name() == "mask" && slices.Contains(args, "--")
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
	if !cmd.HasSubCommands() || cmd.Runnable() {
		return nil, ""
	}
	for _, word := range rest {
		if word == "-" || !strings.HasPrefix(word, "-") {
			return cmd, word
		}
	}
	return nil, ""
}

// entry is a command below the root, by the words that call it.
type entry struct {
	words []string
	build func(*Env) *cobra.Command
}

// entries are the commands in the order in which they are added.
func entries() []entry {
	return []entry{
		{[]string{"setup", "init"}, newSetup},
		{[]string{"unlock"}, newUnlock},
		{[]string{"lock"}, newLock},
		{[]string{"status"}, newStatus},
		{[]string{"whoami"}, newWhoami},
		{[]string{"run"}, newRun},
		{[]string{"mask"}, newMask},
		{[]string{"read"}, newRead},
		{[]string{"item"}, newItem},
		{[]string{"import"}, newImport},
		{[]string{"export"}, newExport},
		{[]string{"project"}, newProject},
		{[]string{"trust"}, newTrust},
		{[]string{"audit"}, newAudit},
		{[]string{"daemon"}, newDaemon},
		{[]string{"config"}, newConfig},
		{[]string{"policy"}, newPolicy},
		{[]string{"passwd"}, newPasswd},
		{[]string{"repair"}, newRepair},
		{[]string{"doctor"}, newDoctor},
		{[]string{"version"}, newVersion},
	}
}

// treeFor builds the command that args begin with and none of the others, since
// each process runs one and the whole tree costs as much as everything else.
// Where args don't begin with a command it builds all of it, for help,
// completion and suggestions.
func treeFor(env *Env, args []string) *cobra.Command {
	for _, e := range entries() {
		if len(args) == 0 || !slices.Contains(e.words, args[0]) {
			continue
		}
		root := bareRoot(env)
		root.AddCommand(e.build(env))
		root.SetHelpCommand(&cobra.Command{Use: "no-help", Hidden: true}) // cobra makes one of its own else
		root.CompletionOptions.DisableDefaultCmd = true
		finish(root)
		return root
	}
	return newRoot(env)
}

// newRoot builds the whole tree, and nothing but the tree: no command does work
// before it is run.
func newRoot(env *Env) *cobra.Command {
	root := bareRoot(env)
	for _, e := range entries() {
		root.AddCommand(e.build(env))
	}
	root.SetHelpCommand(newHelp())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	finish(root)
	return root
}

// bareRoot is the root without commands.
func bareRoot(env *Env) *cobra.Command {
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
	return root
}

// finish makes an error that a command returns without a code an internal one,
// which leaves the errors of cobra's own parsing as the only ones without. It
// also keeps shells from offering names of files where no command asks for them.
func finish(cmd *cobra.Command) {
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = nothing
	}
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			return coded(run(cmd, args))
		}
	}
	for _, sub := range cmd.Commands() {
		finish(sub)
	}
}
