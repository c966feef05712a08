package mask

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"warder/internal/secret"
)

// automaton finds the same as a scan, in constant time a byte (Aho and Corasick's way). Its nodes are the beginnings
// of patterns: node n > 0 is the beginning that ends with byte n-1 of the pool, in the first of the patterns that share
// it; node 0 is the empty one. So the next node along a pattern is n+1, if the pool's byte n matches, and only where
// patterns part an edge is written down.
type automaton struct {
	patterns []pattern      // sorted by their bytes
	places   []pattern      // the same, sorted by where they lie
	pages    []secret.Value // records of nodes, pageNodes each
	edges    secret.Value   // a hash table of what leads from one pattern into another
	shift    int
}

const (
	recordSize = 8 // fail and found, 4 bytes each
	pageLog    = 20
	pageNodes  = 1 << pageLog

	edgeSize = 8 // parent and child, 4 bytes each; a child of 0 means empty

	lastOfPattern = 1 << 31 // flag in found: the pattern doesn't go on here
	hasEdges      = 1 << 30 // flag in found: edges lead from here
	foundMask     = hasEdges - 1
)

// machine is an automaton while it is lent.
type machine struct {
	*automaton
	pool       []byte
	multiplier uint64
	pages      [][]byte
	first      []byte // of pages
	edges      []byte
	mask       int // of the number of an edge
}

// record is what is known of a node: where to go on if nothing leads from it, and 1 + the number of the longest pattern
// that ends with it, with flags.
type record struct{ fail, found uint32 }

func (m *machine) at(node uint32) record {
	page := m.first
	if node >= pageNodes {
		page = m.pages[node>>pageLog]
	}
	r := binary.LittleEndian.Uint64(page[recordSize*(node&(pageNodes-1)):])
	return record{uint32(r), uint32(r >> 32)}
}

func (m *machine) put(node uint32, r record) {
	binary.LittleEndian.PutUint64(m.pages[node>>pageLog][recordSize*(node&(pageNodes-1)):], uint64(r.found)<<32|uint64(r.fail))
}

func (m *machine) flag(node, flag uint32) {
	r := m.at(node)
	r.found |= flag
	m.put(node, r)
}

// step goes on by one byte, from a node whose record is r.
func (m *machine) step(node uint32, r record, c byte) (uint32, record) {
	for {
		if r.found&lastOfPattern == 0 && m.pool[node] == c {
			return node + 1, m.at(node + 1)
		}
		if r.found&hasEdges != 0 {
			if child := m.edge(node, c); child != 0 {
				return child, m.at(child)
			}
		}
		if node == 0 {
			return 0, r
		}
		node = r.fail
		r = m.at(node)
	}
}

func (m *machine) slot(parent uint32, c byte) int {
	return int((uint64(parent)<<8 | uint64(c)) * m.multiplier >> m.shift)
}

// edge looks up where c leads from a node, 0 if nowhere.
func (m *machine) edge(parent uint32, c byte) uint32 {
	for i := m.slot(parent, c); ; i++ {
		e := binary.LittleEndian.Uint64(m.edges[edgeSize*(i&m.mask):])
		child := uint32(e >> 32)
		if child == 0 || uint32(e) == parent && m.pool[child-1] == c {
			return child
		}
	}
}

func (m *machine) addEdge(parent, child uint32) {
	for i := m.slot(parent, m.pool[child-1]); ; i++ {
		e := m.edges[edgeSize*(i&m.mask):]
		if word(e[4:]) == 0 {
			putWord(e, parent)
			putWord(e[4:], child)
			break
		}
	}
	m.flag(parent, hasEdges)
}

// run goes on from node over buf[from:], joins what it finds to spans, and returns where it came to.
func (m *machine) run(node uint32, buf []byte, from int, spans []span) (uint32, []span) {
	r := m.at(node)
	for i := from; i < len(buf); i++ {
		// Most steps go on along a pattern.
		if c := buf[i]; r.found&lastOfPattern == 0 && m.pool[node] == c {
			node++
			r = m.at(node)
		} else {
			node, r = m.step(node, r, c)
		}
		if number := r.found & foundMask; number != 0 {
			p := &m.patterns[number-1]
			spans = add(spans, span{start: i + 1 - int(p.len), end: i + 1, value: int(p.value), longest: int(p.len)})
		}
	}
	return node, spans
}

// open is the length of the longest end of what was read that begins a pattern and goes on.
func (m *machine) open(node uint32) int {
	for node != 0 {
		r := m.at(node)
		if r.found&lastOfPattern == 0 || r.found&hasEdges != 0 {
			return m.depth(node)
		}
		node = r.fail
	}
	return 0
}

// depth is the length of the beginning that a node stands for.
func (m *machine) depth(node uint32) int {
	i := sort.Search(len(m.places), func(i int) bool { return m.places[i].off >= node }) - 1
	return int(node - m.places[i].off)
}

