package vault

import (
	"errors"
	"fmt"
	"slices"

	"warder/internal/seal"
)

// StageChange is a change of a project's stage: variables to set, or names to unset.
type StageChange struct {
	Project, Stage string
	Set            []Field // Name, and Value or Ref; the values stay the caller's
	Unset          []string
	Level          Level    // for a stage that is new; an existing one keeps its own
	Tags           []string // for a stage and a project that are new
	Origin         Origin
}

// StageDiff counts what a change does, by variable name.
type StageDiff struct {
	Added, Changed, Unchanged, Removed []string
	NewProject, NewStage               bool
}

// PlanStage says what ChangeStage would do, without doing it.
func (v *Vault) PlanStage(change StageChange) (StageDiff, error) {
	p, err := planStage(v, change)
	if err != nil {
		return StageDiff{}, err
	}
	defer p.destroy()
	return p.diff, nil
}

// ChangeStage sets and unsets variables of a stage in one act, making project and stage where they are missing.
//
// Errors: *NameError, *SizeError, *ContentError, ErrNotFound for a name to unset that is not there, and those of Save.
func (v *Vault) ChangeStage(change StageChange) (StageDiff, error) {
	p, err := planStage(v, change)
	if err != nil {
		return StageDiff{}, err
	}
	defer p.destroy()
	return p.diff, v.Save(p.items...)
}

// stagePlan is the work of one StageChange.
type stagePlan struct {
	diff  StageDiff
	stage *Item
	at    map[string]int // the stage's variables by name; names differ by case
	items []*Item        // to save; none if nothing changes
}

func (p *stagePlan) destroy() {
	if p.stage != nil {
		p.stage.Destroy()
	}
}

func planStage(v *Vault, change StageChange) (p *stagePlan, err error) {
	p = &stagePlan{}
	defer func() {
		if err != nil {
			p.destroy()
		}
	}()
	if err := change.check(); err != nil {
		return p, err
	}
	project, err := p.findOrNew(v, change)
	if err != nil {
		return p, err
	}
	p.index()
	for _, f := range change.Set {
		if err := p.set(f); err != nil {
			return p, err
		}
	}
	for _, name := range change.Unset {
		if err := p.unset(name); err != nil {
			return p, err
		}
	}
	if p.diff.NewProject {
		p.items = append(p.items, project)
	}
	if p.diff.NewStage || len(p.diff.Added)+len(p.diff.Changed)+len(p.diff.Removed) > 0 {
		p.stage.Origin = change.Origin
		p.items = append(p.items, p.stage)
	}
	for _, it := range p.items {
		if err := wouldTake(v, it); err != nil {
			return p, err
		}
	}
	return p, nil
}

// roomForPlace is more than what a revision's place in its history takes in the file.
const roomForPlace = 2 << 10

// wouldTake says what saving an item would say of it.
func wouldTake(v *Vault, it *Item) error {
	if err := it.check(); err != nil {
		return err
	}
	if err := it.judgeValues(v.s.c.cfg.now()); err != nil {
		return err
	}
	if n := measure(it.put); n > maxItemJSON-roomForPlace {
		return &SizeError{What: string(it.Kind) + " " + it.Name, Have: n, Max: maxItemJSON - roomForPlace}
	}
	v.s.c.mu.RLock()
	defer v.s.c.mu.RUnlock()
	if v.s.c.locked {
		return ErrLocked
	}
	return v.s.checkContent(it)
}

// check refuses a change that says two things of one variable.
func (c *StageChange) check() error {
	named := make(map[string]bool, len(c.Set)+len(c.Unset))
	names := slices.Clone(c.Unset)
	for _, f := range c.Set {
		names = append(names, f.Name)
	}
	for _, name := range names {
		if named[name] {
			return fmt.Errorf("variable %q stands twice in one change", name)
		}
		named[name] = true
	}
	return nil
}

// findOrNew opens the stage, or makes it and its project.
func (p *stagePlan) findOrNew(v *Vault, change StageChange) (project *Item, err error) {
	found, err := v.Find(KindProject, seal.ID{}, change.Project)
	switch {
	case errors.Is(err, ErrNotFound):
		// The stage must name its project before either is saved, so the id is made here.
		project = &Item{Meta: Meta{ID: seal.NewID(), Kind: KindProject, Name: change.Project, Tags: slices.Clone(change.Tags), Origin: change.Origin}}
		p.diff.NewProject = true
	case err != nil:
		return nil, err
	default:
		project = &Item{Meta: found}
	}
	stage, err := v.Find(KindStage, project.ID, change.Stage)
	if err == nil {
		p.stage, err = v.Open(stage.ID)
		return project, err
	}
	if !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	p.diff.NewStage = true
	p.stage = &Item{Meta: Meta{Kind: KindStage, Name: change.Stage, Project: project.ID, Level: change.Level, Tags: slices.Clone(change.Tags)}}
	return project, nil
}

// index notes where the variables are: an import may bring very many.
func (p *stagePlan) index() {
	p.at = make(map[string]int, len(p.stage.Fields))
	for i := range p.stage.Fields {
		p.at[p.stage.Fields[i].Name] = i
	}
}

// variable finds a stage's variable.
func (p *stagePlan) variable(name string) (int, *Field) {
	i, there := p.at[name]
	if !there {
		return -1, nil
	}
	return i, &p.stage.Fields[i]
}

func (p *stagePlan) set(f Field) error {
	_, old := p.variable(f.Name)
	if old != nil && old.Ref == f.Ref && old.Concealed == f.Concealed && old.Value.Equal(f.Value) {
		p.diff.Unchanged = append(p.diff.Unchanged, f.Name)
		return nil
	}
	value, err := f.Value.Clone()
	if err != nil {
		return fmt.Errorf("variable %q: %w", f.Name, err)
	}
	if old == nil {
		f.Value = value
		p.at[f.Name] = len(p.stage.Fields)
		p.stage.Fields = append(p.stage.Fields, f)
		p.diff.Added = append(p.diff.Added, f.Name)
		return nil
	}
	old.Put(value)
	old.Ref, old.Concealed, old.NonSecret = f.Ref, f.Concealed, f.NonSecret
	p.diff.Changed = append(p.diff.Changed, f.Name)
	return nil
}

func (p *stagePlan) unset(name string) error {
	i, old := p.variable(name)
	if old == nil {
		return fmt.Errorf("variable %q of stage %q: %w", name, p.stage.Name, ErrNotFound)
	}
	old.Value.Destroy()
	p.stage.Fields = append(p.stage.Fields[:i], p.stage.Fields[i+1:]...)
	p.index()
	p.diff.Removed = append(p.diff.Removed, name)
	return nil
}
