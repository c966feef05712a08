package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"warder/internal/api"
	"warder/internal/state"
)

// newConfigSet builds "warder config set".
func newConfigSet(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "set NAME VALUE",
		Short: "Change one setting in config.toml",
		Long: `Change one setting in config.toml, and nothing else there: comments and order stay.
A value that the setting can't have is refused and nothing is written. A longer lock
time than what is in force, or a log that keeps less, is written and waits: it counts
only after a person has accepted it, with 'warder policy accept'.`,
		Example: `  warder config set lock.idle 2h
  warder config set guard.mode closed`,
		Args:              exactly("a setting and a value", "NAME", "VALUE"),
		ValidArgsFunction: completeSettings,
		RunE: func(cmd *cobra.Command, args []string) error {
			return setSetting(cmd.Context(), env, args[0], args[1], asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// changedSetting is what a change of a setting prints for a program.
type changedSetting struct {
	Changed bool   `json:"changed"`
	Name    string `json:"name"`
	Value   string `json:"value"`
	Waits   bool   `json:"waits"` // it does not count yet
}

// setSetting writes one setting.
func setSetting(ctx context.Context, env *Env, name, value string, asJSON bool) error {
	places, _, err := env.placesHere()
	if err != nil {
		return err
	}
	options := state.Options()
	i := slices.IndexFunc(options, func(o state.Option) bool { return o.Name == name })
	if i < 0 {
		return api.Errorf(api.NotFound, "there is no setting %q", name).WithHint("see which there are: warder config list")
	}
	none := func(string) string { return "" }
	_, _, err = state.LoadSettings(nil, "", none, map[string]string{name: value})
	if err != nil {
		return usageError("%s can't be %q: %s", name, value, strings.TrimPrefix(err.Error(), "flag --"+name+": ")).
			WithHint("what it means: " + options[i].Doc)
	}
	dir, err := state.CreateDir(places.Config.Path)
	if err != nil {
		return placeFault(err)
	}
	defer func() { _ = dir.Close() }()
	if err := writeSetting(ctx, dir, options[i], value); err != nil {
		return err
	}
	s, err := loadSettings(env)
	if err != nil {
		return err
	}
	x, err := s.one(env, name)
	if err != nil {
		return err
	}
	switch {
	case x.Value != value:
		warn(env.Err, "%s is still %s, from %s", name, x.Value, x.Origin)
	case x.Waits:
		warn(env.Err, "%s = %s waits, for it widens: %s", name, value, waitsText)
	}
	if asJSON {
		return printJSON(env.Out, changedSetting{true, name, value, x.Waits})
	}
	_, err = fmt.Fprintf(env.Out, "%s = %s\n", name, printable(value))
	return err
}

// settingsPatience is how long another command that changes settings is waited
// for.
const settingsPatience = 5 * time.Second

// writeSetting changes the file under its lock.
func writeSetting(ctx context.Context, dir *state.Dir, o state.Option, value string) error {
	limited, cancel := context.WithTimeout(ctx, settingsPatience)
	defer cancel()
	lock, err := dir.LockUntil(limited, settingsLock)
	if err != nil {
		return placeFault(err)
	}
	defer func() { _ = lock.Release() }()
	text, err := dir.Read(settingsFile, settingsLimit)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return placeFault(err)
	}
	path := filepath.Join(dir.Path(), settingsFile)
	edited, err := editSetting(text, path, o, value)
	if err != nil {
		return err
	}
	if err := dir.Replace(settingsFile, edited); err != nil {
		return placeFault(err)
	}
	return nil
}

// completeSettings offers the names of settings, and the words of one that has
// words.
func completeSettings(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var words []cobra.Completion
	for _, o := range state.Options() {
		switch {
		case len(args) == 0:
			words = append(words, cobra.CompletionWithDesc(o.Name, o.Doc))
		case len(args) == 1 && args[0] == o.Name && cmd.Name() == "set":
			words = append(words, o.Words...)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
