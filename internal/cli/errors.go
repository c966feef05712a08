package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
)

// code names a kind of error. Codes are part of the interface: scripts and
// agents branch on them.
type code string

// The codes in use. Each later one comes with the command that can end with it.
const (
	codeUsage    code = "usage"    // the command line can't be understood
	codeInternal code = "internal" // nothing the caller did wrong
)

// Exit statuses. Never renumbered.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// status is the exit status of a process that ends with the code.
func (c code) status() int {
	switch c {
	case codeUsage:
		return exitUsage
	case codeInternal:
		return exitFailed
	}
	return exitFailed
}

// failure is an error as the user sees it.
type failure struct {
	code    code
	message string
	hint    string // the next step; for a usage error one is found by the command
	cause   error
}

// Error implements error.
func (f *failure) Error() string { return f.message }

// Unwrap returns what the failure was made from.
func (f *failure) Unwrap() error { return f.cause }

// usageError is a failure of the command line.
func usageError(format string, args ...any) *failure {
	return &failure{code: codeUsage, message: fmt.Sprintf(format, args...)}
}

// coded makes an error that carries no code an internal one.
func coded(err error) error {
	var f *failure
	if err == nil || errors.As(err, &f) {
		return err
	}
	return &failure{code: codeInternal, message: err.Error(), cause: err}
}

// asFailure returns err as a failure. What carries no code comes from cobra's
// parsing, since finish has put a code on everything else.
func asFailure(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	return &failure{code: codeUsage, message: err.Error(), cause: err}
}

// unknownCommand is the failure of a word that names no command below cmd.
func unknownCommand(cmd *cobra.Command, word string) *failure {
	f := usageError("unknown command %q for %q", word, cmd.CommandPath())
	f.hint = hintFor(cmd)
	cmd.SuggestionsMinimumDistance = 2 // edits, as cobra's own default
	if near := cmd.SuggestionsFor(word); len(near) > 0 {
		f.hint = fmt.Sprintf("did you mean '%s %s'?", cmd.CommandPath(), near[0])
	}
	return f
}

// hintFor is the next step after a usage error that has none of its own.
func hintFor(cmd *cobra.Command) string {
	if cmd.HasParent() {
		return fmt.Sprintf("run '%s --help'", cmd.CommandPath())
	}
	return fmt.Sprintf("run '%s help' to see the commands", cmd.CommandPath())
}

// report prints the failure for a person on stderr, and for a program on
// stdout where it asked for that. Errors of this printing are dropped: there is
// no stream left to tell them on, and the exit status says that it failed.
func (f *failure) report(env *Env, asJSON bool) {
	fmt.Fprintf(env.Err, "warder: error[%s]: %s\n", f.code, printable(f.message))
	if f.hint != "" {
		fmt.Fprintf(env.Err, "warder: hint: %s\n", printable(f.hint))
	}
	if !asJSON {
		return
	}
	type object struct {
		Code    code   `json:"code"`
		Message string `json:"message"`
		Hint    string `json:"hint"`
		ID      string `json:"id"` // of the audit record; empty where there is none
	}
	text, err := json.Marshal(map[string]object{"error": {Code: f.code, Message: f.message, Hint: f.hint}})
	if err != nil {
		return
	}
	fmt.Fprintf(env.Out, "%s\n", text)
}

// wantsJSON reports whether args ask for JSON. It reads the words themselves,
// because after a parse error cobra may not have come to the flag. What follows
// "--" belongs to another program.
func wantsJSON(args []string) bool {
	for _, arg := range args {
		switch arg {
		case "--":
			return false
		case "--json", "--json=true":
			return true
		}
	}
	return false
}

// printable replaces what could steer a terminal or add a line. Messages quote
// command lines, names and other text that warder did not write.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' || unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}
