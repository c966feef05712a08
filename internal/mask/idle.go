package mask

import (
	"sync"
	"time"
)

// IdleAfter is how long a writer waits for what follows before it lets a few of the held bytes go, so that a prompt that
// looks like the beginning of a value still shows.
const IdleAfter = 50 * time.Millisecond

// idleTimer calls a function once nothing was written for a while. All its fields but running are guarded by its
// writer's mutex, which the function takes.
type idleTimer struct {
	timer   *time.Timer
	armed   bool           // it runs, or its goroutine is on the way
	missed  int            // goroutines on the way that came too late to count
	running sync.WaitGroup // timers and goroutines
}

// start makes the timer call f, which first asks due and at its end calls running.Done.
func (i *idleTimer) start(f func()) {
	i.armed = true
	i.running.Add(1)
	if i.timer == nil {
		i.timer = time.AfterFunc(IdleAfter, f)
	} else {
		i.timer.Reset(IdleAfter)
	}
}

// stop stops the timer. If its goroutine is already waiting for the mutex, that one must not count.
func (i *idleTimer) stop() {
	if !i.armed {
		return
	}
	i.armed = false
	if i.timer.Stop() {
		i.running.Done()
	} else {
		i.missed++
	}
}

// due says whether the goroutine of a timer is one that counts.
func (i *idleTimer) due() bool {
	if i.missed > 0 {
		i.missed--
		return false
	}
	i.armed = false
	return true
}

// idle is the timer's goroutine.
func (w *writer) idle() {
	defer w.timer.running.Done()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer.due() {
		w.release()
	}
}

// release lets go what may go early. Held stays as it is, so that what follows is still judged with it. An error stays
// for the next write.
func (w *writer) release() {
	if w.take(w.held, 0) != nil || len(w.held) == 0 { // the set may have grown
		return
	}
	end := 0
	t, err := w.set.table()
	if err == nil {
		err = t.use(&w.view, func() error {
			return w.view.withPool(func() { end = w.view.early(w.held, w.state) })
		})
	}
	if err != nil {
		return // the set is growing this moment: the next write decides
	}
	end = max(end, w.released)
	if w.pass(w.held, end, end+1) == nil {
		w.released = end
	}
}
