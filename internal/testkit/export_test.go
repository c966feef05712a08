package testkit

import (
	"slices"
	"testing"
)

// ProveWithout runs the self-check of a search that lacks one form.
func ProveWithout(t testing.TB, c Canary, form string) {
	s := &Search{needles: slices.DeleteFunc(forms(c), func(n needle) bool { return n.form == form })}
	s.prove(t, []Canary{c})
}
