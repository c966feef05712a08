package mask

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"warder/internal/secret"
)

var (
	// ErrShort says that a value is too short to be looked for; who lends it should warn.
	ErrShort = errors.New("value is too short to be masked")
	// ErrTooMany says that more different values were hidden in one output than the set allows.
	ErrTooMany = errors.New("too many different values in one output")
	// ErrNoSet says that a writer has no set of values, or one that was destroyed.
	ErrNoSet = errors.New("no values to mask by")
)

// Options hold for a whole set. The zero Options limit nothing.
type Options struct {
	// MostValues is how many different values may be hidden in what all writers over the set write; one more ends
	// the output with ErrTooMany before its mark, so that nobody tests guesses by printing them. 0: no limit.
	MostValues int
	// Alert, if there is one, is called when that happens, at most once, by a goroutine inside a write: it must not
	// use the writers.
	Alert func()
}

// ValueOptions hold for one value.
type ValueOptions struct {
	// Exact: look for the bytes themselves alone, for none of their other spellings.
	Exact bool
	// Extended: look for spellings too that hardly a program prints by accident: UTF-16, and backwards.
	Extended bool
	// Unfolded: look for base64 on one line alone.
	Unfolded bool
	// User is whose password the value is, if it is one: both together, as HTTP's basic authentication has them, are
	// hidden too. The caller keeps it, as he keeps the value.
	User secret.Value
}

// Set is the values that writers hide. Several writers share one (stdout and stderr of a program), and it may grow
// while they write. It is safe for concurrent use. The zero Set is empty and ready.
type Set struct {
	options Options

	// force is the table that writers use; nil while values wait to be taken into a new one. Reading it is the hot
	// path, which takes no lock of the set.
	force atomic.Pointer[table]

	mu        sync.Mutex // guards everything below
	built     *table     // the last table; force or its predecessor
	pending   []needles
	names     []string // by value
	destroyed bool
	seen      map[int]bool // values hidden so far, if they are counted
	alerted   bool
}

// needles are the spellings of one value, one behind the other.
type needles struct {
	value   int
	bytes   secret.Value
	lengths []int
}

// NewSet makes an empty set.
func NewSet(o Options) *Set { return &Set{options: o} }

// Add copies a value, and its other spellings, into the set; writers hide it from their next write on. The name stands
// in the mark, as far as it can be printed; without one the mark is plain. A value under MinLength bytes is not added:
// ErrShort. The caller keeps v and destroys it when he likes.
func (s *Set) Add(name string, v secret.Value, o ValueOptions) error {
	if v.Len() < MinLength {
		return ErrShort
	}
	n, err := spellings(v, o)
	if err != nil {
		return fmt.Errorf("adding a value to mask: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.destroyed {
		n.bytes.Destroy()
		return ErrNoSet
	}
	n.value = len(s.names)
	s.names = append(s.names, name)
	s.pending = append(s.pending, n)
	s.force.Store(nil)
	return nil
}

// spellings copies all spellings of v into one piece of locked memory. They are spelt twice, the first time for the
// size of that piece.
func spellings(v secret.Value, o ValueOptions) (n needles, err error) {
	used := v.Use(func(raw []byte) {
		total := 0
		err = eachSpelling(raw, o, func(b []byte) {
			n.lengths = append(n.lengths, len(b))
			total += len(b)
		})
		if err != nil {
			return
		}
		n.bytes, err = secret.Make(total, func(dst []byte) error {
			return eachSpelling(raw, o, func(b []byte) { dst = dst[copy(dst, b):] })
		})
	})
	return n, errors.Join(used, err)
}

// eachSpelling hands out the value itself, then the spellings of each form, as far as they are long enough.
func eachSpelling(raw []byte, o ValueOptions, put func([]byte)) error {
	put(raw)
	if o.Exact {
		return nil
	}
	putNew := func(b []byte) {
		if len(b) >= MinLength && !bytes.Equal(b, raw) {
			put(b)
		}
	}
	var err error
	used := o.User.Use(func(user []byte) {
		apply, need := formsOf(raw, user, o)
		var room secret.Value
		room, err = secret.Make(need, func(room []byte) error {
			for _, f := range apply {
				f.spell(raw, room[:0:f.room(len(raw))], putNew)
			}
			return nil
		})
		room.Destroy()
	})
	return errors.Join(used, err)
}

// Destroy wipes the values. Writers over the set fail from then on, and what they hold back stays back.
func (s *Set) Destroy() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.destroyed = true
	s.force.Store(nil)
	s.built.destroy()
	s.built = nil
	for _, n := range s.pending {
		n.bytes.Destroy()
	}
	s.pending = nil
}

// table is the one in force. Values that wait are taken into a new one first, all together: adding a thousand builds
// one table.
func (s *Set) table() (*table, error) {
	if s == nil {
		return nil, ErrNoSet
	}
	if t := s.force.Load(); t != nil {
		return t, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.destroyed {
		return nil, ErrNoSet
	}
	if t := s.force.Load(); t != nil {
		return t, nil
	}
	t, err := newTable(s.built, s.pending, s.names)
	if err != nil {
		return nil, fmt.Errorf("preparing to mask: %w", err)
	}
	for _, n := range s.pending {
		n.bytes.Destroy()
	}
	s.pending = nil
	old := s.built
	s.built = t
	s.force.Store(t)
	old.destroy()
	return t, nil
}

// count takes note that a value is being hidden. It reports whether it may be, and whether this call raises the alert.
func (s *Set) count(value int) (allowed, alert bool) {
	if s.options.MostValues <= 0 {
		return true, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[int]bool{}
	}
	s.seen[value] = true
	if len(s.seen) <= s.options.MostValues {
		return true, false
	}
	alert = !s.alerted
	s.alerted = true
	return false, alert
}
