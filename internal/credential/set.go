// Package credential lets programs use values that nobody sees.
//
// A run [Set] is the values that one program gets: fields of an item, the variables of a project's stage, or what the references in an
// env file stand for, each with the way in which it reaches the program. Resolving one says what that takes, for the gate to
// decide; only with the gate's permit the values go to whatever starts the program. What the account holds, and what of it the
// caller may know, is told by a [Finder].
package credential

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"warder/internal/gate"
	"warder/internal/mask"
	"warder/internal/policy"
	"warder/internal/secret"
	"warder/internal/vault"
)

// Delivery is how a value reaches a program.
type Delivery string

// The deliveries.
const (
	ByEnv   Delivery = "env"   // in a variable
	ByFile  Delivery = "file"  // in a file in memory that a variable names
	ByStdin Delivery = "stdin" // as the program's standard input
)

// Request asks for the values of one program: those of an item, of a project's stage, or of the references in an env file.
type Request struct {
	Vault, Item    string
	Project, Stage string // the project's only one if empty
	File           string // the env file's path
	Refs           []Ref  // what is in it

	Inject []Injection // of an item all; of the others those that are not to go into a variable of their own name
	Only   []string    // variables; all if empty

	Program string // the file, as an absolute path
	Argv    []string
}

// Injection says where a field goes.
type Injection struct {
	Var   string
	Field string // "[section/]field"; the item's own secret if empty
	As    Delivery
}

// Ref is a variable of an env file: one that stands for a field, or one that the file sets itself.
type Ref struct {
	Var string
	Ref string
	Sum string // SHA-256, in hex, of what the file sets; empty with a reference
}

// Source is an object of the account that values are taken from: an item, or a stage with its variables.
type Source struct {
	Vault *vault.Vault
	vault.Meta
	Level vault.Level // how far it is open to who asks
	Shown string      // its name for a person
}

// Finder finds what the account holds, as one caller may know of it. Its errors are told to that caller.
type Finder interface {
	// Item finds an item by any form of its name.
	Item(vault, name string) (Source, error)
	// Stage finds a stage of a project; an empty name is the only one.
	Stage(vault, project, stage string) (Source, error)
	// Reference finds the item that a reference names, and the path of the field if it names one. Of what a variable of a stage
	// stands for, errors name no more than the variable; it is empty for a reference that the caller wrote.
	Reference(variable, ref string) (s Source, field string, err error)
	// Field finds a field of an opened item by "[section/]field".
	Field(s Source, it *vault.Item, path string) (*vault.Field, error)
	// Missing is the error for what is not there.
	Missing(what, name string) error
}

// Confirmations are the env files that a person has confirmed, each by a hash of what it says.
type Confirmations interface {
	// Confirmed is the hash for a file; "" if there is none.
	Confirmed(file string) (hash string, err error)
	Confirm(file, hash string) error
}

// Starter starts the program of a set, or hands the values to who does. They are its own unless it fails.
type Starter interface {
	Start(p *gate.Permit, values []secret.Value) error
}

// InvalidError says that a request says too little or too much.
type InvalidError struct{ Text, Hint string }

func (e *InvalidError) Error() string { return e.Text }

func invalid(format string, args ...any) error {
	return &InvalidError{Text: fmt.Sprintf(format, args...)}
}

// Set is the values of one program, on their way to it. Its owner closes it.
type Set struct {
	find      Finder
	confirmed Confirmations
	in        Request

	needs    []policy.Need
	values   []Value
	users    []userOf
	places   []string // what the values are from, for the person who is asked
	lists    [][]vault.Command
	opened   []*vault.Item
	given    bool   // the values are the starter's
	used     []bool // which of the injections were found, where they name variables
	confirms bool   // the act also confirms the env file
	warned   []string
}

// Value is one value of a set.
type Value struct {
	Var    string
	As     Delivery
	Secret bool // false if a person said that it is none: it is not hidden in what comes back
	From   Field
	// User is which of the names that are lent along is the user's whom the value is for, from 1 on; 0 without one.
	User  int
	value secret.Value
}

// Field names the field that a value is from. A variable that is a reference is from the item that it names.
type Field struct {
	Source
	Section, Name string
}

