package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"warder/internal/api"
)

// newTrust builds "warder trust".
func newTrust(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "trust DIR",
		Short: "Say in which directories agents may work",
		Long: `Trust a directory: agents may take it, and what is below it, as their workspace.
It needs your password. The root, your home directory and what holds warder's
own files are never trusted. A directory called list or rm is given as ./list.`,
		Example: `  warder trust ~/src/shop
  warder trust list
  warder trust rm ~/src/shop`,
		Args:              oneArgument("DIR", "a directory"),
		ValidArgsFunction: directories,
		RunE: func(cmd *cobra.Command, args []string) error {
			return changeTrust(cmd.Context(), env, api.OpTrustAdd, args[0], trustChange{"trusted", asJSON})
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.AddCommand(newTrustList(env), newTrustRemove(env))
	return cmd
}

// trustChange says how a change of trust is told.
type trustChange struct {
	text   string
	asJSON bool
}

// changedTrust is what such a change prints for a program.
type changedTrust struct {
	Changed bool   `json:"changed"`
	Dir     string `json:"dir"` // without links
}

// changeTrust trusts a directory or ends that.
func changeTrust(ctx context.Context, env *Env, op, dir string, told trustChange) error {
	path, err := filepath.Abs(dir)
	if err != nil {
		return usageError("%q is no directory: %v", dir, err)
	}
	if op == api.OpTrustAdd {
		if err := notHome(env, path); err != nil {
			return err
		}
	}
	var real api.TrustDir // which the name stands for
	if err := env.do(ctx, op, &api.TrustDir{Dir: path}, &real); err != nil {
		return err
	}
	if told.asJSON {
		return printJSON(env.Out, changedTrust{true, real.Dir})
	}
	_, err = fmt.Fprintf(env.Out, "%s %s\n", told.text, printable(real.Dir))
	return err
}

// notHome refuses the home directory that this session has, and what holds it.
// The daemon knows only the one of the user's record; a client's word counts
// where it makes less possible.
func notHome(env *Env, path string) error {
	home := env.Getenv("HOME")
	if !filepath.IsAbs(home) {
		return nil
	}
	for _, p := range []*string{&home, &path} {
		if real, err := filepath.EvalSymlinks(*p); err == nil {
			*p = real
		}
	}
	below, err := filepath.Rel(path, home)
	if err != nil || below == ".." || strings.HasPrefix(below, ".."+string(filepath.Separator)) {
		return nil
	}
	return api.Errorf(api.Denied, "%s is never a workspace: it is or holds the home directory", path).
		WithHint("trust the directory of one project")
}

// directories completes names of directories.
func directories(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}
