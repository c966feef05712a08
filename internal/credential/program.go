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
	args := argv[1:]
	switch filepath.Base(program) {
	case "env":
		return !envRuns(args)
	case "printenv", "set", "export", "declare", "compgen":
		return true
	}
	return slices.ContainsFunc(args, func(a string) bool {
		a = filepath.Clean(a)
		return strings.HasPrefix(a, "/proc/") && strings.HasSuffix(a, "/environ")
	})
}

// envRuns says whether env(1) is given a program behind its options and variables.
func envRuns(args []string) bool {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-u" || a == "-C" || a == "-a" || a == "--unset" || a == "--chdir" || a == "--argv0":
			i++ // its value
		case strings.HasPrefix(a, "-S") || strings.HasPrefix(a, "--split-string"):
			return true // a line of its own, which may hold anything
		case a != "-" && strings.HasPrefix(a, "-"), a == "-", strings.Contains(a, "="):
		default:
			return true
		}
	}
	return false
}
