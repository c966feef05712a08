package warder_test

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// modulePath is the path of this module, and moduleRoot what its packages'
// import paths begin with.
const (
	modulePath = "warder"
	moduleRoot = modulePath + "/"
)

// model is the source tree as the rules see it: every Go file whatever system
// it is for, parsed but not type-checked, and every text file.
type model struct {
	fset     *token.FileSet
	packages []*pkg
	texts    tree
}

// tree is a set of files: content by slash-separated path.
type tree map[string]string

// pkg is one folder with Go files.
type pkg struct {
	path  string // folder, "." for the root
	files []*goFile
}

// goFile is one parsed Go file.
type goFile struct {
	path  string // from the root of the tree
	test  bool
	lines int
	ast   *ast.File
	model *model
}

// loadTree reads the tree below root from disk.
func loadTree(t *testing.T, root string) *model {
	t.Helper()
	files := tree{}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == ".git" || name == "vendor") {
			return filepath.SkipDir // history, and others' code
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if utf8.Valid(text) {
			rel, err := filepath.Rel(root, name)
			if err != nil {
				return err
			}
			files[filepath.ToSlash(rel)] = string(text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return parseTree(t, files)
}

// parseTree builds the model of a set of files.
func parseTree(t *testing.T, files tree) *model {
	t.Helper()
	m := &model{fset: token.NewFileSet(), texts: files}
	byFolder := map[string]*pkg{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Ext(name) != ".go" || notBuilt(name) || ofOtherModule(files, name) {
			continue
		}
		parsed, err := parser.ParseFile(m.fset, name, files[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		folder := path.Dir(name)
		if byFolder[folder] == nil {
			byFolder[folder] = &pkg{path: folder}
			m.packages = append(m.packages, byFolder[folder])
		}
		byFolder[folder].files = append(byFolder[folder].files, &goFile{
			path:  name,
			test:  strings.HasSuffix(name, "_test.go"),
			lines: strings.Count(files[name], "\n"),
			ast:   parsed,
			model: m,
		})
	}
	return m
}

// notBuilt reports whether the go command ignores the file for its folder.
func notBuilt(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return part == "testdata" || part == "vendor" || strings.HasPrefix(part, ".") || strings.HasPrefix(part, "_")
	})
}

// ofOtherModule reports whether the file belongs to a module below this one, of which nothing is built into warder. It is
// text all the same: no secret may be in it.
func ofOtherModule(files tree, name string) bool {
	for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
		if _, found := files[folder+"/go.mod"]; found {
			return true
		}
	}
	return false
}

// name is the package's name in the package table: its folder without the
// internal/ that nearly all have.
func (p *pkg) name() string {
	return strings.TrimPrefix(p.path, "internal/")
}

// testOnly reports whether the package has no file outside tests.
func (p *pkg) testOnly() bool {
	return !slices.ContainsFunc(p.files, func(f *goFile) bool { return !f.test })
}

// production are the package's files outside tests.
func (p *pkg) production() []*goFile {
	var files []*goFile
	for _, f := range p.files {
		if !f.test {
			files = append(files, f)
		}
	}
	return files
}

// production are all files outside tests.
func (m *model) production() []*goFile {
	var files []*goFile
	for _, p := range m.packages {
		files = append(files, p.production()...)
	}
	return files
}

// all are all Go files.
func (m *model) all() []*goFile {
	var files []*goFile
	for _, p := range m.packages {
		files = append(files, p.files...)
	}
	return files
}

// importPaths are the paths that the file imports, with their places.
func (f *goFile) importPaths() map[string]token.Pos {
	paths := map[string]token.Pos{}
	for _, spec := range f.ast.Imports {
		if imported, err := strconv.Unquote(spec.Path.Value); err == nil {
			paths[imported] = spec.Pos()
		}
	}
	return paths
}

// importNames are the names by which the file may call what it imports from
// the standard library, with the paths.
func (f *goFile) importNames() map[string]string {
	names := map[string]string{}
	for _, spec := range f.ast.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		switch {
		case err != nil:
		case spec.Name != nil:
			names[spec.Name.Name] = imported
		default:
			names[path.Base(imported)] = imported
		}
	}
	return names
}

// at returns a finding for a place in the file.
func (f *goFile) at(pos token.Pos, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", f.path, f.model.fset.Position(pos).Line, fmt.Sprintf(format, args...))
}

// lineCount is the number of lines that a node takes.
func (f *goFile) lineCount(node ast.Node) int {
	return f.model.fset.Position(node.End()).Line - f.model.fset.Position(node.Pos()).Line + 1
}

// uses returns the selectors such as "Exit" by which the file uses a package,
// with their places.
func (f *goFile) uses(importPath string) map[token.Pos]string {
	names := f.importNames()
	found := map[token.Pos]string{}
	ast.Inspect(f.ast, func(node ast.Node) bool {
		if sel, ok := node.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && names[x.Name] == importPath {
				found[sel.Pos()] = sel.Sel.Name
			}
		}
		return true
	})
	return found
}

// buildTags returns the tags of the file's build constraint.
func (f *goFile) buildTags() []string {
	var tags []string
	for _, group := range f.ast.Comments {
		if group.Pos() > f.ast.Package {
			break
		}
		for _, comment := range group.List {
			expr, err := constraint.Parse(comment.Text)
			if err != nil {
				continue // an ordinary comment
			}
			expr.Eval(func(tag string) bool { tags = append(tags, tag); return true })
			expr.Eval(func(tag string) bool { tags = append(tags, tag); return false })
		}
	}
	return tags
}

func TestModelReadsBuildTags(t *testing.T) {
	m := parseTree(t, tree{"a/a.go": "// A comment.\n\n//go:build (linux && !cgo) || race\n\npackage a\n"})
	tags := m.packages[0].files[0].buildTags()
	for _, want := range []string{"linux", "cgo", "race"} {
		if !slices.Contains(tags, want) {
			t.Errorf("tags %v lack %s", tags, want)
		}
	}
}

func TestModelLeavesOtherModulesOut(t *testing.T) {
	m := parseTree(t, tree{
		"go.mod": "module a\n", "a/a.go": "package a\n", "a/b/go.mod": "module b\n", "a/b/b.go": "package b\n", "a/b/c/c.go": "package c\n", "a/bc/d.go": "package d\n",
	})
	var found []string
	for _, f := range m.all() {
		found = append(found, f.path)
	}
	if want := []string{"a/a.go", "a/bc/d.go"}; !slices.Equal(found, want) || len(m.texts) != 6 {
		t.Errorf("packages have %q, want %q; %d texts", found, want, len(m.texts))
	}
}
