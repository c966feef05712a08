package e2e_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warder/internal/e2e/person"
)

// The cases of testdata/cases/users.jsonl are what users reported of programs such as this one, in words that are nobody's commands:
//
//	exec, inject [X]      warder run ITEM --env-var X -- …   with an item for this case and value
//	exec, inject [X, Y]   warder run --project CASE --stage test -- …   since a run takes its values from one source
//	exec, inject [X]      warder run --env-file FILE -- …   where the value stands itself in the file, since no field holds so much
//	cli add NAME          warder item add ITEM --type api-token, as the agent that the cases are about
//	cli init              warder setup --headless --no-install
//	cli … debug           nothing: warder has no log that says more when asked
//	shell_keys            typed into the shell; "warder run --" gets the item of the case before its "--"
//	signal to wrapper     kill, to the process that was started as warder
//	setup locked          warder lock
//	setup passphrase      nothing: an account that nobody attends has its password from nobody
//	setup env_unset       nothing: no world has a variable of the test's own
//	warns                 a line of warder's on standard error that says "warning"
//
// A case runs as an agent: with pipes, or where it has a terminal, in a shell of its own beneath an agent. A case that is about not
// being noticed runs in a person's own terminal and in a multiplexer too; there the screen is standard output and error.

// caseIDs are the cases that have to be there, byte for byte as they came.
func caseIDs() []string {
	return strings.Fields(`
		U-05-1 U-11-1 U-17-1 U-19-1 U-21-1 U-21-2 U-21-5 U-22-1 U-22-3 U-23-1 U-24-1 U-24-3 U-25-1 U-27-1 U-28-1 U-29-1 U-30-1
		U-32-1 U-32-2 U-32-4 U-33-1 U-34-1 U-35-1 U-35-3 U-36-1 U-37-1 U-38-1 U-39-1 U-40-1 U-42-1 U-148-1 U-148-2`)
}

// unfit says why a case does not hold as it stands for one of the ways to be somebody.
func unfit(id string, w way) string {
	if id == "U-38-1" && w == agentTerminal {
		return "no agent is asked for a password: TestU_38_agentIsNotAsked has what it gets"
	}
	return ""
}

// way is who runs a case, and where.
type way string

const (
	agentPipes    way = "agent"
	agentTerminal way = "agent-in-a-terminal"
	multiplexer   way = "tmux"
	ownTerminal   way = "person"
)

// userCase is one case. A key that nothing here reads fails the test: a check that nobody runs is no check.
type userCase struct {
	ID     string          `json:"id"`
	Source string          `json:"source"`
	Kind   string          `json:"kind"`
	Issue  json.RawMessage `json:"issue"` // who was to take the case, which is over
	Setup  caseSetup       `json:"setup"`
	Action []caseStep      `json:"action"`
	Expect []caseExpect    `json:"expect"`

	temp       string // a folder outside of the world
	valuesFile string // an env file that the values are in
}

type caseSetup struct {
	Vault    map[string]caseValue `json:"vault"`
	NonVault map[string]caseValue `json:"nonvault"`
	Files    map[string]caseFile  `json:"files"`
	TTY      *struct {
		Rows uint16 `json:"rows"`
		Cols uint16 `json:"cols"`
	} `json:"tty"`
	Env        map[string]string `json:"env"`
	EnvUnset   []string          `json:"env_unset"`
	Passphrase string            `json:"passphrase"`
	Locked     bool              `json:"locked"`
}

type caseStep struct {
	Do          string   `json:"do"`
	Inject      []string `json:"inject"`
	Argv        []string `json:"argv"`
	Stdin       string   `json:"stdin"`
	StdinFrom   string   `json:"stdin_from"`
	StdoutTo    string   `json:"stdout_to"`
	Stderr      string   `json:"stderr"`
	Background  bool     `json:"background"`
	Debug       bool     `json:"debug"`
	Keys        string   `json:"keys"`
	Sig         string   `json:"sig"`
	To          string   `json:"to"`
	AfterText   string   `json:"after_text"`
	AfterPrompt bool     `json:"after_prompt"`
}

// caseFile is a text, or what an object says.
type caseFile struct {
	text []byte
	dir  bool
}

func (f *caseFile) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		var text string
		err := json.Unmarshal(b, &text)
		f.text = []byte(text)
		return err
	}
	var spec struct {
		Dir    bool  `json:"dir"`
		Random int   `json:"random"` // bytes
		Seed   uint8 `json:"seed"`
	}
	if err := strict(b, &spec); err != nil {
		return err
	}
	f.dir, f.text = spec.Dir, make([]byte, spec.Random)
	_, err := rand.NewChaCha8([32]byte{spec.Seed}).Read(f.text)
	return err
}

// strict reads JSON that has no key but those of into.
func strict(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// loadCases reads the file, and wants all of it.
func loadCases(t *testing.T) []*userCase {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "cases", "users.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []*userCase
	var ids []string
	for line := range bytes.Lines(data) {
		c := &userCase{}
		if err := strict(line, c); err != nil {
			t.Fatalf("case %d: %v", len(cases)+1, err)
		}
		cases, ids = append(cases, c), append(ids, c.ID)
	}
	want := caseIDs()
	slices.Sort(ids)
	slices.Sort(want)
	if !slices.Equal(ids, want) {
		t.Fatalf("the cases are %q, want %q", ids, want)
	}
	return cases
}

// ways are those in which a case runs.
func (c *userCase) ways() []way {
	first := agentPipes
	if c.Setup.TTY != nil || slices.ContainsFunc(c.Action, func(s caseStep) bool { return s.Stderr == "tty" }) {
		first = agentTerminal
	}
	if strings.HasPrefix(c.Kind, "exec.") || strings.HasPrefix(c.Kind, "inject.") {
		return []way{first, multiplexer, ownTerminal}
	}
	return []way{first}
}

// TestCases runs every case as everybody it concerns.
func TestCases(t *testing.T) {
	cases := loadCases(t)
	h := newHouse(t, person.Options{})
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			if slices.ContainsFunc(c.Action, func(s caseStep) bool { return slices.Contains(s.Argv, "python3") }) {
				needProgram(t, h.World, "python3")
			}
			in := h
			if c.Kind == "install.headless" {
				in = &house{World: start(t, person.Options{})}
			}
			c.store(t, in)
			for _, w := range c.ways() {
				t.Run(string(w), func(t *testing.T) { c.runAs(t, in, w) })
			}
		})
	}
}

// runAs runs a case as somebody, and judges it. Time is the machine's as well, so what is late is looked at again: a
// program that always holds back is late each time.
func (c *userCase) runAs(t *testing.T, h *house, w way) {
	if why := unfit(c.ID, w); why != "" {
		t.Skip(why)
	}
	var faults []fault
	for range 3 {
		p := c.play(t, h, w)
		faults = nil
		for _, e := range c.Expect {
			faults = append(faults, p.judge(e)...)
		}
		if len(faults) == 0 || slices.ContainsFunc(faults, func(f fault) bool { return !f.late }) {
			break
		}
	}
	for _, f := range faults {
		t.Error(f.text)
	}
}

// needProgram skips where the world has no such program.
func needProgram(t *testing.T, w *person.World, name string) {
	t.Helper()
	if r := w.Run(t, person.Command{Argv: []string{"sh", "-c", "command -v " + name}}); r.Status != 0 {
		t.Skipf("there is no %s", name)
	}
}
