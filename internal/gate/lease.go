package gate

import (
	"context"
	"errors"
	"sync"

	"warder/internal/caller"
	"warder/internal/secret"
)

// Holder is a process that carries out an act that was permitted here. The lease ends with it.
type Holder struct {
	Instance caller.Instance
	Process  Process // the gate closes it
	Trusted  bool    // it runs the program that values may go to
}

// Process is a process that is held, so that no other one can be taken for it.
type Process interface {
	// Wait returns nil when the process has ended, and the cause of ctx otherwise.
	Wait(ctx context.Context) error
	Close() error
}

// ErrNoLease says that there is no such lease of that process.
var ErrNoLease = errors.New("no such lease of this process")

// ErrTaken says that the values of a lease were taken before.
var ErrTaken = errors.New("the values were taken already")

// Lend hands the act of a permit to a process, which may take the values once and tells how it ended. The values are the lease's from
// here on.
func (p *Permit) Lend(h Holder, values []secret.Value) {
	l := p.lease
	l.values = values
	l.keep = sync.OnceFunc(l.writeDown)
	l.gate.hold(l, h)
}

// ID is that of the intent.
func (p *Permit) ID() string { return p.lease.intent.ID }

// hold opens a lease for a process.
func (g *Gate) hold(l *Lease, h Holder) {
	ctx, cancel := context.WithCancel(context.Background())
	g.mu.Lock()
	l.holder, l.cancel = &h, cancel
	g.open[l.intent.ID] = l
	g.mu.Unlock()
	if h.Process == nil {
		return
	}
	go func() {
		defer h.Process.Close() //nolint:errcheck // nothing is written
		l.keep()
		if h.Process.Wait(ctx) == nil {
			l.abandon()
		}
	}()
}

// Held finds the lease of a process.
//
// Errors: ErrNoLease.
func (g *Gate) Held(id string, by caller.Instance) (*Lease, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	l := g.open[id]
	if l == nil || l.holder.Instance != by {
		return nil, ErrNoLease
	}
	return l, nil
}

// Holds says whether the process with that pidfs inode holds a lease. Such a process hides itself from who judges the ones below it.
func (g *Gate) Holds(inode uint64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, l := range g.open {
		if l.holder.Instance.Inode == inode {
			return true
		}
	}
	return false
}

// ID is that of the intent.
func (l *Lease) ID() string { return l.intent.ID }

// Trusted says whether values may go to the process that holds the lease.
func (l *Lease) Trusted() bool { return l.holder.Trusted }

// Take takes the next values out, each once and at most as many. The caller destroys them.
//
// Errors: ErrTaken.
func (l *Lease) Take(most int) ([]secret.Value, error) {
	l.gate.mu.Lock()
	defer l.gate.mu.Unlock()
	values := l.values
	if values == nil {
		return nil, ErrTaken
	}
	l.values = nil
	if len(values) > most {
		values, l.values = values[:most:most], values[most:]
	}
	return values, nil
}

// Completed ends the lease with the outcome that its holder tells. It is recorded, and not waited for: the holder has ended by then.
func (l *Lease) Completed(outcome string) { l.end(eventCompleted, outcome) }

// Failed ends the lease of an act that its holder could not do.
func (l *Lease) Failed(why string) { l.end(eventFailed, why) }

func (l *Lease) end(event, outcome string) {
	if !l.close() {
		return
	}
	r := l.intent.ended(event, outcome)
	r.ReportedBy = byClient
	l.gate.cfg.Log.Later(r)
}

// abandon ends the lease of a process that died.
func (l *Lease) abandon() {
	if l.close() {
		l.gate.note(context.Background(), l.intent.ended(eventCompleted, outcomeUnknown))
	}
}

// close takes a lease out. Of several that try, one does.
func (l *Lease) close() bool {
	l.gate.mu.Lock()
	open := l.gate.open[l.intent.ID] == l
	kept := l.kept
	if open {
		delete(l.gate.open, l.intent.ID)
		l.letGo()
	}
	l.gate.mu.Unlock()
	if open && kept {
		l.gate.cfg.Drop(l.intent.ID)
	}
	return open
}

// letGo wipes what a lease still has, and lets its process go. The gate's mu is held.
func (l *Lease) letGo() {
	for _, v := range l.values {
		v.Destroy()
	}
	l.values = nil
	l.cancel()
}
