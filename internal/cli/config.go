package cli

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"warder/internal/api"
	"warder/internal/state"
)

// settingsFile holds the settings, in the config directory, and settingsLimit
// is the most that is read of it.
const (
	settingsFile  = "config.toml"
	settingsLock  = "config.lock"
	settingsLimit = 1 << 20
)

// newConfig builds "warder config".
func newConfig(env *Env) *cobra.Command {
	return newGroup("config", "Read and change the settings",
		`The value of a setting comes from its variable, if it has one, else from
config.toml, else it is the default; each is shown with where it came from. What
a running daemon uses may differ until it has read the file again, and what widens
waits for you.`,
		newConfigList(env), newConfigGet(env), newConfigSet(env))
}

// setting is one option with its value.
type setting struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Origin  string `json:"origin"`
	Default string `json:"default"`
	Doc     string `json:"doc"`
	Waits   bool   `json:"waits"` // it does not count yet
}

// waitsText says of a setting that waits what that means.
const waitsText = "what counted before goes on until a person accepts it: warder policy accept"

// waiting says whether the value of an option takes a person's acceptance as far
// as it can be told without a daemon: whoever can write the file could make it say
// anything, so what keeps the account open for longer than the default, or less
// of the log, does not count by itself.
func waiting(s *state.Settings, name string) bool {
	none := func(string) string { return "" }
	standard, _, err := state.LoadSettings(nil, "", none, nil)
	if err != nil {
		return false
	}
	switch name {
	case "lock.idle":
		return s.LockIdle.Value > standard.LockIdle.Value
	case "lock.max":
		return s.LockMax.Value > standard.LockMax.Value
	case "audit.max_size":
		return s.AuditMaxSize.Value < standard.AuditMaxSize.Value
	case "audit.generations":
		return s.AuditGenerations.Value < standard.AuditGenerations.Value
	}
	return false
}

// settings are the settings as this command sees them.
type settings struct {
	path     string // of the file
	text     []byte // its content; nil if it is missing
	values   state.Settings
	warnings []state.Warning
}

// loadSettings reads the file and the environment.
func loadSettings(env *Env) (*settings, error) {
	places, _, err := env.placesHere()
	if err != nil {
		return nil, err
	}
	s := &settings{path: filepath.Join(places.Config.Path, settingsFile)}
	dir, err := state.OpenDir(places.Config.Path)
	if err == nil {
		s.text, err = dir.Read(settingsFile, settingsLimit)
		err = errors.Join(err, dir.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		e := placeFault(err)
		if e.Code == api.Unreachable {
			e.Code = api.Internal // files alone are read here: no daemon is out of reach
		}
		return nil, e
	}
	s.values, s.warnings, err = state.LoadSettings(s.text, s.path, env.Getenv, nil)
	if err != nil {
		return nil, usageError("%v", err).WithHint("correct that line")
	}
	return s, nil
}

// waits returns what says whether the value of an option does not count yet, as
// far as a daemon can be asked: it knows what was accepted, and what was stricter.
func (s *settings) waits(env *Env) func(name string) bool {
	var pending api.PolicyPending
	if lookUp(env, api.OpPolicyPending, nil, &pending) != nil {
		return func(name string) bool { return waiting(&s.values, name) }
	}
	return func(name string) bool {
		return slices.ContainsFunc(pending.Proposals, func(p api.Proposal) bool {
			return p.File == s.path && (p.Entry == name || p.Entry == "" && waiting(&s.values, name)) // an agent is told the file alone
		})
	}
}

// all lists every setting.
func (s *settings) all(env *Env) []setting {
	var list []setting
	waits := s.waits(env)
	for _, o := range state.Options() {
		text, from, _ := s.values.Lookup(o.Name)
		list = append(list, setting{o.Name, text, from.String(), o.Default, o.Doc, waits(o.Name)})
	}
	return list
}

// one finds a setting.
func (s *settings) one(env *Env, name string) (setting, error) {
	list := s.all(env)
	i := slices.IndexFunc(list, func(x setting) bool { return x.Name == name })
	if i < 0 {
		return setting{}, api.Errorf(api.NotFound, "there is no setting %q", name).WithHint("see which there are: warder config list")
	}
	return list[i], nil
}

func (s *settings) warn(env *Env) {
	for _, w := range s.warnings {
		warn(env.Err, "%s", w)
	}
}
