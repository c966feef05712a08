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
	"strings"

	"github.com/pelletier/go-toml/v2"

	"warder/internal/api"
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
	Client string   `toml:"client" json:"client"`
	Names  []string `toml:"names,omitempty" json:"names,omitempty"`
	Paths  []string `toml:"paths,omitempty" json:"paths,omitempty"`
	Marks  []string `toml:"marks,omitempty" json:"marks,omitempty"`
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
func (a *agentsKnown) tables() (tables *caller.Tables, now said) {
	tables, notes, broken := caller.LoadTables(a.own.forTables(), a.own.path)
	if broken = cmpError(a.own.err, broken); broken != nil {
		now.warnings = append(now.warnings, fmt.Sprintf("nobody counts as a person until %s is right: %v", a.own.path, broken))
	}
	for _, w := range notes {
		now.warnings = append(now.warnings, w.String())
	}
	if _, lost := tables.Extend(a.kept.forTables(), a.kept.path); lost != nil {
		now.warnings = append(now.warnings, fmt.Sprintf("nobody counts as a person until %s is right: %v", a.kept.path, cmpError(a.kept.err, lost)))
		return tables, now
	}
	now.proposals = a.proposals()
	return tables, now
}

// proposals are the agents that the present file has less of than what was seen.
func (a *agentsKnown) proposals() (list []api.Proposal) {
	own, err := a.own.list()
	kept, lost := a.kept.list()
	if err != nil || lost != nil {
		return nil
	}
	var clients []string
	for _, r := range without(kept.Agent, own.Agent) {
		if slices.Contains(clients, r.Client) {
			continue
		}
		clients = append(clients, r.Client)
		list = append(list, api.Proposal{
			File: a.own.path, Entry: "agent " + r.Client, Accepted: linesOf(kept.Agent, r.Client), Proposed: linesOf(own.Agent, r.Client),
			Widens: "what it is no longer known by can count as a person",
		})
	}
	return list
}

// linesOf is all that an agent is known by, each in a line.
func linesOf(rows []agentRow, client string) string {
	var lines []string
	for _, r := range rows {
		if r.Client != client {
			continue
		}
		for _, part := range [...]struct {
			kind  string
			texts []string
		}{{"name", r.Names}, {"path", r.Paths}, {"mark", r.Marks}} {
			for _, text := range part.texts {
				lines = append(lines, fmt.Sprintf("%s %q", part.kind, text))
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n")
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
	if err != nil || own.Version != 1 {
		return false
	}
	return a.add(own.Agent)
}

// add adds rows to what was seen, as far as they mean anything.
func (a *agentsKnown) add(rows []agentRow) (changed bool) {
	kept, lost := a.kept.list()
	if lost != nil {
		return false
	}
	fresh := without(rows, kept.Agent)
	if fresh = slices.DeleteFunc(fresh, agentRow.isVoid); len(fresh) == 0 {
		return false
	}
	return a.put(append(kept.Agent, fresh...))
}

// put makes rows all that was seen.
func (a *agentsKnown) put(rows []agentRow) (changed bool) {
	text, err := toml.Marshal(agentList{Version: 1, Agent: rows})
	if err != nil || len(text) > configLimit {
		return false
	}
	a.kept.text = text
	return true
}

// isVoid reports whether a row makes no agent of anything: it never counted, so nothing is lost with it.
func (r agentRow) isVoid() bool {
	text, err := toml.Marshal(agentList{Version: 1, Agent: []agentRow{r}})
	if err != nil {
		return true
	}
	_, notes, err := caller.LoadTables(text, "")
	return err != nil || len(notes) > 0
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
		d.storeAgents()
		acceptor(d).resign()
	}
	d.applyTables()
}

// storeAgents writes what was seen of the user's agents.
func (d wishes) storeAgents() {
	if err := d.state.Replace(agentsFile, d.agents.kept.text); err != nil {
		d.log.LogAttrs(context.Background(), slog.LevelWarn, "added agents are known to this daemon only", slog.String("cause", err.Error()))
	}
}

// applyTables judges callers from here on by what is known of agents.
func (d wishes) applyTables() {
	tables, now := d.agents.tables()
	d.tables.Store(tables)
	d.tell(agentsFile, now)
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
	tables, _ := known.tables()
	id, _ := tables.JudgeSelf(o.Getenv) // unknown with an error
	return id
}
