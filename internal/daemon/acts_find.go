package daemon

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"warder/internal/api"
	"warder/internal/caller"
	"warder/internal/seal"
	"warder/internal/vault"
)

// lookup finds things as one caller may know of them, and remembers what was asked for.
type lookup struct {
	who     caller.Identity
	account *vault.Account     // nil while locked, for the kinds of operation that work then
	known   map[string]*levels // by vault
	subject subject            // what the act is about, as far as that is known
}

// isPerson says whether a person asks, proved or not. All others are treated as agents.
func (l *lookup) isPerson() bool { return l.who.Verdict == caller.Person }

// mine says whether the caller is the agent that made the item. A person's later hand makes it a person's; so may the hand beside
// it where two devices changed it apart.
func (l *lookup) mine(m *vault.Meta) bool {
	return m.Kind == vault.KindItem && !m.Conflict && owns(l, maker(m.Origin))
}

// found is an object and the vault that it is in.
type found struct {
	vault *vault.Vault
	vault.Meta
}

// levels are those of a vault, read once per request.
func (l *lookup) levels(v *vault.Vault) *levels {
	known := l.known[v.Name()]
	if known == nil {
		known = levelsOf(v.List())
		l.known[v.Name()] = known
	}
	return known
}

// sees says whether the caller may know of an object: a person of all, an agent of what is open to it.
func (l *lookup) sees(f found) bool {
	return l.isPerson() || isOpen(l.levels(f.vault).of(f.ID, l.who.Client))
}

// level is the level of an object as the caller is shown it: a person what it says for itself, an agent what that comes to.
func (l *lookup) level(f found) vault.Level {
	if l.isPerson() {
		return f.Level
	}
	return l.levels(f.vault).of(f.ID, l.who.Client)
}

// about notes what the act is about.
func (l *lookup) about(f found, below ...string) {
	name := strings.Join(append([]string{f.vault.Name(), f.Name}, below...), "/")
	l.subject = subject{name: name, open: l.levels(f.vault).toAll(f.ID)}
}

// aboutNew notes a name that is not there yet: it is named in the log if what is made is open to all.
func (l *lookup) aboutNew(open bool, parts ...string) {
	l.subject = subject{strings.Join(parts, "/"), open, true}
}

// missing is the answer for a name that the caller may not know of, whether it is there or not: an agent can't tell.
func (l *lookup) missing(what, name string) *api.Error {
	text := fmt.Sprintf("there is no %s %q", what, name)
	if !l.isPerson() {
		text += ", or it is not open to you"
	}
	e := api.Errorf(api.NotFound, "%s", text)
	if hint := whereListed(what); hint != "" {
		e = e.WithHint(hint)
	}
	return e
}

// whereListed is the hint for something that is not there: the command that lists what is. The code's own is for items.
func whereListed(what string) string {
	switch what {
	case "vault":
		return "see the vaults, before the names of what they hold: warder item list"
	case string(vault.KindProject):
		return "see which there are: warder project list"
	case string(vault.KindStage), "variable":
		return "see which there are: warder project show PROJECT"
	case "field":
		return "see which there are: warder item show ITEM"
	case "act":
		return "see the acts on an item and their tags: warder item history ITEM"
	}
	return ""
}

// vaults are those in which the caller may look for something: the named one, or all, the default one first.
func (l *lookup) vaults(name string) ([]*vault.Vault, error) {
	var list []*vault.Vault
	for _, v := range l.account.Vaults() {
		if name == "" || vault.SameName(v.Name(), name) {
			list = append(list, v)
		}
	}
	if len(list) == 0 || name != "" && !l.seesVault(list[0]) {
		l.subject = subject{name: name}
		return nil, l.missing("vault", name)
	}
	slices.SortStableFunc(list, func(a, b *vault.Vault) int { return defaultLast(b) - defaultLast(a) })
	return list, nil
}

func defaultLast(v *vault.Vault) int {
	if vault.SameName(v.Name(), vault.DefaultVault) {
		return 1
	}
	return 0
}

