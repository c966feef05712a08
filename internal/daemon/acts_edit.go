package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"warder/internal/api"
	"warder/internal/policy"
	"warder/internal/vault"
)

// planItemEdit changes an item.
func planItemEdit(r *request) (*act, error) {
	var in api.ItemEdit
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if err := r.want(len(in.Set)); err != nil {
		return nil, err
	}
	f, err := findItem(&r.lookup, in.Vault, in.Name)
	if err != nil {
		return nil, err
	}
	it, err := f.vault.Open(f.ID)
	if err != nil {
		return nil, err
	}
	e := &itemEdit{r: r, in: &in, found: f, it: it, before: it.Meta}
	if err := e.prepare(); err != nil {
		e.close()
		return nil, err
	}
	return &act{
		needs: e.needs,
		text:  fmt.Sprintf("change the item %s/%s: %s", f.vault.Name(), f.Name, strings.Join(e.says, ", ")),
		run:   func(context.Context) (*api.Reply, error) { return changedItem(r, e.it.Name, f, e.warnings(), e.run) },
		close: e.close,
	}, nil
}

// itemEdit is an item on its way from one revision to the next. Everything but the values is in place when it is planned, so
// what was decided about is what is saved.
type itemEdit struct {
	r      *request
	in     *api.ItemEdit
	found  found
	it     *vault.Item
	before vault.Meta
	along  *following // what goes along with a new name; nil if nothing does
	needs  []policy.Need
	says   []string // what it does, for the person who is asked
}

func (e *itemEdit) say(format string, args ...any) {
	e.says = append(e.says, fmt.Sprintf(format, args...))
}

// prepare applies all but the values, and collects what it takes.
func (e *itemEdit) prepare() error {
	e.needs = []policy.Need{policy.ToChange}
	if e.r.mine(&e.before) {
		e.needs = []policy.Need{policy.ToChangeOwn}
	}
	for _, step := range [...]func() error{e.rename, e.fields, e.hosts, e.commands, e.tags, e.level, e.delivery} {
		if err := step(); err != nil {
			return err
		}
	}
	if len(e.says) == 0 {
		return usage("nothing is to be changed")
	}
	return nil
}

func (e *itemEdit) rename() error {
	if e.in.Rename == "" || e.in.Rename == e.it.Name {
		return nil
	}
	if err := vault.CheckName("item name", e.in.Rename); err != nil {
		return err
	}
	if !vault.SameName(e.in.Rename, e.it.Name) {
		if err := wantFree(e.r, e.found.vault, e.in.Rename); err != nil {
			return err
		}
	}
	if unsafeFor(&e.r.lookup, e.in.Rename) {
		e.needs = append(e.needs, policy.ToSetCodeName)
	}
	e.say("call it %s", e.in.Rename)
	if e.r.isPerson() && !vault.SameName(e.in.Rename, e.it.Name) {
		var err error
		if e.along, err = follow(e.r, e.found, e.in.Rename); err != nil {
			return err
		}
		if e.along.count > 0 {
			e.say("and let %d references to it follow", e.along.count)
		}
	}
	e.it.Name = e.in.Rename
	return nil
}

func (e *itemEdit) close() {
	e.it.Destroy()
	e.along.destroy()
}

// fields removes and adds fields; the values follow when it runs.
func (e *itemEdit) fields() error {
	for _, path := range e.in.Unset {
		f, err := fieldOf(&e.r.lookup, e.found, e.it, path)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(e.in.Set, func(s api.FieldIn) bool { return e.it.Field(s.Section, s.Name) == f }) {
			return usage("field %q is to be set and removed", path)
		}
		f.Value.Destroy()
		section, name := f.Section, f.Name // f is about to stand for another one
		e.it.Fields = slices.DeleteFunc(e.it.Fields, func(o vault.Field) bool { return o.Section == section && o.Name == name })
		e.say("remove %s", path)
	}
	set := map[string]bool{}
	for _, s := range e.in.Set {
		f := e.it.Field(s.Section, s.Name)
		switch {
		case f == nil:
			e.it.Fields = append(e.it.Fields, vault.Field{Section: s.Section, Name: s.Name})
			f = &e.it.Fields[len(e.it.Fields)-1]
		case f.Concealed && !s.Concealed:
			e.needs = append(e.needs, policy.ToUnconceal)
			e.say("mark %s as no secret", s.Name)
		}
		if unsafeFor(&e.r.lookup, s.Name) {
			e.needs = append(e.needs, policy.ToSetCodeName)
		}
		key := f.Section + "/" + f.Name
		if set[key] {
			return usage("field %q is to be set twice", s.Name)
		}
		set[key] = true
		f.Concealed, f.NonSecret = s.Concealed, declared(e.r, s.Concealed)
		e.say("set %s", s.Name)
	}
	return nil
}

func (e *itemEdit) hosts() error {
	if e.in.Hosts == nil {
		return nil
	}
	hosts, err := hostsOf(*e.in.Hosts)
	if err != nil {
		return err
	}
	for i, h := range hosts {
		old := slices.IndexFunc(e.it.Hosts, func(o vault.Host) bool { return o.Host == h.Host })
		if old >= 0 {
			hosts[i] = e.it.Hosts[old] // with its methods and paths
			continue
		}
		e.needs = append(e.needs, policy.ToAddHost)
		e.say("let it go to %s", h.Host)
	}
	if len(hosts) < len(e.it.Hosts) {
		e.say("take hosts away")
	}
	e.it.Hosts = hosts
	return nil
}

