package credential_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warder/internal/credential"
	"warder/internal/gate"
	"warder/internal/policy"
	"warder/internal/seal"
	"warder/internal/secret"
	"warder/internal/vault"
)

// desk is an account, and a finder that shows all of it.
type desk struct {
	t     *testing.T
	vault *vault.Vault
	files map[string]string // that were confirmed
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	dir := t.TempDir()
	account, kit, err := vault.Create(vault.Config{
		AccountDir: filepath.Join(dir, "account"), StateDir: filepath.Join(dir, "state"), KDF: seal.FloorKDF(),
	}, value(t, "correct horse battery staple 77"))
	must(t, err)
	kit.Destroy()
	t.Cleanup(account.Lock)
	v, err := account.Vault(vault.DefaultVault)
	must(t, err)
	return &desk{t: t, vault: v, files: map[string]string{}}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func value(t testing.TB, text string) secret.Value {
	t.Helper()
	v, err := secret.New([]byte(text))
	must(t, err)
	t.Cleanup(v.Destroy)
	return v
}

// add stores an item with a secret field and a user name.
func (d *desk) add(name, text string, change ...func(*vault.Item)) {
	d.t.Helper()
	it := &vault.Item{Meta: vault.Meta{Kind: vault.KindItem, Name: name, Type: "login", Level: vault.LevelUse, Origin: vault.Origin{By: vault.ByPerson}}}
	it.Fields = []vault.Field{{Name: "user", NonSecret: vault.ByPerson, Value: value(d.t, "somebody")}, {Name: "password", Concealed: true, Value: value(d.t, text)}}
	for _, f := range change {
		f(it)
	}
	must(d.t, d.vault.Save(it))
}

var errMissing = errors.New("missing")

func (d *desk) source(kind vault.Kind, name string) (credential.Source, error) {
	m, err := d.vault.Find(kind, seal.ID{}, name)
	if err != nil {
		return credential.Source{}, errMissing
	}
	return credential.Source{Vault: d.vault, Meta: m, Level: m.Level, Shown: name}, nil
}

func (d *desk) Item(_, name string) (credential.Source, error) { return d.source(vault.KindItem, name) }

func (d *desk) Stage(_, project, _ string) (credential.Source, error) {
	return d.source(vault.KindItem, project) // a stage is an object with fields, as an item is
}

func (d *desk) Reference(_, ref string) (credential.Source, string, error) {
	item, field, _ := strings.Cut(strings.TrimPrefix(ref, vault.RefScheme+vault.DefaultVault+"/"), "/")
	s, err := d.source(vault.KindItem, item)
	return s, field, err
}

func (d *desk) Field(_ credential.Source, it *vault.Item, path string) (*vault.Field, error) {
	if f := it.Field("", path); f != nil {
		return f, nil
	}
	return nil, errMissing
}

func (*desk) Missing(string, string) error { return errMissing }

func (d *desk) Confirmed(file string) (string, error) { return d.files[file], nil }

func (d *desk) Confirm(file, hash string) error {
	d.files[file] = hash
	return nil
}

// starter keeps what it is given.
type starter struct {
	got   []secret.Value
	fails error
}

func (s *starter) Start(_ *gate.Permit, values []secret.Value) error {
	s.got = values
	return s.fails
}

func (d *desk) resolve(in credential.Request) (*credential.Set, error) {
	if in.Argv == nil {
		in.Program, in.Argv = "/usr/bin/gh", []string{"gh"}
	}
	return credential.Resolve(d, d, in)
}

func byEnv(name, field string) []credential.Injection {
	return []credential.Injection{{Var: name, Field: field, As: credential.ByEnv}}
}

// TestResolve: what a set takes, gives and says.
func TestResolve(t *testing.T) {
	d := newDesk(t)
	d.add("gh", "value-of-gh")
	d.add("asked", "value-of-asked", func(it *vault.Item) { it.Level = vault.LevelAsk })
	d.add("closed", "value-of-closed", func(it *vault.Item) { it.Level = vault.LevelNone })
	d.add("listed", "value-of-listed", func(it *vault.Item) { it.Commands = []vault.Command{{Name: "gh", Path: "/usr/bin/gh"}} })
	d.add("short", "abc")
	stage := func(it *vault.Item) {
		it.Fields = append(it.Fields, vault.Field{Name: "TOKEN", Ref: "warder://personal/asked/password"}, vault.Field{Name: "a.b", Value: value(t, "x")})
	}
	d.add("stage", "value-of-stage", stage)
	for _, row := range []struct {
		name   string
		in     credential.Request
		needs  []policy.Need // beside looking
		values string
		text   string
		warns  string
	}{
		{"the item's own", credential.Request{Item: "gh", Inject: byEnv("T", "")}, []policy.Need{policy.ToLend}, "T=value-of-gh secret", "run gh (/usr/bin/gh) with T from personal/gh/password", ""},
		{"a field that is none", credential.Request{Item: "gh", Inject: byEnv("U", "user")}, []policy.Need{policy.ToLend}, "U=somebody", "with U from personal/gh/user", ""},
		{"asked for", credential.Request{Item: "asked", Inject: byEnv("T", "")}, []policy.Need{policy.ToLendAsked}, "T=value-of-asked secret", "", ""},
		{"closed", credential.Request{Item: "closed", Inject: byEnv("T", "")}, []policy.Need{policy.ToLendClosed}, "T=value-of-closed secret", "", ""},
		{"listed", credential.Request{Item: "listed", Inject: byEnv("T", "")}, []policy.Need{policy.ToLend}, "T=value-of-listed secret", "", ""},
		{
			"not listed",
			credential.Request{Item: "listed", Inject: byEnv("T", ""), Program: "/tmp/gh", Argv: []string{"gh"}},
			[]policy.Need{policy.ToLend, policy.ToLendOther},
			"T=value-of-listed secret", "run gh (/tmp/gh)", "",
		},
		{
			"listed, by another way to it",
			credential.Request{Item: "listed", Inject: byEnv("T", ""), Program: "/usr/bin/../bin/gh", Argv: []string{"gh"}},
			[]policy.Need{policy.ToLend},
			"T=value-of-listed secret", "", "",
		},
		{
			"a dump",
			credential.Request{Item: "gh", Inject: byEnv("T", ""), Program: "/usr/bin/env", Argv: []string{"env"}},
			[]policy.Need{policy.ToLend, policy.ToDump},
			"T=value-of-gh secret", "", "",
		},
		{"standard input", credential.Request{Item: "gh", Inject: []credential.Injection{{As: credential.ByStdin}}}, []policy.Need{policy.ToLend}, "=value-of-gh secret", "with its standard input from", ""},
		{"too short to hide", credential.Request{Item: "short", Inject: byEnv("T", "")}, []policy.Need{policy.ToLend}, "T=abc secret", "", "the value of T is too short"},
		{
			"a stage",
			credential.Request{Project: "stage"},
			[]policy.Need{policy.ToLend, policy.ToLendAsked},
			"user=somebody, password=value-of-stage secret, TOKEN=value-of-asked secret", "from stage", "a.b can't be a variable",
		},
		{
			"some of a stage, otherwise",
			credential.Request{Project: "stage", Only: []string{"password"}, Inject: []credential.Injection{{Var: "P", Field: "password", As: credential.ByFile}}},
			[]policy.Need{policy.ToLend},
			"P=value-of-stage secret", "with P from stage", "",
		},
		{
			"an env file",
			credential.Request{File: "/app.env", Refs: []credential.Ref{{Var: "A", Ref: "warder://personal/gh/user"}, {Var: "MODE"}, {Var: "PATH", Sum: "s"}}},
			[]policy.Need{policy.ToConfirmFile, policy.ToLend},
			"A=somebody", "with A from /app.env, personal/gh/user, PATH as it sets it", "",
		},
		{"an env file without any", credential.Request{File: "/app.env", Refs: []credential.Ref{{Var: "MODE"}}}, nil, "", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			set, err := d.resolve(row.in)
			must(t, err)
			defer set.Close()
			if got := set.Needs()[1:]; !slices.Equal(got, row.needs) {
				t.Errorf("it takes %q, want %q", got, row.needs)
			}
			to := &starter{}
			must(t, set.Lend(nil, to))
			var got []string
			for i, v := range set.Values() {
				must(t, to.got[i].Use(func(b []byte) {
					text := v.Var + "=" + string(b)
					if v.Secret {
						text += " secret"
					}
					got = append(got, text)
				}))
				to.got[i].Destroy()
			}
			if all := strings.Join(got, ", "); all != row.values {
				t.Errorf("values %s, want %s", all, row.values)
			}
			if !strings.Contains(set.Text(), row.text) {
				t.Errorf("it says %q, want %q", set.Text(), row.text)
			}
			if warned := strings.Join(set.Warnings(), "; "); !strings.Contains(warned, row.warns) || (row.warns == "") != (warned == "") {
				t.Errorf("it warns %q, want %q", warned, row.warns)
			}
		})
	}
}