// seesVault says whether the caller may know of a vault: an agent of the default one, and of those that hold something for it.
func (l *lookup) seesVault(v *vault.Vault) bool {
	if l.isPerson() || defaultLast(v) == 1 {
		return true
	}
	all := l.levels(v)
	for id, m := range all.metas {
		if m.Kind != vault.KindVault && isOpen(all.of(id, l.who.Client)) {
			return true
		}
	}
	return false
}

// target is the vault in which something new is made.
func (l *lookup) target(name string) (*vault.Vault, error) {
	list, err := l.vaults(name)
	if err != nil {
		return nil, err
	}
	if name == "" && len(list) > 1 && defaultLast(list[0]) == 0 {
		return nil, api.Errorf(api.Usage, "there are several vaults and none is called %s: say which", vault.DefaultVault)
	}
	return list[0], nil
}

// find looks for an item or a project by name. Without a vault it may be in any. A project is also found as VAULT/PROJECT, which is how
// it is shown; the forms of items are findItem's.
func (l *lookup) find(kind vault.Kind, vaultName, name string) (found, error) {
	if in, project, ok := strings.Cut(name, "/"); ok && kind == vault.KindProject && vaultName == "" {
		vaultName, name = in, project
	}
	list, err := l.vaults(vaultName)
	if err != nil {
		return found{}, err
	}
	var seen []found
	for _, v := range list {
		m, err := v.Find(kind, seal.ID{}, name)
		if errors.Is(err, vault.ErrNotFound) {
			continue
		}
		if err != nil {
			return found{}, err
		}
		f := found{v, m}
		if l.about(f); l.sees(f) {
			seen = append(seen, f)
		}
	}
	switch {
	case len(seen) == 0:
		if l.subject.name == "" {
			l.subject = subject{name: name}
		}
		l.subject.open = false // sealed, so that the log tells no more than the answer
		return found{}, l.missing(string(kind), name)
	case len(seen) > 1 && !defaultWins(kind, seen):
		l.subject = subject{name: name}
		names := make([]string, len(seen))
		for i, f := range seen {
			names[i] = f.vault.Name() + "/" + f.Name
		}
		return found{}, severalMeanings(name, names)
	}
	l.about(seen[0])
	return seen[0], nil
}

// defaultWins says whether the first one found is meant, though there are others of its name: of projects the one in the default vault
// is, since new stages go to that. With items nobody is to guess: an agent could store one of its own beside a person's.
func defaultWins(kind vault.Kind, seen []found) bool {
	return kind != vault.KindItem && defaultLast(seen[0].vault) == 1
}

// severalMeanings refuses a text that names several things, all of which the caller may know of.
func severalMeanings(text string, meanings []string) error {
	return api.Errorf(api.Usage, "%q means several things: %s", text, strings.Join(meanings, ", ")).
		WithHint("write the one that is meant as it stands in this message")
}

// findStage looks for a stage of a project.
func (l *lookup) findStage(p found, name string) (found, error) {
	m, err := p.vault.Find(vault.KindStage, p.ID, name)
	if err != nil && !errors.Is(err, vault.ErrNotFound) {
		return found{}, err
	}
	f := found{p.vault, m}
	if err != nil || !l.sees(f) {
		l.subject = subject{name: strings.Join([]string{p.vault.Name(), p.Name, name}, "/")}
		return found{}, l.missing("stage", name).WithHint("see which there are: warder project show " + p.Name)
	}
	l.aboutStage(p, f.Name, l.levels(p.vault).toAll(f.ID))
	return f, nil
}

// aboutStage notes that the act is about a stage.
func (l *lookup) aboutStage(p found, stage string, open bool) {
	l.subject = subject{name: strings.Join([]string{p.vault.Name(), p.Name, stage}, "/"), open: open}
}

// refScheme begins a reference.
const refScheme = vault.RefScheme

// reference is the address of a field.
func reference(v *vault.Vault, item, section, field string) string {
	return vault.Address{Vault: v.Name(), Item: item, Section: section, Field: field}.Reference()
}
