package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"warder/internal/audit"
	"warder/internal/testkit"
)

// userCases are the cases of testdata/cases/users.jsonl, which are kept byte for byte, with what of each waits for the gate: it is
// the first to run a command or write a file.
var userCases = [...]struct{ id, kind, waits string }{
	{"U-140-1", "audit.rotation", "tool events through tools; the log's own are driven here"},
	{"U-141-1", "audit.concurrent", "tool events through tools; two writers of events are driven here"},
	{"U-142-1", "audit.write-failure", "bash; what is done only once it is recorded stands in its place, as the daemon does it in TestU_142_NoRecordNoAct"},
	{"U-143-1", "audit.crash", "bash after the crash; an event is recorded in its place"},
	{"U-144-1", "audit.truncation", ""},
	{"U-145-1", "audit.continue-after-break", "bash after the seal; an event is recorded in its place"},
	{"U-146-1", "audit.tamper", ""},
	{"U-146-3", "audit.tamper", ""},
	{"U-147-1", "audit.privacy", "write and bash; their inputs are recorded as a tool's are"},
}

// userStep is a step of a case, as far as the log has a part in it.
type userStep struct {
	Do       string    `json:"do"`
	N        int       `json:"n"`
	Each     *userStep `json:"each"`
	Half     bool      `json:"last_line_half"`
	DropLast int       `json:"drop_last"`
	Entry    int       `json:"entry"`
	Delete   int       `json:"delete_entry"`
	Argv     []string  `json:"argv"`
	Command  string    `json:"command"`
	Path     string    `json:"path"`
	Text     string    `json:"text"`
}

// TestUserCases drives the part of each case that there is: damage to the log, and what verifying then says.
func TestUserCases(t *testing.T) {
	path := filepath.Join("testdata", "cases", "users.jsonl")
	seen := 0
	for _, row := range userCases {
		for _, c := range testkit.Cases(t, path, row.kind) {
			if c.ID != row.id {
				continue
			}
			seen++
			t.Run(c.ID, func(t *testing.T) {
				switch row.kind {
				case "audit.write-failure":
					driveFailedWrite(t, c)
				case "audit.privacy":
					drivePrivacy(t, c)
				default:
					driveCase(t, c)
				}
			})
		}
	}
	if seen != len(userCases) {
		t.Errorf("%d cases, want %d", seen, len(userCases))
	}
}

// driveCase carries out a case.
func driveCase(t *testing.T, c testkit.Case) {
	t.Helper()
	var steps []userStep
	must(t, json.Unmarshal(c.Action, &steps))
	s := newScene(t).fill(seeds(c.ID))
	opt := audit.Options{}
	switch c.ID {
	case "U-140-1":
		opt = audit.Options{MaxSize: 20_000, Generations: 3} // 2 MB and 20,000 events, a hundredth of each
		steps[0].N /= 100
	case "U-145-1":
		spoil(s, func(l [][]byte) [][]byte { l[3] = bytes.Replace(l[3], []byte("allow"), []byte("deny"), 1); return l })
	}
	for _, step := range steps {
		step.carryOut(s, opt)
	}
	judgeCase(s, c)
}

// driveFailedWrite does what is recorded and nothing else, with one log from the first step to the last: a write that failed must
// leave no trace in its memory either.
func driveFailedWrite(t *testing.T, c testkit.Case) {
	t.Helper()
	var steps []userStep
	must(t, json.Unmarshal(c.Action, &steps))
	s := newScene(t).fill(seeds(c.ID))
	broken := true
	var opt audit.Options
	opt.Inject(func(op, _ string, data []byte) *audit.Fault {
		if broken && op == "Write" {
			return &audit.Fault{Err: syscall.ENOSPC, Part: len(data) / 2}
		}
		return nil
	})
	l := s.open(opt)
	var done []string
	for _, step := range steps {
		switch step.Do {
		case "bash":
			before, head := l.Head()
			if _, err := l.Append(t.Context(), event()); err == nil {
				done = append(done, step.Command)
			} else if now, same := l.Head(); now != before || same != head {
				t.Errorf("the chain went on from %d to %d with a record that is not there", before, now)
			}
		case "repair":
			broken = false
		case "cli":
			s.want(0, "")
		default:
			t.Fatalf("a step that nobody carries out: %+v", step)
		}
	}
	if len(done) != 1 || !strings.Contains(done[0], "ok") {
		t.Errorf("done: %q", done)
	}
	if n := len(records(s)); n != seeds(c.ID)+1 {
		t.Errorf("%d records", n)
	}
	must(t, l.Close())
	s.want(0, "")
}

