package f1reader

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
)

// describe puts an opened account into the form of expected.json.
func describe(a *account, l *local) wantStore {
	out := wantStore{
		StateCode: regexp.MustCompile(`(....)(....)(....)`).ReplaceAllString(a.stateCode(), "$1-$2-$3"),
		Account:   a.id.String(),
		Device:    l.device.String(),
	}
	for device := range a.cards {
		out.Devices = append(out.Devices, device.String())
	}
	for name, v := range a.vaults {
		out.Vaults = append(out.Vaults, describeVault(name, v))
	}
	out.sort()
	return out
}

// describeVault describes a vault. The item that holds its name is no item of
// its user.
func describeVault(name id, v *vault) wantVault {
	out := wantVault{ID: name.String(), Name: v.name()}
	for i, item := range v.items {
		switch {
		case item.dead():
			out.Tombstones = append(out.Tombstones, i.String())
		case i != name:
			out.Items = append(out.Items, describeItem(i, item))
		}
	}
	return out
}

// describeItem describes an item.
func describeItem(name id, i *item) wantItem {
	r := i.shown
	out := wantItem{
		ID: name.String(), Rev: r.hash.String(), Kind: r.kind, Name: r.name, Type: r.typ, Tags: r.tags,
		Level: cmp.Or(r.level, "unset"), Clients: r.clients, Delivery: r.delivery, NeverEnv: r.neverEnv,
		MaxUses: r.maxUses, Expires: r.expires, Origin: wantOrigin{r.origin.by, r.origin.client, r.origin.tag},
		Created: r.created, Modified: r.modified, Trashed: r.trashed, Links: texts(r.links),
		Conflict: len(i.heads) > 1, Fields: describeFields(r),
	}
	if r.project != nil {
		out.Project = r.project.String()
	}
	for _, h := range r.hosts {
		out.Hosts = append(out.Hosts, wantHost{h.host, h.methods, h.paths})
	}
	for _, c := range r.commands {
		out.Commands = append(out.Commands, wantCommand{c.name, c.path})
	}
	for _, older := range i.others() {
		out.History = append(out.History, wantRevision{older.hash.String(), older.modified, describeFields(older)})
	}
	return out
}

// describeFields describes the fields of a revision.
func describeFields(r *revision) []wantField {
	var out []wantField
	for _, f := range r.fields {
		out = append(out, wantField{
			Section: f.section, Name: f.name, Type: f.typ, Concealed: f.concealed, Level: cmp.Or(f.level, "unset"),
			Nonsecret: f.nonsecret, Ref: f.ref, Score: f.score, Set: f.set, Value: b64(f.value),
		})
	}
	return out
}

// texts writes ids as text.
func texts[T fmt.Stringer](values []T) []string {
	var out []string
	for _, v := range values {
		out = append(out, v.String())
	}
	return out
}

// others are the item's revisions other than the shown one: other heads and
// what the heads list as their history, each once, newest first.
func (i *item) others() []*revision {
	var out []*revision
	for _, r := range slices.Concat(i.opened[1:], i.history) {
		if !slices.ContainsFunc(out, func(other *revision) bool { return other.hash == r.hash }) {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, newest)
	return out
}
