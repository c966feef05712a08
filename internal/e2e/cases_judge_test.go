package e2e_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// caseExpect is what must come of a case: of its last step, where it names no other. All that one object holds has to be so.
type caseExpect struct {
	Step          steps               `json:"step"`
	Exit          *int                `json:"exit"`
	ExitNot       *int                `json:"exit_not"`
	StdoutIs      *string             `json:"stdout_is"`
	StdoutTrimIs  *string             `json:"stdout_trim_is"`
	StdoutHas     string              `json:"stdout_has"`
	StdoutLacks   string              `json:"stdout_lacks"`
	StdoutStarts  string              `json:"stdout_starts"`
	StdoutHex     string              `json:"stdout_starts_hex"`
	StderrHas     string              `json:"stderr_has"`
	StderrLacks   string              `json:"stderr_lacks"`
	ScreenHas     string              `json:"screen_has"`
	ScreenHasHex  string              `json:"screen_has_hex"`
	ScreenLacks   string              `json:"screen_lacks"`
	StateLacks    string              `json:"state_lacks"`
	SameMarks     []string            `json:"same_mark_length"`
	SameBytes     []string            `json:"same_bytes"`
	File          map[string]wantFile `json:"file"`
	NoProcessIn   string              `json:"no_process_state"`
	EchoRestored  bool                `json:"echo_restored"`
	Warns         bool                `json:"warns"`
	WithinMS      int                 `json:"within_ms"`
	StdoutSeen    *wantSeen           `json:"stdout_seen"`
	Any           []caseExpect        `json:"any"`
	NoteForReader string              `json:"note"`
}

type wantFile struct {
	Exists   *bool  `json:"exists"`
	Contains string `json:"contains"`
}

type wantSeen struct {
	Text     string `json:"text"`
	BeforeMS int    `json:"before_ms"`
}

// steps are those that an expectation is about: nil is the last.
type steps []int

// everyStep stands for all of them.
const everyStep = -1

func (s *steps) UnmarshalJSON(b []byte) error {
	if string(b) == `"all"` {
		*s = steps{everyStep}
		return nil
	}
	if b[0] != '[' {
		b = append(append([]byte{'['}, b...), ']')
	}
	return json.Unmarshal(b, (*[]int)(s))
}

// played is what came of a case.
type played struct {
	c     *userCase
	way   way
	steps []*outcome // a step that goes on with another one's program shares that one's
	dir   string     // the case's files

	state     string   // where the files of warder are
	processes []string // states of the world's processes at the end
	echo      bool     // the terminal shows what is typed
}

// outcome is what came of a step.
type outcome struct {
	stdout, stderr string
	screen         string // of a terminal, without what was typed
	status         int
	took           time.Duration
	arrivals       []arrival // of stdout
}

// arrival says how much had come at a time.
type arrival struct {
	size  int
	after time.Duration
}

// fault is an expectation that was not met.
type fault struct {
	text string
	late bool // what was wanted came, though too late
}

// judge says what of an expectation was not met.
func (p *played) judge(e caseExpect) []fault {
	if e.NoteForReader != "" && len(e.Any) == 0 && e.Step == nil {
		return nil
	}
	chosen := p.steps[len(p.steps)-1:]
	switch {
	case slices.Contains(e.Step, everyStep):
		chosen = p.steps
	case e.Step != nil:
		chosen = nil
		for _, n := range e.Step {
			chosen = append(chosen, p.steps[n-1])
		}
	}
	var faults []fault
	for _, o := range chosen {
		if p.terminal() {
			o = &outcome{stdout: o.screen, stderr: o.screen, screen: o.screen, status: o.status, took: o.took}
		}
		faults = append(faults, p.judgeText(e, o)...)
		faults = append(faults, judgeEnd(e, o)...)
	}
	faults = append(faults, p.judgeWorld(e)...)
	return append(faults, p.judgeAny(e)...)
}

