package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"warder/internal/api"
	"warder/internal/vault"
)

// stageWrite is a change of variables of one stage, as project.set and import make it.
type stageWrite struct {
	r      *request
	site   *site
	change vault.StageChange // its values are owned by whoever made them
	lines  map[string]int    // of the variables in a file, which does not say what is a secret: what is known of that stays
	needs  []need
	diff   vault.StageDiff
	warned []api.ImportWarning
}

// newStageWrite begins one.
func newStageWrite(r *request, project, stage, level string) (*stageWrite, error) {
	s, err := findSite(r, project, stage)
	if err != nil {
		return nil, err
	}
	if err := s.settle(level); err != nil {
		return nil, err
	}
	return &stageWrite{r: r, site: s, needs: s.needs, change: vault.StageChange{
		Project: s.project.Name, Stage: s.stage.Name, Level: s.stage.Level, Tags: marks(&r.lookup), Origin: r.origin(),
	}}, nil
}

// plan says what the change does and what it takes.
func (w *stageWrite) plan() error {
	w.needs = append(w.needs, toAdd)
	known, err := w.known()
	if err != nil {
		return err
	}
	set := map[string]bool{}
	for i := range w.change.Set {
		f := &w.change.Set[i]
		if set[f.Name] {
			return usage("variable %q is to be set twice", f.Name)
		}
		set[f.Name] = true
		if !isVariable(f.Name) {
			return usage("%q is no name of a variable: want letters, digits, _ . and -", f.Name)
		}
		if concealed, there := known[f.Name]; there && !concealed && w.lines != nil {
			f.Concealed, f.NonSecret = false, vault.ByPerson
		}
		w.judge(*f, known)
	}
	if slices.Contains(w.needs, toReplace) && !w.r.isPerson() {
		return nil // it is refused, before anything says whether a value is the one that is there
	}
	if w.diff, err = w.site.vault.PlanStage(w.change); err != nil {
		return err
	}
	w.warnOpen()
	return nil
}

// judge says what setting one variable takes, and what to know about it.
func (w *stageWrite) judge(f vault.Field, known map[string]bool) {
	concealed, there := known[f.Name]
	if !w.r.isPerson() {
		_, there = known[strings.ToUpper(f.Name)] // programs on some systems read both as one
	}
	switch {
	case there && concealed && !f.Concealed:
		w.needs = append(w.needs, toReplace, toUnconceal)
	case there:
		w.needs = append(w.needs, toReplace)
	}
	if unsafeFor(&w.r.lookup, f.Name) {
		w.needs = append(w.needs, toSetCodeName)
		w.warn(f.Name, fmt.Sprintf("programs take code or trust from %s: every command that gets this stage is steered by it", f.Name))
	}
	if f.Ref == "" {
		if text := weakness(f.Name, f.Value, f.Concealed); text != "" {
			w.warn(f.Name, text)
		}
	}
}

func (w *stageWrite) warn(name, text string) {
	w.warned = append(w.warned, api.ImportWarning{Line: w.lines[name], Text: text})
}

// warnOpen tells a person that agents can use what is being stored: an agent may have made the stage and chosen its level.
func (w *stageWrite) warnOpen() {
	if w.site.isNew() || !w.r.isPerson() || len(w.diff.Added)+len(w.diff.Changed) == 0 {
		return
	}
	level := w.r.levels(w.site.vault).of(w.site.stage.ID, "")
	if isOpen(level) {
		w.warned = append(w.warned, api.ImportWarning{Text: fmt.Sprintf(
			"agents can use what is stored in %s/%s: its level is %s", w.site.project.Name, w.site.stage.Name, level)})
	}
}

// known are the variables of the stage, and whether they are concealed. For an agent the names are in capitals.
func (w *stageWrite) known() (map[string]bool, error) {
	if w.site.isNew() {
		return nil, nil
	}
	it, err := w.site.vault.Open(w.site.stage.ID)
	if err != nil {
		return nil, err
	}
	defer it.Destroy()
	known := make(map[string]bool, len(it.Fields))
	for _, f := range it.Fields {
		name := f.Name
		if !w.r.isPerson() {
			name = strings.ToUpper(name)
		}
		known[name] = f.Concealed
	}
	return known, nil
}

