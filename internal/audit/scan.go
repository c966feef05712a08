package audit

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"sync"

	"warder/internal/seal"
	"warder/internal/state"
)

// line is what judging needs of one line.
type line struct {
	err   error // why it is no record
	seq   uint64
	prev  seal.Hash
	mac   [sha256.Size]byte
	hash  seal.Hash       // of the line
	text  []byte          // no longer than the part's visit
	event string          // only of the log's own
	data  json.RawMessage // likewise
}

func readLine(text []byte) line {
	r, err := check(text)
	l := line{err: err, seq: r.Seq, prev: r.Prev, mac: r.MAC, hash: seal.HashOf(text), text: text}
	if err == nil && isOwn(r.Event) {
		l.event, l.data = r.Event, r.Data
	}
	return l
}

// opening reads the data of one of the log's own events.
func (l *line) opening() (data opening, ok bool) {
	ok = l.event != "" && decodeOpening(l.data, &data)
	return data, ok
}

// part is a piece of a segment, whole lines only.
type part struct {
	seg   segment
	text  []byte
	lines []line // there when ready is closed
	ready chan struct{}

	// The last part of a segment has no lines but says what follows them.
	end  bool
	rest int64 // bytes of an unfinished line
	long bool  // a line that is too long for a record follows, and is not read on
	err  error // the segment could not be read
}

// scan reads segments in order and shows visit each part in turn, until visit
// has seen enough. Lines are decoded and hashed on all cores meanwhile. A part's
// memory is used again after its visit.
func scan(ctx context.Context, dir *state.Dir, segs []segment, visit func(*part) (enough bool)) error {
	ctx, cancel := context.WithCancel(ctx)
	workers := runtime.GOMAXPROCS(0)
	r := partReader{
		ctx:     ctx,
		work:    make(chan *part, workers),
		ordered: make(chan *part, 2*workers),
		free:    make(chan *part, 4*workers),
	}
	var all sync.WaitGroup
	all.Go(func() {
		defer close(r.work)
		defer close(r.ordered)
		for _, seg := range segs {
			if !r.segment(dir, seg) {
				return
			}
		}
	})
	for range workers {
		all.Go(func() {
			for p := range r.work {
				p.read()
				close(p.ready)
			}
		})
	}
	// In this order: the reader must be told before it is waited for.
	defer all.Wait()
	defer cancel()
	for p := range r.ordered {
		if !p.end {
			select {
			case <-p.ready:
			case <-ctx.Done(): // then nobody may be at work on it
				return ctx.Err()
			}
		}
		if p.err != nil {
			return p.err
		}
		if visit(p) {
			return nil
		}
		r.recycle(p)
	}
	return ctx.Err()
}

// partReader cuts segments into parts and sends them on their two ways: to
// whoever has time to read them, and in order.
type partReader struct {
	ctx           context.Context
	work, ordered chan *part
	free          chan *part // parts that were visited
}

func (r *partReader) recycle(p *part) {
	select {
	case r.free <- p:
	default:
	}
}

// part returns a part with what memory there is.
func (r *partReader) part(seg segment) *part {
	p := new(part)
	select {
	case old := <-r.free:
		p.text, p.lines = old.text, old.lines[:0]
	default:
	}
	p.seg, p.ready = seg, make(chan struct{})
	return p
}

// segment sends the parts of one segment. It returns false when nobody takes
// them any more, or can.
func (r *partReader) segment(dir *state.Dir, seg segment) (more bool) {
	f, err := dir.OpenRead(segmentName(seg.first))
	if err != nil {
		r.send(r.ordered, &part{seg: seg, end: true, err: err})
		return false
	}
	defer f.Close()
	b := blocks{r: f}
	for {
		p := r.part(seg)
		text, err := b.next(p.text)
		if err == nil {
			p.text = text
			// First in order: what is worked on must be waited for.
			if r.send(r.ordered, p) && r.send(r.work, p) {
				continue
			}
			return false
		}
		p.end, p.rest, p.long = true, int64(len(b.rest)), errors.Is(err, errLongLine)
		if !p.long && !errors.Is(err, io.EOF) {
			p.err = err
		}
		return r.send(r.ordered, p) && p.err == nil
	}
}

func (r *partReader) send(to chan<- *part, p *part) bool {
	select {
	case to <- p:
		return true
	case <-r.ctx.Done():
		return false
	}
}

// read decodes and hashes the part's lines.
func (p *part) read() {
	for rest := p.text; len(rest) > 0; {
		var text []byte
		text, rest = cutLine(rest)
		p.lines = append(p.lines, readLine(text))
	}
}
