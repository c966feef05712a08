package cli

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// later are the commands of later versions that hints may speak of already.
var later = [...]string{"run", "policy explain", "approve"}

// shownCommand finds a command that a hint shows: to the end of the hint, or to where its sentence goes on.
var shownCommand = regexp.MustCompile(`(?:^|[:,'(] ?|\b(?:then|with|or|run|until|say|and|see|by) )warder ([^,;:'()]*)`)

// TestHintsParse: a command that a hint shows is one that exists, and is written as it is used.
func TestHintsParse(t *testing.T) {
	commands := 0
	for _, hint := range hints(t) {
		for _, shown := range shownCommand.FindAllStringSubmatch(hint, -1) {
			line, _, _ := strings.Cut(shown[1], " or ")
			line, _, _ = strings.Cut(line, " < ")
			words := strings.Fields(strings.TrimSuffix(line, " --help"))
			if len(words) == 0 || strings.HasPrefix(words[0], "%") {
				continue // the command is put in when it is shown
			}
			commands++
			if err := parses(words); err != nil {
				t.Errorf("the hint %q shows %q: %v", hint, line, err)
			}
		}
	}
	if commands < 40 {
		t.Errorf("only %d commands were found in hints", commands)
	}
}

// parses says what is wrong with a command. One without arguments stands for all that it can be given.
func parses(words []string) error {
	for _, command := range later {
		if strings.HasPrefix(strings.Join(words, " ")+" ", command+" ") {
			return nil
		}
	}
	root := referenceRoot()
	found, rest, err := root.Find(words)
	switch {
	case err != nil:
		return err
	case found == root:
		return errors.New("there is no such command")
	}
	if err := found.ParseFlags(rest); err != nil {
		return err
	}
	if found.Args != nil && found.Flags().NArg() > 0 {
		return found.Args(found, found.Flags().Args())
	}
	return nil
}

// hints are the texts of all hints in the sources: of api's table, of the daemon's table of who may do what, and of single errors.
func hints(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, pattern := range []string{"../api/*.go", "../api/frame/*.go", "../daemon/*.go", "*.go"} {
		files, err := filepath.Glob(filepath.FromSlash(pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no sources (%v)", pattern, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if hinting(n) {
					list = append(list, texts(n)...)
				}
				return true
			})
		}
	}
	return list
}

// hinting says whether a part of a source holds hints: the argument of WithHint, what is assigned to a hint, or a table of errors.
func hinting(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		call, ok := n.Fun.(*ast.SelectorExpr)
		return ok && call.Sel.Name == "WithHint"
	case *ast.ValueSpec:
		return n.Names[0].Name == "table"
	case *ast.AssignStmt:
		to, ok := n.Lhs[0].(*ast.SelectorExpr)
		return ok && to.Sel.Name == "hint"
	}
	return false
}

// texts are the strings in a part of a source. Of a call that makes a hint only its arguments count.
func texts(n ast.Node) []string {
	var list []string
	parts := []ast.Node{n}
	if call, ok := n.(*ast.CallExpr); ok {
		parts = nil
		for _, arg := range call.Args {
			parts = append(parts, arg)
		}
	}
	for _, part := range parts {
		ast.Inspect(part, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					list = append(list, text)
				}
			}
			return true
		})
	}
	return list
}
