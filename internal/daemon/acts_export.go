package daemon

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/dotenv"
	"warder/internal/policy"
	"warder/internal/secret"
	"warder/internal/vault"
)

// The forms of an export.
const (
	formEnv  = "env"  // package dotenv's own dialect, which import reads back
	formJSON = "json" // docs/cli.md describes it
)

// planExport writes values out: everything, or the variables of a project or stage. The text is the reply's values, one after
// the other.
func planExport(r *request) (*act, error) {
	var in api.Export
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	e := &export{r: r, form: in.Format, all: in.Project == ""}
	err := e.open(&in)
	if err != nil {
		e.close()
		return nil, err
	}
	return &act{
		needs: []policy.Need{policy.ToReveal}, text: e.text(), close: e.close,
		run: func(context.Context) (*api.Reply, error) { return e.run() },
	}, nil
}

// export is what is being written out. It is opened when it is planned and in locked memory until it is done.
type export struct {
	r      *request
	form   string
	all    bool // everything there is
	items  []exported
	stages []exported
}

// exported is one opened object, with the values of references in their place.
type exported struct {
	in    found
	above string // the project of a stage
	item  *vault.Item
}

// open opens what is asked for. An agent is denied whatever it asks for, so nothing is opened for it.
func (e *export) open(in *api.Export) error {
	switch {
	case e.form != formEnv && e.form != formJSON:
		return usage("format %q is none of env, json", e.form)
	case in.Project == "" && in.Stage != "":
		return usage("a stage needs its project")
	case in.Project == "" && e.form == formEnv:
		return usage("format env is for the variables of a stage: give --project and --stage, or take json")
	case in.Project == "":
		return e.openAll()
	}
	p, err := e.r.find(vault.KindProject, "", in.Project)
	if err != nil {
		return err
	}
	stages := stagesOf(e.r, p)
	if in.Stage != "" {
		s, err := e.r.findStage(p, in.Stage)
		if err != nil {
			return err
		}
		stages = []found{s}
	}
	if e.form == formEnv && len(stages) != 1 {
		return usage("format env is for one stage, and %s has %d: say which", in.Project, len(stages))
	}
	for _, s := range stages {
		if err := e.add(&e.stages, p.Name, s); err != nil {
			return err
		}
	}
	return nil
}

// openAll opens every item and every stage.
func (e *export) openAll() error {
	for _, v := range e.r.account.Vaults() {
		for _, m := range v.List(vault.KindItem, vault.KindProject) {
			if !m.Trashed.IsZero() {
				continue
			}
			if err := e.openOne(found{v, m}); err != nil {
				return err
			}
		}
	}
	return nil
}

// openOne opens an item, or all stages of a project.
func (e *export) openOne(f found) error {
	if f.Kind == vault.KindItem {
		return e.add(&e.items, "", f)
	}
	for _, s := range stagesOf(e.r, f) {
		if err := e.add(&e.stages, f.Name, s); err != nil {
			return err
		}
	}
	return nil
}

// add opens one object.
func (e *export) add(list *[]exported, above string, f found) error {
	if !e.r.isPerson() {
		return nil
	}
	it, err := f.vault.Open(f.ID)
	if err != nil {
		return err
	}
	*list = append(*list, exported{f, above, it})
	for i := range it.Fields {
		if err := e.resolve(&it.Fields[i]); err != nil {
			return err
		}
	}
	return nil
}

// resolve puts the value that a reference stands for in its place. A reference to what is not there must not stand in the way of
// writing out everything else: JSON shows it as such, with an empty value.
func (e *export) resolve(f *vault.Field) error {
	if f.Ref == "" {
		return nil
	}
	err := e.follow(f)
	var gone *api.Error
	if e.form == formJSON && errors.As(err, &gone) && gone.Code == api.NotFound {
		return nil
	}
	return err
}