func (p *played) terminal() bool { return p.way != agentPipes }

// judgeAny wants one of several.
func (p *played) judgeAny(e caseExpect) (faults []fault) {
	for _, one := range e.Any {
		met := p.judge(one)
		if len(met) == 0 {
			return nil
		}
		faults = append(faults, met...)
	}
	return faults
}

// judgeText is about what was said.
func (p *played) judgeText(e caseExpect, o *outcome) (faults []fault) {
	want := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fault{text: fmt.Sprintf(format, args...)})
		}
	}
	has := func(where, text, part string) {
		want(part == "" || strings.Contains(text, p.c.fill(part)), "%s lacks %q: %.2000q", where, part, text)
	}
	lacks := func(where, text, part string) {
		want(part == "" || !strings.Contains(text, p.c.fill(part)), "%s has %q: %.2000q", where, part, text)
	}
	has("stdout", o.stdout, e.StdoutHas)
	lacks("stdout", o.stdout, e.StdoutLacks)
	has("stderr", o.stderr, e.StderrHas)
	lacks("stderr", o.stderr, e.StderrLacks)
	has("the screen", o.screen, e.ScreenHas)
	if p.way == ownTerminal { // what a program shows to a person alone, it shows
		has("the screen", o.screen, e.ScreenLacks)
	} else {
		lacks("the screen", o.screen, e.ScreenLacks)
	}
	if e.StdoutIs != nil {
		want(o.stdout == p.c.fill(*e.StdoutIs), "stdout is %.2000q, want %q", o.stdout, *e.StdoutIs)
	}
	if e.StdoutTrimIs != nil {
		want(strings.TrimSpace(o.stdout) == *e.StdoutTrimIs, "stdout is %.2000q, want %q", o.stdout, *e.StdoutTrimIs)
	}
	want(strings.HasPrefix(o.stdout, e.StdoutStarts), "stdout does not start with %q: %.2000q", e.StdoutStarts, o.stdout)
	begins, err := hex.DecodeString(e.StdoutHex)
	want(err == nil && strings.HasPrefix(o.stdout, string(begins)), "stdout does not start with %s: %.2000q", e.StdoutHex, o.stdout)
	shown, err := hex.DecodeString(e.ScreenHasHex)
	want(err == nil && strings.Contains(o.screen, string(shown)), "the screen lacks %s: %.2000q", e.ScreenHasHex, o.screen)
	var marks []string
	for _, name := range e.SameMarks {
		mark := regexp.MustCompile(`\*\*\*\*\(` + name + `\)`).FindString(o.stdout)
		want(mark != "", "no mark of %s in %q", name, o.stdout)
		want(len(marks) == 0 || len(mark) == len(marks[0]), "the marks %q and %q have not one length", mark, marks)
		marks = append(marks, mark)
	}
	return faults
}

// judgeEnd is about how a step ended, and when.
func judgeEnd(e caseExpect, o *outcome) (faults []fault) {
	if e.Exit != nil && o.status != *e.Exit {
		faults = append(faults, fault{text: fmt.Sprintf("exit status %d, want %d: %.2000q %.2000q", o.status, *e.Exit, o.stdout, o.stderr)})
	}
	if e.ExitNot != nil && o.status == *e.ExitNot {
		faults = append(faults, fault{text: fmt.Sprintf("exit status %d", o.status)})
	}
	if e.Warns && !strings.Contains(o.stderr, "warning") {
		faults = append(faults, fault{text: fmt.Sprintf("no warning in %q", o.stderr)})
	}
	if limit := time.Duration(e.WithinMS) * time.Millisecond; limit > 0 && o.took > limit {
		faults = append(faults, fault{text: fmt.Sprintf("it took %v, want %v at most", o.took, limit), late: true})
	}
	if e.StdoutSeen == nil {
		return faults
	}
	at := strings.Index(o.stdout, e.StdoutSeen.Text)
	if at < 0 {
		return append(faults, fault{text: fmt.Sprintf("stdout lacks %q: %q", e.StdoutSeen.Text, o.stdout)})
	}
	for _, a := range o.arrivals {
		if limit := time.Duration(e.StdoutSeen.BeforeMS) * time.Millisecond; a.size >= at+len(e.StdoutSeen.Text) {
			if a.after > limit {
				faults = append(faults, fault{text: fmt.Sprintf("%q came after %v, want %v at most", e.StdoutSeen.Text, a.after, limit), late: true})
			}
			break
		}
	}
	return faults
}

