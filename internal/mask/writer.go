package mask

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"sync"

	"warder/internal/secret"
)

const (
	// workPerByte is what searching a byte may cost, see costOfHit. Past that the automaton takes over.
	workPerByte = 5
	// workSaved is how much work that was not needed is kept for later, so that short output never needs an automaton.
	workSaved = 1 << 16
	// slowFor is how many bytes the automaton keeps, once it is in use.
	slowFor = 1 << 18
	// keptRoom is the largest buffer that is kept from one write to the next.
	keptRoom = 1 << 18
)

// NewWriter makes a writer that passes on to dst what is written, with marks in the place of the values of set. Bytes
// that begin a value are held back until what follows decides, so that dst may get less, later, than was written; Close
// passes on the rest. It doesn't close dst, and calls it from one goroutine at a time: from those that call Write and
// Close, and from one of a timer, which is gone when Close returns.
//
// Where no value is near, dst gets the caller's slice, in one call. Any error of dst, or of the search, is final: it is
// returned from then on, and nothing more is passed on. A writer is safe for concurrent use.
func NewWriter(dst io.Writer, set *Set) io.WriteCloser {
	return &writer{out: output{dst: dst}, set: set, credit: workSaved}
}

type writer struct {
	set   *Set
	tally *Tally // may be nil

	// mu guards everything below. It is held while dst is called: what a timer releases must not overtake a write.
	mu     sync.Mutex
	err    error
	closed bool
	out    output

	held     []byte // not decided yet: from the earliest beginning of a value on
	released int    // so much of held is out already and stays as context
	spans    []span // found in held, or reaching into it

	state   sequence // where in an escape sequence held begins
	escaped bool     // sequences were seen in what was searched last
	credit  int      // work that the search may still do
	slow    int      // so many bytes are left to the automata
	tracks  tracks   // what they know
	search  search   // room

	timer idleTimer
	start func() // what the timer calls, made once
}

// Write takes all of p or fails.
func (w *writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.err != nil:
		return 0, w.err
	case w.closed:
		return 0, os.ErrClosed
	case len(p) == 0:
		return 0, nil
	}
	if err := w.write(p); err != nil {
		return 0, err
	}
	if len(w.held) > w.released {
		if w.start == nil {
			w.start = w.idle
		}
		w.timer.wrote(w.start)
	}
	return len(p), nil
}

const (
	// seam is how much of a long write is put behind what is held, to see what becomes of that.
	seam = 1 << 10
	// longWrite is the length of a write that is worth two of the writer behind, rather than a copy.
	longWrite = 16 << 10
)

// write goes on with p.
func (w *writer) write(p []byte) error {
	if len(w.held) == 0 {
		return w.take(p, len(p))
	}
	fresh := len(p)
	if fresh >= longWrite {
		fresh -= seam
		w.held = extend(w.held, p[:seam])
		if err := w.take(w.held, seam); err != nil {
			return err
		}
		p = p[seam-min(seam, len(w.held)):]
		if len(w.held) <= seam && w.released == 0 && len(w.spans) == 0 {
			// What is held now is the end of what was put behind, hence still where it was.
			secret.Wipe(w.held)
			w.held = w.held[:0]
			return w.take(p, fresh)
		}
		p = p[len(p)-fresh:]
	}
	w.held = extend(w.held, p)
	return w.take(w.held, fresh)
}

// Close passes on what is held back; the beginning of a value that never went on is no value.
func (w *writer) Close() error {
	err := w.flush()
	w.timer.running.Wait()
	return err
}

func (w *writer) flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return w.err
	}
	w.timer.end()
	w.closed = true
	if w.err == nil && len(w.held) > 0 {
		if _, err := w.find(w.held, 0); err != nil {
			return w.fail(err)
		}
		if err := w.pass(w.held, len(w.held), len(w.held)); err != nil {
			return err
		}
	}
	w.wipe()
	return w.err
}

// take searches buf, whose last fresh bytes are new, passes on what is decided and keeps the rest.
func (w *writer) take(buf []byte, fresh int) error {
	keep, err := w.find(buf, fresh)
	if err != nil {
		return w.fail(err)
	}
	if err := w.pass(buf, keep, keep); err != nil {
		return err
	}
	w.retain(buf, keep)
	return nil
}

// find brings spans up to date and says from where on buf is not decided.
func (w *writer) find(buf []byte, fresh int) (keep int, err error) {
	for {
		if err := w.search.borrow(w.set); err != nil {
			return 0, err
		}
		w.escaped = w.state != ground || bytes.IndexByte(buf, escape) >= 0
		if len(w.search.patterns) == 0 {
			return len(buf), nil
		}
		keep, err := w.look(buf, fresh)
		if !isDestroyed(err) { // else the set has grown in between
			return keep, err
		}
	}
}

