package mask

import (
	"bytes"

	"warder/internal/secret"
)

// AddPattern adds one spelling, which is all of its value. If it folds, it is looked for folded over lines too: then it has
// only characters of base64, and ten or more.
func AddPattern(s *Set, name string, b []byte, folds bool) error {
	v, err := secret.New(bytes.Clone(b))
	if err != nil {
		return err
	}
	defer v.Destroy()
	if err := s.Add(name, v, ValueOptions{Exact: true}); err != nil || !folds {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.destroyed {
		return ErrNoSet
	}
	// No writer gets to see the first of two tables: in it nothing is known to fold yet.
	first, err := newTable(s.built, s.pending, s.names)
	if err != nil {
		return err
	}
	defer first.destroy()
	if err := first.pool.Use(func(pool []byte) { letFold(first.patterns, pool, b) }); err != nil {
		return err
	}
	t, err := newTable(first, nil, s.names)
	if err != nil {
		return err
	}
	for _, n := range s.pending {
		n.destroy()
	}
	s.pending = nil
	s.built.destroy()
	s.built = t
	s.force.Store(t)
	return nil
}

func letFold(patterns []pattern, pool, b []byte) {
	for i, p := range patterns {
		if bytes.Equal(p.of(pool), b) {
			patterns[i].folds = true
		}
	}
}
