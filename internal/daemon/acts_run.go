package daemon

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"warder/internal/api"
	"warder/internal/audit"
	"warder/internal/gate"
	"warder/internal/mask"
	"warder/internal/policy"
	"warder/internal/secret"
	"warder/internal/state"
	"warder/internal/vault"
)

// planRun lends values to a program that the caller starts.
func planRun(r *request) (*act, error) {
	var in api.RunBegin
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	l := &lending{r: r, in: &in, needs: []policy.Need{policy.ToLook}, used: make([]bool, len(in.Inject))}
	err := checkRun(&in)
	if err == nil {
		err = l.resolve()
	}
	if err != nil {
		l.close()
		return nil, err
	}
	l.judgeProgram()
	argv, _ := json.Marshal(in.Argv)
	r.Facts["program"], r.Facts["argv"], r.Facts["values"] = in.Program, audit.DigestOf(argv), len(l.values)
	return &act{
		needs: l.needs, text: l.text(), close: l.close,
		lend: l.lend,
	}, nil
}

// lending is a set of values on its way to a program.
type lending struct {
	r      *request
	in     *api.RunBegin
	needs  []policy.Need
	values []lentValue
	places []string // what the values are from, for the person who is asked
	lists  [][]vault.Command
	opened []*vault.Item
	given  bool   // the values are the lease's
	used   []bool // which of the injections were found, where they name variables

	confirms bool // the act also confirms the env file
	warned   []string
}

// lentValue is one value for the program.
type lentValue struct {
	api.RunValue
	value secret.Value
}

// checkRun refuses a request that says too little or too much.
func checkRun(in *api.RunBegin) error {
	sources := 0
	for _, s := range []string{in.Item, in.Project, in.File} {
		if s != "" {
			sources++
		}
	}
	switch {
	case sources != 1:
		return usage("a run takes its values from one of an item, a project and an env file")
	case len(in.Argv) == 0 || !filepath.IsAbs(in.Program):
		return usage("a run needs a program")
	case in.Item != "" && len(in.Inject) == 0:
		return api.Errorf(api.Usage, "nothing says how the program gets the value of %q", in.Item).
			WithHint("for example: --env-var " + likelyVariable(in.Item))
	case in.Stage != "" && in.Project == "":
		return usage("a stage needs its project")
	}
	for _, inject := range in.Inject {
		switch inject.As {
		case api.ByEnv, api.ByFile:
			if !isShellVariable(inject.Var) {
				return usage("%q can't be the name of a variable", inject.Var)
			}
		case api.ByStdin:
		default:
			return usage("%q is no way for a value to reach a program", inject.As)
		}
	}
	return nil
}

// likelyVariable is what an item's value is likely to be called: github-token is GITHUB_TOKEN.
func likelyVariable(item string) string {
	name := asVariable(item)
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name
}

// isShellVariable says whether programs can have a variable of that name: letters, digits and "_", not beginning with a digit.
func isShellVariable(name string) bool {
	return isVariable(name) && !strings.ContainsAny(name, ".-") && (name[0] < '0' || name[0] > '9')
}

// resolve opens what the values are from.
func (l *lending) resolve() error {
	switch {
	case l.in.Item != "":
		return l.fromItem()
	case l.in.Project != "":
		return l.fromStage()
	}
	return l.fromFile()
}

// fromItem takes fields of one item.
func (l *lending) fromItem() error {
	f, err := findItem(&l.r.lookup, l.in.Vault, l.in.Item)
	if err != nil {
		return err
	}
	it, err := l.open(f)
	if err != nil {
		return err
	}
	l.needs = append(l.needs, l.needFor(f))
	l.lists = append(l.lists, it.Commands)
	for _, inject := range l.in.Inject {
		field, err := wantedField(l.r, f, it, inject.Field)
		if err != nil {
			return err
		}
		l.places = append(l.places, strings.TrimPrefix(reference(f.vault, f.Name, field.Section, field.Name), vault.RefScheme))
		if err := l.add(inject.Var, inject.As, field); err != nil {
			return err
		}
	}
	return nil
}

// wantedField is a field by its path, or what the item is kept for.
func wantedField(r *request, f found, it *vault.Item, path string) (*vault.Field, error) {
	if path != "" {
		return fieldOf(&r.lookup, f, it, path)
	}
	if field := mainField(it); field != nil {
		return field, nil
	}
	return nil, r.missing("value", it.Name)
}

