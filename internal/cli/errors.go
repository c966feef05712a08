package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/state"
)

// exitOK is the status of a command that did what it was asked for. The others
// stand in api's table.
const exitOK = 0

// exitInterrupted is what shells use for a program that the interrupt key ended.
const exitInterrupted = 130

// outcome is the exit status of a command that has said everything already: a
// check that answers "no", a report that found something.
type outcome int

// Error implements error.
func (o outcome) Error() string { return fmt.Sprintf("exit status %d", int(o)) }

// usageError is a failure of the command line. Its hint is found by the command.
func usageError(format string, args ...any) *api.Error {
	return frame.Errorf(api.Usage, format, args...)
}

// codeOf is the code of an error that carries one, else "".
func codeOf(err error) api.Code {
	var e *api.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.Code
}

// coded makes an error that carries no code an internal one. A full or read-only
// disk has a way out that is the same for every command.
func coded(err error) error {
	var said outcome
	if err == nil || errors.As(err, &said) || codeOf(err) != "" {
		return err
	}
	e := api.Errorf(api.Internal, "%v", err).WithCause(err)
	if hint := state.Hint(err); hint != "" {
		return e.WithHint(hint)
	}
	return e
}

// asError returns err as the user sees it. What carries no code comes from
// cobra's parsing, since finish has put a code on everything else.
func asError(err error, cmd *cobra.Command) *api.Error {
	var e *api.Error
	if !errors.As(err, &e) {
		e = flagFault(err, cmd)
	}
	// The daemon knows no command line, so its own hint sends to the help.
	if e.Code == api.Usage && (e.Hint == "" || e.Hint == api.RowOf(api.Usage).Hint) {
		return e.WithHint(hintFor(cmd))
	}
	return api.AsError(e)
}

// flagFault is a failure of cobra's parsing in words of this program: what its
// library calls a function of its language helps nobody, and a value such as -3
// is taken for flags.
func flagFault(err error, cmd *cobra.Command) *api.Error {
	text, rest, parsed := strings.Cut(err.Error(), ": strconv.Parse")
	switch {
	case parsed && strings.HasPrefix(rest, "Bool"):
		text += ": want true or false"
	case parsed && strings.HasSuffix(rest, strconv.ErrRange.Error()):
		text += ": the number is too large"
	case parsed:
		text += ": want a number"
	}
	e := usageError("%s", text).WithCause(err)
	if short, is := strings.CutPrefix(text, "unknown shorthand flag: '"); is && short != "" && unicode.IsDigit(rune(short[0])) {
		return e.WithHint(fmt.Sprintf("a value that begins with - stands behind --: '%s -- ...'", cmd.CommandPath()))
	}
	return e
}

// unknownCommand is the failure of a word that names no command below cmd.
func unknownCommand(cmd *cobra.Command, word string) *api.Error {
	e := usageError("unknown command %q for %q", word, cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2 // edits, as cobra's own default
	if near := cmd.SuggestionsFor(word); len(near) > 0 {
		return e.WithHint(fmt.Sprintf("did you mean '%s %s'?", cmd.CommandPath(), near[0]))
	}
	return e.WithHint(hintFor(cmd))
}

// hintFor is the next step after a usage error that has none of its own.
func hintFor(cmd *cobra.Command) string {
	switch {
	case cmd.Runnable():
		return fmt.Sprintf("%s; all of it: '%s --help'", usedAs(cmd), cmd.CommandPath())
	case cmd.HasParent():
		return fmt.Sprintf("run '%s --help'", cmd.CommandPath())
	}
	return fmt.Sprintf("run '%s help' to see the commands", cmd.CommandPath())
}

// report prints the error for a person on stderr, and for a program on stdout
// where it asked for that. Errors of this printing are dropped: there is no
// stream left to tell them on, and the exit status says that it failed.
func report(env *Env, e *api.Error, asJSON bool) {
	fmt.Fprintf(env.Err, "warder: error[%s]: %s\n", e.Code, printable(e.Message))
	if e.Hint != "" {
		fmt.Fprintf(env.Err, "warder: hint: %s\n", printable(e.Hint))
	}
	if !asJSON {
		return
	}
	text, err := json.Marshal(map[string]*api.Error{"error": e})
	if err != nil {
		return
	}
	fmt.Fprintf(env.Out, "%s\n", text)
}

// warn tells a person something that did not stop the command.
func warn(w io.Writer, format string, args ...any) {
	fmt.Fprintf(w, "warder: warning: %s\n", printable(fmt.Sprintf(format, args...)))
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
