package daemon

import (
	"fmt"
	"maps"
	"slices"

	"warder/internal/seal"
	"warder/internal/vault"
)

// levels says how far everything in one vault is open to agents: the levels of items, projects and stages together, as they
// are or as an act would leave them. References open nothing: a variable that is one is as open as its stage, and the item
// that it names as open as that is.
type levels struct {
	metas  map[seal.ID]vault.Meta // but for what is in the trash
	linked map[seal.ID][]seal.ID  // projects by item
	stages map[seal.ID][]seal.ID  // stages by project
}

// levelsOf reads a vault's levels.
func levelsOf(metas []vault.Meta) *levels {
	l := &levels{metas: make(map[seal.ID]vault.Meta, len(metas)), linked: map[seal.ID][]seal.ID{}, stages: map[seal.ID][]seal.ID{}}
	for _, m := range metas {
		if !m.Trashed.IsZero() {
			continue
		}
		l.metas[m.ID] = m
		if m.Kind == vault.KindStage {
			l.stages[m.Project] = append(l.stages[m.Project], m.ID)
		}
		for _, item := range m.Links {
			l.linked[item] = append(l.linked[item], m.ID)
		}
	}
	return l
}

// with is what the levels are after some revisions. A revision without an id is new.
func (l *levels) with(changed ...vault.Meta) *levels {
	after := maps.Clone(l.metas)
	for _, m := range changed {
		if m.ID.IsZero() {
			m.ID = seal.NewID()
		}
		after[m.ID] = m
	}
	return levelsOf(slices.Collect(maps.Values(after)))
}

// granted is what one object says to a client; "" is one without a name.
func granted(m *vault.Meta, client string) vault.Level {
	return vault.Effective(m.Level, m.Clients[client])
}

// of is how far an object is open to a client.
func (l *levels) of(id seal.ID, client string) vault.Level {
	m, there := l.metas[id]
	switch {
	case !there:
		return vault.LevelUnset
	case m.Kind == vault.KindProject:
		return l.ofProject(&m, client)
	case m.Kind == vault.KindStage:
		p := l.metas[m.Project]
		return vault.Effective(granted(&p, client), granted(&m, client))
	}
	return l.ofItem(&m, client)
}

// ofProject is the widest of the project and its stages: it has to be known by name for a stage of it to be used.
func (l *levels) ofProject(p *vault.Meta, client string) vault.Level {
	own := granted(p, client)
	if own == vault.LevelNone {
		return own
	}
	return max(own, l.widestStage(p.ID, own, client))
}

// ofItem is the widest of the ways to an item: by itself, by a project that links it, by a stage of such a project. A none on the
// item, or on a project that links it, closes all of them; one on a stage only the way through that stage, for it says
// nothing of the others.
func (l *levels) ofItem(m *vault.Meta, client string) vault.Level {
	own := granted(m, client)
	widest := own
	for _, id := range l.linked[m.ID] {
		p := l.metas[id]
		way := vault.Effective(own, granted(&p, client))
		if way == vault.LevelNone {
			return way
		}
		widest = max(widest, way, l.widestStage(id, way, client))
	}
	return widest
}

// widestStage is the widest of a project's stages on top of what is granted beside them.
func (l *levels) widestStage(project seal.ID, beside vault.Level, client string) vault.Level {
	widest := vault.LevelUnset
	for _, id := range l.stages[project] {
		s := l.metas[id]
		if g := granted(&s, client); g != vault.LevelNone {
			widest = max(widest, vault.Effective(beside, g))
		}
	}
	return widest
}

// isOpen says whether a level lets agents know of an object.
func isOpen(l vault.Level) bool { return l >= vault.LevelAsk }

// toAll says whether an object is open to every agent, whichever client it is.
func (l *levels) toAll(id seal.ID) bool {
	for _, client := range l.clients() {
		if !isOpen(l.of(id, client)) {
			return false
		}
	}
	return true
}

// clients are those that are told apart somewhere, and "" for all others.
func (l *levels) clients() []string {
	names := map[string]bool{"": true}
	for _, m := range l.metas {
		for client := range m.Clients {
			names[client] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// raises says whether what is there now is open wider after an act, to whichever client. An object that says more for itself
// counts even if another keeps it closed for the moment.
func (l *levels) raises(after *levels) bool { return l.raisesBut(after, nil) }

// raisesBut is raises without a look at some objects.
func (l *levels) raisesBut(after *levels, but map[seal.ID]bool) bool {
	clients := after.clients()
	for id, m := range l.metas {
		if but[id] {
			continue
		}
		now, there := after.metas[id]
		if there && rank(now.Level) > rank(m.Level) {
			return true
		}
		if m.Kind == vault.KindProject {
			continue // that it is known by name once a stage of it is open lends nothing
		}
		for _, client := range clients {
			if wider := after.of(id, client); isOpen(wider) && wider > l.of(id, client) {
				return true
			}
		}
	}
	return false
}

// hides warns whoever is no person of a level that closes to it what it has just stored or changed: without the tag it can do nothing
// about that any more, and where the account is unattended nobody can.
func hides(r *request, f found, after vault.Meta) []string {
	if after.ID.IsZero() {
		after.ID = seal.NewID()
	}
	now := r.levels(f.vault)
	if r.isPerson() || isOpen(now.with(after).of(after.ID, r.who.Client)) {
		return nil
	}
	who := "no agent sees it"
	if r.acts.unattended {
		who = "nobody sees it, since the account is unattended"
	}
	return []string{fmt.Sprintf("with level %s %s, and you do not either; what takes that back: warder item undo %s", after.Level, who, r.ID)}
}

// rank orders what an object says for itself. None is below unset: it keeps closed what others would open.
func rank(l vault.Level) int {
	switch l {
	case vault.LevelNone:
		return -1
	default:
		return int(l)
	}
}
