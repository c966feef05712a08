package mask

import (
	"io"
	"maps"
	"slices"
	"sync"
)

// Tally takes note of which values are hidden in one output, which may have several writers. Sets are shared by many outputs; what is
// counted is counted by output. It is safe for concurrent use.
//
// Output that is hidden by values which were not lent to its maker has a limit, so that nobody tests guesses by printing them (L54), and is
// handed on as a whole, after Close: when held bytes come would tell him whether what he printed begins a value (L53).
type Tally struct {
	// Most is how many different values may be hidden, those aside that are Known; one more ends the output with ErrTooMany, before its
	// mark. 0: no limit.
	Most int
	// Known says which values the maker of the output knows to be stored: that they are hidden tells it nothing. Values are numbered from 0 on
	// as they were added to the set. nil: none.
	Known func(value int) bool

	mu      sync.Mutex
	known   map[int]bool // of the values that were hidden
	guessed int          // those that are not known
}

// NewCountedWriter is [NewWriter] with a tally.
func NewCountedWriter(dst io.Writer, set *Set, t *Tally) io.WriteCloser {
	return &writer{out: output{dst: dst}, set: set, credit: workSaved, tally: t}
}

// Hidden is how many different values were hidden, and how many of them are not known to the maker of the output.
func (t *Tally) Hidden() (all, unknown int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.known), t.guessed
}

// Values are those that were hidden, by number, in no order.
func (t *Tally) Values() []int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Keys(t.known))
}

// note takes note of a value that is about to be hidden, and says whether it may be.
func (t *Tally) note(value int) bool {
	if t == nil {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, again := t.known[value]; again {
		return !t.over()
	}
	if t.known == nil {
		t.known = map[int]bool{}
	}
	known := t.Known != nil && t.Known(value)
	t.known[value] = known
	if !known {
		t.guessed++
	}
	return !t.over()
}

// over says that the limit is passed, which ends all writers of the output.
func (t *Tally) over() bool { return t.Most > 0 && t.guessed > t.Most }
