package daemon

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"warder/internal/api"
	"warder/internal/dotenv"
	"warder/internal/policy"
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
	if in.DryRun {
		would := m.wouldBe()
		m.close()
		r.Facts["dry_run"] = true
		return answer("say what an import would store", would), nil
	}
	return &act{
		needs: w.needs, faults: w.faults,
		text:  fmt.Sprintf("store %d variables of %s in %s/%s", len(w.change.Set), in.File, w.site.project.Name, w.site.stage.Name),
		run:   func(context.Context) (*api.Reply, error) { return m.run() },
		close: m.close,
	}, nil
}

// wouldBe is what an import would do, with the verdict that it would get: a dry run that a refused import follows says so. What it
// counts then is what could be stored without the variables that stand in the way.
func (m *importing) wouldBe() *api.Imported {
	w := m.w
	d := w.r.acts.gate.Decide(w.r.Session, w.needs)
	for _, f := range w.faults {
		w.warn(f.name, fmt.Sprintf("%s is not stored: %s", f.name, policy.Why(f.need)))
	}
	out := m.counted()
	w.r.Facts["would"] = d.Effect.String()
	switch {
	case d.Effect == policy.Deny:
		_ = errors.As(w.faults.explain(d), &out.Error)
		out.Error.ID = w.r.ID
	case d.Effect == policy.Ask:
		out.Warnings = append(out.Warnings, api.ImportWarning{Text: "storing it takes a person's presence: " + d.Reason})
	}
	return out
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
	if err := m.fits(file); err != nil {
		return err
	}
	for _, warning := range file.Warnings {
		m.w.warned = append(m.w.warned, api.ImportWarning{Line: warning.Line, Text: warning.Text})
	}
	m.w.lines = make(map[string]int, len(file.Entries))
	if len(file.Entries) == 0 {
		m.w.warned = append(m.w.warned, api.ImportWarning{Text: "there is no variable in it"})
	}
	by := vault.Field{Concealed: true}
	for _, e := range file.Entries {
		m.w.lines[e.Name] = e.Line
		if !dotenv.IsVariable(e.Name) {
			m.w.warn(e.Name, fmt.Sprintf("%s can't be a variable of a shell, which takes letters, digits and _ and no digit first", e.Name))
		}
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

// aroundValue is less than what F1 writes around a variable.
const aroundValue = 27

// fits refuses what no stage can hold, before any of it is put into locked memory.
func (m *importing) fits(file *dotenv.File) error {
	size := 0
	for _, e := range file.Entries {
		if len(e.Value) > vault.MaxFieldValue {
			return api.Errorf(api.TooLarge, "%s:%d: the value of %s has %d bytes, the limit is %d", m.in.File, e.Line, e.Name, len(e.Value), vault.MaxFieldValue).
				WithHint("keep what is that large in a file of its own; nothing was stored")
		}
		size += aroundValue + len(e.Name) + base64.StdEncoding.EncodedLen(len(e.Value))
	}
	if size > vault.MaxItem {
		return api.Errorf(api.TooLarge, "%s needs more than %d bytes, and a stage holds %d", m.in.File, size, vault.MaxItem).
			WithHint("split the file at any line between two variables, and import the parts into several stages; nothing was stored")
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

// counted is the answer, with the warnings in the order of the file.
func (m *importing) counted() *api.Imported {
	d := &m.w.diff
	refused, _ := m.w.faults.names()
	slices.SortStableFunc(m.w.warned, func(a, b api.ImportWarning) int { return a.Line - b.Line })
	return &api.Imported{
		Added: len(d.Added), Changed: len(d.Changed), Unchanged: len(d.Unchanged), Warnings: append([]api.ImportWarning{}, m.w.warned...),
		Level: vault.Effective(m.w.site.project.Level, m.w.change.Level).String(),
		Names: api.ImportNames{Added: full(d.Added), Changed: full(d.Changed), Refused: refused},
	}
}

// run stores the variables. Of a file without any it makes no project and no stage.
func (m *importing) run() (*api.Reply, error) {
	if len(m.w.change.Set) == 0 {
		return &api.Reply{Output: m.counted()}, nil
	}
	if err := m.w.run(); err != nil {
		return nil, err
	}
	out := m.counted()
	out.Undo = m.w.tag()
	return &api.Reply{Output: out}, nil
}
