package warder_test

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// codeRules judge what code does.
func codeRules() []rule {
	return []rule{{
		name:  "differences of systems are in platform",
		check: strayPlatform,
		bad: map[string]tree{
			"a tag":        {"internal/state/a.go": "//go:build linux\n\npackage state\n"},
			"unix":         {"internal/state/a.go": "//go:build !unix\n\npackage state\n"},
			"a processor":  {"internal/state/a.go": "//go:build amd64 || ignore\n\npackage state\n"},
			"a suffix":     {"internal/state/a_windows.go": "package state\n"},
			"a long one":   {"internal/state/a_linux_arm64.go": "package state\n"},
			"a test's":     {"internal/state/a_linux_test.go": "package state\n"},
			"no test":      {"internal/daemon/a_linux.go": "package daemon\n"},
			"linkname":     {"internal/platform/a.go": "package platform\n\n//go:linkname f runtime.f\nfunc f()\n"},
			"an assembler": {"internal/platform/a_amd64.s": "TEXT ·f(SB),0,$0\n"},
		},
		good: map[string]tree{
			"platform":    {"internal/platform/a_linux.go": "//go:build !android\n\npackage platform\n"},
			"another tag": {"internal/state/a_test.go": "//go:build race\n\npackage state\n"},
			"an attack":   {"internal/daemon/a_linux_test.go": "package daemon_test\n"},
			"a name":      {"internal/state/linux.go": "package state\n"},
		},
	}, {
		name:  "only a main function ends the process",
		check: strayExit,
		bad: map[string]tree{
			"exit":    {"internal/cli/a.go": "package cli\n\nimport \"os\"\n\nfunc f() { os.Exit(1) }\n"},
			"renamed": {"internal/cli/a.go": "package cli\n\nimport sys \"os\"\n\nvar f = sys.Exit\n"},
			"runtime": {"internal/cli/a.go": "package cli\n\nimport \"runtime\"\n\nfunc f() { runtime.Goexit() }\n"},
		},
		good: map[string]tree{
			"main":   {"cmd/warder/main.go": "package main\n\nimport \"os\"\n\nfunc main() { os.Exit(1) }\n"},
			"a test": {"internal/cli/a_test.go": "package cli\n\nimport \"os\"\n\nfunc TestMain() { os.Exit(1) }\n"},
			"method": {"internal/cli/a.go": "package cli\n\nfunc f(os interface{ Exit(int) }) { os.Exit(1) }\n"},
		},
	}, {
		name:  "who decides is told the time",
		check: strayClock,
		bad: map[string]tree{
			"policy":    {"internal/policy/a.go": "package policy\n\nimport \"time\"\n\nfunc f() { _ = time.Now() }\n"},
			"gate":      {"internal/gate/a.go": "package gate\n\nimport \"time\"\n\nfunc f() { _ = time.Now() }\n"},
			"elapsed":   {"internal/gate/a.go": "package gate\n\nimport \"time\"\n\nfunc f(t time.Time) { _ = time.Since(t) }\n"},
			"left":      {"internal/shell/a.go": "package shell\n\nimport \"time\"\n\nfunc f(t time.Time) { _ = time.Until(t) }\n"},
			"renamed":   {"internal/policy/a.go": "package policy\n\nimport clock \"time\"\n\nfunc f() { _ = clock.Now() }\n"},
			"a default": {"internal/gate/a.go": "package gate\n\nimport \"time\"\n\nfunc f() func() time.Time { return time.Now }\n"},
		},
		good: map[string]tree{
			"told":      {"internal/gate/a.go": "package gate\n\nimport \"time\"\n\nfunc f(now func() time.Time) time.Time { return now().Add(time.Hour) }\n"},
			"its test":  {"internal/gate/a_test.go": "package gate\n\nimport \"time\"\n\nfunc f() { _ = time.Now() }\n"},
			"elsewhere": {"internal/daemon/a.go": "package daemon\n\nimport \"time\"\n\nfunc f() { _ = time.Now() }\n"},
			"a method":  {"internal/policy/a.go": "package policy\n\nfunc f(time interface{ Now() int }) { _ = time.Now() }\n"},
		},
	}, {
		name:  "nothing runs before main",
		check: initFunctions,
		bad:   map[string]tree{"init": {"internal/cli/a.go": "package cli\n\nfunc init() {}\n"}},
		good: map[string]tree{
			"a method": {"internal/cli/a.go": "package cli\n\ntype t struct{}\n\nfunc (t) init() {}\n"},
			"a test's": {"internal/cli/a_test.go": "package cli\n\nfunc init() {}\n"},
		},
	}, {
		name:  "packages have no variables",
		check: packageVariables,
		bad: map[string]tree{
			"plain":             {"internal/cli/a.go": "package cli\n\nvar count int\n"},
			"a map":             {"internal/cli/a.go": "package cli\n\nvar names = map[string]int{\"a\": 1}\n"},
			"a call":            {"internal/cli/a.go": "package cli\n\nvar pattern = regexp.MustCompile(`x`)\n"},
			"a table of calls":  {"internal/cli/a.go": "package cli\n\nvar table = []int{f(), 2}\n"},
			"nested map":        {"internal/cli/a.go": "package cli\n\nvar table = []map[int]int{{1: 2}}\n"},
			"pointer":           {"internal/cli/a.go": "package cli\n\nvar table = &T{}\n"},
			"exported table":    {"internal/cli/a.go": "package cli\n\nvar Table = [...]int{1, 2}\n"},
			"a changed table":   {"internal/cli/a.go": "package cli\n\nvar table = [...]int{1, 2}\n\nfunc f() { table[0] = 3 }\n"},
			"an error's name":   {"internal/cli/a.go": "package cli\n\nvar broken = errors.New(\"x\")\n"},
			"an error's making": {"internal/cli/a.go": "package cli\n\nvar ErrX = fmt.Errorf(\"x\")\n"},
			"a group":           {"internal/cli/a.go": "package cli\n\nvar (\n\tErrX = errors.New(\"x\")\n\tn = 1\n)\n"},
			"embed afar":        {"internal/cli/a.go": "package cli\n\n//go:embed x\n\nvar x string\n"},
		},
		good: map[string]tree{
			"sentinels": {"internal/cli/a.go": "package cli\n\nvar (\n\tErrX = errors.New(\"x\")\n\terrY = errors.New(\"y\")\n)\n"},
			"embed":     {"internal/cli/a.go": "package cli\n\n// Words.\n//\n//go:embed words.gz\nvar words string\n"},
			"table":     {"internal/cli/a.go": "package cli\n\nvar table = [...]struct{ a string; b T }{{\"x\", T{1}}, {y, T{-2}}}\n"},
			"assertion": {"internal/cli/a.go": "package cli\n\nvar _ I = T{}\n"},
			"a test's":  {"internal/cli/a_test.go": "package cli\n\nvar count int\n"},
			"inside":    {"internal/cli/a.go": "package cli\n\nfunc f() { var count int; count++ }\n"},
		},
	}, {
		name:  "packages say what they are for",
		check: packageComments,
		bad: map[string]tree{
			"none":        {"internal/cli/a.go": "package cli\n"},
			"apart":       {"internal/cli/a.go": "// Package cli is.\n\npackage cli\n"},
			"another's":   {"internal/cli/a.go": "// Package seal is.\npackage cli\n"},
			"in a test":   {"internal/cli/a.go": "package cli\n", "internal/cli/a_test.go": "// Package cli is.\npackage cli\n"},
			"two":         {"internal/cli/a.go": "// Package cli is.\npackage cli\n", "internal/cli/b.go": "// Package cli is.\npackage cli\n"},
			"a command's": {"cmd/warder/main.go": "// Package main is.\npackage main\n"},
		},
		good: map[string]tree{
			"package":    {"internal/cli/a.go": "// Package cli is.\npackage cli\n", "internal/cli/b.go": "package cli\n"},
			"command":    {"cmd/warder/main.go": "// Command warder is.\npackage main\n"},
			"tests only": {"internal/vault/second/a_test.go": "package second_test\n"},
		},
	}}
}

