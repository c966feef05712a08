package audit

import (
	"context"
	"fmt"
	"runtime"
)

const (
	// batchRecords and batchBytes bound one commit, so that what a crash leaves
	// unacknowledged is bounded too.
	batchRecords = 512
	batchBytes   = 512 << 10

	// lineOverhead is more than a line has around its body.
	lineOverhead = len(lineStart) + 16 + lineTail + 1
)

// pending is a record on its way into the log.
type pending struct {
	body []byte
	wake chan bool // true: commit what waits; false: seq and err are there
	seq  uint64
	err  error
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
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if isOwn(r.Event) {
		return 0, fmt.Errorf("recording %.80q: %w", r.Event, errEvent)
	}
	if err := clean(&r, l.opt.Now()); err != nil {
		return 0, fmt.Errorf("recording %.80q: %w", r.Event, err)
	}
	p := &pending{body: appendBody(make([]byte, 0, 512), &r), wake: make(chan bool, 1)}
	l.enqueue(p)
	if lead := <-p.wake; lead {
		l.lead()
	}
	if p.err != nil {
		return 0, fmt.Errorf("recording %s: %w", r.Event, p.err)
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

func (l *Log) enqueue(p *pending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(l.queue, p)
	if !l.leading {
		l.leading = true
		p.wake <- true
	}
}

// lead commits what waits, the leader's own record first, and passes the lead
// on to whoever has come since.
func (l *Log) lead() {
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
	for n < len(queue) && n < batchRecords && (n == 0 || size < batchBytes) {
		size += len(queue[n].body) + lineOverhead
		n++
	}
	return queue[:n:n], append([]*pending(nil), queue[n:]...)
}
