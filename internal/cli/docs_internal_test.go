package cli

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"warder/internal/api"
	"warder/internal/state"
)

// docsPath is the reference that is made from the tree of commands and the
// tables of errors and settings.
const docsPath = "../../docs/cli.md"

// TestDocs compares docs/cli.md with what it is made from. With -update it is
// written anew.
func TestDocs(t *testing.T) {
	want := reference()
	path := filepath.FromSlash(docsPath)
	if update := flag.Lookup("update"); update != nil && update.Value.String() == "true" {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("docs/cli.md is not what the commands say: go test ./internal/cli -run TestDocs -update\n%s", diff)
	}
}

// documented are the commands that the reference shows, parents first.
func documented(cmd *cobra.Command) []*cobra.Command {
	var list []*cobra.Command
	for _, sub := range cmd.Commands() {
		if sub.Name() == "completion" || !sub.IsAvailableCommand() && sub.Name() != "help" {
			continue // cobra's own
		}
		list = append(append(list, sub), documented(sub)...)
	}
	return list
}

func referenceRoot() *cobra.Command {
	return newRoot(&Env{Getenv: func(string) string { return "" }})
}

// reference is the text of docs/cli.md.
func reference() []byte {
	var b bytes.Buffer
	root := referenceRoot()
	fmt.Fprintf(&b, "# Commands\n\nThis file is made from the commands themselves: `go test ./internal/cli -run TestDocs -update`.\n\n%s\n", root.Long)
	b.WriteString("\nCompletion for a shell: `warder completion bash`, `zsh`, `fish` or `powershell`.\n")
	b.WriteString("\n| command | what it does |\n| --- | --- |\n")
	commands := documented(root)
	for _, cmd := range commands {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", cmd.CommandPath(), strings.ReplaceAll(cmd.CommandPath(), " ", "-"), cmd.Short)
	}
	for _, cmd := range commands {
		writeCommand(&b, cmd)
	}
	writeErrors(&b)
	writeOptions(&b)
	return b.Bytes()
}

func writeCommand(b *bytes.Buffer, cmd *cobra.Command) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n", cmd.CommandPath(), cmd.Long)
	if cmd.Runnable() {
		fmt.Fprintf(b, "\n```\n%s\n```\n", cmd.UseLine())
	}
	if len(cmd.Aliases) > 0 {
		fmt.Fprintf(b, "\nAlso called: %s.\n", strings.Join(cmd.Aliases, ", "))
	}
	if cmd.Example != "" {
		fmt.Fprintf(b, "\nExamples:\n\n```sh\n%s\n```\n", strings.ReplaceAll(strings.TrimPrefix(cmd.Example, "  "), "\n  ", "\n"))
	}
	if !cmd.HasAvailableLocalFlags() {
		return
	}
	fmt.Fprintf(b, "\n```\n%s```\n", cmd.LocalFlags().FlagUsages())
}

func writeErrors(b *bytes.Buffer) {
	b.WriteString(`
# Errors and exit statuses

An error is a line ` + "`warder: error[CODE]: message`" + ` on standard error, and below it a hint with the next step. With
` + "`--json`" + ` it is also one object on standard output: ` + "`{\"error\":{\"code\",\"message\",\"hint\",\"id\"}}`" + `, where id is that of
the audit record. Codes and statuses never change. Status 0 is success; 130 says that a prompt was interrupted.

| status | code | what it means | the next step, where the error has none of its own |
| --- | --- | --- | --- |
`)
	for _, row := range api.Rows() {
		fmt.Fprintf(b, "| %d | `%s` | %s | %s |\n", row.Exit, row.Code, cell(row.Doc), cell(row.Hint))
	}
}