// TestInvalid: what says too little, too much, or names what is not there.
func TestInvalid(t *testing.T) {
	d := newDesk(t)
	d.add("gh", "value-of-gh")
	d.add("hidden", "value-of-hidden", func(it *vault.Item) { it.NeverEnv = true })
	var bad *credential.InvalidError
	for name, in := range map[string]credential.Request{
		"nothing":          {},
		"two sources":      {Item: "gh", Project: "p", Inject: byEnv("T", "")},
		"no injection":     {Item: "gh"},
		"no program":       {Item: "gh", Inject: byEnv("T", ""), Program: "gh", Argv: []string{"gh"}},
		"no argv":          {Item: "gh", Inject: byEnv("T", ""), Argv: []string{}},
		"no variable":      {Item: "gh", Inject: byEnv("", "")},
		"a bad variable":   {Item: "gh", Inject: byEnv("A-B", "")},
		"a number":         {Item: "gh", Inject: byEnv("1A", "")},
		"no such way":      {Item: "gh", Inject: []credential.Injection{{Var: "A", As: "telepathy"}}},
		"a lonely stage":   {Item: "gh", Stage: "dev", Inject: byEnv("T", "")},
		"stdin of a stage": {Project: "gh", Inject: []credential.Injection{{As: credential.ByStdin}}},
		"only of an item":  {Item: "gh", Inject: byEnv("A", ""), Only: []string{"A"}},
		"a variable twice": {Item: "gh", Inject: []credential.Injection{{Var: "A", As: credential.ByEnv}, {Var: "A", Field: "user", As: credential.ByFile}}},
		"stdin twice":      {Item: "gh", Inject: []credential.Injection{{As: credential.ByStdin}, {Field: "user", As: credential.ByStdin}}},
		"renamed to one":   {Project: "gh", Inject: byEnv("user", "password")},
		"never in one":     {Item: "hidden", Inject: byEnv("T", "")},
		"nor by reference": {File: "/f", Refs: []credential.Ref{{Var: "T", Ref: "warder://personal/hidden/password"}}},
		"in a file":        {File: "/f", Refs: []credential.Ref{{Var: "a.b", Ref: "warder://personal/gh/user"}}},
	} {
		if set, err := d.resolve(in); set != nil || !errors.As(err, &bad) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, in := range map[string]credential.Request{
		"no item":        {Item: "none", Inject: byEnv("T", "")},
		"no field":       {Item: "gh", Inject: byEnv("T", "none")},
		"no stage":       {Project: "none"},
		"not in it":      {Project: "gh", Only: []string{"none"}},
		"no such file's": {Project: "gh", Inject: []credential.Injection{{Var: "none", As: credential.ByFile}}},
		"behind it":      {File: "/f", Refs: []credential.Ref{{Var: "A", Ref: "warder://personal/none/x"}}},
	} {
		if set, err := d.resolve(in); set != nil || !errors.Is(err, errMissing) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestConfirmed: an env file counts as it was confirmed: the names and references in their order, and what steers programs.
func TestConfirmed(t *testing.T) {
	d := newDesk(t)
	d.add("gh", "value-of-gh")
	ref := func(name, field string) credential.Ref {
		return credential.Ref{Var: name, Ref: "warder://personal/gh/" + field}
	}
	plain := func(name, sum string) credential.Ref { return credential.Ref{Var: name, Sum: sum} }
	asks := func(file string, refs ...credential.Ref) bool {
		set, err := d.resolve(credential.Request{File: file, Refs: refs})
		must(t, err)
		defer set.Close()
		return slices.Contains(set.Needs(), policy.ToConfirmFile)
	}
	confirm := func(refs ...credential.Ref) {
		set, err := d.resolve(credential.Request{File: "/f", Refs: refs})
		must(t, err)
		defer set.Close()
		must(t, set.Lend(nil, &starter{}))
	}
	confirm(ref("A", "user"), ref("B", "password"), plain("MODE", "1"), plain("NODE_OPTIONS", "1"))
	for name, refs := range map[string][]credential.Ref{
		"a reference":   {ref("A", "password"), ref("B", "password"), plain("MODE", "1"), plain("NODE_OPTIONS", "1")},
		"a name":        {ref("X", "user"), ref("B", "password"), plain("MODE", "1"), plain("NODE_OPTIONS", "1")},
		"one less":      {ref("A", "user"), plain("MODE", "1"), plain("NODE_OPTIONS", "1")},
		"one more":      {ref("A", "user"), ref("B", "password"), plain("MODE", "1"), plain("NODE_OPTIONS", "1"), ref("C", "user")},
		"their order":   {ref("B", "password"), ref("A", "user"), plain("MODE", "1"), plain("NODE_OPTIONS", "1")},
		"what steers":   {ref("A", "user"), ref("B", "password"), plain("MODE", "1"), plain("NODE_OPTIONS", "2")},
		"steers anew":   {ref("A", "user"), ref("B", "password"), plain("MODE", "1"), plain("NODE_OPTIONS", "1"), plain("ld_preload", "1")},
		"another split": {ref("A", "userB"[:4]), ref("B", "password"), plain("MODENODE_OPTIONS", "1")},
	} {
		if !asks("/f", refs...) {
			t.Errorf("changed: %s: it counts as confirmed", name)
		}
	}
	if asks("/f", ref("A", "user"), ref("B", "password"), plain("MODE", "2"), plain("NODE_OPTIONS", "1")) {
		t.Error("what steers nothing asks again")
	}
	if !asks("/g", ref("A", "user"), ref("B", "password"), plain("MODE", "1"), plain("NODE_OPTIONS", "1")) {
		t.Error("another file counts as confirmed")
	}
	if asks("/g", plain("MODE", "1")) {
		t.Error("a file that names and steers nothing asks")
	}
}

// TestClose: what was not given is wiped, what was given is not.
func TestClose(t *testing.T) {
	d := newDesk(t)
	d.add("gh", "value-of-gh")
	in := credential.Request{Item: "gh", Inject: byEnv("T", "")}
	for _, fails := range []error{nil, errors.New("no")} {
		set, err := d.resolve(in)
		must(t, err)
		to := &starter{fails: fails}
		if err := set.Lend(nil, to); !errors.Is(err, fails) {
			t.Fatal(err)
		}
		set.Close()
		var got []byte
		err = to.got[0].Use(func(b []byte) { got = bytes.Clone(b) })
		if alive := err == nil && string(got) == "value-of-gh"; alive != (fails == nil) {
			t.Errorf("failed with %v: alive %v", fails, alive)
		}
		to.got[0].Destroy()
	}
}
