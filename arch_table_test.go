package warder_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// level orders the packages. A package imports only from lower levels or, at
// the levels marked below, from its own.
type level int

const (
	foundation level = iota // also among each other, without cycles
	keeping                 // also among each other, without cycles
	records
	asking
	governing
	capability // never each other: what one needs it declares, daemon wires it
	transport  // between the daemon and those who ask it; also among each other
	composition
	door // what a process of its own speaks through
	command
	checking // tests and measurements
)

// sameLevel are the levels whose packages may import each other.
func sameLevel(l level) bool {
	return l == foundation || l == keeping || l == transport || l == checking
}

// anything stands in the table for every package on a lower level, and for
// every module.
const anything = "*"

// table is the rows by package name.
type table map[string]row

// row is what one package may import outside tests.
type row struct {
	level   level
	imports []string // packages of this module, by their name in the table
	modules []string // modules of others
}

// Modules of others, shortened in the table.
const (
	xCrypto = "golang.org/x/crypto"
	xSys    = "golang.org/x/sys"
	xText   = "golang.org/x/text"
	cobra   = "github.com/spf13/cobra"
	toml    = "github.com/pelletier/go-toml/v2"
	mcpSDK  = "github.com/modelcontextprotocol/go-sdk"
	shellMV = "mvdan.cc/sh/v3"
	globs   = "github.com/bmatcuk/doublestar/v4"
	pty     = "github.com/creack/pty"
	xNet    = "golang.org/x/net"
)

// testModules are the modules that tests alone may import. Tests may also
// import any module that the table names.
var testModules = []string{
	"github.com/google/go-cmp",
	"github.com/rogpeppe/go-internal",
	"github.com/c2sp/wycheproof",
	"github.com/tink-crypto/tink-go/v2",
	"pgregory.net/rapid",
}

// packageTable is the architecture: every package there is or will be. The same
// table for readers stands in docs/architecture.md.
var packageTable = table{
	"platform": {foundation, nil, []string{xSys}},
	"policy":   {foundation, nil, []string{toml, globs}},
	"shell":    {foundation, nil, []string{shellMV}},
	"dotenv":   {foundation, nil, nil},
	"secret":   {foundation, []string{"platform"}, nil},

	"seal":  {keeping, []string{"secret"}, []string{xCrypto, xText}},
	"mask":  {keeping, []string{"secret"}, nil},
	"state": {keeping, []string{"platform"}, []string{toml}},
	"proc":  {keeping, []string{"platform", "mask"}, []string{pty}},

	"audit":  {records, []string{"seal", "state"}, nil},
	"vault":  {records, []string{"seal", "secret", "state", "mask", "dotenv"}, []string{xText}},
	"caller": {records, []string{"platform"}, []string{toml}},

	// A second reader of the vault's format shares nothing with the first.
	"vault/f1reader": {records, nil, []string{xCrypto, xText}},

	"approval": {asking, []string{"audit", "secret"}, nil},

	"gate": {governing, []string{"policy", "audit", "mask", "secret", "approval", "caller"}, nil},

	"credential": {capability, []string{"gate", "policy", "vault", "secret", "mask", "dotenv"}, nil},
	"memory":     {capability, []string{"gate", "state"}, nil},
	"files":      {capability, []string{"gate", "state"}, []string{globs}},
	"terminal":   {capability, []string{"gate", "shell", "proc", "state"}, nil},
	"guard":      {capability, []string{"gate", "mask", "shell"}, nil},
	"observer":   {capability, []string{"gate", "proc"}, nil},
	"egress":     {capability, []string{"gate", "seal", "state"}, []string{xNet}},
	"relay":      {capability, []string{"gate", "seal", "state"}, nil},

	// Hooks speak frames without net/http; values cross in frames alone.
	"api/frame": {transport, []string{"platform", "secret"}, nil},
	"api":       {transport, []string{"platform", "secret", "api/frame"}, nil},

	"daemon": {composition, []string{anything}, []string{anything}},

	"mcp": {door, []string{"api"}, []string{mcpSDK}},

	"cli": {command, []string{"api", "api/frame", "state", "platform", "proc", "mask", "secret", "dotenv", "caller", "daemon", "mcp"}, []string{cobra}},

	"cmd/warder":       {checking, []string{"cli", "guard"}, nil},
	"cmd/warder-relay": {checking, []string{"relay", "state", "platform"}, []string{anything}},

	"testkit": {checking, []string{anything}, []string{anything}},
	"e2e":     {checking, []string{anything, "e2e/person"}, []string{anything}},

	// The world in which a test is a person, whatever it runs beneath.
	"e2e/person": {checking, []string{anything}, []string{anything}},
	"bench":      {checking, []string{anything}, []string{anything}},
}

// mayImport reports whether the table lets package from import package to.
func (t table) mayImport(from, to string) bool {
	r := t[from]
	if slices.Contains(r.imports, to) {
		return true
	}
	target, known := t[to]
	return known && slices.Contains(r.imports, anything) && target.level < r.level
}

// reach is every package that from may reach through others.
func (t table) reach(from string) map[string]bool {
	found := map[string]bool{}
	var walk func(string)
	walk = func(name string) {
		for to := range t {
			if !found[to] && t.mayImport(name, to) {
				found[to] = true
				walk(to)
			}
		}
	}
	walk(from)
	return found
}

