package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"warder/internal/api"
	"warder/internal/policy"
	"warder/internal/seal"
	"warder/internal/state"
)

// maxAsked is how many proposals a person is asked about by name. What was listed before has all of them, and the act's hash
// holds that.
const maxAsked = 20

// accepting carries out the operations on what waits.
type accepting struct{ *Daemon }

// ops are the operations on what waits for acceptance. They are acts like those on the account: decided, proved and recorded.
func (d accepting) ops(a *acts) map[string]api.Op {
	pending := operation{api.OpPolicyPending, 0, false, beside, d.planPending}
	accept := operation{api.OpPolicyAccept, proof, false, beside, d.planAccept} // an agent is denied while it is locked, too
	ops := map[string]api.Op{}
	for _, o := range []operation{pending, accept} {
		ops[o.name] = api.Op{Takes: o.takes, Call: func(ctx context.Context, call *api.Call) (*api.Reply, error) {
			return a.perform(ctx, &o, call, way{})
		}}
	}
	return ops
}

// planPending lists what waits. Whoever is no person learns which files it is in: what is in them is the user's business.
// While the account is locked it can't be told what was accepted, so a person unlocks it first.
func (d accepting) planPending(r *request) (*act, error) {
	if r.account == nil && r.isPerson() {
		_, err := r.acts.account()
		return nil, err
	}
	d.wishing.Lock()
	defer d.wishing.Unlock()
	wishes(d).reread(d.keep)
	out := api.PolicyPending{Proposals: d.waiting()}
	if r.isPerson() {
		out.Shown = d.shown(out.Proposals)
		return answer("list what waits for acceptance", out), nil
	}
	files := []api.Proposal{}
	for _, p := range out.Proposals {
		p = api.Proposal{File: p.File, Widens: "more than counts"}
		if !slices.Contains(files, p) {
			files = append(files, p)
		}
	}
	return answer("list what waits for acceptance", api.PolicyPending{Proposals: files}), nil
}

