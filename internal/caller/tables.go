package caller

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"warder/internal/platform"
)

// Tables say what programs, scripts and variables mean. They are built once
// and not changed by a judgement, so that many goroutines may judge.
type Tables struct {
	programs  map[string]program // by base name
	paths     []pathRow
	marks     map[string][]mark // by variable
	markNames []string
	broken    string // why nobody is a person, until it is repaired

	// What doesn't change while this process lives is asked for once.
	bootID    func() (string, error)
	procIsOwn func() (bool, error)
}

// program is what a name stands for.
type program struct {
	role   Role
	client string // of RoleAgent
}

type pathRow struct{ part, client string }

// Warning is something in a user's file that has no effect.
type Warning struct {
	File string
	Line int // from 1
	Text string
	// Pending says that the file wants something that widens or is not known,
	// which needs a person's acceptance.
	Pending bool
}

// String gives file, line and text.
func (w Warning) String() string { return fmt.Sprintf("%s:%d: %s", w.File, w.Line, w.Text) }

// LoadTables builds the embedded tables and adds a user's file to them, if
// extension is not empty; path names that file in messages. See [Tables.Extend].
func LoadTables(extension []byte, path string) (*Tables, []Warning, error) {
	t := &Tables{
		programs:  make(map[string]program, 160),
		marks:     make(map[string][]mark, 64),
		bootID:    sync.OnceValues(platform.BootID),
		procIsOwn: sync.OnceValues(platform.ProcIsOwn),
	}
	for _, row := range programs {
		for _, name := range row.names {
			t.programs[name] = program{role: row.role}
		}
	}
	for _, row := range agents {
		t.add(row)
	}
	warnings, err := t.Extend(extension, path)
	return t, warnings, err
}

// add takes an agent into the tables. Its names win over other roles.
func (t *Tables) add(row agent) {
	for _, name := range row.names {
		t.programs[name] = program{role: RoleAgent, client: row.client}
	}
	for _, part := range row.paths {
		t.paths = append(t.paths, pathRow{part, row.client})
	}
	for _, text := range row.marks {
		m := parseMark(row.client, text)
		if t.marks[m.name] == nil {
			t.markNames = append(t.markNames, m.name)
		}
		t.marks[m.name] = append(t.marks[m.name], m)
	}
}

// lookup finds a name. Programs that nobody knows are RoleOther.
func (t *Tables) lookup(name string) program {
	if p, found := t.programs[name]; found {
		return p
	}
	return program{role: RoleOther}
}

// lookupPath finds the agent whose package a file belongs to.
func (t *Tables) lookupPath(file string) (client string, found bool) {
	for _, row := range t.paths {
		if hasPath(file, row.part) {
			return row.client, true
		}
	}
	return "", false
}

// extension is the file of a user.
type extension struct {
	Version int
	Agent   []extensionAgent
}

type extensionAgent struct {
	Client string
	Names  []string
	Paths  []string
	Marks  []string
}

// Extend adds the agents of a user's file:
//
//	version = 1
//	[[agent]]
//	client = "mybot"             # letters, digits, ".", "_" and "-"
//	names  = ["mybot"]           # of programs and scripts
//	paths  = ["@corp/mybot"]     # parts of their paths
//	marks  = ["MYBOT=1"]         # variables, with a value or any
//
// That is all that a file can do. Whatever else it says comes back as a pending
// warning, and an agent that makes no sense as a plain one. A file that can't be
// read as TOML of version 1 is an error, and since the agents that it adds are
// unknown then, every caller who is no agent is unknown too.
//
// Extend may be called again, for an accepted text and for the present one; it
// takes nothing away. It must not run beside a judgement.
func (t *Tables) Extend(text []byte, path string) ([]Warning, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil
	}
	file, warnings, err := parseExtension(text, path)
	if err != nil {
		t.broken = fmt.Sprintf("the table of agents %s can't be read", path)
		return nil, fmt.Errorf("reading the table of agents: %w", err)
	}
	for i, a := range file.Agent {
		row := agent{client: a.Client, names: a.Names, paths: a.Paths, marks: a.Marks}
		if err := row.check(); err != nil {
			warnings = append(warnings, Warning{File: path, Line: agentLine(text, i), Text: err.Error()})
			continue
		}
		t.add(row)
	}
	return warnings, nil
}

