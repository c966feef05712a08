package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"warder/internal/api"
	"warder/internal/policy"
	"warder/internal/seal"
	"warder/internal/vault"
)

// planProjectList lists the projects that the caller may know of.
func planProjectList(r *request) (*act, error) {
	list, err := r.vaults("")
	if err != nil {
		return nil, err
	}
	out := api.ProjectList{Projects: []api.ProjectRow{}}
	for _, v := range list {
		for _, m := range v.List(vault.KindProject) {
			if f := (found{v, m}); m.Trashed.IsZero() && r.sees(f) {
				out.Projects = append(out.Projects, projectRow(r, f))
			}
		}
	}
	return answer("list projects", out), nil
}

// projectRow is a project in a list.
func projectRow(r *request, p found) api.ProjectRow {
	row := api.ProjectRow{
		Name: p.Name, Vault: p.vault.Name(), Level: r.level(p).String(), Stages: []string{}, Tags: full(p.Tags), Maker: maker(p.Origin),
	}
	for _, s := range stagesOf(r, p) {
		row.Stages = append(row.Stages, s.Name)
	}
	return row
}

// stagesOf are the stages of a project that the caller may know of, by name.
func stagesOf(r *request, p found) []found {
	var list []found
	l := r.levels(p.vault)
	for _, id := range l.stages[p.ID] {
		if s := (found{p.vault, l.metas[id]}); r.sees(s) {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b found) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// stageOf is the stage that is meant: the project's only one if none is named.
func stageOf(r *request, p found, name string) (found, error) {
	if name != "" {
		return r.findStage(p, name)
	}
	all := stagesOf(r, p)
	if len(all) == 1 {
		return r.findStage(p, all[0].Name)
	}
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Name
	}
	if len(names) == 0 {
		return found{}, r.missing("stage", p.Name)
	}
	return found{}, api.Errorf(api.Usage, "project %q has several stages", p.Name).WithHint("say which with --stage: " + strings.Join(names, ", "))
}

// planProjectShow shows a project without values.
func planProjectShow(r *request) (*act, error) {
	var in api.ProjectShowIn
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	p, err := r.find(vault.KindProject, "", in.Project)
	if err != nil {
		return nil, err
	}
	stages := stagesOf(r, p)
	if in.Stage != "" {
		s, err := r.findStage(p, in.Stage)
		if err != nil {
			return nil, err
		}
		stages = []found{s}
	}
	out := api.ProjectShown{ProjectRow: projectRow(r, p), Links: linksOf(r, p), Detail: []api.StageShown{}}
	for _, s := range stages {
		detail, err := stageShown(r, s)
		if err != nil {
			return nil, err
		}
		out.Detail = append(out.Detail, detail)
	}
	return answer("show a project", out), nil
}

// linksOf names the items that a project links and that the caller may know of.
func linksOf(r *request, p found) []string {
	names := []string{}
	for _, id := range p.Links {
		if m, there := r.levels(p.vault).metas[id]; there && r.sees(found{p.vault, m}) {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return names
}

// stageShown is a stage with what of its variables the caller may know.
func stageShown(r *request, s found) (api.StageShown, error) {
	out := api.StageShown{
		Name: s.Name, Level: r.level(s).String(), Tags: full(s.Tags), Variables: []api.StageVariable{}, Maker: maker(s.Origin),
	}
	it, err := s.vault.Open(s.ID)
	if err != nil {
		return out, err
	}
	defer it.Destroy()
	makers, err := makersOf(s, it)
	if err != nil {
		return out, err
	}
	for i, f := range it.Fields {
		level := f.Level
		if !r.isPerson() {
			if level = vault.Effective(r.level(s), f.Level); !isOpen(level) {
				continue
			}
		}
		out.Variables = append(out.Variables, api.StageVariable{
			Name: f.Name, Concealed: f.Concealed, Set: f.Value.Len() > 0 || f.Ref != "", Level: level.String(), Ref: refShown(r, f.Ref),
			Maker: makers[i],
		})
	}
	return out, nil
}

// refShown is a reference as the caller may know it: an agent learns no name of an item that is not open to it.
func refShown(r *request, ref string) string {
	if ref == "" || r.isPerson() {
		return ref
	}
	to, err := vault.ParseReference(ref)
	if err != nil {
		return ""
	}
	v, err := r.account.Vault(to.Vault)
	if err != nil {
		return ""
	}
	m, err := v.Find(vault.KindItem, seal.ID{}, to.Item)
	if err != nil || !r.sees(found{v, m}) {
		return ""
	}
	return ref
}

// site is where a stage is, or where it is to be.
type site struct {
	r       *request
	vault   *vault.Vault
	project found // without an id if it is to be made
	stage   found // the same
	needs   []policy.Need
}

// findSite finds a project's stage, or the place for a new one. A name that is taken by what an agent may not know of is just taken.
func findSite(r *request, project, stage string) (*site, error) {
	for what, name := range map[string]string{"project name": project, "stage name": stage} {
		if err := vault.CheckName(what, name); err != nil {
			return nil, err
		}
	}
	s := &site{r: r}
	if err := s.findProject(project); err != nil {
		return nil, err
	}
	r.aboutStage(s.project, stage, false)
	m, err := s.vault.Find(vault.KindStage, s.project.ID, stage)
	switch {
	case err == nil:
		if s.stage = (found{s.vault, m}); !r.sees(s.stage) {
			return nil, exists("a stage")
		}
		r.aboutStage(s.project, m.Name, r.levels(s.vault).toAll(m.ID))
		return s, nil
	case errors.Is(err, vault.ErrNotFound):
		s.stage = found{s.vault, vault.Meta{Kind: vault.KindStage, Name: stage, Project: s.project.ID}}
		return s, nil
	}
	return nil, err
}

// isNew says whether the stage is to be made.
func (s *site) isNew() bool { return s.stage.ID.IsZero() }

// settle says which level the stage has or is to have.
func (s *site) settle(level string) error {
	if s.isNew() {
		return s.chooseLevel(level)
	}
	if level != "" && level != s.stage.Level.String() {
		return usage("the stage is there already, with level %s: change it with warder project stage --level", s.r.level(s.stage))
	}
	return nil
}

// findProject finds the project, or the vault for a new one.
func (s *site) findProject(name string) error {
	r := s.r
	list, err := r.vaults("")
	if err != nil {
		return err
	}
	for _, v := range list {
		m, err := v.Find(vault.KindProject, seal.ID{}, name)
		if err == nil {
			if s.vault, s.project = v, (found{v, m}); !r.sees(s.project) {
				r.subject = subject{name: name}
				return exists("a project")
			}
			return nil
		}
		if !errors.Is(err, vault.ErrNotFound) {
			return err
		}
	}
	s.vault, err = r.target("")
	s.project = found{s.vault, vault.Meta{Kind: vault.KindProject, Name: name}}
	return err
}

// chooseLevel chooses the level of a new stage. What an agent stores without a word it can use, unless that would lend a level to
// items that others linked to the project.
func (s *site) chooseLevel(word string) (err error) {
	r := s.r
	s.needs = []policy.Need{policy.ToAdd}
	if s.stage.Level, err = levelOf(r, word); err != nil {
		return err
	}
	lends := s.lendsLevel()
	if lends && word == "" && !r.isPerson() {
		s.stage.Level, lends = vault.LevelUnset, false
	}
	if lends {
		s.needs = append(s.needs, policy.ToRaise)
	}
	if s.stage.Level > vault.LevelUse {
		s.needs = append(s.needs, policy.ToPassUse)
	}
	// If the act is refused, a project that is closed stays so, and the log must not have named it.
	known := s.project.ID.IsZero() || r.levels(s.vault).toAll(s.project.ID)
	r.aboutStage(s.project, s.stage.Name, known && isOpen(vault.Effective(s.project.Level, s.stage.Level)))
	r.subject.made = true
	return nil
}

// lendsLevel says whether a new stage opens items that are linked to its project: for a person if it opens one wider than it is, for an
// agent if it would also keep one open that a person then closes.
func (s *site) lendsLevel() bool {
	r := s.r
	if s.project.ID.IsZero() || !isOpen(s.stage.Level) {
		return false
	}
	if r.isPerson() {
		now := r.levels(s.vault)
		return now.raises(now.with(s.stage.Meta))
	}
	return slices.ContainsFunc(s.project.Links, func(id seal.ID) bool {
		m := r.levels(s.vault).metas[id]
		return !r.mine(&m)
	})
}

// planProjectStage makes a project or a stage, or changes the level of one.
func planProjectStage(r *request) (*act, error) {
	var in api.StageIn
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if in.Stage == "" {
		return planProject(r, &in)
	}
	s, err := findSite(r, in.Project, in.Stage)
	if err != nil {
		return nil, err
	}
	if !s.isNew() {
		return planLevel(r, s.stage, in.Level)
	}
	if err := s.chooseLevel(in.Level); err != nil {
		return nil, err
	}
	return &act{
		needs: s.needs,
		text:  fmt.Sprintf("make the stage %s/%s with level %s", s.project.Name, s.stage.Name, s.stage.Level),
		run: func(context.Context) (*api.Reply, error) {
			return changed(r, hides(r, s.stage, s.stage.Meta), func() error {
				_, err := s.vault.ChangeStage(vault.StageChange{
					Project: s.project.Name, Stage: s.stage.Name, Level: s.stage.Level, Tags: marks(&r.lookup), Origin: r.origin(),
				})
				return err
			})
		},
	}, nil
}

// planProject makes a project, or changes the level of one.
func planProject(r *request, in *api.StageIn) (*act, error) {
	if err := vault.CheckName("project name", in.Project); err != nil {
		return nil, err
	}
	s := &site{r: r}
	if err := s.findProject(in.Project); err != nil {
		return nil, err
	}
	if !s.project.ID.IsZero() {
		r.about(s.project)
		return planLevel(r, s.project, in.Level)
	}
	level, err := levelOf(r, in.Level)
	if err != nil {
		return nil, err
	}
	r.aboutNew(isOpen(level), s.vault.Name(), in.Project)
	needs := []policy.Need{policy.ToAdd}
	if level > vault.LevelUse {
		needs = append(needs, policy.ToPassUse)
	}
	return &act{
		needs: needs,
		text:  fmt.Sprintf("make the project %s with level %s", in.Project, level),
		run: func(context.Context) (*api.Reply, error) {
			it := &vault.Item{Meta: vault.Meta{Kind: vault.KindProject, Name: in.Project, Level: level, Tags: marks(&r.lookup), Origin: r.origin()}}
			return changed(r, hides(r, s.project, it.Meta), func() error { return s.vault.Save(it) })
		},
	}, nil
}

// planLevel changes the level of a project or a stage.
func planLevel(r *request, f found, word string) (*act, error) {
	if word == "" {
		return nil, usage("it is there already: give a level to change its level")
	}
	level, err := vault.ParseLevel(word)
	if err != nil {
		return nil, usage("%v", err)
	}
	needs := []policy.Need{policy.ToSetLevel}
	// What it takes away it could never have given: that closes nothing of a person's, and its own undo takes it back.
	if f.Kind == vault.KindStage && rank(level) <= rank(f.Level) && madeAlone(&r.lookup, f) {
		needs = []policy.Need{policy.ToChangeOwn}
	}
	if level > vault.LevelUse {
		needs = append(needs, policy.ToPassUse)
	}
	after := f.Meta
	after.Level = level
	if now := r.levels(f.vault); now.raises(now.with(after)) {
		needs = append(needs, policy.ToRaise)
	}
	return &act{
		needs: needs,
		text:  fmt.Sprintf("set the level of the %s %s from %s to %s", f.Kind, f.Name, f.Level, level),
		run: func(context.Context) (*api.Reply, error) {
			r.Facts["level"] = level.String()
			return changed(r, hides(r, f, after), func() error { return alter(r, f, func(it *vault.Item) { it.Level = level }) })
		},
	}, nil
}

// alter saves a new revision of an object.
func alter(r *request, f found, change func(*vault.Item)) error {
	it, err := f.vault.Open(f.ID)
	if err != nil {
		return err
	}
	defer it.Destroy()
	change(it)
	it.Origin = r.origin()
	return f.vault.Save(it)
}

// linksHint is where the links of a project stand.
const linksHint = "see what is linked: warder project show PROJECT"

// planProjectLink links an item to a project, or takes the link away.
func planProjectLink(r *request) (*act, error) {
	var in api.ProjectLink
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	it, err := findItem(&r.lookup, "", in.Item)
	if err != nil {
		return nil, err
	}
	p, err := r.find(vault.KindProject, "", in.Project)
	if err != nil {
		return nil, err
	}
	if p.vault.ID() != it.vault.ID() {
		return nil, usage("%s is in vault %s and %s in vault %s: an item is linked only within its vault", in.Item, it.vault.Name(), in.Project, p.vault.Name())
	}
	switch linked := slices.Contains(p.Links, it.ID); {
	case linked && !in.Remove:
		return nil, api.Errorf(api.Exists, "%s is linked to %s already", in.Item, in.Project).WithHint(linksHint)
	case !linked && in.Remove:
		return nil, api.Errorf(api.NotFound, "%s is not linked to %s", in.Item, in.Project).WithHint(linksHint)
	}
	return planLink(r, p, it, in.Remove)
}

// planLink says what a link takes. An agent lends nothing through one: what a person then closes stays closed. It takes away only
// what it linked itself.
func planLink(r *request, p, it found, remove bool) (*act, error) {
	after := p.Meta
	verb := "link"
	needs := []policy.Need{policy.ToLink}
	if remove {
		by, err := linkMaker(p, it.ID)
		if err != nil {
			return nil, err
		}
		verb, needs = "unlink", []policy.Need{policy.ToChange}
		if owns(&r.lookup, by) && !p.Conflict {
			needs = []policy.Need{policy.ToChangeOwn}
		}
		after.Links = slices.DeleteFunc(slices.Clone(p.Links), func(id seal.ID) bool { return id == it.ID })
	} else {
		after.Links = append(slices.Clone(p.Links), it.ID)
		if r.mine(&it.Meta) {
			needs = []policy.Need{policy.ToChangeOwn}
		}
	}
	if now := r.levels(p.vault); now.raises(now.with(after)) {
		needs = append(needs, policy.ToRaise)
	}
	return &act{
		needs: needs,
		text:  fmt.Sprintf("%s the item %s and the project %s", verb, it.Name, p.Name),
		run: func(context.Context) (*api.Reply, error) {
			return changed(r, nil, func() error {
				return alter(r, p, func(project *vault.Item) { project.Links = after.Links })
			})
		},
	}, nil
}