// look searches in the cheaper way, as long as it is cheap.
func (w *writer) look(buf []byte, fresh int) (int, error) {
	w.credit = min(w.credit, workSaved) + workPerByte*fresh
	if w.slow <= 0 {
		if w.tracks.reader != nil {
			w.tracks.forget()
		}
		if len(w.spans) > 0 {
			w.spans = markedOnly(w.spans)
		}
		keep, err := w.lookFast(buf, fresh)
		if err != nil || w.credit >= 0 {
			return keep, err
		}
		w.slow = slowFor
	}
	w.slow -= fresh
	var keep int
	var err error
	used := w.search.withPool(func() { keep, err = w.lookSlow(buf, fresh) })
	return keep, cmp.Or(used, err)
}

// lookFast searches all of buf, what was held back included. It leaves less than no credit where that cost too much, and
// then says nothing.
func (w *writer) lookFast(buf []byte, fresh int) (keep int, err error) {
	s := &w.search
	s.found = s.found[:0]
	if len(w.spans) > 0 {
		s.found = append(s.found, w.spans...)
	}
	s.left = w.credit - (len(buf) - fresh)
	if err := s.scanAll(buf); err != nil {
		return 0, err
	}
	keep, err = s.openAll(buf)
	if err == nil && w.escaped {
		var open int
		open, err = behind{s}.scanBehind(buf, w.state)
		keep = min(keep, open)
	}
	if w.credit = s.left; w.credit >= 0 && err == nil && len(s.found) > 0 {
		w.spans = append(w.spans[:0], union(s.found)...)
	}
	return keep, err
}

// markedOnly keeps the spans that can't be found again, since they began before held or have their mark already.
func markedOnly(spans []span) []span {
	marked := spans[:0]
	for _, s := range spans {
		if s.marked {
			marked = append(marked, s)
		}
	}
	return marked
}

// pass passes on buf up to end, and a mark for each span that begins before through.
func (w *writer) pass(buf []byte, end, through int) error {
	at := min(w.released, end)
	if len(w.spans) == 0 || w.spans[0].start >= through {
		return w.fail(w.out.whole(buf[at:end]))
	}
	for i := range w.spans {
		s := &w.spans[i]
		if s.start >= through {
			break
		}
		if err := w.out.text(buf[at:max(at, s.start)]); err != nil {
			return w.fail(err)
		}
		// What was out before its value was added to the set needs no mark, unless more of a value joins it.
		if !s.marked && s.end > w.released {
			if !w.tally.note(s.value) {
				return w.fail(ErrTooMany)
			}
			w.out.mark(w.search.t.marks[s.value])
			s.marked = true
		}
		at = max(at, s.end)
	}
	if err := w.out.text(buf[at:max(at, end)]); err != nil {
		return w.fail(err)
	}
	return w.fail(w.out.flush())
}

// fail ends the output if there is an error.
func (w *writer) fail(err error) error {
	if err != nil {
		w.err = err
		w.wipe()
	}
	return err
}

// extend puts p behind held; where held has to move, nothing stays in its old place.
func extend(held, p []byte) []byte {
	if need := len(held) + len(p); need > cap(held) {
		grown := make([]byte, len(held), max(need, min(2*need, keptRoom)))
		copy(grown, held)
		secret.Wipe(held[:cap(held)])
		held = grown
	}
	return append(held, p...)
}

// retain keeps buf from keep on, and the spans that reach there.
func (w *writer) retain(buf []byte, keep int) {
	w.released = max(0, w.released-keep)
	if w.escaped {
		w.state = w.state.over(buf[:keep])
	}
	w.tracks.drop(keep)
	hidden := len(w.spans) > 0
	reaching := w.spans[:0]
	for _, s := range w.spans {
		if s.end > keep {
			s.start, s.end = s.start-keep, s.end-keep
			reaching = append(reaching, s)
		}
	}
	w.spans = reaching
	if len(w.held) == 0 { // buf is the caller's
		if keep < len(buf) {
			w.held = extend(w.held, buf[keep:])
		}
		return
	}
	n := copy(w.held, buf[keep:])
	if hidden {
		secret.Wipe(w.held[n:])
	} else { // what went out as it was is no secret
		secret.Wipe(w.held[max(n, keep):])
	}
	w.held = w.held[:n]
	if n == 0 && cap(w.held) > keptRoom {
		w.held = nil
	}
}

// wipe leaves nothing behind of what was held.
func (w *writer) wipe() {
	secret.Wipe(w.held[:cap(w.held)])
	w.held, w.out.room, w.spans, w.search.found = nil, nil, nil, nil
	w.search.plain.wipe()
	w.search.unfolded.wipe()
	w.search.giveBack()
	w.tracks.forget()
}
