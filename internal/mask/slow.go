package mask

// tracks is what the automata know of what is held back, as seen through each lens.
type tracks struct {
	reader *table   // whose nodes these are; nil: nothing is known
	each   [4]track // in the order of lenses
}

// track is one of them.
type track struct {
	on   bool
	node uint32    // where the automaton stands behind what is held
	text plainText // of what is held; not of the plain lens
}

// forget leaves nothing behind of what was held.
func (t *tracks) forget() {
	t.reader = nil
	for i := range t.each {
		t.each[i].on = false
		t.each[i].text.wipe()
	}
}

// drop forgets what lies before place n of what is held, which now begins there.
func (t *tracks) drop(n int) {
	if t.reader == nil {
		return
	}
	for i, l := range lenses() {
		if l != (lens{}) && t.each[i].on {
			t.each[i].text.drop(n)
		}
	}
}

// lookSlow searches by the automata, which takes the same time for each byte whatever it is. Only what is new is looked
// at.
func (w *writer) lookSlow(buf []byte, fresh int) (keep int, err error) {
	v := &w.search.lent
	if w.tracks.reader != v.t {
		w.tracks.forget()
		w.tracks.reader = v.t
		w.spans = markedOnly(w.spans)
	}
	keep = len(buf)
	from := len(buf) - fresh
	found := append(w.search.found[:0], w.spans...)
	for i, l := range lenses() {
		t := &w.tracks.each[i]
		if !t.on && l.sequences && !w.escaped || l.breaks && v.longestFolding == 0 {
			continue
		}
		from := from
		if !t.on {
			t.on, t.node, from = true, 0, 0
			t.text.begin(l, w.state)
		}
		err := v.withMachine(l.breaks, func(m *machine) {
			var open int
			if l == (lens{}) {
				t.node, found = m.run(t.node, buf, from, found)
				open = len(buf) - m.open(t.node)
			} else {
				found, open = t.through(m, buf, from, found)
			}
			keep = min(keep, open)
		})
		if err != nil {
			return 0, err
		}
	}
	w.search.found = found
	w.spans = append(w.spans[:0], union(found)...)
	return keep, nil
}

// through looks at buf from a place on, through a lens. It adds what it finds, and says where an occurrence may begin.
func (t *track) through(m *machine, buf []byte, from int, found []span) ([]span, int) {
	p := &t.text
	at, pieces := len(p.text), len(p.pieces)
	p.take(buf, from)
	var seen []span
	for _, next := range p.pieces[pieces:] {
		if next.cut {
			t.node, seen = m.run(t.node, p.text[:next.at], at, seen)
			t.node, at = 0, next.at
		}
	}
	t.node, seen = m.run(t.node, p.text, at, seen)
	if p.closed() {
		t.node = 0
	}
	for _, s := range seen {
		if o, ok := p.out(s); ok {
			found = append(found, o)
		}
	}
	if open := m.open(t.node); open > 0 {
		return found, p.place(len(p.text) - open)
	}
	return found, len(buf)
}