// mainField is what an item is kept for: its first secret, or its first field.
func mainField(it *vault.Item) *vault.Field {
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
func (l *lending) fromStage() error {
	p, err := l.r.find(vault.KindProject, l.in.Vault, l.in.Project)
	if err != nil {
		return err
	}
	s, err := l.stage(p)
	if err != nil {
		return err
	}
	it, err := l.open(s)
	if err != nil {
		return err
	}
	l.needs = append(l.needs, l.needFor(s))
	l.places = append(l.places, p.Name+"/"+s.Name)
	var there []string
	for i := range it.Fields {
		f := &it.Fields[i]
		there = append(there, f.Name)
		if len(l.in.Only) > 0 && !slices.Contains(l.in.Only, f.Name) {
			continue
		}
		if !isShellVariable(f.Name) {
			l.warned = append(l.warned, fmt.Sprintf("%s can't be a variable and was left out", f.Name))
			continue
		}
		if err := l.addVariable(f); err != nil {
			return err
		}
	}
	return allThere(l, there)
}

// stage is the stage that is meant.
func (l *lending) stage(p found) (found, error) {
	if l.in.Stage != "" {
		return l.r.findStage(p, l.in.Stage)
	}
	all := stagesOf(l.r, p)
	if len(all) == 1 {
		return l.r.findStage(p, all[0].Name)
	}
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.Name
	}
	if len(names) == 0 {
		return found{}, l.r.missing("stage", l.in.Project)
	}
	return found{}, api.Errorf(api.Usage, "project %q has several stages", p.Name).WithHint("say which with --stage: " + strings.Join(names, ", "))
}

// addVariable takes one variable, or what it stands for.
func (l *lending) addVariable(f *vault.Field) error {
	name, as := l.wayOf(f.Name)
	if f.Ref == "" {
		return l.add(name, as, f)
	}
	err := l.addReference(name, as, f.Ref)
	if isMissing(err) && !l.r.isPerson() { // its words would name what is hidden
		return l.r.missing("value", f.Name)
	}
	return err
}

// wayOf is how a variable of a stage or an env file reaches the program, and under which name: as it was asked for, else as itself.
func (l *lending) wayOf(name string) (variable, as string) {
	for i, inject := range l.in.Inject {
		if inject.Field == name || inject.Field == "" && inject.Var == name {
			l.used[i] = true
			return cmp.Or(inject.Var, name), inject.As
		}
	}
	return name, api.ByEnv
}

// addReference takes the field that a reference names.
func (l *lending) addReference(name, as, ref string) error {
	about := l.r.subject
	target, err := findPart(&l.r.lookup, "", ref)
	l.r.subject = about
	if err != nil {
		return err
	}
	it, err := l.open(target.found)
	if err != nil {
		return err
	}
	field, err := wantedField(l.r, target.found, it, target.path)
	if err != nil {
		return err
	}
	l.needs = append(l.needs, l.needFor(target.found))
	l.lists = append(l.lists, it.Commands)
	return l.add(name, as, field)
}

// allThere refuses variables that were asked for and are not there.
func allThere(l *lending, there []string) error {
	for _, name := range l.in.Only {
		if !slices.Contains(there, name) {
			return l.r.missing("variable", name)
		}
	}
	for i, inject := range l.in.Inject {
		switch name := cmp.Or(inject.Field, inject.Var); {
		case l.used[i]:
		case name == "":
			return usage("nothing says which variable is to be the standard input")
		default:
			return l.r.missing("variable", name)
		}
	}
	return nil
}

// fromFile takes what the references of an env file name. Whoever may write the file could have it name any item, so a person
// has to have confirmed what it says now, and what it sets itself that programs take code or trust from.
func (l *lending) fromFile() error {
	known, err := readConfirmed(l.r.acts.state)
	if err != nil {
		return err
	}
	if toConfirm(l.in.Refs) && known.Files[l.in.File] != setHash(l.in.Refs) {
		l.needs, l.confirms = append(l.needs, policy.ToConfirmFile), true
	}
	var there []string
	for _, ref := range l.in.Refs {
		there = append(there, ref.Var)
		if ref.Ref == "" {
			continue
		}
		if len(l.in.Only) > 0 && !slices.Contains(l.in.Only, ref.Var) {
			continue
		}
		if !isShellVariable(ref.Var) {
			return usage("%q can't be the name of a variable", ref.Var)
		}
		name, as := l.wayOf(ref.Var)
		if err := l.addReference(name, as, ref.Ref); err != nil {
			return err
		}
	}
	return allThere(l, there)
}

