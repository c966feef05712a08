package audit

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

const (
	// batchRecords and batchBytes bound one commit, so that what a crash leaves
	// unacknowledged is bounded too.
	batchRecords = 512
	batchBytes   = 512 << 10

	// lineOverhead is more than a line has around its body.
	lineOverhead = len(lineStart) + 16 + lineTail + 1
)

// pending are records on their way into the log: all of them, or none.
type pending struct {
	bodies [][]byte
	wake   chan bool // true: commit what waits; false: seq and err are there
	seq    uint64    // of the last
	err    error
}

// size is more than the lines of the records take.
func (p *pending) size() int {
	n := 0
	for _, body := range p.bodies {
		n += len(body) + lineOverhead
	}
	return n
}

// Append records an event and returns its number once the record and the key
// that went on are synced. Records that come at the same time share the syncs.
// After an error nothing may be done that the record was to prove. A record
// whose commit failed half way through a fault of the disk may still turn up
// when the log is opened again; none that was acknowledged is lost.
//
// ctx is looked at before the record is queued; a commit under way is waited
// for, since only its end says whether the record is there.
func (l *Log) Append(ctx context.Context, r Record) (seq uint64, err error) {
	return l.AppendAll(ctx, r)
}

// AppendAll is Append for events of which none is of use without the others, such as an intent and the decision on it: they
// share one commit, in their order, and are durable together or not at all. The number is that of the last.
func (l *Log) AppendAll(ctx context.Context, events ...Record) (last uint64, err error) {
	if err := ctx.Err(); err != nil || len(events) == 0 {
		return 0, err
	}
	p, err := prepare(events, l.opt.Now())
	if err != nil {
		return 0, err
	}
	l.mu.Lock()
	enqueue(l, p)
	l.mu.Unlock()
	if err := settle(l, p); err != nil {
		return 0, fmt.Errorf("recording %s: %w", events[len(events)-1].Event, err)
	}
	return p.seq, nil
}

// Note is Append for what may be lost, such as a denial (C-13): a failure is
// only counted, in Status.Lost.
func (l *Log) Note(ctx context.Context, r Record) {
	if _, err := l.Append(ctx, r); err != nil {
		l.mu.Lock()
		l.status.Lost++
		l.mu.Unlock()
	}
}

// Later is Note for somebody who need not wait. The record has its place before every one that is appended after Later has
// returned, so that who has one of those durable has this one too, and Close waits for it.
func (l *Log) Later(r Record) {
	p, err := prepare([]Record{r}, l.opt.Now())
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil || l.closed {
		l.status.Lost++
		return
	}
	enqueue(l, p)
	l.later++
	go func() {
		err := settle(l, p)
		l.mu.Lock()
		defer l.mu.Unlock()
		if err != nil {
			l.status.Lost++
		}
		if l.later--; l.later == 0 {
			l.noneLater.Broadcast()
		}
	}()
}

// Settle waits until what Later took is in the log, or lost.
func Settle(l *Log) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.later > 0 {
		l.noneLater.Wait()
	}
}

// prepare makes the lines' bodies.
func prepare(events []Record, now time.Time) (*pending, error) {
	p := &pending{wake: make(chan bool, 1)}
	for _, r := range events {
		if isOwn(r.Event) {
			return nil, fmt.Errorf("recording %.80q: %w", r.Event, errEvent)
		}
		if err := clean(&r, now); err != nil {
			return nil, fmt.Errorf("recording %.80q: %w", r.Event, err)
		}
		p.bodies = append(p.bodies, appendBody(make([]byte, 0, 512), &r))
	}
	return p, nil
}

// enqueue puts records in their place. The caller holds l.mu, and settles them.
func enqueue(l *Log, p *pending) {
	l.queue = append(l.queue, p)
	if !l.leading {
		l.leading = true
		p.wake <- true
	}
}

// settle waits until records are in the log, and commits what waits if nobody else does.
func settle(l *Log, p *pending) error {
	if <-p.wake {
		lead(l)
	}
	return p.err
}

// lead commits what waits, the leader's own record first, and passes the lead
// on to whoever has come since.
func lead(l *Log) {
	// Those whom the last commit has just released are about to come again;
	// they share this one if they may run now.
	runtime.Gosched()
	var batch []*pending
	take := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		batch, l.queue = split(l.queue)
	}
	err := l.onDisk(func(w *writer) error {
		take()
		return w.commit(batch)
	})
	if batch == nil { // the log is closed
		take()
	}

	l.mu.Lock()
	l.leading = len(l.queue) > 0
	if l.leading {
		l.queue[0].wake <- true
	}
	l.mu.Unlock()
	for i, p := range batch {
		p.err = err
		if i > 0 {
			p.wake <- false
		}
	}
}

// split parts what one commit takes from the rest of a queue.
func split(queue []*pending) (batch, rest []*pending) {
	n, size := 0, 0
	records := 0
	for n < len(queue) && records < batchRecords && (n == 0 || size < batchBytes) {
		size += queue[n].size()
		records += len(queue[n].bodies)
		n++
	}
	return queue[:n:n], append([]*pending(nil), queue[n:]...)
}
