package warder_test

import (
	"fmt"
	"go/ast"
	"strings"
)

// The hard stops of size. Most code is far below: the tail is what rots.
const (
	maxFileLines     = 600
	maxFunctionLines = 80
	maxCognitive     = 20
	maxMethods       = 15 // of a type
	maxInterface     = 5  // methods
	maxParameters    = 5
	maxResults       = 3
)

// sizeRules bound how long things get. Composite literals without code in them
// are data and count as one line.
func sizeRules() []rule {
	long := strings.Repeat("\t_ = 1\n", maxFunctionLines)
	data := "\t_ = []int{\n" + strings.Repeat("\t\t1,\n", maxFunctionLines) + "\t}\n"
	withCode := "\t_ = []func(){\n" + strings.Repeat("\t\tfunc() {},\n", maxFunctionLines) + "\t}\n"
	function := func(body string) string { return "package cli\n\nfunc f() {\n" + body + "}\n" }
	return []rule{{
		name:  "files are short enough to read",
		check: longFiles,
		bad: map[string]tree{
			"a file": {"internal/cli/a.go": "package cli\n" + strings.Repeat("\n", maxFileLines)},
			"a test": {"internal/cli/a_test.go": "package cli\n" + strings.Repeat("// A line.\n", maxFileLines)},
		},
		good: map[string]tree{
			"the limit": {"internal/cli/a.go": "package cli\n" + strings.Repeat("\n", maxFileLines-1)},
			"a table":   {"internal/cli/a.go": "package cli\n\nvar x = [...]int{\n" + strings.Repeat("\t1,\n", maxFileLines) + "}\n"},
		},
	}, {
		name:  "functions are short enough to read",
		check: longFunctions,
		bad: map[string]tree{
			"a function":      {"internal/cli/a.go": function(long)},
			"a method":        {"internal/cli/a.go": strings.Replace(function(long), "func f", "func (t T) f", 1)},
			"a test":          {"internal/cli/a_test.go": function(long)},
			"a table of code": {"internal/cli/a.go": function(withCode)},
		},
		good: map[string]tree{"a table": {"internal/cli/a.go": function(data)}},
	}}
}

// dataLines is the number of lines that composite literals without code take
// below node, less one for each.
func (f *goFile) dataLines(node ast.Node) int {
	lines := 0
	ast.Inspect(node, func(node ast.Node) bool {
		lit, ok := node.(*ast.CompositeLit)
		if !ok || holdsCode(lit) {
			return true
		}
		lines += f.lineCount(lit) - 1
		return false
	})
	return lines
}

// holdsCode reports whether a literal contains a function.
func holdsCode(lit *ast.CompositeLit) bool {
	found := false
	ast.Inspect(lit, func(node ast.Node) bool {
		_, isFunc := node.(*ast.FuncLit)
		found = found || isFunc
		return !found
	})
	return found
}

// longFiles finds files over the limit.
func longFiles(m *model) []string {
	var findings []string
	for _, f := range m.all() {
		if lines := f.lines - f.dataLines(f.ast); lines > maxFileLines {
			findings = append(findings, fmt.Sprintf("%s: %d lines, at most %d", f.path, lines, maxFileLines))
		}
	}
	return findings
}

// longFunctions finds functions over the limit.
func longFunctions(m *model) []string {
	return eachFunction(m, func(f *goFile, fn *ast.FuncDecl) string {
		lines := f.lineCount(fn) - f.dataLines(fn)
		if lines <= maxFunctionLines {
			return ""
		}
		return fmt.Sprintf("%s has %d lines, at most %d", fn.Name.Name, lines, maxFunctionLines)
	})
}

// eachFunction collects what judge says about the functions of all files.
func eachFunction(m *model, judge func(f *goFile, fn *ast.FuncDecl) string) []string {
	var findings []string
	for _, f := range m.all() {
		for _, decl := range f.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if finding := judge(f, fn); finding != "" {
				findings = append(findings, f.at(fn.Pos(), "%s", finding))
			}
		}
	}
	return findings
}
