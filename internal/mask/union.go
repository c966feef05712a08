package mask

import (
	"cmp"
	"slices"
)

// span is a part of the output to be hidden: an occurrence, or a union of such that overlap.
type span struct {
	start, end int // in the writer's buffer; start is negative if the beginning is already out of it
	value      int // whose mark takes its place
	longest    int // length of the occurrence that decided that
	marked     bool
}

// add joins an occurrence with those it overlaps. Occurrences come in the order of their ends or of their starts. The
// name is that of the longest among those that begin first, which doesn't depend on how the output was cut.
func add(spans []span, s span) []span {
	for len(spans) > 0 && spans[len(spans)-1].end > s.start {
		if last := &spans[len(spans)-1]; last.start < s.start { // what is usual: a step further
			last.end = max(last.end, s.end)
			last.marked = last.marked || s.marked
			return spans
		}
		s = s.join(spans[len(spans)-1])
		spans = spans[:len(spans)-1]
	}
	return append(spans, s)
}

func (s span) join(o span) span {
	if o.before(s) {
		s, o = o, s
	}
	s.end = max(s.end, o.end)
	s.marked = s.marked || o.marked
	return s
}

// before reports whether s gives its name to what it has in common with o.
func (s span) before(o span) bool {
	switch {
	case s.start != o.start:
		return s.start < o.start
	case s.longest != o.longest:
		return s.longest > o.longest
	}
	return s.value < o.value // two views may show two patterns of one length
}

// union sorts occurrences and joins them, in place.
func union(found []span) []span {
	for i := 1; i < len(found); i++ {
		if found[i].start < found[i-1].start {
			slices.SortFunc(found, func(a, b span) int { return cmp.Compare(a.start, b.start) })
			break
		}
	}
	joined := found[:0]
	for _, s := range found {
		joined = add(joined, s)
	}
	return joined
}