// waiting is all that waits, as of the last reading. Where nobody can accept anything nothing waits for that.
func (d accepting) waiting() []api.Proposal {
	if wishes(d).isUnattended() {
		return []api.Proposal{}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return append(append([]api.Proposal{}, d.told[configFile].proposals...), d.told[agentsFile].proposals...)
}

// shown stands for proposals and for the bytes of the files that they are of.
func (d accepting) shown(proposals []api.Proposal) string {
	text, err := json.Marshal(proposals)
	if err != nil {
		return "" // no such type can fail
	}
	h := sha256.New()
	for _, part := range [][]byte{text, d.settingsText, d.agents.own.text, d.agents.kept.text} {
		_, _ = fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// planAccept lets what waits count, as it was listed: a file that changed since is listed anew first.
func (d accepting) planAccept(r *request) (*act, error) {
	var in api.PolicyAccept
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if wishes(d).isUnattended() {
		return nil, api.Errorf(api.Denied, "nobody's presence can be proved to an unattended account, so nothing that widens can be accepted").
			WithHint("set up an account with a password of your own: warder setup")
	}
	if !r.isPerson() { // denied whatever waits
		return &act{needs: []policy.Need{policy.ToAccept}, text: "let count what waits for acceptance"}, nil
	}
	if r.account == nil {
		_, err := r.acts.account()
		return nil, err
	}
	proposals, err := d.asListed(in.Shown)
	if err != nil {
		return nil, err
	}
	if len(proposals) == 0 {
		return answer("accept nothing", api.PolicyAccepted{Accepted: proposals}), nil
	}
	return &act{
		needs: []policy.Need{policy.ToAccept},
		text:  acceptText(proposals),
		run:   func(ctx context.Context) (*api.Reply, error) { return d.accept(ctx, r, in.Shown) },
	}, nil
}

// asListed reads the files again and is what waits, if that is what was shown.
func (d accepting) asListed(shown string) ([]api.Proposal, error) {
	d.wishing.Lock()
	defer d.wishing.Unlock()
	wishes(d).reread(d.keep)
	proposals := d.waiting()
	if len(proposals) > 0 && d.shown(proposals) != shown {
		return nil, changedSince()
	}
	return proposals, nil
}

func changedSince() error {
	return api.Errorf(api.Denied, "the files are not what was shown, so nothing was accepted").WithHint("see what waits now: warder policy accept")
}

// acceptText is what a person is asked.
func acceptText(proposals []api.Proposal) string {
	var parts []string
	for _, p := range proposals[:min(len(proposals), maxAsked)] {
		part := fmt.Sprintf("let %s be %s instead of %s", p.Entry, p.Proposed, p.Accepted)
		if !isOption(p.Entry) {
			part = fmt.Sprintf("know %s no longer by %s", p.Entry, lostText(lostLines(p)))
		}
		parts = append(parts, part)
	}
	if more := len(proposals) - len(parts); more > 0 {
		return fmt.Sprintf("accept %d changes in all: %s; and %d more of what was listed", len(proposals), strings.Join(parts, "; "), more)
	}
	return strings.Join(parts, "; ")
}

// lostText names what an agent is no longer known by, and counts what is too much to name.
func lostText(lines []string) string {
	text := strings.Join(lines[:min(len(lines), maxAsked)], ", ")
	if more := len(lines) - maxAsked; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// accept lets count what was shown. It is recorded before it is stored: what crashes in between counts for nothing.
func (d accepting) accept(ctx context.Context, r *request, shown string) (*api.Reply, error) {
	d.wishing.Lock()
	defer d.wishing.Unlock()
	wishes(d).loadTables()
	wishes(d).loadSettings()
	proposals := d.waiting()
	if d.shown(proposals) != shown {
		return nil, changedSince()
	}
	settings, agents, err := d.agreed(proposals)
	if err != nil {
		return nil, err
	}
	rec := r.Event(eventPolicyAccepted) // the very texts are in it by their hashes
	rec.Data = dataOf(map[string]any{
		"settings": settings, "agents": len(proposals) - len(settings),
		"sha256": map[string]string{configFile: seal.HashOf(d.settingsText).String(), agentsFile: seal.HashOf(d.agents.own.text).String()},
	})
	if _, err := d.audit.Append(ctx, rec); err != nil {
		return nil, notStored(err, "it could not be recorded, so nothing was accepted")
	}
	next := acceptance{Settings: maps.Clone(d.accepted.Settings), verified: true}
	for _, w := range widenings() {
		if text, isNamed := settings[w.name]; isNamed {
			next.put(w, text)
		}
	}
	next.Seq, err = acceptor(d).store(r.account, next.Settings, agents.kept)
	if err != nil {
		return nil, notStored(err, "it could not be stored, so nothing was accepted")
	}
	d.accepted, d.agents = next, agents
	wishes(d).storeAgents()
	wishes(d).applyTables()
	wishes(d).loadSettings()
	d.keep.allow(d.policy.idle, d.policy.max)
	_ = journal(d).signHead(r.account) // logged there
	r.Facts["count"] = len(proposals)
	return &api.Reply{Output: api.PolicyAccepted{Accepted: proposals}}, nil
}

// isOption says whether a proposal is about an option.
func isOption(entry string) bool {
	return slices.ContainsFunc(widenings(), func(w widening) bool { return w.name == entry })
}

// lostLines are what an agent would no longer be known by.
func lostLines(p api.Proposal) []string {
	left := strings.Split(p.Proposed, "\n")
	return slices.DeleteFunc(strings.Split(p.Accepted, "\n"), func(line string) bool { return slices.Contains(left, line) })
}

// agreed is what counts with the proposals: the options that they change, and all agents.
func (d accepting) agreed(proposals []api.Proposal) (settings map[string]string, agents agentsKnown, err error) {
	settings, agents = map[string]string{}, d.agents
	for _, p := range proposals {
		if isOption(p.Entry) {
			settings[p.Entry] = p.Proposed
			continue
		}
		own, err := agents.own.list()
		if err != nil {
			return nil, agents, changedSince()
		}
		if !agents.put(agentList{Agent: slices.DeleteFunc(own.Agent, agentRow.isVoid)}) {
			return nil, agents, notStored(nil, "the agents could not be put down, so nothing was accepted")
		}
	}
	return settings, agents, nil
}

// notStored is the error of an acceptance that could not be kept.
func notStored(err error, text string) error {
	e := api.Errorf(api.Internal, "%s", text).WithCause(err)
	if hint := state.Hint(err); hint != "" {
		return e.WithHint(hint)
	}
	return e.WithHint("see what is wrong with the log or the disk: warder doctor")
}
