package mask

import (
	"sync"
	"time"
)

// IdleAfter is how long a writer waits for what follows before it lets a few of the held bytes go, so that a prompt that
// looks like the beginning of a value still shows. While output flows it may wait half as long again.
const IdleAfter = 50 * time.Millisecond

// tick is how often the timer looks whether something was written, once it was: a timer that each write stopped and started
// would cost more than the search in it. So many ticks without a write make IdleAfter.
const (
	tick      = IdleAfter / ticksIdle
	ticksIdle = 2
)

// idleTimer calls a function time and again while something is held back. All its fields but running are guarded by its
// writer's mutex, which the function takes.
type idleTimer struct {
	timer   *time.Timer
	armed   bool           // it runs, or its goroutine is on the way
	ended   bool           // no goroutine that is on the way counts any more
	written bool           // something was, since it was armed
	quiet   int            // ticks without
	running sync.WaitGroup // timers and goroutines
}

// wrote makes the timer run if it doesn't, and call f, which at its end calls running.Done.
func (i *idleTimer) wrote(f func()) {
	if i.armed {
		i.written = true
		return
	}
	i.quiet = ticksIdle - 1
	i.arm(IdleAfter, f)
}

func (i *idleTimer) arm(after time.Duration, f func()) {
	i.armed, i.written = true, false
	i.running.Add(1)
	if i.timer == nil {
		i.timer = time.AfterFunc(after, f)
	} else {
		i.timer.Reset(after)
	}
}

// end stops the timer for good.
func (i *idleTimer) end() {
	i.ended = true
	if i.armed && i.timer.Stop() {
		i.running.Done()
	}
	i.armed = false
}

// ticked takes note that the function is called, and says whether it has been quiet for long enough.
func (i *idleTimer) ticked() bool {
	i.armed = false
	if i.written {
		i.quiet = 0
	} else {
		i.quiet++
	}
	return i.quiet >= ticksIdle
}

// idle is the timer's goroutine.
func (w *writer) idle() {
	defer w.timer.running.Done()
	w.mu.Lock()
	defer w.mu.Unlock()
	idle := w.timer.ticked()
	switch {
	case w.timer.ended || w.err != nil || len(w.held) <= w.released:
	case idle:
		w.release()
	default:
		w.timer.arm(tick, w.start)
	}
}

// release lets go what may go early. Held stays as it is, so that what follows is still judged with it. An error stays
// for the next write.
func (w *writer) release() {
	if w.take(w.held, 0) != nil || len(w.held) == 0 { // the set may have grown
		return
	}
	end := 0
	s := &w.search
	if s.borrow(w.set) != nil || s.withPool(func() { end = early(s, w.held, w.state) }) != nil {
		return // the set is growing this moment: the next write decides
	}
	end = max(end, w.released)
	if w.pass(w.held, end, end+1) == nil {
		w.released = end
	}
}