// drivePrivacy records the inputs of tools and wants what the case wants of the log's bytes.
func drivePrivacy(t *testing.T, c testkit.Case) {
	t.Helper()
	var steps []userStep
	must(t, json.Unmarshal(c.Action, &steps))
	s := newScene(t)
	l := s.open(audit.Options{})
	for _, step := range steps {
		step.Text = filled(t, step.Text)
		in, err := json.Marshal(map[string]string{"input": l.Input(map[string]string{"path": step.Path, "text": step.Text, "command": step.Command})})
		must(t, err)
		s.one(l, audit.Record{Event: "tool_intent.created", Tool: step.Do, Data: in})
		whole, err := json.Marshal(step.Text)
		must(t, err)
		s.one(l, audit.Record{Event: "tool_execution.completed", Tool: step.Do, Reason: step.Text, Data: whole}) // of a careless caller
	}
	var wants []struct {
		Has   string `json:"audit_has"`
		Lacks string `json:"audit_lacks"`
	}
	must(t, json.Unmarshal(c.Expect, &wants))
	log, looked := s.read(s.segments()[0]), 0
	for _, want := range wants {
		if text := filled(t, want.Lacks); text != "" {
			looked++
			if bytes.Contains(log, []byte(text)) {
				t.Errorf("the log holds %.40s…, %d bytes long", text, len(text))
			}
		}
		if want.Has != "" {
			looked++
			if !bytes.Contains(log, []byte(want.Has)) {
				t.Errorf("the log lacks %s", want.Has)
			}
		}
	}
	if looked < 2 {
		t.Errorf("the case wants %s", c.Expect)
	}
}

// filled puts what a case's {{FILL:c:n}} stands for in its place: n times c.
func filled(t *testing.T, text string) string {
	t.Helper()
	before, rest, there := strings.Cut(text, "{{FILL:")
	if !there {
		return text
	}
	fill, after, _ := strings.Cut(rest, "}}")
	what, times, _ := strings.Cut(fill, ":")
	n, err := strconv.Atoi(times)
	must(t, err)
	return before + strings.Repeat(what, n) + after
}

// seeds is how many records a case begins with: audit_seed, which testkit does not read.
func seeds(id string) int {
	return map[string]int{"U-142-1": 5, "U-143-1": 20, "U-144-1": 30, "U-145-1": 10, "U-146-1": 30, "U-146-3": 30}[id]
}

// carryOut does what a step does to the log. Verifying is the end of each case.
func (step userStep) carryOut(s *scene, opt audit.Options) {
	s.t.Helper()
	switch {
	case step.Do == "tool_events", step.Do == "bash":
		l := s.open(opt)
		s.add(l, max(1, step.N))
		must(s.t, l.Close())
	case step.Do == "parallel":
		l := s.open(opt)
		var all sync.WaitGroup
		for range step.N {
			all.Go(func() {
				for range step.Each.N {
					if _, err := l.Append(s.t.Context(), event()); err != nil {
						s.t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		must(s.t, l.Close())
	case step.Half:
		// Half of a line that nobody was told of, as a crash leaves it: a record that somebody was told of is never lost to one.
		name := s.segments()[0]
		s.write(name, append(s.read(name), `{"v":1,"seq":21,"time":"20`...))
	case step.DropLast > 0:
		spoil(s, func(l [][]byte) [][]byte { return l[:len(l)-step.DropLast] })
	case step.Entry > 0:
		spoil(s, func(l [][]byte) [][]byte { l[step.Entry-1][20] ^= 1; return l })
	case step.Delete > 0:
		spoil(s, func(l [][]byte) [][]byte { return append(l[:step.Delete-1], l[step.Delete:]...) })
	case step.Do == "cli" && step.Argv[1] == "seal":
		l := s.open(opt)
		_, err := l.Seal(s.t.Context(), s.root, s.account)
		must(s.t, err)
		must(s.t, l.Close())
	case step.Do == "cli" && step.Argv[1] == "verify":
	default:
		s.t.Fatalf("a step that nobody carries out: %+v", step)
	}
}

// spoil changes the lines of the first segment.
func spoil(s *scene, change func([][]byte) [][]byte) {
	s.t.Helper()
	name := s.segments()[0]
	s.write(name, bytes.Join(change(cloned(lines(s.read(name)))), nil))
}

// judgeCase wants of the report what the case wants of what is printed.
func judgeCase(s *scene, c testkit.Case) {
	s.t.Helper()
	for how, r := range map[string]audit.Report{"chain": s.verify(), "full": s.full()} {
		said := show(r) + fmt.Sprintf(" (%d events up to %d)", r.Events, r.Last)
		ok, word := true, ""
		switch c.ID {
		case "U-141-1":
			ok, word = r.Events >= 1000, "ok true"
		case "U-140-1":
			word = "ok true"
		case "U-143-1":
			word = "ok true"
			ok = strings.Contains(strings.Join(events(s), " "), audit.EventTorn)
		case "U-144-1":
			ok, word = !r.OK, "20"
		case "U-145-1":
			ok, word = r.Break != nil && r.Break.FirstBad.Seq == 4, "ok true"
		case "U-146-1":
			ok, word = !r.OK, "at 12:"
		case "U-146-3":
			ok, word = !r.OK, "at 15:"
		}
		if !ok || !strings.Contains(said, word) {
			s.t.Errorf("%s: %s", how, said)
		}
	}
}
