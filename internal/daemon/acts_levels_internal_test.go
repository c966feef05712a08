package daemon

import (
	"testing"

	"warder/internal/seal"
	"warder/internal/vault"
)

// TestS2_49_LevelsCombine: the widest of the ways to an item, and none on it or its project closes all (C-24).
func TestS2_49_LevelsCombine(t *testing.T) {
	const unset, none, asks, use, read = vault.LevelUnset, vault.LevelNone, vault.LevelAsk, vault.LevelUse, vault.LevelRead
	item, project := seal.NewID(), seal.NewID()
	for _, c := range []struct {
		item, project vault.Level
		stages        []vault.Level
		client        vault.Level // what the item says of one client
		others, it    vault.Level // what that comes to, for others and for the client
	}{
		{unset, unset, nil, unset, unset, unset},
		{asks, unset, nil, unset, asks, asks},
		{unset, use, nil, unset, use, use},
		{asks, use, nil, unset, use, use},
		{use, asks, nil, unset, use, use},
		{none, use, []vault.Level{use}, use, none, none},
		{use, none, []vault.Level{use}, use, none, none},
		{unset, unset, []vault.Level{unset, use}, unset, use, use},
		{unset, unset, []vault.Level{none, use}, unset, use, use}, // the closed stage says nothing of the other
		{use, unset, []vault.Level{none}, unset, use, use},
		{unset, unset, nil, use, unset, use},
		{use, unset, nil, none, use, none},
		{unset, read, nil, none, read, none},
	} {
		metas := []vault.Meta{
			{ID: item, Kind: vault.KindItem, Level: c.item, Clients: map[string]vault.Level{"claude": c.client}},
			{ID: project, Kind: vault.KindProject, Level: c.project, Links: []seal.ID{item}},
		}
		for _, l := range c.stages {
			metas = append(metas, vault.Meta{ID: seal.NewID(), Kind: vault.KindStage, Project: project, Level: l})
		}
		l := levelsOf(metas)
		if got := l.of(item, ""); got != c.others {
			t.Errorf("%+v: %s for others", c, got)
		}
		if got := l.of(item, "claude"); got != c.it {
			t.Errorf("%+v: %s for the client", c, got)
		}
		if got, want := l.toAll(item), isOpen(c.others) && isOpen(c.it); got != want {
			t.Errorf("%+v: open to all: %t", c, got)
		}
	}
}

// TestRaises: what counts as opening something wider.
func TestRaises(t *testing.T) {
	item, project, stage := seal.NewID(), seal.NewID(), seal.NewID()
	base := func() (it, p, s vault.Meta) {
		return vault.Meta{ID: item, Kind: vault.KindItem, Level: vault.LevelAsk},
			vault.Meta{ID: project, Kind: vault.KindProject, Links: []seal.ID{item}},
			vault.Meta{ID: stage, Kind: vault.KindStage, Project: project}
	}
	it, p, s := base()
	now := levelsOf([]vault.Meta{it, p, s})
	for name, c := range map[string]struct {
		change func(it, p, s *vault.Meta)
		want   bool
	}{
		"nothing":          {func(_, _, _ *vault.Meta) {}, false},
		"item up":          {func(it, _, _ *vault.Meta) { it.Level = vault.LevelUse }, true},
		"item down":        {func(it, _, _ *vault.Meta) { it.Level = vault.LevelNone }, false},
		"project opens":    {func(_, p, _ *vault.Meta) { p.Level = vault.LevelUse }, true},
		"project as item":  {func(_, p, _ *vault.Meta) { p.Level = vault.LevelAsk }, true}, // its own level is raised
		"project closes":   {func(_, p, _ *vault.Meta) { p.Level = vault.LevelNone }, false},
		"stage opens":      {func(_, _, s *vault.Meta) { s.Level = vault.LevelUse }, true},
		"unlinked":         {func(_, p, _ *vault.Meta) { p.Links = nil }, false},
		"item to the bin":  {func(it, _, _ *vault.Meta) { it.Trashed = it.Trashed.AddDate(2000, 0, 0) }, false},
		"a client's grant": {func(it, _, _ *vault.Meta) { it.Clients = map[string]vault.Level{"claude": vault.LevelUse} }, true},
	} {
		it, p, s := base()
		c.change(&it, &p, &s)
		if got := now.raises(now.with(it, p, s)); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	fresh := vault.Meta{Kind: vault.KindStage, Project: project, Level: vault.LevelUse}
	if !now.raises(now.with(fresh)) {
		t.Error("a new stage that opens a linked item raises nothing")
	}
	fresh.Level = vault.LevelAsk
	if now.raises(now.with(fresh)) {
		t.Error("a new stage as open as the linked item raises it")
	}
	none := it
	none.Level = vault.LevelNone
	closed := levelsOf([]vault.Meta{none})
	unset := none
	unset.Level = vault.LevelUnset
	if !closed.raises(closed.with(unset)) {
		t.Error("taking a none away raises nothing, though others may then open it")
	}
}
