package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"warder/internal/api"
	"warder/internal/audit"
	"warder/internal/caller"
	"warder/internal/state"
)

// Bounds of the tables of agents. Any program that runs as the user can write the one in the configuration, and what was once in it
// is kept, so that must not be able to grow without end.
const (
	maxOwnAgents  = 256
	maxOwnText    = 64 << 10
	maxKeptAgents = 1024
	maxKeptText   = 128 << 10
)

// eventPolicyIncomplete tells that agents which the user has named may be missing in what is kept of them.
const eventPolicyIncomplete = "policy.incomplete"

// Why the kept table may lack agents. The words are what the audit log holds.
var (
	errKeptUnreadable = errors.New("the agents that were seen can't be read")
	errKeptUnwritten  = errors.New("the agents that were seen can't be written")
	errKeptFull       = errors.New("there were more agents than are kept")
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

	unstored error // what was seen is not on the disk yet, for this
	doubted  error // why agents may be missing in the tables that were made last
	noted    error // the doubt that the audit log has
}

// agentList is a table of agents as far as it has any.
type agentList struct {
	Version int        `toml:"version"`
	Full    bool       `toml:"full,omitempty"` // of what is kept: something did not fit, and nobody can say what is missing
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
// away would make a person of it, so that waits for acceptance. Where agents may be missing nobody counts as a person: else who
// fills a table, or makes it unreadable, would hide an agent behind that.
func (a *agentsKnown) tables() (tables *caller.Tables, now said) {
	tables, notes, broken := caller.LoadTables(a.own.forTables(), a.own.path)
	if broken = cmpError(a.own.err, broken); broken != nil {
		caller.Doubt(tables, fmt.Sprintf("the table of agents %s can't be read: %v", a.own.path, broken))
		now.warnings = append(now.warnings, fmt.Sprintf("nobody counts as a person until %s is right: %v", a.own.path, broken))
	}
	for _, w := range notes {
		now.warnings = append(now.warnings, w.String())
	}
	_, lost := tables.Extend(a.kept.forTables(), a.kept.path)
	doubt := a.doubt(lost)
	if a.doubted = doubt; doubt != nil {
		caller.Doubt(tables, fmt.Sprintf("%v (%s)", doubt, a.kept.path))
		now.warnings = append(now.warnings, fmt.Sprintf("nobody counts as a person: %v%s. %s", doubt, causeOf(a, lost), a.wayOut()))
	}
	if lost == nil {
		now.proposals = a.proposals()
	}
	return tables, now
}

// doubt is why agents may be missing in what is kept; lost is what package caller says of its text.
func (a *agentsKnown) doubt(lost error) error {
	kept, err := a.kept.list()
	switch {
	case err != nil || lost != nil:
		return errKeptUnreadable
	case kept.Full:
		return errKeptFull
	case a.unstored != nil:
		return errKeptUnwritten
	}
	return nil
}

// causeOf is what is known of why the kept table can't be read or written.
func causeOf(a *agentsKnown, lost error) string {
	if err := cmpError(cmpError(a.kept.err, lost), a.unstored); err != nil {
		return fmt.Sprintf(": %v", err)
	}
	return ""
}

// wayOut says what a person can do about the kept table who does not count as one.
func (a *agentsKnown) wayOut() string {
	if a.unstored != nil {
		return "It is tried again until it can be written"
	}
	return fmt.Sprintf("To mend it: warder daemon stop; take what is not yours out of %s and %s, and the line with full; remove %s",
		a.own.path, a.kept.path, filepath.Join(filepath.Dir(a.kept.path), acceptedFile))
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

// add adds rows to what was seen, as far as they mean anything. What does not fit leaves a mark that stays, also when the row
// has gone from the present file.
func (a *agentsKnown) add(rows []agentRow) (changed bool) {
	kept, lost := a.kept.list()
	if lost != nil {
		return false // and that is told
	}
	fresh := without(rows, kept.Agent)
	if fresh = slices.DeleteFunc(fresh, agentRow.isVoid); len(fresh) == 0 {
		return false
	}
	if a.put(agentList{Full: kept.Full, Agent: append(slices.Clip(kept.Agent), fresh...)}) {
		return true
	}
	text, err := toml.Marshal(agentList{Version: 1, Full: true, Agent: kept.Agent})
	if err != nil || kept.Full {
		return false
	}
	a.kept.text = text
	return true
}

// put makes a list all that was seen, if it is no larger than that may be.
func (a *agentsKnown) put(list agentList) (changed bool) {
	list.Version = 1
	text, err := toml.Marshal(list)
	if err != nil || len(list.Agent) > maxKeptAgents || len(text) > maxKeptText {
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
	own := ownAgents(d.opt.Config)
	first := d.tables.Load() == nil
	if !first && own.equal(d.agents.own) && d.agents.unstored == nil {
		d.noteDoubt()
		return
	}
	d.agents.own = own
	if first {
		d.agents.kept = keptAgents(d.state, d.opt.State)
	}
	changed := d.agents.keep()
	if changed || d.agents.unstored != nil {
		d.storeAgents()
	}
	if changed {
		acceptor(d).resign()
	}
	d.applyTables()
	d.noteDoubt()
}

// storeAgents writes what was seen of the user's agents. A failure is told with the tables, and tried again with the next reading.
func (d wishes) storeAgents() {
	d.agents.unstored = d.state.Replace(agentsFile, d.agents.kept.text)
}

// applyTables judges callers from here on by what is known of agents.
func (d wishes) applyTables() {
	tables, now := d.agents.tables()
	d.tables.Store(tables)
	d.tell(agentsFile, now)
}

// noteDoubt records once that agents may be missing, as soon as there is a log.
func (d wishes) noteDoubt() {
	if d.audit == nil {
		return
	}
	doubt := d.agents.doubted
	if doubt != nil && !errors.Is(d.agents.noted, doubt) {
		d.audit.Note(context.Background(), audit.Record{Event: eventPolicyIncomplete, Reason: doubt.Error()})
	}
	d.agents.noted = doubt
}

// ownAgents reads the table in the configuration. One that is larger than any person's counts for nothing, and is not kept.
func ownAgents(config string) agentsText {
	own := agentsText{path: filepath.Join(config, agentsFile)}
	if own.text, own.err = readConfig(config, agentsFile); own.err != nil {
		return own
	}
	if len(own.text) > maxOwnText {
		own.err = fmt.Errorf("it has %d bytes, more than %d", len(own.text), maxOwnText)
		return own
	}
	if list, err := own.list(); err == nil && len(list.Agent) > maxOwnAgents {
		own.err = fmt.Errorf("it has %d agents, more than %d", len(list.Agent), maxOwnAgents)
	}
	return own
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

// JudgeSelf judges this process by the tables that a daemon with these options has: with the user's agents. So who starts one by
// hand is judged, and a client before it asks for a password. It is unknown with an error.
func JudgeSelf(o Options) (caller.Identity, error) {
	known := agentsKnown{own: ownAgents(o.Config), kept: agentsText{path: filepath.Join(o.State, agentsFile)}}
	dir, err := state.OpenDir(o.State)
	switch {
	case err == nil:
		known.kept = keptAgents(dir, o.State)
		_ = dir.Close()
	case !errors.Is(err, fs.ErrNotExist): // before anything was set up nothing is kept
		known.kept.err = err
	}
	tables, _ := known.tables()
	return tables.JudgeSelf(o.Getenv)
}
