package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"warder/internal/api"
	"warder/internal/credential"
	"warder/internal/policy"
	"warder/internal/vault"
)

// stageWrite is a change of variables of one stage, as project.set, project.unset and import make it.
type stageWrite struct {
	r      *request
	site   *site
	change vault.StageChange // its values are owned by whoever made them
	lines  map[string]int    // of the variables in a file, which does not say what is a secret: what is known of that stays
	needs  []policy.Need
	faults faults // what an agent may not store or remove, by name
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
	w.needs = append(w.needs, policy.ToAdd)
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
		if !credential.IsName(f.Name) {
			return usage("%q is no name of a variable: want letters, digits, _ . and -", f.Name)
		}
		w.judge(f, known.named(f.Name))
	}
	// Of what is not its own an agent learns nothing, not even whether a value is the one that is there: that is left out.
	possible := w.change
	_, faulty := w.faults.names()
	possible.Set = slices.DeleteFunc(slices.Clone(possible.Set), func(f vault.Field) bool { return faulty[f.Name] })
	if w.diff, err = w.site.vault.PlanStage(possible); err != nil {
		return err
	}
	w.warnOpen()
	return nil
}

// judge says what setting one variable takes, and what to know about it. There are several of its name for an agent, to whom all
// spellings are one: it changes only the one that it wrote itself.
func (w *stageWrite) judge(f *vault.Field, there []variableNow) {
	if len(there) > 0 && !there[0].concealed && w.lines != nil {
		f.Concealed, f.NonSecret = false, there[0].nonSecret // whoever's word that is, it stays theirs
	}
	own := len(there) == 1 && there[0].own && there[0].name == f.Name
	switch {
	case len(there) == 0:
	case own:
		w.needs = append(w.needs, policy.ToChangeOwn)
	default:
		w.lacks(policy.ToReplace, f.Name)
	}
	if len(there) > 0 && there[0].concealed && !f.Concealed {
		w.lacks(policy.ToUnconceal, f.Name)
	}
	if kind := codeFor(&w.r.lookup, f.Name); kind != "" {
		w.lacks(policy.ToSetCodeName, f.Name)
		if w.r.isPerson() {
			w.warn(f.Name, fmt.Sprintf("%s: every command that gets this stage is steered by it", kind.From(f.Name)))
		}
	}
	if f.Ref == "" {
		if text := weakness(f.Name, f.Value, f.Concealed); text != "" {
			w.warn(f.Name, text)
		}
	}
}

// lacks notes what setting or removing a variable takes. What an agent may not do, it is told by name.
func (w *stageWrite) lacks(n policy.Need, name string) {
	w.needs = append(w.needs, n)
	if !w.r.isPerson() && w.r.acts.gate.Decide(w.r.Session, []policy.Need{n}).Effect == policy.Deny {
		w.faults = append(w.faults, fault{n, name, w.lines[name]})
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

// variableNow is a variable that is there.
type variableNow struct {
	name      string
	concealed bool
	nonSecret vault.By
	hidden    bool // from the agent that asks
	own       bool // of the agent that asks
}

// variablesNow are the variables of a stage: by name, for an agent by the name in capitals, since programs on some systems read all
// spellings as one.
type variablesNow struct {
	fold bool
	by   map[string][]variableNow
}

func (v variablesNow) key(name string) string {
	if v.fold {
		return strings.ToUpper(name)
	}
	return name
}

func (v variablesNow) named(name string) []variableNow { return v.by[v.key(name)] }

// known are the variables of the stage. Whose they are is looked up only for an agent that names one of them.
func (w *stageWrite) known() (variablesNow, error) {
	known := variablesNow{!w.r.isPerson(), map[string][]variableNow{}}
	if w.site.isNew() {
		return known, nil
	}
	it, err := w.site.vault.Open(w.site.stage.ID)
	if err != nil {
		return known, err
	}
	defer it.Destroy()
	makers := make([]api.Maker, len(it.Fields))
	if w.names(it) && !w.site.stage.Conflict {
		if makers, err = makersOf(w.site.stage, it); err != nil {
			return known, err
		}
	}
	for i, f := range it.Fields {
		key, level := known.key(f.Name), vault.Effective(w.r.level(w.site.stage), f.Level)
		known.by[key] = append(known.by[key], variableNow{
			f.Name, f.Concealed, f.NonSecret, !w.r.isPerson() && !isOpen(level), owns(&w.r.lookup, makers[i]),
		})
	}
	return known, nil
}

// names says whether an agent's change names a variable that is there, in any spelling.
func (w *stageWrite) names(stage *vault.Item) bool {
	named := map[string]bool{}
	for _, f := range w.change.Set {
		named[strings.ToUpper(f.Name)] = true
	}
	for _, name := range w.change.Unset {
		named[strings.ToUpper(name)] = true
	}
	return !w.r.isPerson() && slices.ContainsFunc(stage.Fields, func(f vault.Field) bool { return named[strings.ToUpper(f.Name)] })
}

// run makes the change and counts it.
func (w *stageWrite) run() error {
	diff, err := w.site.vault.ChangeStage(w.change)
	if err != nil {
		return err
	}
	w.diff = diff
	facts := w.r.Facts
	facts["added"], facts["changed"], facts["unchanged"], facts["removed"] = len(diff.Added), len(diff.Changed), len(diff.Unchanged), len(diff.Removed)
	facts["warnings"] = len(w.warned)
	return nil
}

// tag takes the change back; where nothing was changed there is nothing that it could.
func (w *stageWrite) tag() string {
	d := &w.diff
	if len(d.Added)+len(d.Changed)+len(d.Removed) == 0 && !d.NewProject && !d.NewStage {
		return ""
	}
	return w.r.ID
}

// changed is the answer.
func (w *stageWrite) changed() api.StageChanged {
	out := api.StageChanged{
		Added: full(w.diff.Added), Changed: full(w.diff.Changed), Unchanged: full(w.diff.Unchanged), Removed: full(w.diff.Removed),
		Undo: w.tag(), Warnings: []string{},
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
		needs: w.needs, faults: w.faults,
		text: fmt.Sprintf("set %s in %s/%s", strings.Join(names, ", "), w.site.project.Name, w.site.stage.Name),
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
	if err := w.planUnset(in.Names); err != nil {
		return nil, err
	}
	return &act{
		needs: w.needs, faults: w.faults,
		text: fmt.Sprintf("remove %s from %s/%s", strings.Join(in.Names, ", "), p.Name, s.Name),
		run: func(context.Context) (*api.Reply, error) {
			if err := w.run(); err != nil {
				return nil, err
			}
			return &api.Reply{Output: w.changed()}, nil
		},
	}, nil
}

// planUnset says what removing variables takes. An agent removes those that it set; one that is hidden from it is not there.
func (w *stageWrite) planUnset(names []string) error {
	if len(names) == 0 {
		return usage("no variable is to be removed")
	}
	known, err := w.known()
	if err != nil {
		return err
	}
	for _, name := range names {
		all := known.named(name)
		i := slices.IndexFunc(all, func(v variableNow) bool { return v.name == name && !v.hidden })
		switch {
		case i < 0:
			return w.r.missing("variable", name)
		case all[i].own:
			w.needs = append(w.needs, policy.ToChangeOwn)
		default:
			w.lacks(policy.ToChange, name)
		}
	}
	return nil
}
