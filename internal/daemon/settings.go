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
	"warder/internal/audit"
	"warder/internal/state"
)

const (
	configFile  = "config.toml"
	agentsFile  = "agents.toml"
	configLimit = 1 << 20

	// maxRepeated bounds what status and the log tell one by one of one file: any program can fill it. The rest is counted.
	maxRepeated = 20
)

// settings are what counts of the user's settings.
type settings struct {
	idle, max        time.Duration
	auditSize        int64
	auditGenerations int
}

// amount is the value of an option whose values can be compared.
type amount struct {
	value int64
	text  string
	from  state.Origin
}

// amountOf is the amount of a setting.
func amountOf[T ~int64](s state.Setting[T]) amount { return amount{int64(s.Value), s.Text, s.From} }

// widening is an option one side of which widens.
type widening struct {
	name       string
	of         func(*state.Settings) amount
	count      func(s *settings, value int64)
	widens     string
	lessWidens bool   // else more does
	alone      string // what becomes of it where nobody can accept anything
}

// widenings are all of them.
func widenings() []widening {
	const (
		neverLocked = "an unattended account is not locked by time"
		neverLess   = "nobody can accept for an unattended account that its log keeps less"
	)
	return []widening{
		{
			name: "lock.idle", widens: "the account stays open for longer while nobody uses it", alone: neverLocked,
			of:    func(s *state.Settings) amount { return amountOf(s.LockIdle) },
			count: func(s *settings, value int64) { s.idle = time.Duration(value) },
		},
		{
			name: "lock.max", widens: "the account stays open for longer in all", alone: neverLocked,
			of:    func(s *state.Settings) amount { return amountOf(s.LockMax) },
			count: func(s *settings, value int64) { s.max = time.Duration(value) },
		},
		{
			name: "audit.max_size", widens: "the audit log keeps less, and drops older records sooner", lessWidens: true, alone: neverLess,
			of:    func(s *state.Settings) amount { return amountOf(s.AuditMaxSize) },
			count: func(s *settings, value int64) { s.auditSize = value },
		},
		{
			name: "audit.generations", widens: "the audit log keeps less, and drops older records sooner", lessWidens: true, alone: neverLess,
			of:    func(s *state.Settings) amount { return amountOf(s.AuditGenerations) },
			count: func(s *settings, value int64) { s.auditGenerations = int(value) },
		},
	}
}

// isWider says whether a lets more happen than b.
func (w widening) isWider(a, b amount) bool {
	if w.lessWidens {
		return a.value < b.value
	}
	return a.value > b.value
}

// tighter is the one of two that lets less happen.
func (w widening) tighter(a, b amount) amount {
	if w.isWider(a, b) {
		return b
	}
	return a
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
	tighter map[string]string // options that the file has tighter than what was in force, and what is left; "" is the default
}

// wishes are what the user wants, in files that others could have written.
type wishes struct{ *Daemon }

// loadSettings reads config.toml. It is read again while the daemon runs, so that what is stricter counts at once, and is in
// force from then on: who wants back what was wider asks a person.
func (d wishes) loadSettings() {
	r := d.readSettings()
	if len(r.tighter) > 0 && !r.broken {
		acceptor(d).forget(r.tighter)
	}
	d.settingsText = r.text
	d.mu.Lock()
	before := d.policy
	d.policy = r.counts
	d.mu.Unlock()
	if now := r.counts; d.audit != nil && (now.auditSize != before.auditSize || now.auditGenerations != before.auditGenerations) {
		audit.Witness{Log: d.audit}.Keep(now.auditSize, now.auditGenerations)
		d.audit.Note(context.Background(), audit.Record{ // what it was accepted by may go with the first rotation
			Event: eventKept, Data: dataOf(map[string]any{"max_size": now.auditSize, "generations": now.auditGenerations}),
		})
	}
	d.tell(configFile, r.said)
}

// tell keeps what status says of a file, and logs what is new of it.
func (d wishes) tell(file string, now said) {
	if n := len(now.warnings); n > maxRepeated {
		now.warnings = append(slices.Clip(now.warnings[:maxRepeated]), moreTexts(filepath.Join(d.opt.Config, file), n, "warnings")...)
	}
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
	for _, p := range now.proposals[:min(len(now.proposals), maxRepeated)] {
		if !slices.Contains(before.proposals, p) {
			d.log.LogAttrs(context.Background(), slog.LevelWarn, "waits for a person", slog.String("file", p.File), slog.String("entry", p.Entry))
		}
	}
}

