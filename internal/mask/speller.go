package mask

import (
	"bytes"
	"errors"

	"warder/internal/secret"
)

// needle is a value that waits for its spellings.
type needle struct {
	value   uint32
	options ValueOptions
	raw     secret.Value
	user    secret.Value // of ValueOptions.User, as a copy
}

func (n *needle) destroy() {
	n.raw.Destroy()
	n.user.Destroy()
}

// speller writes the spellings of values one behind the other into pinned memory.
type speller struct {
	room     secret.Value
	scratch  secret.Value // what a form makes a spelling in
	size     int          // of room, what is used
	patterns []pattern    // in room
}

// usualGrowth is how much longer than a key all its spellings are together.
const usualGrowth = 14

// newSpeller makes room for what is usual, since to move it later costs more than all spelling.
func newSpeller(pending []needle) (*speller, error) {
	s := &speller{}
	usual := 0
	for _, n := range pending {
		usual += n.raw.Len()
	}
	return s, s.grow(usual * usualGrowth / 2)
}

// spell adds all spellings of a value, each once.
func (s *speller) spell(n *needle) error {
	var err error
	used := n.raw.Use(func(raw []byte) {
		used := n.user.Use(func(user []byte) {
			err = s.spellBytes(n, raw, user)
		})
		err = errors.Join(err, used)
	})
	return errors.Join(used, err)
}

func (s *speller) spellBytes(n *needle, raw, user []byte) error {
	var apply []form
	scratch := 0
	if !n.options.Exact {
		apply, scratch = formsOf(raw, user, n.options)
	}
	if s.scratch.Len() < scratch {
		s.scratch.Destroy()
		var err error
		if s.scratch, err = secret.MakeDerived(2*scratch, func([]byte) error { return nil }); err != nil {
			return err
		}
	}
	for {
		need := 0
		if err := s.lend(func(room, scratch []byte) { need = s.write(room, scratch, n, raw, apply) }); err != nil {
			return err
		}
		if need <= s.room.Len() {
			s.size = need
			return nil
		}
		if err := s.grow(need); err != nil {
			return err
		}
	}
}

func (s *speller) lend(f func(room, scratch []byte)) error {
	var err error
	used := s.room.Use(func(room []byte) {
		err = s.scratch.Use(func(scratch []byte) { f(room, scratch) })
	})
	return errors.Join(used, err)
}

// write writes the spellings of one value, as far as there is room, and says where they end.
func (s *speller) write(room, scratch []byte, n *needle, raw []byte, apply []form) int {
	at, first := s.size, len(s.patterns)
	put := func(b []byte, folds bool) {
		folds = folds && len(b) >= minFolding
		if len(b) < MinLength || s.has(room, first, b, folds) {
			return
		}
		if at+len(b) <= len(room) {
			copy(room[at:], b)
			p := pattern{off: uint32(at), len: uint32(len(b)), value: n.value, folds: folds}
			if len(raw) >= earlyLeast {
				p.early = earlyOf(len(b))
			}
			s.patterns = append(s.patterns, p)
		}
		at += len(b)
	}
	put(raw, false)
	for _, f := range apply {
		f.spell(raw, scratch[:0:f.room(len(raw))], func(b []byte) { put(b, f.folds) })
	}
	if at > len(room) {
		s.patterns = s.patterns[:first]
	}
	return at
}

// lookedBack bounds the search for equal spellings of one value: one of a thousand lines must not take a million compares.
// What it misses is found when patterns are sorted.
const lookedBack = 64

// has reports whether a value has that spelling already, and lets it fold if this one does.
func (s *speller) has(room []byte, first int, b []byte, folds bool) bool {
	for i := max(first, len(s.patterns)-lookedBack); i < len(s.patterns); i++ {
		if p := &s.patterns[i]; int(p.len) == len(b) && bytes.Equal(p.of(room), b) {
			p.folds = p.folds || folds
			return true
		}
	}
	return false
}

// grow makes room for n bytes and more.
func (s *speller) grow(n int) error {
	old := s.room
	var err error
	s.room, err = secret.MakeDerived(2*n, func(dst []byte) error {
		return old.Use(func(b []byte) { copy(dst, b[:s.size]) })
	})
	old.Destroy()
	return err
}

func (s *speller) close() {
	s.room.Destroy()
	s.scratch.Destroy()
}