// run makes the change and counts it.
func (w *stageWrite) run() error {
	diff, err := w.site.vault.ChangeStage(w.change)
	if err != nil {
		return err
	}
	w.diff = diff
	facts := w.r.facts
	facts["added"], facts["changed"], facts["unchanged"], facts["removed"] = len(diff.Added), len(diff.Changed), len(diff.Unchanged), len(diff.Removed)
	facts["warnings"] = len(w.warned)
	return nil
}

// changed is the answer.
func (w *stageWrite) changed() api.StageChanged {
	out := api.StageChanged{
		Added: full(w.diff.Added), Changed: full(w.diff.Changed), Unchanged: full(w.diff.Unchanged), Removed: full(w.diff.Removed),
		Undo: w.r.id, Warnings: []string{},
	}
	for _, warning := range w.warned {
		out.Warnings = append(out.Warnings, warning.Text)
	}
	return out
}

// full is a list that JSON shows as one even if it is empty.
func full(list []string) []string { return append([]string{}, list...) }

// planStageSet sets variables.
func planStageSet(r *request) (*act, error) {
	var in api.StageSet
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	w, err := newStageWrite(r, in.Project, in.Stage, in.Level)
	if err != nil {
		return nil, err
	}
	if len(in.Set) == 0 {
		return nil, usage("no variable is to be set")
	}
	if err := w.fill(in.Set); err != nil {
		return nil, err
	}
	if err := w.plan(); err != nil {
		return nil, err
	}
	names := make([]string, len(in.Set))
	for i, v := range in.Set {
		names[i] = v.Name
	}
	return &act{
		needs: w.needs,
		text:  fmt.Sprintf("set %s in %s/%s", strings.Join(names, ", "), w.site.project.Name, w.site.stage.Name),
		run: func(context.Context) (*api.Reply, error) {
			if err := w.run(); err != nil {
				return nil, err
			}
			return &api.Reply{Output: w.changed()}, nil
		},
	}, nil
}

// fill takes the variables of an input, with the call's values.
func (w *stageWrite) fill(set []api.VariableIn) error {
	next := 0
	for _, v := range set {
		f := vault.Field{Name: v.Name, Concealed: v.Concealed, NonSecret: declared(w.r, v.Concealed)}
		switch {
		case v.Ref != "":
			ref, err := w.r.findField(v.Ref)
			if err != nil {
				return err
			}
			f.Ref = ref
		case next == len(w.r.values):
			return w.r.want(next + 1)
		default:
			f.Value = w.r.values[next]
			next++
		}
		w.change.Set = append(w.change.Set, f)
	}
	return w.r.want(next)
}

// planStageUnset removes variables.
func planStageUnset(r *request) (*act, error) {
	var in api.StageUnset
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	p, err := r.find(vault.KindProject, "", in.Project)
	if err != nil {
		return nil, err
	}
	s, err := r.findStage(p, in.Stage)
	if err != nil {
		return nil, err
	}
	w := &stageWrite{r: r, site: &site{r: r, vault: p.vault, project: p, stage: s}, change: vault.StageChange{
		Project: p.Name, Stage: s.Name, Unset: in.Names, Origin: r.origin(),
	}}
	if err := w.wantThere(in.Names); err != nil {
		return nil, err
	}
	return &act{
		needs: []need{toChange},
		text:  fmt.Sprintf("remove %s from %s/%s", strings.Join(in.Names, ", "), p.Name, s.Name),
		run: func(context.Context) (*api.Reply, error) {
			if err := w.run(); err != nil {
				return nil, err
			}
			return &api.Reply{Output: w.changed()}, nil
		},
	}, nil
}

// wantThere refuses names that the stage does not have. An agent removes none, so it is not told which there are.
func (w *stageWrite) wantThere(names []string) error {
	if len(names) == 0 {
		return usage("no variable is to be removed")
	}
	known, err := w.known()
	if err != nil || !w.r.isPerson() {
		return err
	}
	for _, name := range names {
		if _, there := known[name]; !there {
			return w.r.missing("variable", name)
		}
	}
	return nil
}
