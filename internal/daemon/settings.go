package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"warder/internal/api"
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
}

// widening is an option whose greater value widens.
type widening struct {
	name   string
	of     func(*state.Settings) state.Setting[time.Duration]
	counts func(*settings) *time.Duration
	widens string
}

// widenings are all of them.
func widenings() []widening {
	return []widening{
		{
			"lock.idle",
			func(s *state.Settings) state.Setting[time.Duration] { return s.LockIdle },
			func(s *settings) *time.Duration { return &s.idle },
			"the account stays open for longer while nobody uses it",
		},
		{
			"lock.max",
			func(s *state.Settings) state.Setting[time.Duration] { return s.LockMax },
			func(s *settings) *time.Duration { return &s.max },
			"the account stays open for longer in all",
		},
	}
}

// said is what is to be told of one of the user's files.
type said struct {
	proposals []api.Proposal
	warnings  []string
}

// settingsRead is what was read of config.toml.
type settingsRead struct {
	counts settings
	said
	text    []byte
	broken  bool              // what the file wants can't be told
	tighter map[string]string // options that were accepted wider than the file has them now, and what is left; "" is the default
}

// wishes are what the user wants, in files that others could have written.
type wishes struct{ *Daemon }

// loadSettings reads config.toml. It is read again while the daemon runs, so that what is stricter counts at once. What was
// accepted and is not wanted any more is forgotten: who wants it back later asks a person again.
func (d wishes) loadSettings() {
	r := d.readSettings()
	if len(r.tighter) > 0 && !r.broken {
		acceptor(d).forget(r.tighter)
	}
	d.settingsText = r.text
	d.mu.Lock()
	d.policy = r.counts
	d.mu.Unlock()
	d.tell(configFile, r.said)
}

// tell keeps what status says of a file, and logs what is new of it.
func (d wishes) tell(file string, now said) {
	now.warnings = now.warnings[:min(len(now.warnings), maxWarnings)]
	d.mu.Lock()
	before := d.told[file]
	if d.told == nil {
		d.told = map[string]said{}
	}
	d.told[file] = now
	d.mu.Unlock()
	for _, text := range now.warnings {
		if !slices.Contains(before.warnings, text) {
			d.log.LogAttrs(context.Background(), slog.LevelWarn, "warning", slog.String("text", text))
		}
	}
	for _, p := range now.proposals {
		if !slices.Contains(before.proposals, p) {
			d.log.LogAttrs(context.Background(), slog.LevelWarn, "waits for a person", slog.String("file", p.File), slog.String("entry", p.Entry))
		}
	}
}

// reload applies changed files: the agents, and config.toml to the open account. How the log is kept changes with the next
// start.
func (d wishes) reload(k *keeper) {
	d.wishing.Lock()
	defer d.wishing.Unlock()
	d.reread(k)
	acceptor(d).keepUp()
}

// reread is reload for who holds wishing.
func (d wishes) reread(k *keeper) {
	d.loadTables()
	d.loadSettings()
	k.limit(d.policy.idle, d.policy.max)
}

// readSettings reads what the user wants and what of it counts. Whoever can write the file could make it say anything, so
// what widens beyond the defaults waits until a person accepts it: longer lock times. How much the log keeps widens nothing and
// has bounds of its own.
func (d wishes) readSettings() (r settingsRead) {
	path := filepath.Join(d.opt.Config, configFile)
	noEnvironment := func(string) string { return "" }
	defaults, _, err := state.LoadSettings(nil, path, noEnvironment, nil)
	if err != nil {
		r.warnings = append(r.warnings, fmt.Sprintf("the default settings don't hold: %v", err))
	}
	r.text, err = readConfig(d.opt.Config, configFile)
	own, ignored, parsed := state.LoadSettings(r.text, path, noEnvironment, nil)
	if err := errors.Join(err, parsed); err != nil {
		r.warnings = append(r.warnings, fmt.Sprintf("the settings don't count: %v", err))
		r.broken, own = true, defaults
	}
	for _, w := range ignored {
		r.warnings = append(r.warnings, w.String())
	}
	r.tighter = map[string]string{}
	for _, w := range widenings() {
		d.judge(w, &own, &defaults, &r)
	}
	r.counts.auditSize, r.counts.auditGenerations = own.AuditMaxSize.Value, int(own.AuditGenerations.Value)
	return r
}

