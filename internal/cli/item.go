package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"warder/internal/api"
)

// newItem builds "warder item".
func newItem(env *Env) *cobra.Command {
	group := newGroup("item", "Keep credentials and say who may use them",
		`Add, change, show and remove items: stored credentials with their fields, the
programs and hosts they are for, and the level that says what agents may do with
them: none (not even its name), ask, use (usable, never visible) or read.

An item is named by its name, as VAULT/ITEM as lists show it, or as a reference,
warder://VAULT/ITEM. A field of it has /FIELD or /SECTION/FIELD behind that.

A value is read from standard input or at a hidden prompt. It never stands in a
command line, where every program of the machine can read it.`,
		newItemAdd(env), newItemEdit(env), newItemRemove(env), newItemShow(env),
		newItemList(env), newItemCheck(env), newItemUndo(env), newItemHistory(env))
	return suggest(group, map[string][]string{
		"add": {"create", "new", "store"}, "show": {"get", "view", "reveal", "read"}, "edit": {"set", "update", "change", "rename"},
		"rm": {"del", "trash"}, "history": {"log", "revisions"}, "undo": {"revert", "restore"},
	})
}

// itemType is a type of item and the name of the field that holds its secret.
type itemType struct{ name, field, doc string }

// itemTypes are the types of F1, in the order in which help shows them.
func itemTypes() []itemType {
	return []itemType{
		{"login", "password", "a user name and a password"},
		{"password", "password", "a password alone"},
		{"api-token", "token", "a token of a service"},
		{"ssh-key", "private_key", "a key for ssh"},
		{"database", "password", "an account of a database"},
		{"certificate", "private_key", "a certificate's key"},
		{"note", "text", "a text"},
		{"card", "number", "a payment card"},
		{"identity", "number", "a document of a person"},
		{"other", "value", "anything else"},
	}
}

// secretField is the name of the field that holds the secret of a type.
func secretField(name string) (string, error) {
	for _, t := range itemTypes() {
		if t.name == name {
			return t.field, nil
		}
	}
	return "", usageError("unknown type %q", name).WithHint("the types are " + strings.Join(typeNames(), ", "))
}

func typeNames() []string {
	var names []string
	for _, t := range itemTypes() {
		names = append(names, t.name)
	}
	return names
}

// levels are the words of a level, as the vault has them.
func levels() []string { return []string{"unset", "none", "ask", "use", "read"} }

// checkLevel refuses a word that is no level. An empty one was not given.
func checkLevel(level string) error {
	if level == "" || slices.Contains(levels(), level) {
		return nil
	}
	return usageError("unknown level %q", level).WithHint("the levels are " + strings.Join(levels(), ", "))
}

// splitField parts "[section/]field".
func splitField(text string) (section, name string) {
	if section, name, found := strings.Cut(text, "/"); found {
		return section, name
	}
	return "", text
}

// assignment parts "NAME=TEXT" of a flag.
func assignment(flag, text string) (name, value string, err error) {
	name, value, found := strings.Cut(text, "=")
	if !found || name == "" {
		return "", "", usageError("--%s wants NAME=TEXT, got %q", flag, name)
	}
	return name, value, nil
}

// resolveCommands finds the programs that names mean now, so that a later PATH
// can't change what an item may be used for.
func resolveCommands(env *Env, names []string) ([]api.Command, error) {
	commands := []api.Command{}
	for _, name := range names {
		if name == "" {
			continue
		}
		path, err := lookPath(env, name)
		if err != nil {
			return nil, err
		}
		commands = append(commands, api.Command{Name: name, Path: path})
	}
	return commands, nil
}

// lookPath is the absolute path of the program called name.
func lookPath(env *Env, name string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		path, err := filepath.Abs(name)
		if err == nil && executable(path) {
			return path, nil
		}
		return "", api.Errorf(api.NotFound, "there is no program %q", name).WithHint("give the path of a file that can be run")
	}
	for _, dir := range filepath.SplitList(env.Getenv("PATH")) {
		if path := filepath.Join(dir, name); filepath.IsAbs(dir) && executable(path) {
			return path, nil
		}
	}
	return "", api.Errorf(api.NotFound, "there is no program %q in PATH", name).WithHint("install it first, or give its path")
}

// executable reports whether path is a file that somebody may run.
func executable(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular() && fi.Mode().Perm()&0o111 != 0
}

// given are the entries of a list flag without the empty ones, which stand for
// "none at all".
func given(list []string) []string {
	out := []string{}
	for _, entry := range list {
		if entry != "" {
			out = append(out, entry)
		}
	}
	return out
}

// vaultUsage is the help of --vault where an item is named that is there.
const vaultUsage = "the vault that it is in; else any"

// itemArgument is the argument check of a command that takes an item.
func itemArgument() cobra.PositionalArgs { return oneArgument("ITEM", "an item's name") }

// place is an item's name with its vault in front, as lists and messages show it.
func place(vault, name string) string { return vault + "/" + name }
