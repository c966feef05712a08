package daemon

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/policy"
	"warder/internal/secret"
	"warder/internal/vault"
)

// answer is an act that only tells something.
func answer(text string, output any) *act {
	return &act{
		needs: []policy.Need{policy.ToLook},
		text:  text,
		run:   func(context.Context) (*api.Reply, error) { return &api.Reply{Output: output}, nil },
	}
}

// planItemList lists what the caller may know of.
func planItemList(r *request) (*act, error) {
	var in api.ItemListIn
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if in.Type != "" && !slices.Contains(vault.Types(), vault.Type(in.Type)) {
		return nil, usage("type %q is none of %v", in.Type, vault.Types())
	}
	list, err := r.vaults(in.Vault)
	if err != nil {
		return nil, err
	}
	out := api.ItemList{Items: []api.ItemRow{}}
	for _, v := range list {
		for _, m := range v.List(vault.KindItem) {
			f := found{v, m}
			if !m.Trashed.IsZero() || !r.sees(f) || in.Type != "" && string(m.Type) != in.Type || in.Tag != "" && !slices.Contains(m.Tags, in.Tag) {
				continue
			}
			out.Items = append(out.Items, itemRow(r, f))
		}
	}
	slices.SortStableFunc(out.Items, func(a, b api.ItemRow) int {
		return strings.Compare(a.Vault+"/"+a.Name, b.Vault+"/"+b.Name)
	})
	return answer("list items", out), nil
}

// row is an item in a list.
func itemRow(r *request, f found) api.ItemRow {
	row := api.ItemRow{
		Name: f.Name, Vault: f.vault.Name(), Type: string(f.Type), Level: r.level(f).String(), State: string(f.State),
		Tags: full(f.Tags), Hosts: []string{},
		Open: isOpen(r.levels(f.vault).of(f.ID, r.who.Client)),
	}
	for _, h := range f.Hosts {
		row.Hosts = append(row.Hosts, h.Host)
	}
	return row
}

// planItemShow shows an item, and with presence the values of it.
func planItemShow(r *request) (*act, error) {
	var in api.ItemShow
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	a, err := findPart(&r.lookup, in.Vault, in.Name)
	f := a.found
	switch {
	case err != nil:
		return nil, err
	case in.Field != "" && a.path != "":
		return nil, usage("%s names a field already: leave --field away", a.name())
	case in.Field != "" && !in.Reveal:
		return nil, usage("a single field is for showing its value")
	}
	it, err := f.vault.Open(f.ID)
	if err != nil {
		return nil, err
	}
	s := &shown{r: r, found: f, it: it, needs: []policy.Need{policy.ToLook}, text: fmt.Sprintf("show the item %s/%s", f.vault.Name(), f.Name)}
	if err := s.choose(&in, a.path); err != nil {
		it.Destroy()
		return nil, err
	}
	return &act{
		needs: s.needs, text: s.text, close: it.Destroy,
		run: func(context.Context) (*api.Reply, error) { return s.run() },
	}, nil
}

// shown is an item that is being shown, and which of its fields with their values.
type shown struct {
	r     *request
	found found
	it    *vault.Item
	only  *vault.Field // of which alone something is shown; nil for all
	which []*vault.Field
	needs []policy.Need
	text  string
}

// choose says which field is meant, if not all are, and which values are wanted.
func (s *shown) choose(in *api.ItemShow, path string) (err error) {
	if path = cmp.Or(path, in.Field); path != "" {
		if s.only, err = fieldOf(&s.r.lookup, s.found, s.it, path); err != nil {
			return err
		}
	}
	if !in.Reveal {
		return nil
	}
	s.needs = append(s.needs, policy.ToReveal)
	name := s.found.vault.Name() + "/" + s.found.Name
	if s.only != nil {
		s.which, s.text = []*vault.Field{s.only}, fmt.Sprintf("show the value of %s/%s", name, pathOf(s.only))
		return nil
	}
	for i := range s.it.Fields {
		if s.it.Fields[i].Value.Len() > 0 {
			s.which = append(s.which, &s.it.Fields[i])
		}
	}
	if len(s.which) > frame.MaxValues {
		return api.Errorf(api.TooLarge, "%s has %d values, and at most %d are shown at once", name, len(s.which), frame.MaxValues).
			WithHint("show them one by one: --field")
	}
	s.text = showsAll(len(s.which), name)
	return nil
}

// showsAll says how many values of an item are shown.
func showsAll(n int, name string) string {
	if n == 1 {
		return "show the one value of " + name
	}
	return fmt.Sprintf("show all %d values of %s", n, name)
}

