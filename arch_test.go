// Package warder_test holds the rules that keep the architecture from rotting:
// which package may import which, where cryptography, processes and unsafe code
// may be, how large things may grow, and what must not be in the tree at all.
//
// They run with every plain "go test ./...". Each rule is a function over a
// model of the source tree, and carries small trees that break it: a rule that
// can't fail is a failure itself. There is no way to excuse a finding; what is
// allowed stands in the tables of these files, with its reason.
//
// Files: arch_model_test.go loads the tree; arch_table_test.go is the package
// table; the others hold the rules by subject.
package warder_test

import (
	"slices"
	"testing"
)

// rule is one property of the source tree.
type rule struct {
	name string
	// check returns a line for each violation, beginning with its file.
	check func(m *model) []string
	// bad are trees that break the rule, by what breaks it.
	bad map[string]tree
	// good are trees close to the bad ones that keep it.
	good map[string]tree
}

// rules are all rules.
func rules() []rule {
	return slices.Concat(tableRules(), importRules(), codeRules(), sizeRules(), shapeRules(), textRules())
}

func TestArchitecture(t *testing.T) {
	m := loadTree(t, ".")
	if len(m.packages) < 5 || len(m.texts) < 5 {
		t.Fatalf("the model holds %d packages and %d texts: the tree was not found", len(m.packages), len(m.texts))
	}
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			for _, finding := range r.check(m) {
				t.Error(finding)
			}
		})
	}
}

func TestArchitectureRulesCanFail(t *testing.T) {
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			if len(r.bad) == 0 {
				t.Error("no tree breaks this rule: nothing shows that it can fail")
			}
			for name, files := range r.bad {
				if len(r.check(parseTree(t, files))) == 0 {
					t.Errorf("not found: %s", name)
				}
			}
			for name, files := range r.good {
				for _, finding := range r.check(parseTree(t, files)) {
					t.Errorf("found in %s: %s", name, finding)
				}
			}
		})
	}
}
