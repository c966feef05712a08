package warder_test

import (
	"fmt"
	"go/ast"
	"strings"
)

// shapeRules bound how much a reader has to hold in mind at once.
func shapeRules() []rule {
	methods := "package cli\n\ntype T struct{}\n"
	for i := range maxMethods + 1 {
		methods += fmt.Sprintf("\nfunc (t *T) m%d() {}\n", i)
	}
	nested := strings.Repeat("if true {\n", 6) + strings.Repeat("}\n", 6)
	return []rule{{
		name:  "functions are simple enough to follow",
		check: tangledFunctions,
		bad: map[string]tree{
			"nested": {"internal/cli/a.go": "package cli\n\nfunc f() {\n" + nested + "}\n"},
			"a test": {"internal/cli/a_test.go": "package cli\n\nfunc f() {\n" + nested + "}\n"},
		},
		good: map[string]tree{
			"flat": {"internal/cli/a.go": "package cli\n\nfunc f() {\n" + strings.Repeat("if true {\n}\n", maxCognitive) + "}\n"},
		},
	}, {
		name:  "types have few methods",
		check: largeTypes,
		bad: map[string]tree{
			"methods":    {"internal/cli/a.go": methods},
			"two files":  {"internal/cli/a.go": strings.Replace(methods, "func (t *T) m0() {}", "", 1), "internal/cli/b.go": "package cli\n\nfunc (t T) other() {}\n"},
			"an generic": {"internal/cli/a.go": strings.ReplaceAll(methods, "*T", "*T[K]")},
		},
		good: map[string]tree{"the limit": {"internal/cli/a.go": strings.Replace(methods, "func (t *T) m0() {}", "", 1)}},
	}, {
		name:  "interfaces are small",
		check: largeInterfaces,
		bad: map[string]tree{
			"methods": {"internal/cli/a.go": "package cli\n\ntype I interface{ a(); b(); c(); d(); e(); f() }\n"},
			"embeds":  {"internal/cli/a.go": "package cli\n\ntype I interface{ a(); b(); c(); d(); e(); io.Reader }\n"},
			"unnamed": {"internal/cli/a.go": "package cli\n\nfunc f(x interface{ a(); b(); c(); d(); e(); f() }) {}\n"},
		},
		good: map[string]tree{"the limit": {"internal/cli/a.go": "package cli\n\ntype I interface{ a(); b(); c(); d(); e() }\n"}},
	}, {
		name:  "functions take and return little",
		check: wideFunctions,
		bad: map[string]tree{
			"parameters":  {"internal/cli/a.go": "package cli\n\nfunc f(a, b, c int, d, e, f string) {}\n"},
			"unnamed":     {"internal/cli/a.go": "package cli\n\ntype F func(int, int, int, int, int, int)\n"},
			"results":     {"internal/cli/a.go": "package cli\n\nfunc f() (a, b, c int, err error) { return }\n"},
			"a method's":  {"internal/cli/a.go": "package cli\n\ntype I interface{ f() (int, int, int, error) }\n"},
			"a literal's": {"internal/cli/a.go": "package cli\n\nvar _ = func(a, b, c, d, e, f int) {}\n"},
		},
		good: map[string]tree{"the limit": {"internal/cli/a.go": "package cli\n\nfunc f(a, b, c, d, e int) (f, g int, err error) { return }\n"}},
	}}
}

// tangledFunctions finds functions over the limit of cognitive complexity.
func tangledFunctions(m *model) []string {
	return eachFunction(m, func(_ *goFile, fn *ast.FuncDecl) string {
		if c := cognitiveComplexity(fn); c > maxCognitive {
			return fmt.Sprintf("%s has cognitive complexity %d, at most %d", fn.Name.Name, c, maxCognitive)
		}
		return ""
	})
}

// largeTypes finds types over the limit of methods, tests' types included.
func largeTypes(m *model) []string {
	var findings []string
	for _, p := range m.packages {
		count := map[string]int{}
		for _, f := range p.files {
			for _, decl := range f.ast.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				if !ok || fn.Recv == nil {
					continue
				}
				name := f.ast.Name.Name + "." + receiverName(fn.Recv.List[0].Type)
				count[name]++
				if count[name] == maxMethods+1 {
					findings = append(findings, f.at(fn.Pos(), "%s has more than %d methods", name, maxMethods))
				}
			}
		}
	}
	return findings
}

// receiverName is the type that a receiver such as *T[K] belongs to.
func receiverName(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.Ident:
		return expr.Name
	case *ast.StarExpr:
		return receiverName(expr.X)
	case *ast.IndexExpr:
		return receiverName(expr.X)
	case *ast.IndexListExpr:
		return receiverName(expr.X)
	}
	return ""
}

// largeInterfaces finds interfaces over the limit, each embedded one counted
// as one method.
func largeInterfaces(m *model) []string {
	return eachNode(m, func(node ast.Node) string {
		if i, ok := node.(*ast.InterfaceType); ok && i.Methods.NumFields() > maxInterface {
			return fmt.Sprintf("interface of %d methods, at most %d", i.Methods.NumFields(), maxInterface)
		}
		return ""
	})
}

// wideFunctions finds functions, declared, literal or as a type, over the limit
// of parameters or results.
func wideFunctions(m *model) []string {
	return eachNode(m, func(node ast.Node) string {
		fn, ok := node.(*ast.FuncType)
		if !ok {
			return ""
		}
		if n := fn.Params.NumFields(); n > maxParameters {
			return fmt.Sprintf("function of %d parameters, at most %d", n, maxParameters)
		}
		if n := fn.Results.NumFields(); n > maxResults {
			return fmt.Sprintf("function of %d results, at most %d", n, maxResults)
		}
		return ""
	})
}

// eachNode collects what judge says about the syntax of all files.
func eachNode(m *model, judge func(node ast.Node) string) []string {
	var findings []string
	for _, f := range m.all() {
		ast.Inspect(f.ast, func(node ast.Node) bool {
			if node == nil {
				return false
			}
			if finding := judge(node); finding != "" {
				findings = append(findings, f.at(node.Pos(), "%s", finding))
			}
			return true
		})
	}
	return findings
}
