package daemon

import (
	"encoding/json"
	"os"

	"warder/internal/api"
	"warder/internal/audit"
	"warder/internal/credential"
	"warder/internal/gate"
	"warder/internal/secret"
	"warder/internal/vault"
)

// planRun lends values to a program that the caller starts.
func planRun(r *request) (*act, error) {
	var in api.RunBegin
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	set, err := credential.Resolve(finder{r}, envFiles{r.acts.state}, runRequest(&in))
	if err != nil {
		return nil, err
	}
	argv, _ := json.Marshal(in.Argv)
	r.Facts["program"], r.Facts["argv"], r.Facts["values"] = programFact(in.Program), audit.DigestOf(argv), len(set.Values())
	return &act{
		needs: set.Needs(), text: set.Text(), close: set.Close,
		lend: func(p *gate.Permit) (*api.Reply, error) {
			if err := set.Lend(p, clientStarter{r}); err != nil {
				return nil, err
			}
			if !r.isPerson() {
				r.acts.needles.lent.note(principalKey(r.who), lentBy(set))
			}
			return &api.Reply{Output: api.RunPermit{
				Lease: r.ID, Mask: in.Mask || r.who.Masked && !p.Proved(), Values: runValues(set), Warnings: full(set.Warnings()),
			}}, nil
		},
	}, nil
}

// programFact is a program as the log holds it: the path of a file that is there, and of any other text its digest, since that may be anything.
func programFact(path string) any {
	if fi, err := os.Stat(path); err == nil && fi.Mode().IsRegular() {
		return path
	}
	return audit.DigestOf([]byte(path))
}

// runRequest is what a client asks for, as the set knows it.
func runRequest(in *api.RunBegin) credential.Request {
	out := credential.Request{
		Vault: in.Vault, Item: in.Item, Project: in.Project, Stage: in.Stage, File: in.File, Only: in.Only,
		Program: in.Program, Argv: in.Argv,
	}
	for _, ref := range in.Refs {
		out.Refs = append(out.Refs, credential.Ref(ref))
	}
	for _, inject := range in.Inject {
		out.Inject = append(out.Inject, credential.Injection{Var: inject.Var, Field: inject.Field, As: credential.Delivery(inject.As)})
	}
	return out
}

// runValues are those of a set as the client is told of them.
func runValues(set *credential.Set) []api.RunValue {
	list := []api.RunValue{}
	for _, v := range set.Values() {
		told := api.RunValue{Var: v.Var, As: string(v.As), Secret: v.Secret}
		if v.User > 0 {
			told.User = len(set.Values()) + v.User
		}
		list = append(list, told)
	}
	for range credential.Users(set) {
		list = append(list, api.RunValue{As: api.ToHide})
	}
	return list
}

// clientStarter has the client that asked start the program: the values go to it with a lease.
type clientStarter struct{ *request }

func (s clientStarter) Start(p *gate.Permit, values []secret.Value) error {
	return s.acts.holding.lend(s.call, p, values)
}

// finder is what of the account a request may know of.
type finder struct{ *request }

func (f finder) Item(vaultName, name string) (credential.Source, error) {
	found, err := findItem(&f.lookup, vaultName, name)
	return f.source(found), err
}

func (f finder) Stage(vaultName, project, stage string) (credential.Source, error) {
	p, err := f.find(vault.KindProject, vaultName, project)
	if err != nil {
		return credential.Source{}, err
	}
	s, err := stageOf(f.request, p, stage)
	from := f.source(s)
	from.Shown = p.Name + "/" + s.Name
	return from, err
}

func (f finder) Reference(variable, ref string) (from credential.Source, field string, err error) {
	about := f.subject // which is the stage, and not what it names
	target, err := findPart(&f.lookup, "", ref)
	if f.subject = about; variable == "" && err == nil {
		f.subject = about.and(f.levels(target.vault), target.found) // an env file is no subject: it is about all that it names
	}
	if isMissing(err) && variable != "" && !f.isPerson() { // its words would name what is hidden
		err = f.missing("value", variable)
	}
	return f.source(target.found), target.path, err
}

func (f finder) Field(s credential.Source, it *vault.Item, path string) (*vault.Field, error) {
	return fieldOf(&f.lookup, found{s.Vault, s.Meta}, it, path)
}

func (f finder) Missing(what, name string) error { return f.missing(what, name) }

// source is a thing that was found, and how far it is open to who asks.
func (f finder) source(t found) credential.Source {
	if t.vault == nil {
		return credential.Source{}
	}
	client := ""
	if !f.isPerson() {
		client = f.who.Client
	}
	return credential.Source{Vault: t.vault, Meta: t.Meta, Level: f.levels(t.vault).of(t.ID, client), Shown: t.Name}
}