// systems are the operating systems and processors whose names in a file name
// or build constraint choose by system: all that Go knows today.
var systems = strings.Fields(`aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd
	plan9 solaris wasip1 windows zos unix
	386 amd64 arm arm64 loong64 mips mips64 mips64le mipsle ppc64 ppc64le riscv64 s390x sparc64 wasm cgo`)

// strayPlatform finds what depends on the system outside platform, and what
// even platform may not do: reach into the runtime, or assembly.
func strayPlatform(m *model) []string {
	var findings []string
	for _, f := range m.all() {
		findings = append(findings, linkedNames(f)...)
		// Who attacks the daemon attacks it with what Linux has: debuggers, mounts, /proc.
		attack := path.Dir(f.path) == "internal/daemon" && strings.HasSuffix(f.path, "_linux_test.go")
		if path.Dir(f.path) == "internal/platform" || attack {
			continue
		}
		parts := strings.Split(strings.TrimSuffix(strings.TrimSuffix(path.Base(f.path), ".go"), "_test"), "_")
		for _, tag := range slices.Concat(f.buildTags(), parts[1:]) {
			if slices.Contains(systems, tag) {
				findings = append(findings, f.at(f.ast.Package, "only platform may depend on %s", tag))
			}
		}
	}
	for name := range m.texts {
		if strings.EqualFold(path.Ext(name), ".s") {
			findings = append(findings, name+": assembly")
		}
	}
	return findings
}

