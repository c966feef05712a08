package caller

import (
	"path"
	"slices"
	"strings"
)

// interpreterOf returns the row of the interpreter that a program's name means,
// with or without a version, or nil.
func interpreterOf(name string) *interpreter {
	plain := strings.TrimRight(name, "0123456789.")
	for _, row := range interpreters {
		if row.name == name || row.name == plain {
			return &row
		}
	}
	return nil
}

// script returns the script or module that the interpreter runs with these
// arguments (the first one is its own name), or "" where it runs none: a prompt
// or a piece of code.
func (in *interpreter) script(argv []string) string {
	for i := 1; i < len(argv); i++ {
		arg := argv[i]
		switch {
		case slices.Contains(in.code, arg):
			return ""
		case slices.Contains(in.module, arg):
			return at(argv, i+1)
		case arg == "--":
			return at(argv, i+1)
		case slices.Contains(in.valued, arg):
			i++
		case strings.HasPrefix(arg, "-"):
		case slices.Contains(in.words, arg):
		default:
			return arg
		}
	}
	return ""
}

// applet returns which program a multi-call program acts as.
func applet(argv []string) string {
	name := argName(at(argv, 0))
	if slices.Contains(multiCall[:], name) {
		return argName(at(argv, 1))
	}
	return name
}

// at is the i-th argument, or "".
func at(argv []string, i int) string {
	if i < len(argv) {
		return argv[i]
	}
	return ""
}

// deletedMark is what Linux appends to the path of a program file that is gone.
const deletedMark = " (deleted)"

// exeName is the name by which a program file is looked up: without folders, the
// mark of a file that is gone, and the suffix of Windows.
func exeName(file string) string {
	return strings.TrimSuffix(path.Base(slashes(strings.TrimSuffix(file, deletedMark))), ".exe")
}

// argName is the name by which a first argument is looked up: it may have the
// dash of a login shell, and be a title such as "sshd: ann [priv]".
func argName(arg string) string {
	title, _, _ := strings.Cut(arg, ": ")
	return strings.TrimPrefix(strings.TrimSuffix(exeName(title), ":"), "-")
}

// scriptName is the name by which a script, module or package is looked up.
func scriptName(file string) string {
	base := path.Base(slashes(strings.TrimPrefix(file, "npm:")))
	if name, _, found := strings.Cut(base, "@"); found && name != "" { // package@version
		base = name
	}
	switch ext := path.Ext(base); ext {
	case ".js", ".mjs", ".cjs", ".ts", ".py", ".pyz", ".rb", ".pl", ".php", ".jar":
		base = strings.TrimSuffix(base, ext)
	}
	return base
}

// hasPath reports whether the elements of part follow each other in file.
func hasPath(file, part string) bool {
	file = "/" + strings.TrimPrefix(slashes(file), "npm:") + "/"
	if strings.Contains(file, "/"+part+"/") {
		return true
	}
	// The last element may name a version: @openai/codex@latest.
	return strings.Contains(file, "/"+part+"@")
}

// slashes makes a path of Windows one of the others.
func slashes(file string) string { return strings.ReplaceAll(file, `\`, "/") }
