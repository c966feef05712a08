package daemon

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"warder/internal/api"
	"warder/internal/vault"
)

// addressed is what somebody's text was found to mean: an item, or a field of one.
type addressed struct {
	found
	path string // "[section/]field" of the field as it is stored; empty for the whole item
}

// name is the text that means just this, whatever else there is.
func (a addressed) name() string {
	name := vault.RefScheme + a.vault.Name() + "/" + a.Name
	if a.path == "" {
		return name
	}
	return name + "/" + a.path
}

// findItem finds the item that a text names: ITEM, VAULT/ITEM, or the same as a reference.
func findItem(l *lookup, vaultName, text string) (found, error) {
	readings, err := readAddress(vaultName, text)
	if err != nil {
		return found{}, err
	}
	items := slices.DeleteFunc(slices.Clone(readings), func(a vault.Address) bool { return a.Field != "" })
	if len(items) == 0 && len(readings) > 0 {
		l.subject = subject{name: text}
		return found{}, api.Errorf(api.Usage, "%q names a field, and an item is wanted", text).WithHint("leave the field away: VAULT/ITEM")
	}
	a, err := search{l, text}.choose(items)
	return a.found, err
}

// findPart finds the item or the field that a text names: in any form of findItem, each with /FIELD or /SECTION/FIELD behind it for a
// field.
func findPart(l *lookup, vaultName, text string) (addressed, error) {
	readings, err := readAddress(vaultName, text)
	if err != nil {
		return addressed{}, err
	}
	return search{l, text}.choose(readings)
}

// readAddress returns what a text can mean in a vault, if one was named apart from it.
func readAddress(vaultName, text string) ([]vault.Address, error) {
	readings, err := vault.ParseAddress(text)
	if err != nil {
		return nil, api.Errorf(api.Usage, "%q names no item: %v", text, err).WithHint("see the names of items: warder item list")
	}
	if vaultName == "" {
		return readings, nil
	}
	for i := range readings {
		if readings[i].Vault == "" {
			readings[i].Vault = vaultName
		}
	}
	return slices.DeleteFunc(readings, func(a vault.Address) bool { return !vault.SameName(a.Vault, vaultName) }), nil
}

// search looks for what a text means.
type search struct {
	l    *lookup
	text string
}

// choose finds the one reading of a text that there is something for. What the caller may not know of is not there, so that an agent
// can't tell from an ambiguity, or from the lack of one, what is hidden from it.
func (s search) choose(readings []vault.Address) (addressed, error) {
	var there []addressed
	var fault, field error
	for _, r := range readings {
		a, err := s.look(r)
		switch {
		case err == nil:
			there = append(there, a)
		case !isMissing(err):
			return addressed{}, err
		case a.vault != nil: // the item is there, so it is the field that is wrong
			field = err
		default:
			fault = err
		}
	}
	if len(there) == 1 {
		s.l.about(there[0].found)
		return there[0], nil
	}
	s.l.subject = subject{name: s.text} // sealed, so that the log tells no more than the answer
	switch {
	case len(there) > 1:
		names := make([]string, len(there))
		for i, a := range there {
			names[i] = a.name()
		}
		return addressed{}, severalMeanings(s.text, names)
	case field != nil:
		return addressed{}, field
	case len(readings) == 1:
		return addressed{}, fault
	}
	return addressed{}, s.l.missing(string(vault.KindItem), s.text)
}

// look finds what one reading of a text names. With a field that is missing it also returns the item.
func (s search) look(r vault.Address) (addressed, error) {
	if _, err := s.l.vaults(r.Vault); err != nil {
		return addressed{}, err
	}
	f, err := s.l.find(vault.KindItem, r.Vault, r.Item)
	if isMissing(err) {
		return addressed{}, s.l.missing(string(vault.KindItem), s.text)
	}
	if err != nil || r.Field == "" {
		return addressed{found: f}, err
	}
	it, err := f.vault.Open(f.ID)
	if err != nil {
		return addressed{}, err
	}
	defer it.Destroy()
	field, err := fieldOf(s.l, f, it, r.Path())
	if err != nil {
		return addressed{found: f}, err
	}
	return addressed{f, pathOf(field)}, nil
}

// isMissing says whether an error tells that there is nothing of a name.
func isMissing(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Code == api.NotFound
}

// fieldOf finds a field of an item by "[section/]field". Without a section it means the only field of that name, wherever that is.
func fieldOf(l *lookup, f found, it *vault.Item, path string) (*vault.Field, error) {
	section, name, sectioned := strings.Cut(path, "/")
	if !sectioned {
		section, name = "", path
	}
	if field := it.Field(section, name); field != nil {
		return field, nil
	}
	var fields []*vault.Field
	var names []string
	for i := range it.Fields {
		if field := &it.Fields[i]; !sectioned && vault.SameName(field.Name, name) {
			fields = append(fields, field)
			names = append(names, addressed{f, pathOf(field)}.name())
		}
	}
	switch len(fields) {
	case 0:
		return nil, l.missing("field", path).WithHint(fmt.Sprintf("see which there are: warder item show %s/%s", f.vault.Name(), f.Name))
	case 1:
		return fields[0], nil
	}
	return nil, severalMeanings(path, names)
}

// findField finds the field that a reference names, which may be written without its scheme, and gives the reference back as it is
// stored.
func (l *lookup) findField(ref string) (canonical string, err error) {
	before := l.subject
	a, err := findPart(l, "", ref)
	if err != nil {
		return "", err
	}
	l.subject = before
	if a.path == "" {
		return "", api.Errorf(api.Usage, "%q names an item, and a field is wanted", ref).WithHint("a reference is " + vault.RefScheme + "VAULT/ITEM/[SECTION/]FIELD")
	}
	return a.name(), nil
}
