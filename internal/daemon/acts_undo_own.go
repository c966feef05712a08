package daemon

import (
	"errors"
	"slices"

	"warder/internal/api"
	"warder/internal/policy"
	"warder/internal/seal"
	"warder/internal/vault"
)

// wantName refuses to bring back a name that something else has by now.
func (u *undo) wantName(v *vault.Vault, m, earlier *vault.Meta) error {
	if !earlier.Trashed.IsZero() || m.Trashed.IsZero() && vault.SameName(m.Name, earlier.Name) {
		return nil
	}
	if m.Kind == vault.KindItem && !u.r.isPerson() {
		return wantFree(u.r, v, earlier.Name)
	}
	other, err := v.Find(m.Kind, m.Project, earlier.Name)
	switch {
	case errors.Is(err, vault.ErrNotFound) || err == nil && other.ID == m.ID:
		return nil
	case err == nil:
		return api.Errorf(api.Exists, "the name that the %s had is taken by now", m.Kind).WithHint("rename or remove what has it, then try again")
	}
	return err
}

// asAgent collects what going back takes of an agent. It took away what is to come back itself, but a person may have relied on that
// since: what a value may reach, and which items a project opens, stays as narrow as it is.
func (u *undo) asAgent(m, earlier *vault.Meta, now *levels) {
	if addsHost(m.Hosts, earlier.Hosts) {
		u.needs = append(u.needs, policy.ToAddHost)
	}
	if addsCommand(m.Commands, earlier.Commands) {
		u.needs = append(u.needs, policy.ToAddCommand)
	}
	if m.NeverEnv && !earlier.NeverEnv {
		u.needs = append(u.needs, policy.ToRaise)
	}
	for _, id := range earlier.Links {
		if item := now.metas[id]; !slices.Contains(m.Links, id) && !u.r.mine(&item) {
			u.needs = append(u.needs, policy.ToLink)
		}
	}
	if m.Conflict || len(m.Parents()) > 1 {
		u.needs = append(u.needs, policy.ToChange) // another device's hand is in it
	}
}

// raises says whether going back opens anything wider; of its own items an agent may say what it could have said when it made them.
func (u *undo) raises(v *vault.Vault, now *levels, after []vault.Meta) bool {
	if u.r.isPerson() {
		return now.raises(now.with(after...))
	}
	own := map[seal.ID]bool{}
	for i := range after {
		own[after[i].ID] = u.r.mine(&after[i]) || after[i].Kind == vault.KindStage && madeAlone(&u.r.lookup, found{v, after[i]})
	}
	return now.raisesBut(now.with(after...), own)
}

// lost is the answer for an act that can't be taken back: that it is none, or what came after it. An agent is told the latter of
// its own acts on what it may know of.
func (u *undo) lost() error {
	for _, v := range u.r.account.Vaults() {
		for _, m := range v.List(vault.KindItem, vault.KindProject, vault.KindStage) {
			if len(m.Parents()) == 0 || !u.r.sees(found{v, m}) {
				continue
			}
			history, err := v.History(m.ID)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(history, u.isOwn) {
				continue
			}
			hint := "change it back by hand: warder project show, warder project set, warder project unset"
			if m.Kind == vault.KindItem {
				hint = "change it back by hand: warder item edit"
			}
			return api.Errorf(api.NotFound, "%s %q was changed since, so that act can't be taken back any more", m.Kind, m.Name).WithHint(hint)
		}
	}
	return u.r.missing("act", u.tag)
}

// isOwn says whether a revision is of the act, and the caller may know that.
func (u *undo) isOwn(m vault.Meta) bool {
	return m.Origin.Tag == u.tag && (u.r.isPerson() || owns(&u.r.lookup, maker(m.Origin)))
}

// undoes are the tags in an item's history that take their act back now, and the reasons of those that do not. Only the last act can:
// what came before it was changed since.
func undoes(r *request, history []vault.Meta) (works string, why func(tag string) string, err error) {
	const since = "it was changed since"
	why = func(string) string { return since }
	if len(history) == 0 || history[0].Origin.Tag == "" {
		return "", why, nil
	}
	last := history[0].Origin.Tag
	u := &undo{r: r, tag: last}
	defer u.close()
	reason := ""
	var told *api.Error
	switch err := u.collect(); {
	case !r.isPerson() && !owns(&r.lookup, maker(history[0].Origin)):
		reason = "an agent takes back only its own acts"
	case errors.As(err, &told):
		reason = told.Message
	case err != nil:
		return "", nil, err
	default:
		if d := r.acts.gate.Decide(r.Session, u.needs); d.Effect == policy.Deny {
			reason = d.Reason
		}
	}
	if reason == "" {
		return last, why, nil
	}
	return "", func(tag string) string {
		if tag == last {
			return reason
		}
		return since
	}, nil
}
