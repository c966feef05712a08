package daemon

import (
	"io"
	"sync"
	"sync/atomic"

	"warder/internal/api"
	"warder/internal/api/frame"
)

const (
	// maxWithheld is how large a text may be that is handed on at its end alone.
	maxWithheld = 64 << 20
	// maxAllWithheld is how large all of them together may be.
	maxAllWithheld = 256 << 20
	// blockSize is how much of one lies in one piece of memory, so that a growing text is never copied.
	blockSize = 1 << 20
)

// maskedText is one text on its way through the masker, and what may be shown of it. The masker writes to it: from the goroutine that serves
// the dialogue, and from its timer.
type maskedText struct {
	to    io.WriteCloser // the masker
	whole bool           // nothing is shown before it has ended
	ended bool
	total *atomic.Int64 // bytes of all that are whole

	mu     sync.Mutex // guards the rest
	blocks [][]byte
	size   int
}

// Write implements io.Writer: it takes what the masker lets pass.
func (t *maskedText) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.whole {
		t.size += len(b)
		if t.total.Add(int64(len(b))) > maxAllWithheld || t.size > maxWithheld {
			return 0, errWithheld()
		}
	}
	for rest := b; len(rest) > 0; {
		last := len(t.blocks) - 1
		if last < 0 || len(t.blocks[last]) == cap(t.blocks[last]) {
			room := len(rest)
			if t.whole {
				room = blockSize
			}
			t.blocks = append(t.blocks, make([]byte, 0, room))
			last++
		}
		fits := min(len(rest), cap(t.blocks[last])-len(t.blocks[last]))
		t.blocks[last] = append(t.blocks[last], rest[:fits]...)
		rest = rest[fits:]
	}
	return len(b), nil
}

func errWithheld() error {
	return api.Errorf(api.TooLarge, "an output of more than %d MiB can't be kept back until its end, as has to be for you: nothing of it is shown", maxWithheld>>20).
		WithHint("print less, or mask it in parts")
}

// put gives a piece to the masker.
func (t *maskedText) put(p frame.Piece) error {
	if t.ended {
		if len(p.Bytes) > 0 || p.Last {
			return usage("text %d has ended", p.Text)
		}
		return nil
	}
	if _, err := t.to.Write(p.Bytes); err != nil {
		return err
	}
	if p.Last {
		t.ended = true
		return t.to.Close()
	}
	return nil
}

// get takes out what may be shown, at most so many bytes, which are valid until something is written; more says that there is more.
func (t *maskedText) get(most int) (b []byte, more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.whole && !t.ended || len(t.blocks) == 0 {
		return nil, false
	}
	first := t.blocks[0]
	n := min(most, len(first))
	t.blocks[0] = first[n:]
	if n == len(first) {
		t.blocks = t.blocks[1:]
	}
	if t.whole {
		t.total.Add(-int64(n))
		t.size -= n
	}
	return first[:n], len(t.blocks) > 0
}

// discard gives up what was not shown.
func (t *maskedText) discard() {
	_ = t.to.Close() // after which nothing is written any more
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.whole {
		t.total.Add(-int64(t.size))
	}
	t.blocks, t.size = nil, 0
}
