package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"warder/internal/state"
)

const (
	configFile  = "config.toml"
	agentsFile  = "agents.toml"
	configLimit = 1 << 20
)

// settings are what counts of the user's settings.
type settings struct {
	idle, max        time.Duration
	auditSize        int64
	auditGenerations int
	pending          int // how much waits for a person's acceptance
}

// wishes are what the user wants, in files that others could have written.
type wishes struct{ *Daemon }

// loadSettings reads config.toml. It is read again while the daemon runs, so that what is stricter counts at once, and what
// is wrong with it is told as it is now.
func (d wishes) loadSettings() {
	fresh, warnings := d.readSettings()
	d.mu.Lock()
	known := d.settingsWarnings
	d.policy, d.settingsWarnings = fresh, warnings
	d.mu.Unlock()
	for _, text := range warnings {
		if !slices.Contains(known, text) {
			d.log.LogAttrs(context.Background(), slog.LevelWarn, "warning", slog.String("text", text))
		}
	}
}

// reload applies changed files: the agents, and config.toml to the open account. How the log is kept changes with the next
// start.
func (d wishes) reload(k *keeper) {
	d.loadTables()
	d.loadSettings()
	d.mu.Lock()
	idle, most := d.policy.idle, d.policy.max
	d.mu.Unlock()
	k.limit(idle, most)
}

// readSettings reads what the user wants and what of it counts. Whoever can write the file could make it say anything, so
// what widens beyond the defaults waits until a person accepts it: longer lock times. How much the log keeps widens nothing and
// has bounds of its own.
func (d wishes) readSettings() (s settings, warnings []string) {
	path := filepath.Join(d.opt.Config, configFile)
	noEnvironment := func(string) string { return "" }
	defaults, _, err := state.LoadSettings(nil, path, noEnvironment, nil)
	if err != nil {
		warnings = append(warnings, fmt.Sprintf("the default settings don't hold: %v", err))
	}
	text, err := readConfig(d.opt.Config, configFile)
	own, ignored, parsed := state.LoadSettings(text, path, noEnvironment, nil)
	if err := errors.Join(err, parsed); err != nil {
		warnings = append(warnings, fmt.Sprintf("the settings don't count: %v", err))
		own = defaults
	}
	for _, w := range ignored {
		warnings = append(warnings, w.String())
	}
	wait := func(name string, from state.Origin, text, standard string) {
		s.pending++
		warnings = append(warnings, fmt.Sprintf("%v: %s = %s is wider than the default %s and waits for a person: warder policy accept", from, name, text, standard))
	}
	s.idle = atMost(own.LockIdle, defaults.LockIdle, "lock.idle", wait)
	s.max = atMost(own.LockMax, defaults.LockMax, "lock.max", wait)
	s.auditSize, s.auditGenerations = own.AuditMaxSize.Value, int(own.AuditGenerations.Value)
	return s, warnings
}

// waiting notes that a value waits for acceptance.
type waiting func(name string, from state.Origin, text, standard string)

// atMost is the user's value, or the default where that is less.
func atMost[T cmp.Ordered](own, standard state.Setting[T], name string, wait waiting) T {
	if own.Value > standard.Value {
		wait(name, own.From, own.Text, standard.Text)
		return standard.Value
	}
	return own.Value
}

// readConfig reads a file of the configuration directory at path; none is empty.
func readConfig(path, name string) ([]byte, error) {
	dir, err := state.OpenDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close() //nolint:errcheck // nothing is written through it
	text, err := dir.Read(name, configLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}
