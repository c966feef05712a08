package mask_test

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// model says what a writer must do, in the most simple way: it keeps the whole stream, looks for every value at every
// place after each step, and has positions in the stream where the writer has some in its buffer.
type model struct {
	values  []value
	stream  []byte
	decided int // what begins before is known
	shown   int // what lies before is out, or has a mark
	found   []span
	marks   []span // those that are out
	out     bytes.Buffer
	plain   bool // names are the marks themselves
}

type value struct{ name, bytes string }

type span struct {
	start, end, longest int
	name                string
}

func (m *model) add(v value) {
	if !slices.ContainsFunc(m.values, func(o value) bool { return o.bytes == v.bytes }) {
		m.values = append(m.values, v)
	}
}

func (m *model) write(p []byte) {
	m.stream = append(m.stream, p...)
	m.look()
	m.pass(m.decided, m.decided)
}

func (m *model) close() {
	m.look()
	m.pass(len(m.stream), len(m.stream))
}

// look finds all occurrences that begin where nothing is decided, and the first place where one may still begin.
func (m *model) look() {
	open := len(m.stream)
	for i := m.decided; i < len(m.stream); i++ {
		for _, v := range m.values {
			rest := string(m.stream[i:])
			switch {
			case len(rest) >= len(v.bytes) && rest[:len(v.bytes)] == v.bytes:
				m.found = append(m.found, span{i, i + len(v.bytes), len(v.bytes), v.name})
			case len(rest) < len(v.bytes) && v.bytes[:len(rest)] == rest:
				open = min(open, i)
			}
		}
	}
	m.decided = open
}

// clusters are the unions of what overlaps.
func (m *model) clusters() []span {
	sorted := slices.Clone(m.found)
	slices.SortStableFunc(sorted, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.longest, a.longest))
	})
	var clusters []span
	for _, s := range sorted {
		if last := len(clusters) - 1; last >= 0 && s.start < clusters[last].end {
			clusters[last].end = max(clusters[last].end, s.end)
		} else {
			clusters = append(clusters, s)
		}
	}
	return clusters
}

func (m *model) pass(to, through int) {
	at := m.shown
	for _, c := range m.clusters() {
		if c.start >= through {
			break
		}
		if c.end <= m.shown {
			continue
		}
		if c.start > at {
			m.out.Write(m.stream[at:c.start])
		}
		if !slices.ContainsFunc(m.marks, func(o span) bool { return o.start < c.end && c.start < o.end }) {
			if m.plain {
				m.out.WriteString(c.name)
			} else {
				fmt.Fprintf(&m.out, "****(%s)", c.name)
			}
			m.marks = append(m.marks, c)
		}
		at = max(at, c.end)
	}
	if at < to {
		m.out.Write(m.stream[at:to])
	}
	m.shown = max(m.shown, to)
}

// idle lets go of each value that may have begun at most min(4, length/8) bytes, and none if it is under 16 bytes.
func (m *model) idle() {
	m.look()
	m.pass(m.decided, m.decided)
	end := len(m.stream)
	for i := m.decided; i < len(m.stream); i++ {
		for _, v := range m.values {
			rest := string(m.stream[i:])
			if len(rest) < len(v.bytes) && v.bytes[:len(rest)] == rest {
				allowed := min(4, len(v.bytes)/8)
				if len(v.bytes) < 16 {
					allowed = 0
				}
				end = min(end, i+allowed)
			}
		}
	}
	if m.decided < len(m.stream) {
		end = max(end, m.shown)
		m.pass(end, end+1)
	}
}

// hide is what must come out of text, however it is cut.
func hide(text string, values []value) string {
	m := model{}
	for _, v := range values {
		m.add(v)
	}
	m.write([]byte(text))
	m.close()
	return m.out.String()
}