// follow is resolve with an error for what is not there.
func (e *export) follow(f *vault.Field) error {
	gone := api.Errorf(api.NotFound, "%s stands for %s, which is not there", f.Name, f.Ref)
	ref, err := vault.ParseReference(f.Ref)
	if err != nil {
		return gone
	}
	about := e.r.subject
	target, err := e.r.find(vault.KindItem, ref.Vault, ref.Item)
	e.r.subject = about
	if err != nil {
		return gone
	}
	it, err := target.vault.Open(target.ID)
	if err != nil {
		return err
	}
	defer it.Destroy()
	field, err := fieldOf(&e.r.lookup, target, it, ref.Path())
	if err != nil {
		return gone
	}
	f.Value, err = field.Value.Clone()
	return err
}

func (e *export) close() {
	for _, list := range [][]exported{e.items, e.stages} {
		for _, x := range list {
			x.item.Destroy()
		}
	}
}

// variables counts them.
func (e *export) variables() (n int) {
	for _, s := range e.stages {
		n += len(s.item.Fields)
	}
	return n
}

func (e *export) text() string {
	if e.all {
		return fmt.Sprintf("write out the values of all %d items and the %d variables of all projects", len(e.items), e.variables())
	}
	names := make([]string, len(e.stages))
	for i, s := range e.stages {
		names[i] = s.above + "/" + s.in.Name
	}
	return fmt.Sprintf("write out the %d variables of %s", e.variables(), strings.Join(names, ", "))
}

// run writes the text twice: to learn how long it is, and into locked memory of that size.
func (e *export) run() (*api.Reply, error) {
	count := &sink{}
	if err := e.write(count); err != nil {
		return nil, err
	}
	if limit := frame.MaxValues * frame.MaxValue; count.n > limit {
		return nil, api.Errorf(api.TooLarge, "the export has %d bytes, the limit is %d", count.n, limit).
			WithHint("write it out project by project")
	}
	whole, err := secret.Make(count.n, func(b []byte) error { return e.write(&sink{out: b}) })
	if err != nil {
		return nil, err
	}
	defer whole.Destroy()
	values, err := split(whole)
	if err != nil {
		return nil, err
	}
	out := api.Exported{Items: len(e.items), Variables: e.variables()}
	e.r.Facts["items"], e.r.Facts["variables"] = out.Items, out.Variables
	return &api.Reply{Output: out, Values: values}, nil
}

// split cuts a text into values that can cross the socket.
func split(whole secret.Value) (values []secret.Value, err error) {
	used := whole.Use(func(b []byte) {
		for first := true; first || len(b) > 0; first = false {
			n := min(len(b), frame.MaxValue)
			var piece secret.Value
			if piece, err = secret.Make(n, func(p []byte) error { copy(p, b); return nil }); err != nil {
				return
			}
			values, b = append(values, piece), b[n:]
		}
	})
	if err = errors.Join(used, err); err != nil {
		destroy(values)
		return nil, err
	}
	return values, nil
}

// sink takes a text: it counts it, and keeps it if it has room.
type sink struct {
	out []byte
	n   int
}

// Write implements io.Writer.
func (s *sink) Write(b []byte) (int, error) {
	if s.out != nil && copy(s.out[min(s.n, len(s.out)):], b) < len(b) {
		return 0, errors.New("the text grew while it was written")
	}
	s.n += len(b)
	return len(b), nil
}

func (e *export) write(s *sink) error {
	if e.form == formJSON {
		w := &jsonWriter{out: s}
		w.export(e)
		return w.err
	}
	for _, f := range e.stages[0].item.Fields {
		var err error
		used := f.Value.Use(func(b []byte) {
			err = dotenv.Format(s, dotenv.DialectEnv, []dotenv.Entry{{Name: f.Name, Value: b}})
		})
		if err = errors.Join(used, err); err != nil {
			return api.Errorf(api.Usage, "%v", err).WithHint("take --format json")
		}
	}
	return nil
}
