package secret

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// cell is what all copies of a Value share: where the bytes lie and who uses them now.
type cell struct {
	size int

	// users counts the running Use calls, with the bit dead added once Destroy was called. To begin and to end a Use is one
	// atomic addition each: what is masked passes a Use for each write.
	users atomic.Int64

	// mu guards the fields below. It is held for a few instructions only, never while a caller's function runs.
	// Lock order: mu, then the arena's.
	mu      sync.Mutex
	retired bool      // the last user wipes the bytes
	idle    sync.Cond // signalled when a cell that is being destroyed has no more users
	// place is nil once the bytes are wiped, which happens when nobody uses them and nobody can begin to; a Use reads it
	// without mu. It is a function because dumpers that walk values by reflection (debuggers' pretty printers, diff
	// libraries) follow any pointer but can't look into a closure.
	place func() block
	guard runtime.Cleanup // wipes the bytes of a cell that was forgotten
}

// dead is the bit of users that says that no Use begins any more. It makes the sum negative.
const dead = math.MinInt64

func newCell(n int) (*cell, error) {
	at, err := process.alloc(n)
	if err != nil {
		return nil, err
	}
	return cellAt(at, n), nil
}

// cellAt makes the cell of n bytes at a block.
func cellAt(at block, n int) *cell {
	c := &cell{size: n, place: func() block { return at }}
	c.idle.L = &c.mu
	c.guard = runtime.AddCleanup(c, func(at block) { process.free(at) }, at)
	return c
}

// bytes is for the maker of a cell, before anybody else knows it, and for a running Use.
func (c *cell) bytes() []byte { return c.place().bytes(c.size) }

func (c *cell) enter() ([]byte, error) {
	if c.users.Add(1) < 0 {
		c.leave()
		return nil, ErrDestroyed
	}
	return c.bytes(), nil
}

func (c *cell) leave() {
	if c.users.Add(-1) != dead {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.retired {
		c.free()
	}
	c.idle.Broadcast()
}

// retire lets nobody begin any more. The last user wipes the bytes.
func (c *cell) retire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.retired = true
	if c.users.Or(dead)&^dead == 0 {
		c.free()
	}
}

// destroy waits for the running Use calls on a condition rather than a read-write lock: such a lock would also hold
// up a second Use inside a running one, and both would wait for ever.
func (c *cell) destroy() {
	c.users.Or(dead)
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.users.Load() != dead {
		c.idle.Wait()
	}
	c.free()
}

// free wipes the bytes, once; nobody uses them any more. The caller holds mu.
func (c *cell) free() {
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