// judgeWorld is about what is left.
func (p *played) judgeWorld(e caseExpect) (faults []fault) {
	add := func(format string, args ...any) { faults = append(faults, fault{text: fmt.Sprintf(format, args...)}) }
	if e.StateLacks != "" {
		for _, file := range holding(p.state, p.c.fill(e.StateLacks)) {
			add("%s holds %s", file, e.StateLacks)
		}
	}
	if len(e.SameBytes) == 2 {
		a, errA := os.ReadFile(filepath.Join(p.dir, e.SameBytes[0]))
		b, errB := os.ReadFile(filepath.Join(p.dir, e.SameBytes[1]))
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			add("%v are not the same: %d and %d bytes, %v, %v", e.SameBytes, len(a), len(b), errA, errB)
		}
	}
	faults = append(faults, p.judgeFiles(e.File)...)
	if e.NoProcessIn != "" {
		for _, state := range p.processes {
			if strings.HasPrefix(state, e.NoProcessIn) {
				add("a process is in state %s", state)
			}
		}
	}
	if e.EchoRestored && !p.echo {
		add("the terminal does not show what is typed")
	}
	return faults
}

// judgeFiles is about the files of the case.
func (p *played) judgeFiles(files map[string]wantFile) (faults []fault) {
	for name, want := range files {
		text, err := os.ReadFile(filepath.Join(p.dir, name))
		if want.Exists != nil && *want.Exists != (err == nil) {
			faults = append(faults, fault{text: fmt.Sprintf("%s is there: %v, want %v", name, err == nil, *want.Exists)})
		}
		if !strings.Contains(string(text), want.Contains) {
			faults = append(faults, fault{text: fmt.Sprintf("%s lacks %q: %.2000q", name, want.Contains, text)})
		}
	}
	return faults
}

// holding are the files below a folder that hold a text, in their content or their names.
func holding(root, text string) (found []string) {
	files := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		data := []byte(path)
		if entry.Type().IsRegular() {
			files++
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			data = append(data, content...)
		}
		if bytes.Contains(data, []byte(text)) {
			found = append(found, path)
		}
		return nil
	})
	if err != nil || files == 0 {
		found = append(found, fmt.Sprintf("%s: %d files and %v; it can't be told whether it", root, files, err))
	}
	return found
}