// commands replaces the commands. An empty list means any command, so emptying one widens most of all.
func (e *itemEdit) commands() error {
	if e.in.Commands == nil {
		return nil
	}
	commands, err := commandsOf(*e.in.Commands)
	if err != nil {
		return err
	}
	if addsCommand(e.it.Commands, commands) {
		e.needs = append(e.needs, policy.ToAddCommand)
	}
	names := make([]string, len(commands))
	for i, c := range commands {
		names[i] = c.Path
	}
	if len(names) == 0 {
		names = []string{"any command"}
	}
	e.say("let it be used by %s", strings.Join(names, " "))
	e.it.Commands = commands
	return nil
}

// addsCommand says whether after allows what before does not.
func addsCommand(before, after []vault.Command) bool {
	if len(after) == 0 {
		return len(before) > 0
	}
	return slices.ContainsFunc(after, func(c vault.Command) bool {
		return !slices.ContainsFunc(before, func(o vault.Command) bool { return o.Path == c.Path })
	})
}

// addsHost says whether after allows what before does not.
func addsHost(before, after []vault.Host) bool {
	return slices.ContainsFunc(after, func(h vault.Host) bool {
		return !slices.ContainsFunc(before, func(o vault.Host) bool { return o.Host == h.Host })
	})
}

func (e *itemEdit) tags() error {
	if e.in.Tags == nil {
		return nil
	}
	tags, err := tagsOf(e.r, *e.in.Tags)
	e.it.Tags = tags
	e.say("set its tags")
	return err
}

func (e *itemEdit) level() error {
	if e.in.Level == nil {
		return nil
	}
	level, err := vault.ParseLevel(*e.in.Level)
	if err != nil {
		return usage("%v", err)
	}
	e.it.Level = level
	e.say("set its level from %s to %s", e.before.Level, level)
	if level > vault.LevelUse && level != e.before.Level {
		e.needs = append(e.needs, policy.ToPassUse)
	}
	now := e.r.levels(e.found.vault)
	if !e.r.mine(&e.before) && now.raises(now.with(e.it.Meta)) {
		e.needs = append(e.needs, policy.ToRaise) // of its own an agent may say what it could have said when it made it
	}
	return nil
}

// delivery says whether programs may get a value in a variable, which whatever they start inherits.
func (e *itemEdit) delivery() error {
	if e.in.NeverEnv == nil || *e.in.NeverEnv == e.it.NeverEnv {
		return nil
	}
	if e.it.NeverEnv = *e.in.NeverEnv; e.it.NeverEnv {
		e.say("give it to no program in a variable")
		return nil
	}
	e.say("let programs get it in a variable")
	if !e.r.mine(&e.before) {
		e.needs = append(e.needs, policy.ToRaise)
	}
	return nil
}

// changed makes a change and says how to take it back.
func changed(r *request, warnings []string, change func() error) (*api.Reply, error) {
	if err := change(); err != nil {
		return nil, err
	}
	return &api.Reply{Output: api.Changed{Undo: r.ID, Warnings: full(warnings)}}, nil
}

// changedItem is changed for an item: it also says which one, and what it is called now.
func changedItem(r *request, name string, f found, warnings []string, change func() error) (*api.Reply, error) {
	if err := change(); err != nil {
		return nil, err
	}
	return &api.Reply{Output: api.Changed{Vault: f.vault.Name(), Name: name, Undo: r.ID, Warnings: full(warnings)}}, nil
}

// warnings are what is weak about the new values, and that agents can use them: an agent may have made the item and chosen its
// level.
func (e *itemEdit) warnings() []string {
	warnings := e.along.warnings(e.before.Name, e.it.Name)
	for i, s := range e.in.Set {
		if text := weakness(s.Name, e.r.values[i], s.Concealed); text != "" {
			warnings = append(warnings, text)
		}
	}
	if !e.r.isPerson() {
		return append(warnings, hides(e.r, e.found, e.it.Meta)...)
	}
	level := e.r.levels(e.found.vault).with(e.it.Meta).of(e.it.ID, "")
	switch {
	case !isOpen(level):
	case e.in.Level != nil && level > e.it.Level:
		warnings = append(warnings, fmt.Sprintf("a project that links %s keeps it open to agents at level %s: level none closes it", e.it.Name, level))
	case len(e.in.Set) > 0:
		warnings = append(warnings, fmt.Sprintf("agents can use what is stored in %s: its level is %s", e.it.Name, level))
	}
	return warnings
}

// run puts the values in and saves.
func (e *itemEdit) run() error {
	for i, s := range e.in.Set {
		value, err := e.r.values[i].Clone()
		if err != nil {
			return err
		}
		e.it.Field(s.Section, s.Name).Put(value)
	}
	e.it.Origin = e.r.origin()
	e.r.Facts["set"], e.r.Facts["removed"] = len(e.in.Set), len(e.in.Unset)
	if e.in.Level != nil {
		e.r.Facts["level"] = e.it.Level.String()
	}
	return e.found.vault.Save(e.along.items(e.it)...)
}

// planItemRemove puts an item into the trash.
func planItemRemove(r *request) (*act, error) {
	var in api.ItemName
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	f, err := findItem(&r.lookup, in.Vault, in.Name)
	if err != nil {
		return nil, err
	}
	needs := []policy.Need{policy.ToChange}
	if r.mine(&f.Meta) {
		needs = []policy.Need{policy.ToChangeOwn}
	}
	return &act{
		needs: needs,
		text:  fmt.Sprintf("remove the item %s/%s", f.vault.Name(), f.Name),
		run: func(context.Context) (*api.Reply, error) {
			return changedItem(r, f.Name, f, nil, func() error { return f.vault.Trash(f.ID, r.origin()) })
		},
	}, nil
}
