package api

// How a value reaches a program.
const (
	ByEnv   = "env"   // in a variable
	ByFile  = "file"  // in a file in memory that a variable names
	ByStdin = "stdin" // as the program's standard input
	ToHide  = "hide"  // not at all: what comes back is searched for it
)

// RunBegin asks for values for a program: those of an item, of a project's stage, or of the references in an env file.
//
// The daemon answers with a [RunPermit], and gives the values for it with OpRunValues, once the process that asked has
// shown that it is the recorded program and can't be read by others. That process tells with OpRunEnd how it ended; if
// it dies before, the daemon notes that nobody knows.
type RunBegin struct {
	Act
	Vault   string   `json:"vault,omitempty"`
	Item    string   `json:"item,omitempty"`
	Project string   `json:"project,omitempty"`
	Stage   string   `json:"stage,omitempty"` // the project's only one if empty
	File    string   `json:"file,omitempty"`  // the env file's path
	Refs    []RunRef `json:"refs,omitempty"`  // the references in it

	Inject []RunInject `json:"inject,omitempty"` // of an item all; of the others those that are not to go into a variable
	Only   []string    `json:"only,omitempty"`   // variables; all if empty

	Program string   `json:"program"` // the file, as an absolute path
	Argv    []string `json:"argv"`
	Mask    bool     `json:"mask,omitempty"` // hide the values in what comes back, whoever asks
}

// RunInject says where a field goes.
type RunInject struct {
	Var   string `json:"var,omitempty"`
	Field string `json:"field,omitempty"` // "[section/]field"; the item's own secret if empty
	As    string `json:"as"`
}

// RunRef is a variable of an env file: one that stands for a field, or one that the file sets itself.
type RunRef struct {
	Var string `json:"var"`
	Ref string `json:"ref"`
	Sum string `json:"sum,omitempty"` // SHA-256, in hex, of what the file sets; empty with a reference
}

// RunPermit allows a run.
type RunPermit struct {
	Lease    string     `json:"lease"`
	Mask     bool       `json:"mask"`
	Values   []RunValue `json:"values"`
	Warnings []string   `json:"warnings"`
}

// RunValue is one value that the program gets; OpRunValues gives them in this order, as many at a time as a reply takes.
type RunValue struct {
	Var    string `json:"var"`
	As     string `json:"as"`
	Secret bool   `json:"secret"` // false if a person said that it is none: it is not hidden
	// User is the number, from 1 on, of the permit's value that is the name of the user whom this one is for; 0 without one. Programs
	// send the two together (HTTP's Basic authentication).
	User int `json:"user,omitempty"`
}

// RunLease names a run that was begun.
type RunLease struct {
	Lease string `json:"lease"`
}

// RunEnd says how a run ended.
type RunEnd struct {
	Lease  string `json:"lease"`
	Code   int    `json:"code"`
	Signal int    `json:"signal,omitempty"`
	Failed string `json:"failed,omitempty"` // why the program did not run, if it did not: one of not_found, not_runnable, too_large, internal
}

// Read asks for one value for a person to see.
type Read struct {
	Act
	Ref      string `json:"ref"`
	Terminal bool   `json:"terminal,omitempty"` // it is shown on the controlling terminal
}