// linkedNames finds names that the linker is told to take from elsewhere.
func linkedNames(f *goFile) []string {
	var findings []string
	for _, group := range f.ast.Comments {
		for _, comment := range group.List {
			if strings.HasPrefix(comment.Text, "//go:linkname") {
				findings = append(findings, f.at(comment.Pos(), "reaches into another package"))
			}
		}
	}
	return findings
}

// strayExit finds code that ends the process or its goroutine behind the back
// of deferred wiping.
func strayExit(m *model) []string {
	var findings []string
	for _, f := range m.production() {
		if f.ast.Name.Name == "main" || path.Dir(f.path) == "internal/testkit" {
			continue
		}
		for pos, name := range f.uses("os") {
			if name == "Exit" {
				findings = append(findings, f.at(pos, "only a main function may call os.Exit"))
			}
		}
		for pos, name := range f.uses("runtime") {
			if name == "Goexit" {
				findings = append(findings, f.at(pos, "runtime.Goexit"))
			}
		}
	}
	return findings
}

// clockless are the packages that must give the same answer for the same
// question at any time: the pure ones, and the gate, which is handed its clock,
// so that a replay decides as the day did.
func clockless() []string { return []string{"policy", "gate", "shell", "dotenv"} }

// strayClock finds code that reads the clock where the time must be handed in.
func strayClock(m *model) []string {
	var findings []string
	for _, p := range m.packages {
		if !slices.Contains(clockless(), p.name()) {
			continue
		}
		for _, f := range p.production() {
			for pos, name := range f.uses("time") {
				if name == "Now" || name == "Since" || name == "Until" {
					findings = append(findings, f.at(pos, "%s reads the clock: have the time handed in", p.name()))
				}
			}
		}
	}
	return findings
}

// initFunctions finds functions that run before main: start-up time is a
// feature, and nothing may happen before the command is known.
func initFunctions(m *model) []string {
	var findings []string
	for _, f := range m.production() {
		for _, decl := range f.ast.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				findings = append(findings, f.at(fn.Pos(), "init function"))
			}
		}
	}
	return findings
}

// knownVariables are the package-level variables that stay, each with its
// reason.
var knownVariables = map[string]string{
	"secret.process": "the arena of locked memory: the kernel's limit on locked pages is the process's, and a Value is passed by value",
}

// TestKnownVariablesAreThere keeps a reason from outliving its variable.
func TestKnownVariablesAreThere(t *testing.T) {
	there := map[string]bool{}
	for _, p := range loadTree(t, ".").packages {
		for _, f := range p.production() {
			eachVariable(f, func(_ *ast.GenDecl, spec *ast.ValueSpec, i int) {
				there[p.name()+"."+spec.Names[i].Name] = true
			})
		}
	}
	for name := range knownVariables {
		if !there[name] {
			t.Errorf("%s is gone: remove its reason", name)
		}
	}
}

