package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/pelletier/go-toml/v2"

	"warder/internal/caller"
	"warder/internal/state"
)

// agentsText is a table of agents as a file has it.
type agentsText struct {
	path string
	text []byte
	err  error // it can't be read
}

// forTables is what package caller reads: no TOML, if the file can't be read, so that nobody counts as a person.
func (a agentsText) forTables() []byte {
	if a.err != nil {
		return []byte("unreadable")
	}
	return a.text
}

func (a agentsText) equal(b agentsText) bool {
	return bytes.Equal(a.text, b.text) && (a.err == nil) == (b.err == nil)
}

// agentsKnown is what the daemon has read of the user's agents.
type agentsKnown struct {
	own  agentsText // in the configuration
	kept agentsText // in the state directory: all that were ever seen there
}

// agentList is a table of agents as far as it has any.
type agentList struct {
	Version int        `toml:"version"`
	Agent   []agentRow `toml:"agent"`
}

type agentRow struct {
	Client string   `toml:"client"`
	Names  []string `toml:"names,omitempty"`
	Paths  []string `toml:"paths,omitempty"`
	Marks  []string `toml:"marks,omitempty"`
}

func (a agentsText) list() (list agentList, err error) {
	if a.err != nil || len(bytes.TrimSpace(a.text)) == 0 {
		return agentList{}, a.err
	}
	return list, toml.Unmarshal(a.text, &list)
}

// within reports whether other rows have all that this one has.
func (r agentRow) within(rows []agentRow) bool {
	all := func(part func(agentRow) []string) bool {
		return !slices.ContainsFunc(part(r), func(text string) bool {
			return !slices.ContainsFunc(rows, func(o agentRow) bool { return o.Client == r.Client && slices.Contains(part(o), text) })
		})
	}
	return all(func(o agentRow) []string { return o.Names }) && all(func(o agentRow) []string { return o.Paths }) &&
		all(func(o agentRow) []string { return o.Marks })
}

// without are the rows that others don't have.
func without(rows, others []agentRow) (left []agentRow) {
	for _, r := range rows {
		if !r.within(others) {
			left = append(left, r)
		}
	}
	return left
}

// tables are those of package caller with the user's agents: the present ones, and those that were there before. Taking one
// away would make a person of it, so that waits for acceptance.
func (a *agentsKnown) tables() (tables *caller.Tables, pending int, warnings []string) {
	tables, notes, broken := caller.LoadTables(a.own.forTables(), a.own.path)
	if broken = cmpError(a.own.err, broken); broken != nil {
		warnings = append(warnings, fmt.Sprintf("nobody counts as a person until %s is right: %v", a.own.path, broken))
	}
	for _, w := range notes {
		if w.Pending {
			pending++
		}
		warnings = append(warnings, w.String())
	}
	if _, lost := tables.Extend(a.kept.forTables(), a.kept.path); lost != nil {
		warnings = append(warnings, fmt.Sprintf("nobody counts as a person until %s is right: %v", a.kept.path, cmpError(a.kept.err, lost)))
		return tables, pending, warnings
	}
	own, err := a.own.list()
	kept, lost := a.kept.list()
	if err != nil || lost != nil {
		return tables, pending, warnings
	}
	for _, r := range without(kept.Agent, own.Agent) {
		pending++
		warnings = append(warnings, fmt.Sprintf("%s does not have all of agent %q any more, which stays one and waits for a person: warder policy accept",
			a.own.path, r.Client))
	}
	return tables, pending, warnings
}

// cmpError is the first of two errors that is one.
func cmpError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// keep adds what the present file has to what was seen, and reports whether that was anything new.
func (a *agentsKnown) keep() (changed bool) {
	own, err := a.own.list()
	kept, lost := a.kept.list()
	if err != nil || lost != nil || own.Version != 1 {
		return false
	}
	fresh := without(own.Agent, kept.Agent)
	if len(fresh) == 0 {
		return false
	}
	text, err := toml.Marshal(agentList{Version: 1, Agent: append(kept.Agent, fresh...)})
	if err != nil || len(text) > configLimit {
		return false
	}
	a.kept.text = text
	return true
}

// loadTables reads the agents that the user adds, also while the daemon runs: an added one counts within a tick, and one that was
// there once stays. A file that can't be read makes everybody unknown who is no agent: what it adds is missing.
func (d wishes) loadTables() {
	own := agentsText{path: filepath.Join(d.opt.Config, agentsFile)}
	own.text, own.err = readConfig(d.opt.Config, agentsFile)
	first := d.tables.Load() == nil
	if !first && own.equal(d.agents.own) {
		return
	}
	d.agents.own = own
	if first {
		d.agents.kept = keptAgents(d.state, d.opt.State)
	}
	if d.agents.keep() {
		if err := d.state.Replace(agentsFile, d.agents.kept.text); err != nil {
			d.log.LogAttrs(context.Background(), slog.LevelWarn, "added agents are known to this daemon only", slog.String("cause", err.Error()))
		}
	}
	tables, pending, warnings := d.agents.tables()
	d.tables.Store(tables)
	d.mu.Lock()
	d.tablesPending = pending
	d.mu.Unlock()
	for _, text := range warnings {
		d.warn("%s", text)
	}
}

// keptAgents reads the agents that were seen before.
func keptAgents(dir *state.Dir, path string) agentsText {
	kept := agentsText{path: filepath.Join(path, agentsFile)}
	kept.text, kept.err = dir.Read(agentsFile, configLimit)
	if errors.Is(kept.err, fs.ErrNotExist) {
		kept.text, kept.err = nil, nil
	}
	return kept
}

// judgeSelf judges this process, with the user's agents: who starts a daemon by hand is above it.
func judgeSelf(o Options) caller.Identity {
	known := agentsKnown{own: agentsText{path: filepath.Join(o.Config, agentsFile)}}
	known.own.text, known.own.err = readConfig(o.Config, agentsFile)
	if dir, err := state.OpenDir(o.State); err == nil {
		known.kept = keptAgents(dir, o.State)
		_ = dir.Close()
	}
	tables, _, _ := known.tables()
	id, _ := tables.JudgeSelf(o.Getenv) // unknown with an error
	return id
}
