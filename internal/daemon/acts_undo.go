package daemon

import (
	"context"
	"fmt"
	"strings"

	"warder/internal/api"
	"warder/internal/policy"
	"warder/internal/vault"
)

// planUndo takes back what one act did, by its tag.
func planUndo(r *request) (*act, error) {
	var in api.ItemUndo
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	u := &undo{r: r, tag: in.Tag}
	if err := u.collect(); err != nil {
		u.close()
		return nil, err
	}
	return &act{
		needs: u.needs,
		text:  fmt.Sprintf("take back the act %s: %s", in.Tag, strings.Join(u.says, ", ")),
		run:   func(context.Context) (*api.Reply, error) { return u.run() },
		close: u.close,
	}, nil
}

// undo is the taking back of an act.
type undo struct {
	r     *request
	tag   string
	in    []undoIn
	needs []policy.Need
	says  []string
}

// undoIn is what is taken back in one vault. What is decided about is what is done.
type undoIn struct {
	vault *vault.Vault
	list  []vault.Reversal
	along []*vault.Item // stages that were changed since, and whose references follow an item back to its name
}

func (u *undo) close() {
	for _, in := range u.in {
		for _, it := range in.along {
			it.Destroy()
		}
	}
}

// collect finds what the act did. An agent takes back what it did itself; of all else there is nothing for it to find.
func (u *undo) collect() error {
	if u.tag == "" {
		return usage("the tag of the act to take back is missing")
	}
	u.needs = []policy.Need{policy.ToChangeOwn}
	if u.r.isPerson() {
		u.needs = []policy.Need{policy.ToChange}
	}
	for _, v := range u.r.account.Vaults() {
		if err := u.collectIn(v); err != nil {
			return err
		}
	}
	if len(u.says) == 0 {
		return u.lost()
	}
	return nil
}

// keepsStages refuses to take a project away from under stages that other acts made.
func (u *undo) keepsStages(now *levels, project *vault.Meta) error {
	for _, id := range now.stages[project.ID] {
		if s := now.metas[id]; s.Origin.Tag != u.tag {
			return api.Errorf(api.Denied, "what the act made was added to since, so it can't be taken back as a whole").
				WithHint("take it away piece by piece: warder project unset")
		}
	}
	return nil
}

func (u *undo) collectIn(v *vault.Vault) error {
	for _, m := range v.List() {
		if o := m.Origin; o.Tag == u.tag && !u.r.isPerson() && (o.By != vault.ByAgent || o.Client != u.r.who.Client) {
			return u.r.missing("act", u.tag)
		}
	}
	list, err := vault.Reversals(v, u.tag)
	if err != nil || len(list) == 0 {
		return err
	}
	now := u.r.levels(v)
	var after []vault.Meta
	for i := range list {
		m, earlier := &list[i].Now, &list[i].Before
		if err := u.judge(v, now, m, earlier); err != nil {
			return err
		}
		after = append(after, *earlier)
		u.says = append(u.says, fmt.Sprintf("%s %s/%s", m.Kind, v.Name(), m.Name))
	}
	u.in = append(u.in, undoIn{vault: v, list: list})
	if err := u.follow(&u.in[len(u.in)-1]); err != nil {
		return err
	}
	if u.raises(v, now, after) {
		u.needs = append(u.needs, policy.ToRaise)
	}
	return nil
}

// follow takes references along to the name that a person's undo gives back to an item. A stage that the act itself changed goes back to
// what it said.
func (u *undo) follow(in *undoIn) error {
	if !u.r.isPerson() {
		return nil
	}
	var skip []vault.Meta
	for i := range in.list {
		skip = append(skip, in.list[i].Now)
	}
	for i := range in.list {
		now, earlier := &in.list[i].Now, &in.list[i].Before
		if now.Kind != vault.KindItem || vault.SameName(now.Name, earlier.Name) {
			continue
		}
		along, err := follow(u.r, found{in.vault, *now}, earlier.Name, skip...)
		if err != nil {
			return err
		}
		in.along = append(in.along, along.stages...)
		skip = append(skip, along.metas()...)
	}
	return nil
}

// judge says what taking one object back takes, and refuses what can't be.
func (u *undo) judge(v *vault.Vault, now *levels, m, earlier *vault.Meta) error {
	if err := u.widens(v, m, earlier); err != nil {
		return err
	}
	if err := u.wantName(v, m, earlier); err != nil {
		return err
	}
	if !u.r.isPerson() {
		u.asAgent(m, earlier, now)
	}
	if m.Kind == vault.KindProject && !earlier.Trashed.IsZero() {
		return u.keepsStages(now, m)
	}
	return nil
}

// widens looks at what an object was before the act, and collects what going back to that takes of a person.
func (u *undo) widens(v *vault.Vault, m, earlier *vault.Meta) error {
	if !u.r.isPerson() || earlier.Rev() == m.Rev() {
		return nil
	}
	if addsHost(m.Hosts, earlier.Hosts) {
		u.needs = append(u.needs, policy.ToAddHost)
	}
	if addsCommand(m.Commands, earlier.Commands) {
		u.needs = append(u.needs, policy.ToAddCommand)
	}
	if m.NeverEnv && !earlier.NeverEnv {
		u.needs = append(u.needs, policy.ToRaise)
	}
	bared, err := bares(v, m, earlier)
	if bared {
		u.needs = append(u.needs, policy.ToUnconceal)
	}
	return err
}

// bares says whether a secret of the present revision was none in an earlier one.
func bares(v *vault.Vault, m, earlier *vault.Meta) (bool, error) {
	now, err := v.Open(m.ID)
	if err != nil {
		return false, err
	}
	defer now.Destroy()
	then, err := v.OpenRevision(m.ID, earlier.Rev())
	if err != nil {
		return false, err
	}
	defer then.Destroy()
	for i := range then.Fields {
		f := &then.Fields[i]
		if o := now.Field(f.Section, f.Name); o != nil && o.Concealed && !f.Concealed {
			return true, nil
		}
	}
	return false, nil
}

func (u *undo) run() (*api.Reply, error) {
	count := 0
	for _, in := range u.in {
		if err := vault.Reverse(in.vault, in.list, u.r.origin(), in.along...); err != nil {
			return nil, err
		}
		count += len(in.list)
	}
	u.r.Facts["count"], u.r.Facts["undid"] = count, u.tag
	return &api.Reply{Output: api.ItemUndone{Count: count}}, nil
}
