package testkit

import (
	"slices"
	"testing"
)

// Forms returns the names of the forms that are searched for.
func Forms(c Canary) (names []string) {
	for _, n := range forms(c) {
		names = append(names, n.form)
	}
	return names
}

// ProveWithout runs the self-check of a search that lacks one form.
func ProveWithout(t testing.TB, c Canary, form string) {
	s := &Search{needles: slices.DeleteFunc(forms(c), func(n needle) bool { return n.form == form })}
	s.prove(t, []Canary{c})
}
