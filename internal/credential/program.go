package credential

import (
	"path/filepath"
	"slices"
	"strings"

	"warder/internal/policy"
	"warder/internal/vault"
)

// judgeProgram says what the program takes beside the values.
func judgeProgram(s *Set) {
	if dumps(s.in.Program, s.in.Argv) {
		s.needs = append(s.needs, policy.ToDump)
	}
	// An entry is the path that its name meant when a person wrote it. Neither PATH nor a relative name gets another program
	// that path.
	program := filepath.Clean(s.in.Program)
	for _, list := range s.lists {
		if len(list) > 0 && !slices.ContainsFunc(list, func(c vault.Command) bool { return c.Path == program }) {
			s.needs = append(s.needs, policy.ToLendOther)
		}
	}
}

// dumps says whether a program does nothing but show its environment: what comes back is masked, but nobody needs it. It is a net for
// accidents; a shell in between passes it.
func dumps(program string, argv []string) bool {
	args := argv[1:] // #nosec G602 -- a program has its own name
	switch filepath.Base(program) {
	case "env":
		args = behindEnv(args)
		return len(args) == 0 || dumps(args[0], args)
	case "busybox", "toybox":
		return len(args) > 0 && dumps(args[0], args)
	case "printenv", "set", "export", "declare", "compgen":
		return true
	}
	return slices.ContainsFunc(args, isEnviron)
}

// isEnviron says whether an argument is, or ends in, the path of a process's environment: as an operand, or behind an option or "if=".
func isEnviron(arg string) bool {
	at := strings.Index(arg, "/proc/")
	if at < 0 || strings.ContainsAny(arg, " \t\n") { // a text that speaks of it
		return false
	}
	path := filepath.Clean(arg[at:])
	return strings.HasPrefix(path, "/proc/") && strings.HasSuffix(path, "/environ")
}

// behindEnv is what env(1) runs: its arguments behind the options and variables.
func behindEnv(args []string) []string {
	options := true
	for len(args) > 0 {
		a := args[0]
		switch {
		case options && a == "--":
			options = false
		case options && strings.HasPrefix(a, "-"):
			args = behindOption(args)
			continue
		case !strings.Contains(a, "="):
			return args
		default:
			options = false
		}
		args = args[1:]
	}
	return nil
}

// behindOption are the arguments of env(1) behind the option that comes first. The line of -S takes its place.
func behindOption(args []string) []string {
	var value string
	option, rest := args[0], args[1:]
	if long, isLong := strings.CutPrefix(option, "--"); isLong {
		var given bool
		if long, value, given = strings.Cut(long, "="); long == "" || !slices.ContainsFunc(envValued[:], func(name string) bool { return strings.HasPrefix(name, long) }) {
			return rest // it has no value, or none in an argument of its own
		}
		option = long[:1]
		if given {
			return split(option == "s", value, rest)
		}
	} else {
		at := strings.IndexAny(option, "uCaS")
		if at < 0 {
			return rest
		}
		if option, value = option[at:at+1], option[at+1:]; value != "" {
			return split(option == "S", value, rest)
		}
	}
	if len(rest) == 0 {
		return nil
	}
	return split(option == "S" || option == "s", rest[0], rest[1:])
}

// envValued are the long options of env(1) that take a value. They may be cut, to "--u" for one.
var envValued = [...]string{"unset", "chdir", "argv0", "split-string"}

// split puts the words of a line before the rest, where it is one.
func split(line bool, value string, rest []string) []string {
	if !line {
		return rest
	}
	value, _, _ = strings.Cut(value, `\c`) // where the line ends
	words := strings.Fields(strings.NewReplacer(`\_`, " ", `"`, "", "'", "", `\`, "").Replace(value))
	return append(words, rest...)
}
