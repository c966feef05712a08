package warder_test

import (
	"go/ast"
	"go/token"
	"testing"
)

// cognitiveComplexity measures how hard a function is to follow, by G. Ann
// Campbell's definition (SonarSource, "Cognitive Complexity", version 1.7): each
// break in the linear flow counts one, and one more for every level it is
// nested in; sequences of one logical operator count once; recursion counts.
// The body of a subtest is read as a function of its own and so measured as
// one; the result is that of the hardest part.
func cognitiveComplexity(fn *ast.FuncDecl) int {
	if fn.Body == nil {
		return 0
	}
	c := &cognition{}
	if fn.Recv == nil {
		c.name = fn.Name.Name
	}
	c.visitAll(0, fn.Body)
	return max(c.total, c.hardest)
}

// cognition adds up the complexity of one function.
type cognition struct {
	name    string // of the function, to see recursion; empty for a method
	total   int
	hardest int // of its subtests
}

// visitAll visits nodes that may be nil at one level of nesting.
func (c *cognition) visitAll(nesting int, nodes ...ast.Node) {
	for _, node := range nodes {
		if node != nil {
			ast.Inspect(node, func(n ast.Node) bool { return c.visit(n, nesting) })
		}
	}
}

// visit counts one node and reports whether its children are still to visit.
func (c *cognition) visit(node ast.Node, nesting int) bool {
	switch node := node.(type) {
	case *ast.IfStmt:
		c.total += 1 + nesting
		c.branches(node, nesting)
		return false
	case *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		c.total += 1 + nesting
		c.inside(node, nesting+1)
		return false
	case *ast.FuncLit:
		if isSubtest(node) {
			sub := &cognition{name: c.name}
			sub.visitAll(0, node.Body)
			c.hardest = max(c.hardest, sub.total, sub.hardest)
		} else {
			c.inside(node, nesting+1)
		}
		return false
	case *ast.BranchStmt:
		if node.Label != nil {
			c.total++
		}
	case *ast.CallExpr:
		if called, ok := node.Fun.(*ast.Ident); ok && called.Name == c.name {
			c.total++
		}
	case *ast.BinaryExpr:
		if isLogical(node) {
			c.logical(node, nesting)
			return false
		}
	}
	return true
}

// inside visits the children of node at a level of nesting.
func (c *cognition) inside(node ast.Node, nesting int) {
	ast.Inspect(node, func(n ast.Node) bool { return n == node || c.visit(n, nesting) })
}

// branches visits the parts of an if statement. An else counts one whatever
// its nesting, and so does each "else if".
func (c *cognition) branches(node *ast.IfStmt, nesting int) {
	if node.Init != nil {
		c.visitAll(nesting, node.Init)
	}
	c.visitAll(nesting, node.Cond)
	c.visitAll(nesting+1, node.Body)
	switch other := node.Else.(type) {
	case *ast.IfStmt:
		c.total++
		c.branches(other, nesting)
	case *ast.BlockStmt:
		c.total++
		c.visitAll(nesting+1, other)
	}
}

// logical counts the sequences of like operators in a condition, and what its
// operands hold.
func (c *cognition) logical(node *ast.BinaryExpr, nesting int) {
	last := token.ILLEGAL
	var walk func(ast.Expr)
	walk = func(expr ast.Expr) {
		switch expr := expr.(type) {
		case *ast.ParenExpr:
			walk(expr.X)
		case *ast.BinaryExpr:
			if !isLogical(expr) {
				c.visitAll(nesting, expr)
				return
			}
			walk(expr.X)
			if expr.Op != last {
				c.total++
				last = expr.Op
			}
			walk(expr.Y)
		default:
			c.visitAll(nesting, expr)
		}
	}
	walk(node)
}

// isSubtest reports whether a function literal takes a test's handle first, as
// the bodies of subtests, fuzz targets and properties do.
func isSubtest(lit *ast.FuncLit) bool {
	if len(lit.Type.Params.List) == 0 {
		return false
	}
	star, ok := lit.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	sel, ok := star.X.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "T"
}

// isLogical reports whether an expression joins conditions.
func isLogical(expr *ast.BinaryExpr) bool {
	return expr.Op == token.LAND || expr.Op == token.LOR
}

func TestCognitiveComplexity(t *testing.T) {
	for _, row := range []struct {
		body string
		want int
	}{
		{"", 0},
		{"a = b + c", 0},
		{"if a {}", 1},
		{"if a {} else {}", 2},
		{"if a {} else if b {} else {}", 3},
		{"if a { if b {} }", 3},
		{"if a {} else { if b {} }", 4},
		{"if a {} else if b { if c {} }", 4},
		{"for { for { for {} } }", 6},
		{"for range a { if b { continue } }", 3},
		{"l: for range a { for range b { continue l } }", 4},
		{"goto l; l: a()", 1},
		{"switch a { case 1: case 2: default: if b {} }", 3},
		{"switch a.(type) { case int: }", 1},
		{"select { case <-a: if b {} }", 3},
		{"if a && b && c {}", 2},
		{"if a && b || c {}", 3},
		{"if a && b || c && d {}", 4},
		{"if a && (b || c) {}", 3},
		{"a = b && c", 1},
		{"if !(a && b) && c {}", 3},
		{"func() { if a {} }()", 2},
		{"defer func() { for { if a {} } }()", 5},
		{"for { t.Run(a, func(t *testing.T) { if a {} }) }", 1},
		{"t.Run(a, func(t *testing.T) { for { if a {} } })", 3},
		{"f()", 1},
		{"a.f()", 0},
		{"return f(1) + f(2)", 2},
		{"if a(func() { if b {} }) {}", 3},
		{"if a(func() bool { return b && c }) && d {}", 3},
	} {
		m := parseTree(t, tree{"a.go": "package a\n\nfunc f() {\n" + row.body + "\n}\n"})
		fn := m.packages[0].files[0].ast.Decls[0].(*ast.FuncDecl)
		if got := cognitiveComplexity(fn); got != row.want {
			t.Errorf("%s: complexity %d, want %d", row.body, got, row.want)
		}
	}
}