// Resolve finds the values of a request. It opens items, and closes them with the set.
//
// Errors: *InvalidError; those of the finder and of the confirmations; the vault's.
func Resolve(find Finder, confirmed Confirmations, in Request) (*Set, error) {
	s := &Set{find: find, confirmed: confirmed, in: in, needs: []policy.Need{policy.ToLook}, used: make([]bool, len(in.Inject))}
	err := in.check()
	if err == nil {
		err = s.resolve()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	judgeProgram(s)
	return s, nil
}

// check refuses a request that says too little or too much.
func (in *Request) check() error {
	sources := 0
	for _, s := range []string{in.Item, in.Project, in.File} {
		if s != "" {
			sources++
		}
	}
	switch {
	case sources != 1:
		return invalid("a run takes its values from one of an item, a project and an env file")
	case len(in.Argv) == 0 || !filepath.IsAbs(in.Program):
		return invalid("a run needs a program")
	case in.Item != "" && len(in.Inject) == 0:
		return &InvalidError{
			Text: fmt.Sprintf("nothing says how the program gets the value of %q", in.Item),
			Hint: "for example: --env-var " + LikelyVariable(in.Item),
		}
	case in.Stage != "" && in.Project == "":
		return invalid("a stage needs its project")
	case in.Item != "" && len(in.Only) > 0:
		return invalid("an item has fields and no variables to choose from: name one with --env-var NAME=FIELD")
	}
	for _, inject := range in.Inject {
		switch inject.As {
		case ByEnv, ByFile:
			if !IsVariable(inject.Var) {
				return invalid("%q can't be the name of a variable", inject.Var)
			}
		case ByStdin:
		default:
			return invalid("%q is no way for a value to reach a program", inject.As)
		}
	}
	return nil
}

// resolve opens what the values are from.
func (s *Set) resolve() error {
	switch {
	case s.in.Item != "":
		return s.fromItem()
	case s.in.Project != "":
		return s.fromStage()
	}
	return s.fromFile()
}

// fromItem takes fields of one item.
func (s *Set) fromItem() error {
	from, err := s.find.Item(s.in.Vault, s.in.Item)
	if err != nil {
		return err
	}
	it, err := s.open(from)
	if err != nil {
		return err
	}
	for _, inject := range s.in.Inject {
		field, err := Wanted(s.find, from, it.Item, inject.Field)
		if err != nil {
			return err
		}
		ref := vault.Address{Vault: from.Vault.Name(), Item: from.Name, Section: field.Section, Field: field.Name}.Reference()
		s.places = append(s.places, strings.TrimPrefix(ref, vault.RefScheme))
		if err := mayReach(from, inject.Var, inject.As); err != nil {
			return err
		}
		if err := s.add(it, inject.Var, inject.As, field); err != nil {
			return err
		}
	}
	return nil
}

// mayReach refuses to put a value into a variable where its item says never to: what a program starts inherits its environment.
func mayReach(from Source, name string, as Delivery) error {
	if as == ByEnv && from.NeverEnv {
		return &InvalidError{
			Text: fmt.Sprintf("%s is given to no program in a variable", from.Shown),
			Hint: fmt.Sprintf("give it as a file: --file %s; or as its standard input: --stdin", name),
		}
	}
	return nil
}

// Wanted is the field of an opened item that a path names, or what the item is kept for.
func Wanted(find Finder, s Source, it *vault.Item, path string) (*vault.Field, error) {
	if path != "" {
		return find.Field(s, it, path)
	}
	if field := MainField(it); field != nil {
		return field, nil
	}
	return nil, find.Missing("value", it.Name)
}

// MainField is what an item is kept for: its first secret, or its first field.
func MainField(it *vault.Item) *vault.Field {
	for i := range it.Fields {
		if it.Fields[i].Concealed {
			return &it.Fields[i]
		}
	}
	if len(it.Fields) > 0 {
		return &it.Fields[0]
	}
	return nil
}

// fromStage takes the variables of a stage.
func (s *Set) fromStage() error {
	from, err := s.find.Stage(s.in.Vault, s.in.Project, s.in.Stage)
	if err != nil {
		return err
	}
	it, err := s.open(from)
	if err != nil {
		return err
	}
	s.places = append(s.places, from.Shown)
	var there []string
	for i := range it.Fields {
		f := &it.Fields[i]
		there = append(there, f.Name)
		if len(s.in.Only) > 0 && !slices.Contains(s.in.Only, f.Name) {
			continue
		}
		if !IsVariable(f.Name) {
			s.warned = append(s.warned, fmt.Sprintf("%s can't be a variable and was left out", f.Name))
			continue
		}
		if err := s.addVariable(it, f); err != nil {
			return err
		}
	}
	return allThere(s, there)
}

// addVariable takes one variable of a stage, or what it stands for.
func (s *Set) addVariable(stage opened, f *vault.Field) error {
	if f.Ref != "" {
		from, path, err := s.find.Reference(f.Name, f.Ref)
		if err != nil {
			return err
		}
		return s.addFrom(f.Name, from, path)
	}
	for _, way := range s.waysOf(f.Name) {
		if err := s.add(stage, way.Var, way.As, f); err != nil {
			return err
		}
	}
	return nil
}

// waysOf are how a variable of a stage or an env file reaches the program, and under which names: as it was asked for, else as itself.
func (s *Set) waysOf(name string) []Injection {
	var ways []Injection
	for i, inject := range s.in.Inject {
		if inject.Field == name || inject.Field == "" && inject.Var == name {
			s.used[i] = true
			ways = append(ways, Injection{Var: cmp.Or(inject.Var, name), As: inject.As})
		}
	}
	if ways == nil {
		return []Injection{{Var: name, As: ByEnv}}
	}
	return ways
}

// addFrom takes a field of an item that a variable stands for.
func (s *Set) addFrom(variable string, from Source, path string) error {
	it, err := s.open(from)
	if err != nil {
		return err
	}
	field, err := Wanted(s.find, from, it.Item, path)
	if err != nil {
		return err
	}
	for _, way := range s.waysOf(variable) {
		if err := mayReach(from, way.Var, way.As); err != nil {
			return err
		}
		if err := s.add(it, way.Var, way.As, field); err != nil {
			return err
		}
	}
	return nil
}

// allThere refuses variables that were asked for and are not there.
func allThere(s *Set, there []string) error {
	for _, name := range s.in.Only {
		if !slices.Contains(there, name) {
			return s.find.Missing("variable", name)
		}
	}
	for i, inject := range s.in.Inject {
		switch name := cmp.Or(inject.Field, inject.Var); {
		case s.used[i]:
		case name == "":
			return invalid("nothing says which variable is to be the standard input")
		default:
			return s.find.Missing("variable", name)
		}
	}
	return nil
}

// opened is an object that was opened.
type opened struct {
	from Source
	*vault.Item
}

// open opens an object for as long as the set is, and notes what lending from it takes.
func (s *Set) open(from Source) (opened, error) {
	it, err := from.Vault.Open(from.ID)
	if err != nil {
		return opened{}, err
	}
	s.opened = append(s.opened, it)
	s.needs = append(s.needs, needFor(from.Level))
	s.lists = append(s.lists, it.Commands)
	return opened{from, it}, nil
}

// needFor is what lending from an object of that level takes.
func needFor(level vault.Level) policy.Need {
	switch level {
	case vault.LevelUse, vault.LevelRead:
		return policy.ToLend
	case vault.LevelAsk:
		return policy.ToLendAsked
	case vault.LevelUnset, vault.LevelNone:
	}
	return policy.ToLendClosed
}

// add takes a copy of one value.
func (s *Set) add(it opened, name string, as Delivery, f *vault.Field) error {
	for _, v := range s.values {
		switch {
		case v.As == ByStdin && as == ByStdin:
			return invalid("the standard input takes one value")
		case v.As != ByStdin && as != ByStdin && v.Var == name:
			return invalid("the variable %s is set twice", name)
		}
	}
	value, err := f.Value.Clone()
	if err != nil {
		return err
	}
	v := Value{Var: name, As: as, Secret: f.Concealed || f.NonSecret != vault.ByPerson, From: Field{it.from, f.Section, f.Name}, value: value}
	if v.Secret {
		if v.User, err = addUser(s, it, f); err != nil {
			value.Destroy()
			return err
		}
	}
	if v.Secret && value.Len() < mask.MinLength {
		s.warned = append(s.warned, fmt.Sprintf("the value of %s is too short to be hidden in what comes back", name))
	}
	s.values = append(s.values, v)
	return nil
}

// Needs are what lending the set takes.
func (s *Set) Needs() []policy.Need { return s.needs }

// Values are the set's, without what they hold.
func (s *Set) Values() []Value { return s.values }

// Warnings are what whoever runs the program should know.
func (s *Set) Warnings() []string { return s.warned }

// Text says what a person is asked to allow.
func (s *Set) Text() string {
	names := make([]string, len(s.values))
	for i, v := range s.values {
		names[i] = v.Var
		if v.As == ByStdin {
			names[i] = "its standard input"
		}
	}
	from := slices.Compact(slices.Clone(s.places))
	if s.in.File != "" {
		from = s.in.fileText()
	}
	return fmt.Sprintf("run %s (%s) with %s from %s", s.in.Argv[0], s.in.Program, strings.Join(names, ", "), strings.Join(from, ", "))
}

// Lend gives the values to the starter, which the gate has permitted, and behind them the names of users ([Users]), by which more is
// hidden of what the program prints.
func (s *Set) Lend(p *gate.Permit, to Starter) error {
	values := make([]secret.Value, 0, len(s.values)+len(s.users)) // none is also a list: nil would say that they were given
	for _, v := range s.values {
		values = append(values, v.value)
	}
	for _, u := range s.users {
		values = append(values, u.name)
	}
	if err := to.Start(p, values); err != nil {
		return err
	}
	s.given = true
	if s.confirms && s.confirmed.Confirm(s.in.File, s.in.fileHash()) != nil {
		s.warned = append(s.warned, "the env file will be asked about again: what it says could not be kept as confirmed")
	}
	return nil
}

// Close wipes what was opened, and the values unless they were given.
func (s *Set) Close() {
	for _, it := range s.opened {
		it.Destroy()
	}
	if !s.given {
		for _, u := range s.users {
			u.name.Destroy()
		}
		for _, v := range s.values {
			v.value.Destroy()
		}
	}
}