// packageVariables finds package-level variables. Allowed are sentinel errors,
// embedded files, compile-time assertions and tables that the linker lays out
// and nobody changes.
func packageVariables(m *model) []string {
	var findings []string
	for _, p := range m.packages {
		changed := changedNames(p)
		for _, f := range p.production() {
			eachVariable(f, func(decl *ast.GenDecl, spec *ast.ValueSpec, i int) {
				name := spec.Names[i]
				if knownVariables[p.name()+"."+name.Name] != "" || allowedVariable(decl, spec, i) && !changed[name.Name] {
					return
				}
				findings = append(findings, f.at(name.Pos(), "package-level variable %s", name.Name))
			})
		}
	}
	return findings
}

// eachVariable calls visit for each package-level variable of the file.
func eachVariable(f *goFile, visit func(decl *ast.GenDecl, spec *ast.ValueSpec, i int)) {
	for _, decl := range f.ast.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.VAR {
			continue
		}
		for _, spec := range group.Specs {
			values := spec.(*ast.ValueSpec)
			for i := range values.Names {
				visit(group, values, i)
			}
		}
	}
}

// sentinelName is the form of a sentinel error's name.
var sentinelName = regexp.MustCompile(`^(Err|err)[A-Z]`)

// allowedVariable reports whether the i-th variable of a declaration is one of
// the allowed kinds.
func allowedVariable(decl *ast.GenDecl, spec *ast.ValueSpec, i int) bool {
	name := spec.Names[i].Name
	if name == "_" || embedded(decl.Doc) || embedded(spec.Doc) {
		return true
	}
	if len(spec.Values) != len(spec.Names) {
		return false
	}
	switch value := spec.Values[i].(type) {
	case *ast.CallExpr:
		sel, ok := value.Fun.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "New" || !sentinelName.MatchString(name) {
			return false
		}
		x, ok := sel.X.(*ast.Ident)
		return ok && x.Name == "errors"
	case *ast.CompositeLit:
		_, isArray := value.Type.(*ast.ArrayType)
		return isArray && !ast.IsExported(name) && static(value)
	}
	return false
}

// embedded reports whether a comment holds an embed directive.
func embedded(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//go:embed ")
	})
}

// static reports whether a composite literal needs no code at start-up: no
// calls, maps, pointers or functions.
func static(lit *ast.CompositeLit) bool {
	ok := true
	ast.Inspect(lit, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.CallExpr, *ast.MapType, *ast.FuncLit, *ast.StarExpr:
			ok = false
		case *ast.UnaryExpr:
			ok = ok && node.Op != token.AND
		}
		return ok
	})
	return ok
}

// changedNames are the names that the package's production code assigns to,
// counts up or takes the address of. It does not tell a local variable from a
// package-level one of the same name: shadowing a table is as confusing.
func changedNames(p *pkg) map[string]bool {
	changed := map[string]bool{}
	mark := func(expr ast.Expr) {
		if name := rootName(expr); name != "" {
			changed[name] = true
		}
	}
	for _, f := range p.production() {
		ast.Inspect(f.ast, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.AssignStmt:
				for _, left := range node.Lhs {
					mark(left)
				}
			case *ast.IncDecStmt:
				mark(node.X)
			case *ast.UnaryExpr:
				if node.Op == token.AND {
					mark(node.X)
				}
			}
			return true
		})
	}
	return changed
}

// rootName is the variable that an expression such as a[1].b changes.
func rootName(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.Ident:
		return expr.Name
	case *ast.IndexExpr:
		return rootName(expr.X)
	case *ast.SelectorExpr:
		return rootName(expr.X)
	case *ast.SliceExpr:
		return rootName(expr.X)
	case *ast.StarExpr:
		return rootName(expr.X)
	case *ast.ParenExpr:
		return rootName(expr.X)
	}
	return ""
}

// packageComments finds packages without exactly one package comment.
func packageComments(m *model) []string {
	var findings []string
	for _, p := range m.packages {
		count := 0
		for _, f := range p.production() {
			want := "Package " + f.ast.Name.Name + " "
			if f.ast.Name.Name == "main" {
				want = "Command " + path.Base(p.path) + " "
			}
			if f.ast.Doc == nil {
				continue
			}
			if !strings.HasPrefix(f.ast.Doc.Text(), want) {
				findings = append(findings, f.at(f.ast.Doc.Pos(), "package comment does not begin with %q", want))
			}
			count++
		}
		if !p.testOnly() && count != 1 {
			findings = append(findings, p.path+": has not exactly one package comment")
		}
	}
	return findings
}
