package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"warder/internal/api"
	"warder/internal/policy"
	"warder/internal/seal"
	"warder/internal/vault"
)

// byAgent is the tag of every item, project and stage that an agent made.
const byAgent = "by-agent"

// marks are the tags that what the caller makes has in any case.
func marks(l *lookup) []string {
	if l.isPerson() {
		return nil
	}
	return []string{byAgent}
}

// planItemAdd stores a new item.
func planItemAdd(r *request) (*act, error) {
	var in api.ItemAdd
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if err := r.want(len(in.Fields)); err != nil {
		return nil, err
	}
	v, err := r.target(in.Vault)
	if err != nil {
		return nil, err
	}
	r.aboutNew(false, v.Name(), in.Name)
	it, err := newItem(r, &in)
	if err != nil {
		return nil, err
	}
	needs := []policy.Need{policy.ToAdd}
	if it.Level > vault.LevelUse {
		needs = append(needs, policy.ToPassUse)
	}
	if unsafeFor(&r.lookup, in.Name) || slices.ContainsFunc(in.Fields, func(f api.FieldIn) bool { return unsafeFor(&r.lookup, f.Name) }) {
		needs = append(needs, policy.ToSetCodeName)
	}
	if err := wantFree(r, v, in.Name); err != nil {
		return nil, err
	}
	r.aboutNew(isOpen(it.Level), v.Name(), in.Name)
	return &act{
		needs: needs,
		text:  fmt.Sprintf("add the item %s/%s", v.Name(), in.Name),
		run:   func(context.Context) (*api.Reply, error) { return addItem(r, v, it) },
	}, nil
}

// exists is the answer to a name that is taken, whether the caller may know of what has it or not: the one thing that an agent
// learns of what is hidden from it is that it has to choose another name.
func exists(what string) error {
	return api.Errorf(api.Exists, "there is %s of that name already", what)
}

// wantFree refuses an item's name that is taken. For an agent the names that others used are taken as well: a reference of a
// person's to what was there must not come to mean what an agent puts in its place.
func wantFree(r *request, v *vault.Vault, name string) error {
	if !r.isPerson() {
		if taken, err := spokenFor(r, v, name); err != nil {
			return err
		} else if taken {
			return exists("an item")
		}
	}
	_, err := v.Find(vault.KindItem, seal.ID{}, name)
	switch {
	case errors.Is(err, vault.ErrNotFound):
		return nil
	case err == nil:
		return exists("an item")
	}
	return err
}

// newItem makes an item of an input, without its values.
func newItem(r *request, in *api.ItemAdd) (*vault.Item, error) {
	it := &vault.Item{Meta: vault.Meta{Kind: vault.KindItem, Name: in.Name, Type: vault.Type(in.Type), NeverEnv: in.NeverEnv, Origin: r.origin()}}
	if in.Type == "" {
		it.Type = vault.TypeOther
	}
	if !slices.Contains(vault.Types(), it.Type) {
		return nil, usage("type %q is none of %v", in.Type, vault.Types())
	}
	if err := vault.CheckName("item name", in.Name); err != nil {
		return nil, err
	}
	var err error
	if it.Level, err = levelOf(r, in.Level); err != nil {
		return nil, err
	}
	if it.Hosts, err = hostsOf(in.Hosts); err != nil {
		return nil, err
	}
	if it.Commands, err = commandsOf(in.Commands); err != nil {
		return nil, err
	}
	if it.Tags, err = tagsOf(r, in.Tags); err != nil {
		return nil, err
	}
	for _, f := range in.Fields {
		if it.Field(f.Section, f.Name) != nil {
			return nil, usage("field %q stands twice", f.Name)
		}
		it.Fields = append(it.Fields, vault.Field{Section: f.Section, Name: f.Name, Concealed: f.Concealed, NonSecret: declared(r, f.Concealed)})
	}
	return it, nil
}

// declared is who said that a value is no secret. Only a person's word counts (C-29).
func declared(r *request, concealed bool) vault.By {
	switch {
	case concealed:
		return ""
	case r.isPerson():
		return vault.ByPerson
	}
	return vault.ByAgent
}

// addItem stores an item with the values of the call.
func addItem(r *request, v *vault.Vault, it *vault.Item) (*api.Reply, error) {
	defer it.Destroy()
	for i := range it.Fields {
		value, err := r.values[i].Clone()
		if err != nil {
			return nil, err
		}
		it.Fields[i].Put(value)
	}
	if err := v.Save(it); err != nil {
		return nil, err
	}
	r.Facts["fields"], r.Facts["level"] = len(it.Fields), it.Level.String()
	out := api.ItemAdded{Name: it.Name, Vault: v.Name(), Level: it.Level.String(), Undo: r.ID, Warnings: append(warningsOf(it.Fields), hides(r, found{v, it.Meta}, it.Meta)...)}
	for _, f := range it.Fields {
		if f.Concealed {
			out.Ref = reference(v, it.Name, f.Section, f.Name)
			break
		}
	}
	return &api.Reply{Output: out}, nil
}

// levelOf reads the level of something new. What an agent stores without a word it can use.
func levelOf(r *request, word string) (vault.Level, error) {
	if word == "" {
		if r.isPerson() {
			return vault.LevelUnset, nil
		}
		return vault.LevelUse, nil
	}
	l, err := vault.ParseLevel(word)
	if err != nil {
		return 0, usage("%v", err)
	}
	return l, nil
}

// tagsOf checks tags. An agent's items keep theirs.
func tagsOf(r *request, tags []string) ([]string, error) {
	tags = slices.Concat(tags, marks(&r.lookup))
	slices.Sort(tags)
	tags = slices.Compact(tags)
	for _, tag := range tags {
		if err := vault.CheckName("tag", tag); err != nil {
			return nil, err
		}
	}
	return tags, nil
}

// maxHost is the longest host with a port.
const maxHost = 261

// hostsOf checks hosts: "example.com", "*.example.com", either with a port, in small letters.
func hostsOf(names []string) ([]vault.Host, error) {
	hosts := make([]vault.Host, 0, len(names))
	for _, name := range names {
		host := strings.ToLower(name)
		if !isHost(host) {
			return nil, usage("%q is no host: want a name such as api.example.com or *.example.com, with a port if need be", name)
		}
		if !slices.ContainsFunc(hosts, func(h vault.Host) bool { return h.Host == host }) {
			hosts = append(hosts, vault.Host{Host: host})
		}
	}
	return hosts, nil
}

func isHost(host string) bool {
	name := strings.TrimPrefix(host, "*.")
	if name == "" || len(host) > maxHost || name[0] == '.' || name[0] == '-' || name[0] == ':' {
		return false
	}
	for _, c := range name {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', strings.ContainsRune(".-_:[]", c):
		default:
			return false
		}
	}
	return true
}

// commandsOf checks commands.
func commandsOf(in []api.Command) ([]vault.Command, error) {
	commands := make([]vault.Command, 0, len(in))
	for _, c := range in {
		if c.Name == "" || strings.ContainsFunc(c.Name+c.Path, isControl) {
			return nil, usage("a command needs a name without control characters")
		}
		if !filepath.IsAbs(c.Path) || filepath.Clean(c.Path) != c.Path {
			return nil, usage("the path of command %q is not an absolute one", c.Name)
		}
		commands = append(commands, vault.Command{Name: c.Name, Path: c.Path})
	}
	return commands, nil
}

func isControl(c rune) bool { return c < ' ' || c == 0x7f }
