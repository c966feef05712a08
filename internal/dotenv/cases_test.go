package dotenv_test

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warder/internal/dotenv"
)

// userCase is one line of testdata/cases/users.jsonl, as far as the dotenv kinds
// use the format. Unknown fields fail the test: a check nobody runs is no check.
type userCase struct {
	ID     string `json:"id"`
	Source string `json:"source"`
	Kind   string `json:"kind"`
	Issue  string `json:"issue"`
	Setup  struct {
		Files map[string]caseFile  `json:"files"`
		Vault map[string]caseValue `json:"vault"`
	} `json:"setup"`
	Action []caseStep   `json:"action"`
	Expect []caseExpect `json:"expect"`
}

type caseStep struct {
	Do       string   `json:"do"`
	Path     string   `json:"path"`
	Argv     []string `json:"argv"`
	AsHuman  bool     `json:"as_human"` // judged elsewhere: this package knows no callers
	StdoutTo string   `json:"stdout_to"`
	Command  string   `json:"command"`
}

type caseExpect struct {
	Vars           map[string]string `json:"vars"`
	WarnsKey       string            `json:"warns_key"`
	VarsError      bool              `json:"vars_error"`
	StderrHas      string            `json:"stderr_has"`
	StderrLacks    string            `json:"stderr_lacks"`
	VaultUnchanged bool              `json:"vault_unchanged"`
	File           map[string]struct {
		Text   *string `json:"text"`
		Exists *bool   `json:"exists"`
	} `json:"file"`
}

// caseFile is a text or {"hex": …}.
type caseFile []byte

func (f *caseFile) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		var text string
		err := json.Unmarshal(b, &text)
		*f = caseFile(text)
		return err
	}
	var v caseValue
	err := v.UnmarshalJSON(b)
	*f = caseFile(v)
	return err
}

// caseValue is {"lit": …}, {"hex": …} or {"gen": …}; the last is made afresh.
type caseValue []byte

func (v *caseValue) UnmarshalJSON(b []byte) error {
	var spec struct {
		Lit *string
		Hex string
		Gen string
	}
	if err := strict(b, &spec); err != nil {
		return err
	}
	switch {
	case spec.Lit != nil:
		*v = caseValue(*spec.Lit)
	case spec.Gen == "pem":
		*v = caseValue(newPEM())
	case spec.Gen != "":
		return fmt.Errorf("unknown generator %q", spec.Gen)
	default:
		raw, err := hex.DecodeString(spec.Hex)
		*v = raw
		return err
	}
	return nil
}

func strict(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// newPEM is a key-shaped text of several lines.
func newPEM() string {
	raw := make([]byte, 300)
	rand.Read(raw)
	body := base64.StdEncoding.EncodeToString(raw)
	text := "-----BEGIN " + "PRIVATE KEY-----\n"
	for line := range slices.Chunk([]byte(body), 64) {
		text += string(line) + "\n"
	}
	return text + "-----END " + "PRIVATE KEY-----\n"
}

func TestUsersCases(t *testing.T) {
	f, err := os.Open("testdata/cases/users.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ran := 0
	for lines := bufio.NewScanner(f); lines.Scan(); ran++ {
		var c userCase
		if err := strict(lines.Bytes(), &c); err != nil {
			t.Fatalf("case %d: %v", ran+1, err)
		}
		t.Run(c.ID, func(t *testing.T) { runCase(t, c) })
	}
	if ran != 14 {
		t.Errorf("ran %d cases, want 14", ran)
	}
}

// caseRun is what the steps of a case left behind.
type caseRun struct {
	dir    string
	parsed *dotenv.File
	err    error
}

func runCase(t *testing.T, c userCase) {
	r := &caseRun{dir: t.TempDir()}
	for name, content := range c.Setup.Files {
		writeFile(t, filepath.Join(r.dir, name), content)
	}
	for _, s := range c.Action {
		r.step(t, c, s)
	}
	for _, e := range c.Expect {
		r.check(t, c, e)
	}
}

func (r *caseRun) step(t *testing.T, c userCase, s caseStep) {
	t.Helper()
	switch s.Do {
	case "dotenv":
		data, err := os.ReadFile(filepath.Join(r.dir, s.Path))
		if err != nil {
			t.Fatal(err)
		}
		r.parsed, r.err = dotenv.Parse(s.Path, data)
	case "cli": // export --format F: the dialect that this verb is mapped to
		dialect := map[string]dotenv.Dialect{"dotenv": dotenv.DialectEnv, "shell": dotenv.DialectShell}[s.Argv[2]]
		var entries []dotenv.Entry
		for name, value := range c.Setup.Vault {
			entries = append(entries, dotenv.Entry{Name: name, Value: value})
		}
		var out bytes.Buffer
		if err := dotenv.Format(&out, dialect, entries); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(r.dir, s.StdoutTo), out.Bytes())
	case "sh":
		cmd := exec.Command(needShell(t, "sh"), "-c", s.Command)
		cmd.Dir = r.dir
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Fatalf("sh: %v\n%s", err, out)
		}
	default:
		t.Fatalf("unknown step %q", s.Do)
	}
}