// reload applies changed files: the agents, and config.toml to the open account and the log.
func (d wishes) reload(k *keeper) {
	d.wishing.Lock()
	defer d.wishing.Unlock()
	d.reread(k)
}

// keepUp keeps the stored acceptance up with the log. It may write, so nobody who only looks waits for it.
func (d wishes) keepUp() {
	d.wishing.Lock()
	defer d.wishing.Unlock()
	acceptor(d).keepUp()
}

// reread is reload for who holds wishing.
func (d wishes) reread(k *keeper) {
	d.loadTables()
	d.loadSettings()
	k.limit(d.policy.idle, d.policy.max)
}

// readSettings reads what the user wants and what of it counts. Whoever can write the file could make it say anything, so
// what widens beyond what is in force waits until a person accepts it: longer lock times, and a log that keeps less, which would
// let an agent push out of it what it has done.
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
		r.warnings = append(r.warnings, "the settings don't count: "+withHint(err))
		r.broken, own = true, defaults
	}
	for _, w := range ignored {
		r.warnings = append(r.warnings, w.String())
	}
	r.tighter = map[string]string{}
	for _, w := range widenings() {
		d.judge(w, &own, &defaults, &r)
	}
	return r
}

// judge says what of one option counts: the tighter of what the file has and what is in force. What the store only claims to
// have been accepted does not count beyond the default before the account's key has confirmed it, and is not asked for again
// until then; what it claims to be tighter counts. A file that can't be read changes nothing.
func (d wishes) judge(w widening, own, defaults *state.Settings, r *settingsRead) {
	wanted, standard := w.of(own), w.of(defaults)
	limit := d.accepted.inForce(w)
	counts := w.tighter(wanted, limit)
	if !d.accepted.verified {
		counts = w.tighter(counts, standard)
	}
	w.count(&r.counts, counts.value)
	from := wanted.from
	if from.Kind == state.FromDefault { // a line that was taken out
		from.Name = filepath.Join(d.opt.Config, configFile)
	}
	switch {
	case r.broken:
	case w.isWider(wanted, limit) && d.isUnattended():
		r.warnings = append(r.warnings, fmt.Sprintf("%s: %s = %s changes nothing: %s", r.place(from), w.name, wanted.text, w.alone))
	case w.isWider(wanted, limit):
		r.proposals = append(r.proposals, api.Proposal{
			File: from.Name, Line: from.Line, Entry: w.name, Accepted: limit.text, Proposed: wanted.text, Widens: w.widens,
		})
	case w.isWider(limit, wanted) && (w.lessWidens || !d.isUnattended()):
		r.tighter[w.name] = wanted.text
		if wanted.value == standard.value {
			r.tighter[w.name] = ""
		}
	}
}

// place is where a value stands.
func (settingsRead) place(from state.Origin) string {
	if from.Line == 0 {
		return from.Name
	}
	return from.String()
}

// isUnattended says whether the account is known to be unattended. Nobody is told anything before that is known.
func (d wishes) isUnattended() bool { return d.keep != nil && d.keep.unattended }

// parse is a value as a file could have it; the default, if it can't.
func (w widening) parse(text string) amount {
	flags := map[string]string{w.name: text}
	if text == "" {
		flags = nil
	}
	s, _, _ := state.LoadSettings(nil, "", func(string) string { return "" }, flags)
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
			for _, p := range now.proposals[:min(len(now.proposals), maxRepeated)] {
				texts = append(texts, d.waitText(p))
			}
			texts = append(texts, moreTexts(now.proposals[0].File, len(now.proposals), "wait for you: warder policy")...)
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
	for _, p := range proposals[:min(len(proposals), maxRepeated)] {
		texts = append(texts, fmt.Sprintf("%s: %s stays as it was: nobody's presence can be proved to an unattended account; "+
			"its operator can stop the daemon and change %s", p.File, p.Entry, filepath.Join(d.opt.State, agentsFile)))
	}
	return append(texts, moreTexts(proposals[0].File, len(proposals), "stay as they were")...)
}

// moreTexts counts what of n things of a file was not repeated, if there is any.
func moreTexts(file string, n int, do string) []string {
	if n <= maxRepeated {
		return nil
	}
	return []string{fmt.Sprintf("%s: %d more %s", file, n-maxRepeated, do)}
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

// withHint is what is wrong with a file or directory, and what to do where it is refused as it is.
func withHint(err error) string {
	if hint := state.Hint(err); hint != "" {
		return fmt.Sprintf("%v: %s", err, hint)
	}
	return err.Error()
}