// withMachine lends the automaton of all patterns, or of those that fold, to f, and makes it before if there is none. The
// pool must be lent.
func (l *lent) withMachine(folding bool, f func(m *machine)) error {
	which, of := 0, l.patterns
	if folding {
		which, of = 1, l.folding
	}
	l.t.mu.Lock()
	if l.t.autos[which] == nil {
		a, err := l.newAutomaton(of)
		if err != nil {
			l.t.mu.Unlock()
			return err
		}
		l.t.autos[which] = a
	}
	a := l.t.autos[which]
	l.t.mu.Unlock()
	return a.use(l, f)
}

func (a *automaton) use(l *lent, f func(m *machine)) error {
	m := &machine{automaton: a, pool: l.pool, multiplier: l.multiplier}
	var err error
	used := a.edges.Use(func(edges []byte) {
		m.edges, m.mask = edges, len(edges)/edgeSize-1
		err = lendAll(a.pages, &m.pages, func() {
			m.first = m.pages[0]
			f(m)
		})
	})
	return cmp.Or(used, err)
}

// lendAll is Use of several values at once.
func lendAll(values []secret.Value, lent *[][]byte, f func()) error {
	if len(values) == 0 {
		f()
		return nil
	}
	var err error
	used := values[0].Use(func(b []byte) {
		*lent = append(*lent, b)
		err = lendAll(values[1:], lent, f)
	})
	return cmp.Or(used, err)
}

func (l *lent) newAutomaton(of []pattern) (*automaton, error) {
	log := logOf(2*len(of), 4, 30)
	a := &automaton{shift: 64 - log, patterns: of, places: slices.Clone(of)}
	slices.SortFunc(a.places, func(a, b pattern) int { return cmp.Compare(a.off, b.off) })
	var err error
	if a.edges, err = newZeroed(edgeSize << log); err != nil {
		return nil, err
	}
	for nodes := len(l.pool) + 1; nodes > 0; nodes -= pageNodes {
		page, err := newZeroed(recordSize * min(nodes, pageNodes))
		if err != nil {
			a.destroy()
			return nil, err
		}
		a.pages = append(a.pages, page)
	}
	if err := a.use(l, (*machine).build); err != nil {
		a.destroy()
		return nil, err
	}
	return a, nil
}

func newZeroed(n int) (secret.Value, error) {
	return secret.MakeDerived(n, func([]byte) error { return nil })
}

// destroy wipes an automaton. On nil it does nothing.
func (a *automaton) destroy() {
	if a == nil {
		return
	}
	for _, p := range a.pages {
		p.Destroy()
	}
	a.edges.Destroy()
}

// branch is where a pattern parts from those before it: at shared bytes, from node parent.
type branch struct {
	shared int
	parent uint32
}

func (m *machine) build() {
	m.flag(0, lastOfPattern) // all that leads from the root are edges
	branches := m.buildEdges()
	order := make([]uint32, len(m.patterns)) // the longest first
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(m.patterns[b].len, m.patterns[a].len) })
	// Level by level, since a node's fail lies on a level before.
	for level := 0; len(order) > 0; level++ {
		for len(order) > 0 && int(m.patterns[order[len(order)-1]].len) <= level {
			order = order[:len(order)-1]
		}
		for _, i := range order {
			if level >= branches[i].shared {
				m.buildNode(i, level, branches[i])
			}
		}
	}
}

// buildEdges writes the edges between patterns and marks where each pattern ends.
func (m *machine) buildEdges() []branch {
	branches := make([]branch, len(m.patterns))
	var before []byte
	var path []uint32 // the nodes of the pattern before, by depth
	for i, p := range m.patterns {
		b := p.of(m.pool)
		shared := 0
		for shared < len(before) && before[shared] == b[shared] {
			shared++
		}
		if shared > 0 {
			branches[i].parent = path[shared-1]
		}
		branches[i].shared = shared
		m.addEdge(branches[i].parent, p.off+uint32(shared)+1)
		path = path[:shared]
		for d := shared; d < len(b); d++ {
			path = append(path, p.off+uint32(d)+1)
		}
		m.flag(p.off+p.len, lastOfPattern)
		before = b
	}
	return branches
}

// buildNode finds where to go on from byte level of a pattern when nothing leads from it, and what ends there.
func (m *machine) buildNode(i uint32, level int, b branch) {
	p := m.patterns[i]
	node := p.off + uint32(level) + 1
	r := m.at(node)
	if level > 0 {
		parent := node - 1
		if level == b.shared {
			parent = b.parent
		}
		fail := m.at(parent).fail
		r.fail, _ = m.step(fail, m.at(fail), m.pool[node-1])
	}
	r.found |= m.at(r.fail).found & foundMask
	if level == int(p.len)-1 {
		r.found = r.found&^foundMask | (i + 1)
	}
	m.put(node, r)
}
