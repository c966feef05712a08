package vault

import (
	"errors"
	"slices"
	"strings"
)

// RefScheme begins a reference.
const RefScheme = "warder://"

// refForm is how a reference is written.
const refForm = RefScheme + "vault/item/[section/]field"

// Address says which item, or which field of one, somebody means. What was not written is empty.
type Address struct{ Vault, Item, Section, Field string }

// ErrAddress is the error for a text that addresses nothing.
var ErrAddress = errors.New("want ITEM, VAULT/ITEM or " + RefScheme + "VAULT/ITEM, each with /FIELD or /SECTION/FIELD behind it for a field")

// ParseAddress returns all that a text can mean, items before fields: VAULT/ITEM is written like ITEM/FIELD, and only what there is can
// tell. A reference begins with [RefScheme] and then the vault, so it means one thing. No name holds a slash, so every text is parted
// in one way; whether the parts are names is not asked, for what is none is not found.
func ParseAddress(text string) ([]Address, error) {
	path, whole := strings.CutPrefix(text, RefScheme)
	parts := strings.Split(path, "/")
	if slices.Contains(parts, "") {
		return nil, ErrAddress
	}
	switch n := len(parts); {
	case n == 4:
		return []Address{{parts[0], parts[1], parts[2], parts[3]}}, nil
	case n == 3 && whole:
		return []Address{{Vault: parts[0], Item: parts[1], Field: parts[2]}}, nil
	case n == 3:
		return []Address{{Vault: parts[0], Item: parts[1], Field: parts[2]}, {Item: parts[0], Section: parts[1], Field: parts[2]}}, nil
	case n == 2 && whole:
		return []Address{{Vault: parts[0], Item: parts[1]}}, nil
	case n == 2:
		return []Address{{Vault: parts[0], Item: parts[1]}, {Item: parts[0], Field: parts[1]}}, nil
	case n == 1 && !whole:
		return []Address{{Item: parts[0]}}, nil
	}
	return nil, ErrAddress
}

// ParseReference reads a reference: the address of a field, with its scheme.
func ParseReference(text string) (Address, error) {
	list, err := ParseAddress(text)
	if err != nil || !strings.HasPrefix(text, RefScheme) || list[0].Field == "" {
		return Address{}, errors.New("a reference is " + refForm)
	}
	return list[0], nil
}

// Path is the part of the address that is below the item: "[section/]field", empty for a whole item.
func (a Address) Path() string {
	if a.Section == "" {
		return a.Field
	}
	return a.Section + "/" + a.Field
}

// String is the address without a scheme, as lists show it.
func (a Address) String() string {
	parts := []string{a.Vault, a.Item, a.Section, a.Field}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "/")
}

// Reference is the address of a field as [ParseReference] reads it.
func (a Address) Reference() string { return RefScheme + a.String() }

// isReference says whether s is written as a reference. Whether there is such a field is not asked: it may come later.
func isReference(s string) bool {
	a, err := ParseReference(s)
	if err != nil {
		return false
	}
	for _, part := range [...]string{a.Vault, a.Item, a.Field} {
		if nameFault(part) != "" {
			return false
		}
	}
	return a.Section == "" || nameFault(a.Section) == ""
}
