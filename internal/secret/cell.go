package secret

import (
	"runtime"
	"sync"
)

// cell is what all copies of a Value share: where the bytes lie and who uses them now.
type cell struct {
	size int

	// mu guards the fields below. It is held for a few instructions only, never while a caller's function runs.
	// Lock order: mu, then the arena's.
	mu    sync.Mutex
	idle  sync.Cond // signalled when users falls to 0
	users int       // running Use calls
	dead  bool      // Destroy was called; no new Use
	// place is nil once the bytes are wiped. It is a function because dumpers that walk values by reflection
	// (debuggers' pretty printers, diff libraries) follow any pointer but can't look into a closure.
	place func() block
	guard runtime.Cleanup // wipes the bytes of a cell that was forgotten
}

func newCell(n int) (*cell, error) {
	at, err := process.alloc(n)
	if err != nil {
		return nil, err
	}
	c := &cell{size: n, place: func() block { return at }}
	c.idle.L = &c.mu
	c.guard = runtime.AddCleanup(c, func(at block) { process.free(at) }, at)
	return c, nil
}

// bytes is for the maker of a cell, before anybody else knows it.
func (c *cell) bytes() []byte { return c.place().bytes(c.size) }

func (c *cell) enter() ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dead {
		return nil, ErrDestroyed
	}
	c.users++
	return c.bytes(), nil
}

func (c *cell) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users--; c.users == 0 {
		c.idle.Broadcast()
	}
}

// destroy waits for the running Use calls on a condition rather than a read-write lock: such a lock would also hold
// up a second Use inside a running one, and both would wait for ever.
func (c *cell) destroy() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dead = true
	for c.users > 0 {
		c.idle.Wait()
	}
	if c.place == nil {
		return
	}
	c.guard.Stop()
	process.free(c.place())
	c.place = nil
}

// resized moves the first keep bytes into a cell of n bytes and destroys c, also when it fails.
func (c *cell) resized(n, keep int) (*cell, error) {
	if n == c.size {
		return c, nil
	}
	defer c.destroy()
	moved, err := newCell(n)
	if err != nil {
		return nil, err
	}
	copy(moved.bytes(), c.bytes()[:keep])
	return moved, nil
}