// faults are the places where the table breaks its own direction: imports from
// a higher level or, where the level forbids it, from the same one, unknown
// names, cycles, and a way from what faces the agent to a key.
func (t table) faults() []string {
	var faults []string
	for _, from := range slices.Sorted(maps.Keys(t)) {
		for _, to := range t[from].imports {
			target, known := t[to]
			switch {
			case to == anything:
			case !known:
				faults = append(faults, fmt.Sprintf("%s imports %s, which has no row", from, to))
			case target.level > t[from].level, target.level == t[from].level && !sameLevel(target.level):
				faults = append(faults, fmt.Sprintf("%s imports %s, which is not below it", from, to))
			}
		}
		reachable := t.reach(from)
		if reachable[from] {
			faults = append(faults, from+" imports itself by a cycle")
		}
		if level := t[from].level; level != transport && level != door {
			continue
		}
		for _, key := range []string{"vault", "seal", "gate"} {
			if reachable[key] {
				faults = append(faults, fmt.Sprintf("%s faces the agent and reaches %s", from, key))
			}
		}
	}
	return faults
}

func TestPackageTablePointsDownwards(t *testing.T) {
	for _, fault := range packageTable.faults() {
		t.Error(fault)
	}
	for name, broken := range map[string]table{
		"upwards":            {"seal": {keeping, []string{"gate"}, nil}, "gate": {governing, nil, nil}},
		"between capability": {"files": {capability, []string{"memory"}, nil}, "memory": {capability, nil, nil}},
		"unknown":            {"seal": {keeping, []string{"absent"}, nil}},
		"cycle":              {"seal": {keeping, []string{"mask"}, nil}, "mask": {keeping, []string{"seal"}, nil}},
		"door to a key":      {"mcp": {door, []string{"seal"}, nil}, "seal": {keeping, nil, nil}},
	} {
		if len(broken.faults()) == 0 {
			t.Errorf("not found: %s", name)
		}
	}
}

// tableRules compare the tree with the table.
func tableRules() []rule {
	return []rule{{
		name:  "every package stands in the table",
		check: unknownPackages,
		bad: map[string]tree{
			"new package":    {"internal/util/a.go": "package util\n"},
			"outside":        {"pkg/seal/a.go": "package seal\n"},
			"nested":         {"internal/seal/extra/a.go": "package extra\n"},
			"code in root":   {"main.go": "package main\n"},
			"tests on top":   {"internal/util/a_test.go": "package util_test\n"},
			"second command": {"cmd/other/main.go": "package main\n"},
		},
		good: map[string]tree{
			"known":             {"internal/seal/a.go": "package seal\n"},
			"tests in root":     {"a_test.go": "package warder_test\n"},
			"tests only, below": {"internal/vault/second/a_test.go": "package second_test\n"},
			"not built":         {"internal/seal/testdata/a.go": "package x\n"},
		},
	}, {
		name:  "docs/architecture.md has a row for each package and marks what is planned",
		check: undocumentedPackages,
		bad: map[string]tree{
			"no document": {"internal/seal/a.go": "package seal\n"},
			"no row":      {architectureDoc: strings.Replace(documentedTable(), "| `seal` |", "| seal |", 1)},
			"marked though there": {
				architectureDoc:      documentedTable(),
				"internal/seal/a.go": "package seal\n",
			},
			"not marked": {architectureDoc: strings.Replace(documentedTable(), planned, "", 1)},
		},
		good: map[string]tree{"complete": {architectureDoc: documentedTable()}},
	}}
}

// unknownPackages finds folders with Go files that have no row. A folder below
// a known package may hold tests alone, and so may the root.
func unknownPackages(m *model) []string {
	var findings []string
	for _, p := range m.packages {
		_, known := packageTable[p.name()]
		if known && (strings.HasPrefix(p.path, "internal/") || !internalName(p.name())) {
			continue
		}
		if p.testOnly() && (p.path == "." || packageTable.holds(p)) {
			continue
		}
		findings = append(findings, fmt.Sprintf("%s: not in the package table", p.path))
	}
	return findings
}

// internalName reports whether the package of that name belongs below internal.
func internalName(name string) bool {
	return name != "bench" && !strings.HasPrefix(name, "cmd/")
}

// holds reports whether the folder lies below a package of the table.
func (t table) holds(p *pkg) bool {
	for name := range t {
		if strings.HasPrefix(p.path, "internal/"+name+"/") {
			return true
		}
	}
	return false
}

// architectureDoc is the document with the package table for readers, and
// planned the mark of a package that is not there yet.
const (
	architectureDoc = "docs/architecture.md"
	planned         = "*planned*"
)

// undocumentedPackages compares the document with the table and the tree.
func undocumentedPackages(m *model) []string {
	there := map[string]bool{}
	for _, p := range m.packages {
		there[p.name()] = true
	}
	var findings []string
	for _, name := range slices.Sorted(maps.Keys(packageTable)) {
		row := documentRow(m.texts[architectureDoc], name)
		switch {
		case row == "":
			findings = append(findings, fmt.Sprintf("%s: no row for %s", architectureDoc, name))
		case strings.Contains(row, planned) && there[name]:
			findings = append(findings, fmt.Sprintf("%s: %s is there, not planned", architectureDoc, name))
		case !strings.Contains(row, planned) && !there[name]:
			findings = append(findings, fmt.Sprintf("%s: %s is not there and not marked %s", architectureDoc, name, planned))
		}
	}
	return findings
}

// documentRow returns the table row that begins with the package's name.
func documentRow(text, name string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| `"+name+"` |") {
			return line
		}
	}
	return ""
}

// documentedTable is a document that plans every package.
func documentedTable() string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(packageTable)) {
		fmt.Fprintf(&text, "| `%s` | %s |\n", name, planned)
	}
	return text.String()
}
