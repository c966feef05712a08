package warder_test

import (
	"go/ast"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestGuaranteesNameTheirTests keeps the threat model's promises from outliving
// what holds them: each guarantee names tests, and each of these is in the tree.
func TestGuaranteesNameTheirTests(t *testing.T) {
	text, err := os.ReadFile("docs/threat-model.md")
	if err != nil {
		t.Fatal(err)
	}
	there := testNames(loadTree(t, "."))
	rows := guaranteeRows(string(text))
	if len(rows) < 13 {
		t.Errorf("only %d guarantees were found", len(rows))
	}
	for _, row := range rows {
		for _, fault := range unheld(row, there) {
			t.Error(fault)
		}
	}
}

func TestGuaranteesNameTheirTests_canFail(t *testing.T) {
	there := []string{"TestKept", "TestU_20_Modes"}
	for row, faulty := range map[string]bool{
		"| G1 | Promise. | `TestKept`, `TestU_20_…` |":     false,
		"| G1 | Promise. | internal/seal |":                true,
		"| G1 | Promise of `TestKept`. | internal/seal |":  true,
		"| G1 | Promise. | `TestKept`; internal/state |":   true,
		"| G1 | Promise. | `TestKept`, `TestGone` |":       true,
		"| G1 | Promise. | `TestKep` |":                    true,
		"| G1 | Promise. | `TestU_20_…`, `TestU_21_…` |":   true,
		"| G1 | Promise. | `TestKept`, `TestU_20_Modes` |": false,
	} {
		if got := unheld(row, there); (len(got) > 0) != faulty {
			t.Errorf("%s: %q", row, got)
		}
	}
}

// guaranteeRows are the lines of the table of guarantees.
func guaranteeRows(text string) []string {
	return regexp.MustCompile(`(?m)^\| G\d+ \|.*$`).FindAllString(text, -1)
}

// unheld tells what a guarantee names that is no test; a name that ends in "…"
// stands for all tests that begin with it.
func unheld(row string, there []string) []string {
	cells := strings.Split(strings.Trim(row, "| "), " | ")
	id, holders := cells[0], cells[len(cells)-1]
	var faults []string
	for _, holder := range regexp.MustCompile(`,| to `).Split(holders, -1) {
		name, isTest := strings.CutPrefix(strings.TrimSpace(holder), "`Test")
		name, closed := strings.CutSuffix(name, "`")
		if !isTest || !closed {
			faults = append(faults, id+" names "+strings.TrimSpace(holder)+", which is no test")
			continue
		}
		if !holds("Test"+name, there) {
			faults = append(faults, id+" names Test"+name+", which is not in the tree")
		}
	}
	return faults
}

func holds(name string, there []string) bool {
	start, open := strings.CutSuffix(name, "…")
	for _, known := range there {
		if known == name || open && strings.HasPrefix(known, start) {
			return true
		}
	}
	return false
}

// testNames are the names of all tests.
func testNames(m *model) []string {
	var names []string
	for _, f := range m.all() {
		for _, decl := range f.ast.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && f.test && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
				names = append(names, fn.Name.Name)
			}
		}
	}
	return names
}
