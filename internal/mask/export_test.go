package mask

import "io"

// Slow makes a writer use the automaton from its first byte on.
func Slow(w io.WriteCloser) { w.(*writer).slow = 1 << 60 }

// IsSlow reports whether the automaton is at work.
func IsSlow(w io.WriteCloser) bool { return w.(*writer).slow > 0 }

// Held is how many bytes a writer holds back, its context included.
func Held(w io.WriteCloser) int {
	of := w.(*writer)
	of.mu.Lock()
	defer of.mu.Unlock()
	return len(of.held)
}

// Spelling are the names of the forms with what they make of v.
func Spelling(v []byte) map[string][]string {
	found := map[string][]string{}
	apply, _ := formsOf(v, nil, ValueOptions{})
	for _, f := range apply {
		f.spell(v, make([]byte, 0, f.room(len(v))), func(b []byte) {
			found[f.name] = append(found[f.name], string(b))
		})
	}
	return found
}