func (l *lending) open(f found) (*vault.Item, error) {
	it, err := f.vault.Open(f.ID)
	if err == nil {
		l.opened = append(l.opened, it)
	}
	return it, err
}

// needFor is what lending from an object takes.
func (l *lending) needFor(f found) policy.Need {
	client := ""
	if !l.r.isPerson() {
		client = l.r.who.Client
	}
	switch l.r.levels(f.vault).of(f.ID, client) {
	case vault.LevelUse, vault.LevelRead:
		return policy.ToLend
	case vault.LevelAsk:
		return policy.ToLendAsked
	case vault.LevelUnset, vault.LevelNone:
	}
	return policy.ToLendClosed
}

func (l *lending) add(name, as string, f *vault.Field) error {
	value, err := f.Value.Clone()
	if err != nil {
		return err
	}
	v := lentValue{api.RunValue{Var: name, As: as, Secret: f.Concealed || f.NonSecret != vault.ByPerson}, value}
	if v.Secret && value.Len() < mask.MinLength {
		l.warned = append(l.warned, fmt.Sprintf("the value of %s is too short to be hidden in what comes back", name))
	}
	l.values = append(l.values, v)
	return nil
}

// judgeProgram says what the program takes beside the values.
func (l *lending) judgeProgram() {
	if dumps(l.in.Program, l.in.Argv) {
		l.needs = append(l.needs, policy.ToDump)
	}
	// An entry is the path that its name meant when a person wrote it. Neither PATH nor a relative name gets another program
	// that path.
	program := filepath.Clean(l.in.Program)
	for _, list := range l.lists {
		if len(list) > 0 && !slices.ContainsFunc(list, func(c vault.Command) bool { return c.Path == program }) {
			l.needs = append(l.needs, policy.ToLendOther)
		}
	}
}

// text says what a person is asked to allow.
func (l *lending) text() string {
	names := make([]string, len(l.values))
	for i, v := range l.values {
		names[i] = v.Var
		if v.As == api.ByStdin {
			names[i] = "its standard input"
		}
	}
	from := slices.Compact(slices.Clone(l.places))
	if l.in.File != "" {
		from = []string{l.in.File}
		for _, ref := range l.in.Refs {
			switch {
			case ref.Ref != "":
				from = append(from, strings.TrimPrefix(ref.Ref, vault.RefScheme))
			case steers(ref):
				from = append(from, ref.Var+" as it sets it")
			}
		}
	}
	return fmt.Sprintf("run %s (%s) with %s from %s", l.in.Argv[0], l.in.Program, strings.Join(names, ", "), strings.Join(from, ", "))
}

// lend begins the lease.
func (l *lending) lend(p *gate.Permit) (*api.Reply, error) {
	permit := api.RunPermit{Lease: l.r.ID, Mask: l.in.Mask || l.r.who.Masked, Values: []api.RunValue{}, Warnings: full(l.warned)}
	values := make([]secret.Value, len(l.values))
	for i, v := range l.values {
		permit.Values, values[i] = append(permit.Values, v.RunValue), v.value
	}
	if err := l.r.acts.holding.lend(l.r.call, p, values); err != nil {
		return nil, err
	}
	l.given = true
	if l.confirms {
		if err := confirm(l.r.acts.state, l.in); err != nil {
			permit.Warnings = append(permit.Warnings, "the env file will be asked about again: what it says could not be kept as confirmed")
		}
	}
	return &api.Reply{Output: permit}, nil
}

// toConfirm says whether a person has to confirm an env file: where it names values, or steers programs.
func toConfirm(refs []api.RunRef) bool {
	return slices.ContainsFunc(refs, func(r api.RunRef) bool { return r.Ref != "" || steers(r) })
}

// steers says whether programs take code or trust from a variable that an env file sets itself.
func steers(r api.RunRef) bool { return r.Ref == "" && codeOf(asVariable(r.Var)) != "" }

// confirm keeps what the env file says as confirmed.
func confirm(dir *state.Dir, in *api.RunBegin) error {
	known, err := readConfirmed(dir)
	if err != nil {
		return err
	}
	known.Files[in.File] = setHash(in.Refs)
	return known.write(dir)
}

func (l *lending) close() {
	for _, it := range l.opened {
		it.Destroy()
	}
	if !l.given {
		for _, v := range l.values {
			v.value.Destroy()
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
	return slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "/proc/") && strings.HasSuffix(a, "/environ") })
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