func writeOptions(b *bytes.Buffer) {
	b.WriteString(`
# Settings

Settings stand in ` + "`config.toml`" + ` in the config directory, as ` + "`[lock]`" + ` with ` + "`idle = \"8h\"`" + ` for lock.idle. What
the daemon applies has no variable, for it trusts no environment; where there is one, it counts before the file, and the file before the default. ` + "`warder config list`" + ` shows where each value came from.

The directory has mode 0700 and the file 0600, and ` + "`warder setup`" + ` and ` + "`warder config set`" + ` make them so. What others may
read or write is refused, and ` + "`warder status`" + ` names it: ` + "`chmod 700`" + ` the directory, ` + "`chmod 600`" + ` the file.

| setting | kind | default | variable | what it does |
| --- | --- | --- | --- | --- |
`)
	for _, o := range state.Options() {
		kind := string(o.Kind)
		if len(o.Words) > 0 {
			kind = strings.Join(o.Words, ", ")
		}
		variable := ""
		if o.Env != "" {
			variable = "`" + o.Env + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", o.Name, kind, o.Default, variable, cell(o.Doc))
	}
}

// cell is text inside a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// TestTree: every command has what help, completion and the reference need.
func TestTree(t *testing.T) {
	for _, cmd := range documented(referenceRoot()) {
		path := cmd.CommandPath()
		if cmd.Short == "" || cmd.Long == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: wants a short text without and a long one with a full stop", path)
		}
		for _, line := range strings.Split(cmd.Long, "\n") {
			if len([]rune(line)) > 100 && strings.Contains(cmd.Long, "\n") {
				t.Errorf("%s: a line of help is %d characters long", path, len(line))
			}
		}
		if cmd.Runnable() && cmd.Example == "" {
			t.Errorf("%s: no example", path)
		}
		for _, example := range strings.Split(cmd.Example, "\n") {
			if example != "" && !strings.HasPrefix(example, "  ") {
				t.Errorf("%s: the example %q is not indented", path, example)
			}
		}
	}
}

// TestEntries: the words by which a command alone is built are its name and its
// aliases, and it is the same command.
func TestEntries(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range entries() {
		cmd := e.build(&Env{})
		if diff := cmp.Diff(append([]string{cmd.Name()}, cmd.Aliases...), e.words); diff != "" {
			t.Error(diff)
		}
		for _, word := range e.words {
			if seen[word] {
				t.Errorf("%s calls two commands", word)
			}
			seen[word] = true
			root := treeFor(&Env{}, []string{word})
			if subs := root.Commands(); len(subs) != 1 || subs[0].Name() != cmd.Name() {
				t.Errorf("%s builds %d commands", word, len(subs))
			}
		}
	}
}

// withoutJSON are the commands that take no --json, and why.
var withoutJSON = map[string]string{
	"warder help":       "it prints help",
	"warder daemon run": "it prints nothing but the log, and is the daemon until it ends",
	"warder read":       "what it prints is the value",
	"warder run":        "what it prints is the program's",
	"warder export":     "what it prints is the values, in the form that --format names",
}

// TestCommandsTakeJSON: what a person reads of a command, a program can read, too.
func TestCommandsTakeJSON(t *testing.T) {
	commands := 0
	for _, cmd := range documented(referenceRoot()) {
		flag, reason := cmd.Flags().Lookup("json"), withoutJSON[cmd.CommandPath()]
		switch {
		case !cmd.Runnable():
			continue
		case flag == nil && reason == "":
			t.Errorf("%s takes no --json, and no reason is given", cmd.CommandPath())
		case flag != nil && reason != "":
			t.Errorf("%s takes --json, though %s", cmd.CommandPath(), reason)
		}
		commands++
	}
	if commands < 35 {
		t.Errorf("only %d commands were found", commands)
	}
}

// TestExamplesParse: what help shows as an example is a command line that parses.
func TestExamplesParse(t *testing.T) {
	for _, cmd := range documented(referenceRoot()) {
		for _, line := range strings.Split(cmd.Example, "\n") {
			_, line, _ = strings.Cut(line, "warder ")
			line, _, _ = strings.Cut(line, " < ")
			line, _, _ = strings.Cut(line, " > ")
			words := strings.Fields(strings.ReplaceAll(line, "''", "x"))
			found, rest, err := referenceRoot().Find(words)
			if err == nil {
				err = found.ParseFlags(rest)
			}
			if err == nil && found.Args != nil {
				err = found.Args(found, found.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: the example %q: %v", cmd.CommandPath(), line, err)
			}
		}
	}
}