func (r *caseRun) check(t *testing.T, c userCase, e caseExpect) {
	t.Helper()
	r.checkError(t, e)
	if e.Vars != nil && r.err == nil {
		if diff := cmp.Diff(e.Vars, vars(r.parsed)); diff != "" {
			t.Errorf("variables (-want +got):\n%s", diff)
		}
	}
	if e.WarnsKey != "" && !slices.ContainsFunc(r.parsed.Warnings, func(w dotenv.Warning) bool {
		return strings.HasPrefix(w.Text, e.WarnsKey+" ")
	}) {
		t.Errorf("no warning for %s in %v", e.WarnsKey, r.parsed.Warnings)
	}
	for name, want := range e.File {
		got, err := os.ReadFile(filepath.Join(r.dir, name))
		if exists := want.Exists == nil || *want.Exists; exists != (err == nil) {
			t.Errorf("%s: %v, want it to exist: %v", name, err, exists)
		}
		if want.Text == nil {
			continue
		}
		if diff := cmp.Diff(c.fill(*want.Text), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func (r *caseRun) checkError(t *testing.T, e caseExpect) {
	t.Helper()
	stderr := ""
	if r.err != nil {
		stderr = r.err.Error()
	}
	if e.VarsError != (r.err != nil) && (e.VarsError || e.Vars != nil) {
		t.Errorf("error %v, want one: %v", r.err, e.VarsError)
	}
	if !strings.Contains(stderr, e.StderrHas) {
		t.Errorf("error %q lacks %q", stderr, e.StderrHas)
	}
	if e.StderrLacks != "" && strings.Contains(stderr, e.StderrLacks) {
		t.Errorf("error %q holds %q", stderr, e.StderrLacks)
	}
	if e.VaultUnchanged && r.parsed != nil { // nothing to import is nothing imported
		t.Errorf("entries in spite of an error: %v", names(r.parsed))
	}
}

// fill puts the values of the vault into text, where {{NAME}} stands for one.
func (c userCase) fill(text string) string {
	for name, value := range c.Setup.Vault {
		text = strings.ReplaceAll(text, "{{"+name+"}}", string(value))
	}
	return text
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// needShell finds a shell; a system without one has nothing to source with.
func needShell(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("no %s here", name)
	}
	return path
}

func vars(f *dotenv.File) map[string]string {
	m := map[string]string{}
	for _, e := range f.Entries {
		m[e.Name] = string(e.Value)
	}
	return m
}

func names(f *dotenv.File) []string {
	var all []string
	for _, e := range f.Entries {
		all = append(all, e.Name)
	}
	return all
}