// judge says what of one option counts: the tighter of what the file has and what was accepted. What the store only claims to
// have been accepted does not count before the account's key has confirmed it, and is not asked for again until then.
func (d wishes) judge(w widening, own, defaults *state.Settings, r *settingsRead) {
	wanted, standard := w.of(own), w.of(defaults)
	limit := standard
	text, isAccepted := d.accepted.Settings[w.name]
	if isAccepted {
		if s := w.parse(text); s.Value > limit.Value {
			limit = s
		}
	}
	counts := w.counts(&r.counts)
	*counts = min(wanted.Value, limit.Value)
	if !d.accepted.verified {
		*counts = min(wanted.Value, standard.Value)
	}
	switch {
	case d.isUnattended():
		if wanted.Value > standard.Value {
			r.warnings = append(r.warnings, fmt.Sprintf("%v: %s = %s changes nothing: an unattended account is not locked by time",
				wanted.From, w.name, wanted.Text))
		}
	case wanted.Value > limit.Value:
		r.proposals = append(r.proposals, api.Proposal{
			File: wanted.From.Name, Line: wanted.From.Line, Entry: w.name, Accepted: limit.Text,
			Proposed: wanted.Text, Widens: w.widens,
		})
	case isAccepted && wanted.Value <= standard.Value:
		r.tighter[w.name] = ""
	case isAccepted && wanted.Value < limit.Value:
		r.tighter[w.name] = wanted.Text
	}
}

// isUnattended says whether the account is known to be unattended. Nobody is told anything before that is known.
func (d wishes) isUnattended() bool { return d.keep != nil && d.keep.unattended }

// parse is a value as a file could have it; the default, if it can't.
func (w widening) parse(text string) state.Setting[time.Duration] {
	s, _, _ := state.LoadSettings(nil, "", func(string) string { return "" }, map[string]string{w.name: text})
	return w.of(&s)
}

// says is what status tells a caller of the user's files, and how much of it waits for a person.
func (d wishes) says(person bool) (texts []string, waits int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, file := range [...]string{configFile, agentsFile} {
		now := d.told[file]
		texts = append(texts, now.warnings...)
		switch {
		case len(now.proposals) == 0:
		case d.isUnattended():
			texts = append(texts, d.unattendedTexts(now.proposals)...)
		case person:
			waits += len(now.proposals)
			for _, p := range now.proposals {
				texts = append(texts, d.waitText(p))
			}
		default:
			waits += len(now.proposals)
			texts = append(texts, fmt.Sprintf("what %s asks for widens, and waits for a person: ask one to run warder policy accept", now.proposals[0].File))
		}
	}
	return texts, waits
}

// waitText says of a proposal that it waits.
func (d wishes) waitText(p api.Proposal) string {
	at := p.File
	if p.Line > 0 {
		at = fmt.Sprintf("%s:%d", at, p.Line)
	}
	if d.keep != nil && !d.keep.exists {
		return fmt.Sprintf("%s: %s waits until there is an account whose password can accept it: warder setup", at, p.Entry)
	}
	return fmt.Sprintf("%s: %s waits for you, since %s: warder policy accept", at, p.Entry, p.Widens)
}

// unattendedTexts says the same where nobody can accept anything.
func (d wishes) unattendedTexts(proposals []api.Proposal) (texts []string) {
	for _, p := range proposals {
		texts = append(texts, fmt.Sprintf("%s: %s stays as it was: nobody's presence can be proved to an unattended account; "+
			"its operator can stop the daemon and change %s", p.File, p.Entry, filepath.Join(d.opt.State, agentsFile)))
	}
	return texts
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
