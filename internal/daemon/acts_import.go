package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"warder/internal/api"
	"warder/internal/dotenv"
	"warder/internal/secret"
	"warder/internal/vault"
)

// planImport stores the variables of an env file, or says what that would do. The file is the call's values, one after the other.
func planImport(r *request) (*act, error) {
	var in api.Import
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if len(r.values) == 0 {
		return nil, usage("the file's content is missing")
	}
	w, err := newStageWrite(r, in.Project, in.Stage, in.Level)
	if err != nil {
		return nil, err
	}
	m := &importing{w: w, in: &in}
	if err = m.read(); err == nil {
		err = w.plan()
	}
	if err != nil {
		m.close()
		return nil, err
	}
	return &act{
		needs: w.needs,
		text:  fmt.Sprintf("store %d variables of %s in %s/%s", len(w.change.Set), in.File, w.site.project.Name, w.site.stage.Name),
		run:   func(context.Context) (*api.Reply, error) { return m.run() },
		close: m.close,
	}, nil
}

// importing is an env file on its way into a stage.
type importing struct {
	w  *stageWrite
	in *api.Import
}

// read parses the file. The parser's values are bytes that go into locked memory one by one and are wiped with that.
func (m *importing) read() error {
	file, err := parseEnv(m.in.File, m.w.r.values)
	if err != nil {
		return err
	}
	defer file.Wipe()
	for _, warning := range file.Warnings {
		m.w.warned = append(m.w.warned, api.ImportWarning{Line: warning.Line, Text: warning.Text})
	}
	m.w.lines = make(map[string]int, len(file.Entries))
	by := vault.Field{Concealed: true}
	for _, e := range file.Entries {
		m.w.lines[e.Name] = e.Line
		if bytes.HasPrefix(e.Value, []byte(refScheme)) {
			m.w.warn(e.Name, fmt.Sprintf("the value of %s looks like a reference and is stored as it is: warder project set --ref makes one", e.Name))
		}
		f := by
		f.Name = e.Name
		if f.Value, err = secret.New(e.Value); err != nil {
			return err
		}
		m.w.change.Set = append(m.w.change.Set, f)
	}
	if m.w.r.isPerson() {
		m.w.change.Origin.By = vault.ByImport
	}
	return nil
}

// parseEnv reads an env file from its pieces.
func parseEnv(name string, pieces []secret.Value) (file *dotenv.File, err error) {
	whole, err := join(pieces)
	if err != nil {
		return nil, err
	}
	defer whole.Destroy()
	used := whole.Use(func(b []byte) { file, err = dotenv.Parse(name, b) })
	var syntax *dotenv.SyntaxError
	if errors.As(err, &syntax) {
		return nil, api.Errorf(api.Usage, "%v", syntax).WithHint("correct that line; nothing was stored")
	}
	return file, errors.Join(used, err)
}

// join puts pieces of one text together.
func join(pieces []secret.Value) (secret.Value, error) {
	size := 0
	for _, p := range pieces {
		size += p.Len()
	}
	return secret.Make(size, func(all []byte) error {
		var err error
		for _, p := range pieces {
			err = errors.Join(err, p.Use(func(b []byte) { all = all[copy(all, b):] }))
		}
		return err
	})
}

// close wipes the values.
func (m *importing) close() {
	for i := range m.w.change.Set {
		m.w.change.Set[i].Value.Destroy()
	}
}

// run stores the variables, unless it is a dry run.
func (m *importing) run() (*api.Reply, error) {
	w := m.w
	out := api.Imported{Undo: w.r.id}
	if m.in.DryRun {
		out.Undo = ""
		w.r.facts["dry_run"] = true
	} else if err := w.run(); err != nil {
		return nil, err
	}
	out.Added, out.Changed, out.Unchanged = len(w.diff.Added), len(w.diff.Changed), len(w.diff.Unchanged)
	out.Names = api.ImportNames{Added: full(w.diff.Added), Changed: full(w.diff.Changed)}
	out.Warnings = append([]api.ImportWarning{}, w.warned...)
	return &api.Reply{Output: out}, nil
}
