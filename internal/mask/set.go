package mask

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"warder/internal/secret"
)

var (
	// ErrShort says that a value is too short to be looked for; who lends it should warn.
	ErrShort = errors.New("value is too short to be masked")
	// ErrTooMany says that more different values were hidden in one output than its Tally allows.
	ErrTooMany = errors.New("too many different values in one output")
	// ErrNoSet says that a writer has no set of values, or one that was destroyed.
	ErrNoSet = errors.New("no values to mask by")
)

// ValueOptions hold for one value.
type ValueOptions struct {
	// Exact: look for the bytes themselves alone, for none of their other spellings.
	Exact bool
	// Extended: look for what few programs make of a value, too: UTF-16 and reversed.
	Extended bool
	// Unfolded: look for base64 on one line alone.
	Unfolded bool
	// User is who logs in with the value, if that is known: both together in base64, as HTTP's basic authentication sends
	// them, are hidden as a whole. The caller keeps it, as the value.
	User secret.Value
}

// Set is the values that writers hide. Several writers share one (stdout and stderr of a program), and it may grow
// while they write. It is safe for concurrent use. The zero Set is empty and ready.
type Set struct {
	// force is the table that writers use; nil while values wait to be taken into a new one. Reading it is the hot
	// path, which takes no lock of the set.
	force atomic.Pointer[table]

	mu        sync.Mutex // guards everything below
	built     *table     // the last table; force or its predecessor
	pending   []needle
	names     []string // by value
	destroyed bool
}

// NewSet makes an empty set.
func NewSet() *Set { return &Set{} }

// Add copies a value into the set, which also looks for its other spellings; writers hide it from their next write on. The name stands
// in the mark, as far as it can be printed; without one the mark is plain. A value under MinLength bytes is not added:
// ErrShort. The caller keeps v and destroys it when he likes.
func (s *Set) Add(name string, v secret.Value, o ValueOptions) error {
	if v.Len() < MinLength {
		return ErrShort
	}
	n := needle{options: o}
	var err error
	if n.raw, err = v.Clone(); err == nil {
		n.user, err = o.User.Clone()
	}
	if err != nil {
		n.destroy()
		return fmt.Errorf("adding a value to mask: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.destroyed {
		n.destroy()
		return ErrNoSet
	}
	n.value = uint32(len(s.names))
	s.names = append(s.names, name)
	s.pending = append(s.pending, n)
	s.force.Store(nil)
	return nil
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
		n.destroy()
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
		n.destroy()
	}
	s.pending = nil
	old := s.built
	s.built = t
	s.force.Store(t)
	old.destroy()
	return t, nil
}
