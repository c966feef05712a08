package gate

import (
	"maps"
	"slices"

	"warder/internal/audit"
	"warder/internal/caller"
)

// Handed is an open lease on its way to the gate that takes over: enough to tell how it ends, no value and no right to one.
type Handed struct {
	ID        string           `json:"id"`
	Tool      string           `json:"tool"`
	Session   string           `json:"session"`
	Item      string           `json:"item"`
	Principal *audit.Principal `json:"principal"`
	Facts     map[string]any   `json:"facts"`
	Holder    caller.Instance  `json:"holder"`
}

// TakeOver goes on with a lease of the gate before. Its holder gets no values any more. A nil process is one that died since.
func (g *Gate) TakeOver(h Handed, process Process) {
	l := &Lease{gate: g, kept: true, keep: func() {}, intent: &Intent{
		ID: h.ID, Tool: h.Tool, Session: Session{ID: h.Session}, Item: h.Item, Facts: h.Facts, principal: h.Principal,
	}}
	g.hold(l, Holder{Instance: h.Holder, Process: process})
	if process == nil {
		l.abandon()
	}
}

// writeDown writes a lease down for the gate that takes over.
func (l *Lease) writeDown() {
	in := l.intent
	if l.gate.cfg.Keep(Handed{in.ID, in.Tool, in.Session.ID, in.Item, in.principal, in.Facts, l.holder.Instance}) != nil {
		return
	}
	l.gate.mu.Lock()
	l.kept = true
	_, open := l.gate.open[in.ID]
	l.gate.mu.Unlock()
	if !open { // it ended meanwhile
		l.gate.cfg.Drop(in.ID)
	}
}

// Shut ends a gate. The leases that were written down go on with the next one; of all others nobody will see what becomes of them.
func (g *Gate) Shut() {
	g.mu.Lock()
	open := slices.Collect(maps.Values(g.open))
	g.mu.Unlock()
	for _, l := range open {
		l.keep()
		if !l.leave() {
			l.abandon()
		}
	}
}

// leave lets go of a lease that was written down, and says whether it was.
func (l *Lease) leave() bool {
	l.gate.mu.Lock()
	defer l.gate.mu.Unlock()
	if l.kept && l.gate.open[l.intent.ID] == l {
		delete(l.gate.open, l.intent.ID)
		l.letGo()
	}
	return l.kept
}