// pathOf is a field's "[section/]field".
func pathOf(f *vault.Field) string {
	if f.Section == "" {
		return f.Name
	}
	return f.Section + "/" + f.Name
}

func (s *shown) run() (*api.Reply, error) {
	out := api.ItemShown{
		ItemRow: itemRow(s.r, s.found), Created: stamp(s.found.Created), Modified: stamp(s.found.Modified),
		By: string(s.found.Origin.By), Client: s.found.Origin.Client, Commands: []api.Command{}, NeverEnv: s.found.NeverEnv, Fields: []api.ItemField{},
	}
	out.State = string(s.it.State)
	for _, c := range s.found.Commands {
		out.Commands = append(out.Commands, api.Command{Name: c.Name, Path: c.Path})
	}
	var values []secret.Value
	for i := range s.it.Fields {
		f := &s.it.Fields[i]
		if s.only != nil && f != s.only {
			continue
		}
		field := api.ItemField{
			Section: f.Section, Name: f.Name, Concealed: f.Concealed, Set: f.Value.Len() > 0,
			Ref: reference(s.found.vault, s.found.Name, f.Section, f.Name),
		}
		if slices.Contains(s.which, f) {
			value, err := f.Value.Clone()
			if err != nil {
				destroy(values)
				return nil, err
			}
			values, field.Revealed = append(values, value), true
		}
		out.Fields = append(out.Fields, field)
	}
	if s.only != nil {
		out.Field = pathOf(s.only)
	}
	s.r.Facts["revealed"] = len(values)
	return &api.Reply{Output: out, Values: values}, nil
}

func destroy(values []secret.Value) {
	for _, v := range values {
		v.Destroy()
	}
}

// stamp is a time as the wire has it; empty for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// planItemCheck says whether a value is there, without one (U-16).
func planItemCheck(r *request) (*act, error) {
	var in api.ItemCheck
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	a, err := findPart(&r.lookup, in.Vault, in.Name)
	if err != nil {
		return nil, err
	}
	if a.path != "" && in.Field != "" {
		return nil, usage("%s names a field already", a.name())
	}
	it, err := a.vault.Open(a.ID)
	if err != nil {
		return nil, err
	}
	defer it.Destroy()
	out := api.ItemChecked{}
	if path := cmp.Or(a.path, in.Field); path != "" {
		field, err := fieldOf(&r.lookup, a.found, it, path)
		if err != nil {
			return nil, err
		}
		out.Set = field.Value.Len() > 0
	} else {
		out.Set = slices.ContainsFunc(it.Fields, func(f vault.Field) bool { return f.Concealed && f.Value.Len() > 0 })
	}
	return answer("check whether a value is set", out), nil
}

// planItemHistory lists the revisions of an item.
func planItemHistory(r *request) (*act, error) {
	var in api.ItemName
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	f, err := findRemoved(r, in.Vault, in.Name)
	if err != nil {
		return nil, err
	}
	list, err := f.vault.History(f.ID)
	if err != nil {
		return nil, err
	}
	works, why, err := undoes(r, list)
	if err != nil {
		return nil, err
	}
	out := api.ItemHistory{Revisions: []api.ItemRevision{}}
	for _, m := range list {
		rev := m.Rev()
		row := api.ItemRevision{Rev: rev.String()[:16], Modified: stamp(m.Modified), By: string(m.Origin.By), Client: m.Origin.Client}
		if tag := m.Origin.Tag; tag != "" && tag == works {
			row.Undo = tag
		} else if tag != "" {
			row.NoUndo = why(tag)
		}
		out.Revisions = append(out.Revisions, row)
	}
	return answer("list the revisions of an item", out), nil
}

// findRemoved looks for an item, and if there is none for the last one of that name in the trash: an agent for its own.
func findRemoved(r *request, vaultName, text string) (found, error) {
	f, missing := findItem(&r.lookup, vaultName, text)
	if !isMissing(missing) {
		return f, missing
	}
	readings, err := readAddress(vaultName, text)
	if err != nil || len(readings) == 0 {
		return f, missing
	}
	wanted := readings[0] // the one as an item
	for _, v := range r.account.Vaults() {
		if wanted.Vault != "" && !vault.SameName(v.Name(), wanted.Vault) {
			continue
		}
		for _, m := range v.List(vault.KindItem) {
			match := !m.Trashed.IsZero() && vault.SameName(m.Name, wanted.Item) && (r.isPerson() || r.mine(&m))
			if match && (f.vault == nil || m.Trashed.After(f.Trashed)) {
				f = found{v, m}
			}
		}
	}
	if f.vault == nil {
		return f, missing
	}
	return f, nil
}