// TestCaseJudge: each expectation can fail, and is met by what it wants.
func TestCaseJudge(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a": "one", "b": "one", "c": "two", "o": "P"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := &userCase{ID: "x"}
	c.Setup.Vault = map[string]caseValue{"V": "secret-value", "A": "one"}
	p := &played{c: c, way: agentPipes, dir: dir, state: dir, processes: []string{"S", "R+"}, echo: true}
	p.steps = []*outcome{{status: 1, stderr: "warder: warning: x"}, {
		stdout: "abc [****(S1)] [****(S2)] [****(LONG)]", stderr: "say", screen: "\x1b[0m shown", status: 0, took: time.Second,
		arrivals: []arrival{{2, time.Millisecond}, {38, 2 * time.Second}},
	}}
	rows := []struct{ met, unmet string }{
		{`{"exit": 0}`, `{"exit": 1}`},
		{`{"exit_not": 1}`, `{"exit_not": 0}`},
		{`{"step": 1, "exit": 1}`, `{"step": 1, "exit": 0}`},
		{`{"step": [1, 2], "exit_not": 3}`, `{"step": [1, 2], "exit": 0}`},
		{`{"step": "all", "exit_not": 3}`, `{"step": "all", "exit": 0}`},
		{`{"stdout_has": "bc"}`, `{"stdout_has": "x"}`},
		{`{"stdout_lacks": "{{V}}"}`, `{"stdout_lacks": "abc"}`},
		{`{"stdout_is": "abc [****(S1)] [****(S2)] [****(LONG)]"}`, `{"stdout_is": "abc"}`},
		{`{"stdout_trim_is": "abc [****(S1)] [****(S2)] [****(LONG)]"}`, `{"stdout_trim_is": ""}`},
		{`{"stdout_starts": "a"}`, `{"stdout_starts": "b"}`},
		{`{"stdout_starts_hex": "6162"}`, `{"stdout_starts_hex": "62"}`},
		{`{"stderr_has": "say"}`, `{"stderr_has": "abc"}`},
		{`{"stderr_lacks": "abc"}`, `{"stderr_lacks": "say"}`},
		{`{"screen_has": "shown"}`, `{"screen_has": "abc"}`},
		{`{"screen_lacks": "abc"}`, `{"screen_lacks": "shown"}`},
		{`{"screen_has_hex": "1b5b"}`, `{"screen_has_hex": "1b5c"}`},
		{`{"state_lacks": "{{V}}"}`, `{"state_lacks": "{{A}}"}`},
		{`{"same_mark_length": ["S1", "S2"]}`, `{"same_mark_length": ["S1", "LONG"]}`},
		{`{"same_mark_length": ["S1"]}`, `{"same_mark_length": ["S3"]}`},
		{`{"same_bytes": ["a", "b"]}`, `{"same_bytes": ["a", "c"]}`},
		{`{"file": {"o": {"contains": "P"}}}`, `{"file": {"o": {"contains": "T"}}}`},
		{`{"file": {"none": {"exists": false}}}`, `{"file": {"o": {"exists": false}}}`},
		{`{"no_process_state": "T"}`, `{"no_process_state": "R"}`},
		{`{"echo_restored": true}`, ``},
		{`{"step": 1, "warns": true}`, `{"warns": true}`},
		{`{"within_ms": 2000}`, `{"within_ms": 500}`},
		{`{"stdout_seen": {"text": "ab", "before_ms": 1000}}`, `{"stdout_seen": {"text": "abc", "before_ms": 1000}}`},
		{`{"stdout_seen": {"text": "abc", "before_ms": 3000}}`, `{"stdout_seen": {"text": "xyz", "before_ms": 3000}}`},
		{`{"any": [{"exit": 3}, {"exit": 0}]}`, `{"any": [{"exit": 3}, {"exit": 0, "stdout_has": "x"}]}`},
		{`{"note": "for the reader"}`, ``},
	}
	judge := func(text string) []fault {
		var e caseExpect
		if err := strict([]byte(text), &e); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return p.judge(e)
	}
	for _, row := range rows {
		if faults := judge(row.met); len(faults) > 0 {
			t.Errorf("%s is not met: %v", row.met, faults)
		}
		if row.unmet != "" && len(judge(row.unmet)) == 0 {
			t.Errorf("%s is met", row.unmet)
		}
	}
	p.echo = false
	if len(judge(`{"echo_restored": true}`)) == 0 {
		t.Error("a terminal that hides what is typed is taken for one that does not")
	}
	p.way = ownTerminal
	if len(judge(`{"screen_lacks": "{{V}}"}`)) == 0 || len(judge(`{"screen_lacks": "shown"}`)) > 0 {
		t.Error("a person's terminal may show nothing")
	}
	if err := strict([]byte(`{"surprise": true}`), &caseExpect{}); err == nil {
		t.Error("an expectation that nobody knows is read")
	}
}