// Doubt leaves nobody a person, for a reason that verdicts give: agents may be
// missing in the tables. It must not run beside a judgement.
func Doubt(t *Tables, why string) { t.broken = why }

func parseExtension(text []byte, path string) (file extension, warnings []Warning, err error) {
	decoder := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields()
	err = decoder.Decode(&file)
	var (
		unknown *toml.StrictMissingError
		wrong   *toml.DecodeError
	)
	switch {
	case errors.As(err, &unknown):
		for _, e := range unknown.Errors {
			line, _ := e.Position()
			key := strings.Join(e.Key(), ".")
			warnings = append(warnings, Warning{
				File: path, Line: line, Pending: true,
				Text: fmt.Sprintf("%s: this file can only add agents", key),
			})
		}
	case errors.As(err, &wrong):
		line, _ := wrong.Position()
		return extension{}, nil, fmt.Errorf("%s:%d: %w", path, line, wrong)
	case err != nil:
		return extension{}, nil, fmt.Errorf("%s: %w", path, err)
	}
	if file.Version != 1 {
		return extension{}, nil, fmt.Errorf("%s:1: version is %d, want 1", path, file.Version)
	}
	return file, warnings, nil
}

// agentLine is the line of the i-th [[agent]] header.
func agentLine(text []byte, i int) int {
	number := 0
	for line := range bytes.Lines(text) {
		number++
		header, _, _ := bytes.Cut(line, []byte("#"))
		if string(bytes.Join(bytes.Fields(header), nil)) != "[[agent]]" {
			continue
		}
		if i == 0 {
			return number
		}
		i--
	}
	return 1
}

// The reasons why an agent of a user's file makes no sense.
var (
	errClient  = errors.New("client: want up to 64 letters, digits, dots, dashes and underscores")
	errNothing = errors.New("this agent has neither names nor paths nor marks")
	errName    = errors.New("names: want base names without a slash")
	errPath    = errors.New("paths: want parts of paths without a slash at their ends")
	errMark    = errors.New("marks: want NAME or NAME=VALUE")
)

// foundEverywhere is the error of an agent that would be found above or around
// everybody. Any program that runs as the user can write the file, and such a row
// would take the person for an agent, who then can't take it back.
func foundEverywhere(kind, text string) error {
	return fmt.Errorf("%s: %q is also found where a person works, so it can't tell an agent", kind, text)
}

// check reports whether a row can mean something.
func (a agent) check() error {
	if a.client == "" || len(a.client) > 64 || strings.Trim(a.client, wordCharacters+".-") != "" {
		return errClient
	}
	if len(a.names)+len(a.paths)+len(a.marks) == 0 {
		return errNothing
	}
	for _, name := range a.names {
		if name == "" || strings.ContainsAny(name, "/\x00") {
			return errName
		}
		if isEverywhere(name) {
			return foundEverywhere("names", name)
		}
	}
	for _, part := range a.paths {
		if part == "" || strings.Trim(part, "/") != part {
			return errPath
		}
		if !slices.ContainsFunc(strings.Split(part, "/"), isTelling) {
			return foundEverywhere("paths", part)
		}
	}
	for _, text := range a.marks {
		if err := checkMark(text); err != nil {
			return err
		}
	}
	return nil
}

// checkMark reports whether a mark can mean something.
func checkMark(text string) error {
	name, value, valued := strings.Cut(text, "=")
	if name == "" || strings.Trim(name, wordCharacters) != "" || valued && value == "" {
		return errMark
	}
	if slices.Contains(sharedVariables[:], name) {
		return foundEverywhere("marks", text)
	}
	return nil
}

// isEverywhere reports whether programs of that name are above people.
func isEverywhere(name string) bool {
	if slices.Contains(everywhere[:], name) || slices.Contains(multiCall[:], name) {
		return true
	}
	return slices.ContainsFunc(programs[:], func(row programRow) bool {
		return slices.Contains(personRoles[:], row.role) && slices.Contains(row.names, name)
	})
}

// isTelling reports whether an element of a path says more than where systems
// keep all their programs, and than what people work with.
func isTelling(element string) bool {
	return !slices.Contains(sharedDirectories[:], element) && !isEverywhere(element)
}

const wordCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
