package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"warder/internal/api"
	"warder/internal/testkit"
	"warder/internal/vault"
)

// logOf puts a mask before a log that is kept.
func logOf(s *scene) (*slog.Logger, *logQueue, *bytes.Buffer) {
	var out bytes.Buffer
	masked := newLogMask(slog.NewJSONHandler(&out, nil), s.acts.account, s.acts.needles)
	return slog.New(masked), masked.q, &out
}

// TestU_06_LogIsMasked: stored values in what the daemon logs are hidden, whoever's text they came with, and words of our own stay.
func TestU_06_LogIsMasked(t *testing.T) {
	s := newScene(t)
	strong := strongValue()
	s.add(person(), "strong", "none", strong)
	s.add(person(), "weak", "use", "true")
	log, q, out := logOf(s)
	var gone atomic.Bool // lines are written by a goroutine of their own
	q.account = func() (*vault.Account, error) {
		if gone.Load() {
			return nil, errLocked()
		}
		return s.account, nil
	}
	log.Warn("true", "cause", errors.New("no such file: /home/"+strong+"/x").Error(), "fine", true,
		"data", map[string]any{"text": "was true", "pid": 7}, slog.Group("in", "side", strong))
	log.With("kept", "x").Info("line two", "cause", fmt.Sprintf("%q", strong))
	q.flush()
	var line struct {
		Msg, Cause string
		Fine       bool
		Data       struct {
			Text string
			PID  int
		}
		In struct{ Side string }
	}
	first, second, _ := strings.Cut(out.String(), "\n")
	must(t, json.Unmarshal([]byte(first), &line))
	if line.Msg != "true" || line.Cause != "no such file: /home/****(strong)/x" || !line.Fine || line.Data.Text != "was ****(weak)" || line.Data.PID != 7 || line.In.Side != "****(strong)" {
		t.Errorf("logged %s", first)
	}
	if !strings.Contains(second, `"kept":"x"`) || !strings.Contains(second, `****(strong)`) || strings.Contains(out.String(), strong) {
		t.Errorf("logged %s", second)
	}

	// What was written while there were values is not shown without them; what comes later has none in it.
	s.acts.needles.making.Lock()
	log.Info("before", "cause", strong)
	s.acts.needles.close()
	gone.Store(true)
	s.acts.needles.making.Unlock()
	q.flush()
	log.Info("after", "cause", "text")
	q.flush()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if strings.Contains(out.String(), strong) || !strings.Contains(lines[2], "before") || !strings.Contains(lines[2], withheld) || !strings.Contains(lines[3], `"cause":"text"`) {
		t.Errorf("logged %s", out)
	}
}

// TestLogMaskWithoutAnAccount: where none was opened there is nothing to hide.
func TestLogMaskWithoutAnAccount(t *testing.T) {
	var out bytes.Buffer
	masked := newLogMask(slog.NewTextHandler(&out, nil), func() (*vault.Account, error) { return nil, errLocked() }, &needles{})
	slog.New(masked).Info("started", "cause", "text")
	masked.q.flush()
	if !strings.Contains(out.String(), "cause=text") {
		t.Errorf("logged %s", &out)
	}
}

// stuck is a log that takes its time.
type stuck struct {
	bytes.Buffer
	begun sync.Once
	go1   chan struct{}
	at    chan struct{}
}

func (s *stuck) Write(b []byte) (int, error) {
	s.begun.Do(func() { close(s.at); <-s.go1 })
	return s.Buffer.Write(b)
}

// TestLogIsBounded: who logs never waits, and what is lost is counted.
func TestLogIsBounded(t *testing.T) {
	out := &stuck{go1: make(chan struct{}), at: make(chan struct{})}
	masked := newLogMask(slog.NewTextHandler(out, nil), func() (*vault.Account, error) { return nil, errLocked() }, &needles{})
	log := slog.New(masked)
	log.Info("first")
	<-out.at
	for range maxLogLines + 3 {
		log.Info("more")
	}
	close(out.go1)
	masked.q.flush()
	if n := strings.Count(out.String(), "msg=more"); n != maxLogLines || !strings.Contains(out.String(), `msg="lines of this log were lost" count=3`) {
		t.Errorf("%d lines: %s", n, out.String()[len(out.String())-200:])
	}
}

// TestU_26_AuditHoldsNoText: whatever text a request has, a value in it is not in the log: requests are not recorded but by what is looked
// up in the account, names sealed where they are not known to all, and the path of a program that is there.
func TestU_26_AuditHoldsNoText(t *testing.T) {
	s := newScene(t)
	value := strongValue()
	s.add(person(), "a", "none", value)
	field := []api.FieldIn{{Name: value, Section: value, Concealed: true}}
	for _, who := range []*client{person(), agent(), unknown()} {
		for op, in := range map[string]any{
			api.OpItemShow:    api.ItemShow{Name: value},
			api.OpItemCheck:   api.ItemCheck{Name: "a/" + value},
			api.OpItemHistory: api.ItemName{Name: value},
			api.OpItemRemove:  api.ItemName{Name: value, Vault: value},
			api.OpItemUndo:    api.ItemUndo{Tag: value},
			api.OpProjectShow: api.ProjectShowIn{Project: value},
			api.OpExport:      api.Export{Format: value, Project: value, Stage: value},
			api.OpRead:        api.Read{Ref: "warder://personal/" + value},
			api.OpTrustAdd:    api.TrustDir{Dir: "/" + value},
			api.OpAuditShow:   api.AuditShow{ID: value},
			api.OpMask:        api.MaskBegin{Items: []string{value}},
			api.OpRun: api.RunBegin{
				Item: "a", Inject: []api.RunInject{{Var: "V", As: api.ByEnv, Field: value}}, Program: "/" + value, Argv: []string{value},
			},
		} {
			_ = s.do(who, op, in)
		}
		_ = s.do(who, api.OpItemAdd, api.ItemAdd{Name: "b", Type: value, Level: value, Hosts: []string{value}, Tags: []string{value}, Fields: field}, value)
		_ = s.do(who, api.OpImport, api.Import{File: value, Project: value, Stage: value, DryRun: true}, value)
		wantMasked(s, who, api.MaskBegin{}, "text", "text")
	}
	s.add(person(), "lent", "use", strongValue())
	s.ok(s.do(agent(), api.OpRun, api.RunBegin{
		Item: "lent", Inject: []api.RunInject{{Var: "V", As: api.ByEnv}}, Program: "/" + value, Argv: []string{value},
	}), nil)
	s.acts.gate.Shut()
	search := testkit.NewSearch(t, testkit.Canary{Name: "value", Value: []byte(value)})
	for _, rec := range s.records() {
		if strings.Contains(string(rec.Line()), value) {
			t.Errorf("recorded: %s", rec.Line())
		}
	}
	search.RequireClean(t, s.dir)
	if len(s.records()) < 40 {
		t.Errorf("%d records", len(s.records()))
	}
}
