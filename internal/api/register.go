package api

import "sync"

// Limits bound what all clients together can take from the daemon. Zero members have the defaults.
type Limits struct {
	// Conns is the most connections, 256 by default: a person, some agents and their hooks need a few dozen, and a process
	// may open 1024 files on most systems.
	Conns int
	// PerProcess is the most connections of one process, 32 by default.
	PerProcess int
	// Bytes is what all requests under way may hold together beyond 128 KiB each, 64 MiB by default.
	Bytes int64
}

func (l Limits) withDefaults() Limits {
	if l.Conns == 0 {
		l.Conns = 256
	}
	if l.PerProcess == 0 {
		l.PerProcess = 32
	}
	if l.Bytes == 0 {
		l.Bytes = 64 << 20
	}
	return l
}

// register knows the connections there are. Where there is no room for a new one, the one that has waited longest has to
// go: the one of the same process if that is at its limit. A connection waits while no call of it runs, so a flood of
// silent connections displaces itself, and a program that was displaced connects again with its next call.
type register struct {
	limits Limits

	mu      sync.Mutex // guards everything below, and conn.since
	conns   map[*conn]struct{}
	byPID   map[int]int
	clock   uint64         // counts up; orders the waiting
	closing bool           // nothing new begins
	running sync.WaitGroup // connections, listeners and what serves them; grows only while not closing
}

func newRegister(l Limits) *register {
	return &register{limits: l, conns: map[*conn]struct{}{}, byPID: map[int]int{}}
}

// enter counts one more thing that shutting down has to wait for. It reports false where that has begun. Otherwise
// running.Done ends it.
func (r *register) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closing {
		return false
	}
	r.running.Add(1)
	return true
}

// add takes c in, waiting, and displaces others if it must. It reports false where there is no room or no future;
// otherwise remove ends it.
func (r *register) add(c *conn) bool {
	displaced, ok := r.place(c)
	for _, d := range displaced {
		d.drop()
	}
	return ok
}

func (r *register) place(c *conn) (displaced []*conn, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closing {
		return nil, false
	}
	if r.byPID[c.pid] >= r.limits.PerProcess {
		d := r.longest(func(o *conn) bool { return o.pid == c.pid })
		if d == nil {
			return nil, false
		}
		displaced = append(displaced, d)
		r.forget(d)
	}
	if len(r.conns) >= r.limits.Conns {
		d := r.longest(func(*conn) bool { return true })
		if d == nil {
			return displaced, false
		}
		displaced = append(displaced, d)
		r.forget(d)
	}
	r.conns[c] = struct{}{}
	r.byPID[c.pid]++
	r.wait(c)
	r.running.Add(1)
	return displaced, true
}

// longest is the connection that has waited longest of those that match, nil if none waits.
func (r *register) longest(match func(*conn) bool) *conn {
	var found *conn
	for c := range r.conns {
		if c.since > 0 && match(c) && (found == nil || c.since < found.since) {
			found = c
		}
	}
	return found
}

// wait marks c as waiting from now on.
func (r *register) wait(c *conn) {
	r.clock++
	c.since = r.clock
}

func (r *register) forget(c *conn) {
	if _, there := r.conns[c]; !there {
		return
	}
	delete(r.conns, c)
	if r.byPID[c.pid]--; r.byPID[c.pid] == 0 {
		delete(r.byPID, c.pid)
	}
}

// remove ends what add began. The connection may have been displaced before.
func (r *register) remove(c *conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(c)
	r.running.Done()
}

// begin says that a call of c runs from now on. It reports false if c was displaced or the server shuts down; then the
// call must not begin.
func (r *register) begin(c *conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, there := r.conns[c]
	if !there || r.closing {
		return false
	}
	c.since = 0
	return true
}

// end says that the call is over, and reports whether another one may follow.
func (r *register) end(c *conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wait(c)
	return !r.closing
}

// close lets nothing new begin and drops the connections that wait.
func (r *register) close() { r.dropAll(func(c *conn) bool { return c.since > 0 }) }

// dropAll closes the matching connections under their users' hands, and lets nothing new begin.
func (r *register) dropAll(match func(*conn) bool) {
	r.mu.Lock()
	r.closing = true
	var dropped []*conn
	for c := range r.conns {
		if match(c) {
			dropped = append(dropped, c)
		}
	}
	r.mu.Unlock()
	for _, c := range dropped {
		c.drop()
	}
}
