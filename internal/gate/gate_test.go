package gate_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"warder/internal/approval"
	"warder/internal/audit"
	"warder/internal/caller"
	"warder/internal/gate"
	"warder/internal/policy"
	"warder/internal/secret"
	"warder/internal/state"
)

// scene is a gate with a log.
type scene struct {
	t    *testing.T
	gate *gate.Gate
	log  *audit.Log
	logs *state.Dir
	now  time.Time
	book map[string]gate.Handed

	ran    int
	proved bool // the last one, for itself
}

func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{t: t, now: time.Unix(1000, 0), book: map[string]gate.Handed{}}
	dir, err := state.CreateDir(filepath.Join(t.TempDir(), "state"))
	must(t, err)
	t.Cleanup(func() { dir.Close() })
	s.logs, err = dir.Create("audit")
	must(t, err)
	t.Cleanup(func() { s.logs.Close() })
	s.log, err = audit.Open(s.logs, audit.Options{})
	must(t, err)
	t.Cleanup(func() { s.log.Close() })
	s.gate = s.another()
	return s
}

// another makes another gate with the same log and the same book.
func (s *scene) another() *gate.Gate {
	g := gate.New(gate.Config{
		Log: s.log, Now: func() time.Time { return s.now }, Word: func(error) string { return "word" },
		Keep: func(h gate.Handed) error { s.book[h.ID] = h; return nil },
		Drop: func(id string) { delete(s.book, id) },
	})
	s.t.Cleanup(g.Shut)
	return g
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func person() gate.Session {
	return gate.NewSession(caller.Identity{Verdict: caller.Person, Leader: caller.Instance{BootID: "b", PID: 7, Start: 1}})
}

func agent() gate.Session {
	return gate.NewSession(caller.Identity{Verdict: caller.Agent, Client: "claude", Depth: 1, Masked: true})
}

// tool is a tool whose acts take these needs.
func (s *scene) tool(needs ...policy.Need) gate.Tool {
	return func(context.Context) (*gate.Act, error) {
		return &gate.Act{Needs: needs, Canonical: []byte("{}"), Shown: "do it", Run: func(_ context.Context, p *gate.Permit) error {
			s.ran++
			s.proved = p.Proved()
			return nil
		}}, nil
	}
}

// do does an act and says whether it ran.
func (s *scene) do(in *gate.Intent, tool gate.Tool) (ran bool, err error) {
	before := s.ran
	err = s.gate.Do(s.t.Context(), in, tool)
	return s.ran > before, err
}

// events are those of an intent, as "event decision outcome".
func (s *scene) events(id string) []string {
	s.t.Helper()
	var list []string
	for rec, err := range audit.Records(s.logs, 0) {
		must(s.t, err)
		if rec.ID == id {
			list = append(list, strings.Join(strings.Fields(rec.Event+" "+rec.Decision+" "+rec.Outcome+" "+rec.ReportedBy), " "))
		}
	}
	return list
}

func (s *scene) wants(id string, want ...string) {
	s.t.Helper()
	audit.Settle(s.log)
	if got := s.events(id); !slices.Equal(got, want) {
		s.t.Errorf("recorded %q, want %q", got, want)
	}
}

const (
	created   = "tool_intent.created"
	allowed   = "permission.decided allow"
	asked     = "permission.decided ask"
	denied    = "permission.decided deny"
	completed = "tool_execution.completed ok"
)

// TestDo: what policy allows runs between its records; what it denies, and what can't be recorded, does not run.
func TestDo(t *testing.T) {
	s := newScene(t)
	in := gate.NewIntent("look", agent())
	if ran, err := s.do(in, s.tool(policy.ToLook)); !ran || err != nil {
		t.Errorf("allowed: %v", err)
	}
	s.wants(in.ID, created, allowed, completed)

	in = gate.NewIntent("show", agent())
	var refused *gate.Refusal
	if ran, err := s.do(in, s.tool(policy.ToLook, policy.ToReveal)); ran || !errors.As(err, &refused) || refused.Need != policy.ToReveal {
		t.Errorf("denied: %v", err)
	}
	s.wants(in.ID, created, denied)

	wrong := errors.New("wrong")
	in = gate.NewIntent("bad", person())
	if ran, err := s.do(in, func(context.Context) (*gate.Act, error) { return nil, wrong }); ran || !errors.Is(err, wrong) {
		t.Errorf("invalid: %v", err)
	}
	s.wants(in.ID, created, "tool.validation.failed word")

	in = gate.NewIntent("fails", person())
	closed := false
	err := s.gate.Do(t.Context(), in, func(context.Context) (*gate.Act, error) {
		return &gate.Act{
			Needs: []policy.Need{policy.ToLook}, Close: func() { closed = true },
			Run: func(context.Context, *gate.Permit) error { return wrong },
		}, nil
	})
	if !errors.Is(err, wrong) || !closed {
		t.Errorf("failed: %v, closed %v", err, closed)
	}
	s.wants(in.ID, created, allowed, "tool_execution.failed word")

	must(t, s.log.Close())
	var lost *gate.RecordError
	if ran, err := s.do(gate.NewIntent("look", person()), s.tool(policy.ToLook)); ran || !errors.As(err, &lost) {
		t.Errorf("unrecorded: %v", err)
	}
}

// TestRecordsNameWhoAsked: session, principal and tool stand in each record.
func TestRecordsNameWhoAsked(t *testing.T) {
	s := newScene(t)
	session := agent()
	in := gate.NewIntent("look", session)
	in.Item = "personal/x"
	_, err := s.do(in, s.tool(policy.ToLook))
	must(t, err)
	for rec, err := range audit.Records(s.logs, 0) {
		must(t, err)
		if rec.ID == in.ID && (rec.Session != session.ID || rec.Tool != "look" || rec.Item != "personal/x" || rec.Principal.Client != "claude") {
			t.Errorf("recorded %s", rec.Line())
		}
	}
	if session.ID == agent().ID || in.ID == gate.NewIntent("look", session).ID {
		t.Error("two of the same id")
	}
}

// proof proves whatever it is asked for, or fails.
type proof struct {
	act, challenge string
	fails          error
	opened         *approval.Question
}

func (p *proof) Claims() (act, challenge string) { return p.act, p.challenge }

func (p *proof) Open(q approval.Question) error {
	p.opened = &q
	return p.fails
}

// ask wants an act to ask for presence, and returns the proof that answers.
func (s *scene) ask(session gate.Session, tool gate.Tool) *proof {
	s.t.Helper()
	in := gate.NewIntent("run", session)
	var question *approval.Asked
	if ran, err := s.do(in, tool); ran || !errors.As(err, &question) || question.Shown != "do it" {
		s.t.Fatalf("not asked: %v", err)
	}
	s.wants(in.ID, created, asked)
	return &proof{act: question.Act, challenge: question.Challenge}
}

// prove does an act with a proof.
func (s *scene) prove(session gate.Session, tool gate.Tool, p *proof) (ran bool, err error) {
	in := gate.NewIntent("run", session)
	in.Proof = p
	return s.do(in, tool)
}

// TestProof: a proof serves the act that it was made for, once and in time, and is opened for what was shown.
func TestProof(t *testing.T) {
	s := newScene(t)
	session, tool := person(), s.tool(policy.ToReveal)
	p := s.ask(session, tool)
	if ran, err := s.prove(session, tool, p); !ran || !s.proved || p.opened == nil || *p.opened != (approval.Question{Act: p.act, Challenge: p.challenge, Shown: "do it"}) {
		t.Errorf("the right one: %v, opened for %+v", err, p.opened)
	}
	var question *approval.Asked
	if ran, err := s.prove(session, tool, p); ran || !errors.As(err, &question) {
		t.Errorf("twice: %v", err)
	}
	p = s.ask(session, tool)
	if ran, err := s.prove(session, s.tool(policy.ToReveal, policy.ToRaise), p); ran || !errors.As(err, &question) || p.opened != nil {
		t.Errorf("for another act: %v", err)
	}
	if ran, _ := s.prove(session, tool, p); ran {
		t.Error("after that it still served")
	}
	p = s.ask(session, tool)
	s.now = s.now.Add(5 * time.Minute)
	if ran, err := s.prove(session, tool, p); ran || !errors.As(err, &question) || p.opened != nil {
		t.Errorf("too late: %v", err)
	}
	p = s.ask(session, tool)
	p.fails = errors.New("no proof")
	if ran, err := s.prove(session, tool, p); ran || !errors.Is(err, p.fails) {
		t.Errorf("a wrong one: %v", err)
	}
	looks := s.tool(policy.ToLook)
	q := &proof{}
	if ran, err := s.prove(session, looks, q); ran || !errors.As(err, &question) {
		t.Errorf("a proof for what needs none: %v", err)
	}
	q = &proof{act: question.Act, challenge: question.Challenge}
	if ran, err := s.prove(session, looks, q); !ran || s.proved || q.opened != nil {
		t.Errorf("what needs no proof: %v, proved %v", err, s.proved)
	}
	p = s.ask(session, tool)
	if ran, err := s.prove(agent(), tool, p); ran || p.opened != nil {
		t.Errorf("an agent's: %v", err)
	}
}

// TestProofServesAgain: for lending alone, for ten minutes from the proof, below the same leader, and never where output is
// masked since anything may type there.
func TestProofServesAgain(t *testing.T) {
	s := newScene(t)
	session, tool := person(), s.tool(policy.ToLook, policy.ToLendAsked)
	_, err := s.prove(session, tool, s.ask(session, tool))
	must(t, err)
	again := gate.NewSession(session.Who) // another connection from the same terminal
	if ran, err := s.do(gate.NewIntent("run", again), s.tool(policy.ToLendClosed)); !ran || s.proved {
		t.Errorf("again: %v", err)
	}
	s.ask(again, s.tool(policy.ToReveal))
	s.ask(again, s.tool(policy.ToLendAsked, policy.ToConfirmFile))
	other := person()
	other.Who.Leader.Start = 2
	s.ask(other, tool)
	multiplexed := session
	multiplexed.Who.Masked = true
	s.ask(multiplexed, tool)
	led := session
	led.Who.Leader = caller.Instance{}
	s.ask(led, tool)
	below := agent()
	below.Who.Leader = session.Who.Leader
	if ran, _ := s.do(gate.NewIntent("run", below), tool); ran {
		t.Error("an agent ran by a person's proof")
	}
	s.now = s.now.Add(approval.AgainTime - time.Second)
	if ran, err := s.do(gate.NewIntent("run", session), tool); !ran {
		t.Errorf("within the time: %v", err)
	}
	s.now = s.now.Add(time.Second) // that it served meanwhile prolongs nothing
	s.ask(session, tool)

	_, err = s.prove(multiplexed, tool, s.ask(multiplexed, tool))
	must(t, err)
	s.ask(multiplexed, tool)
	s.ask(session, tool) // a proof in a multiplexer is none for the terminal
}

// fakeProcess is a process that ends when it is told to.
type fakeProcess struct{ gone, closed chan struct{} }

func newProcess() fakeProcess { return fakeProcess{make(chan struct{}), make(chan struct{})} }

func (p fakeProcess) Wait(ctx context.Context) error {
	select {
	case <-p.gone:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p fakeProcess) Close() error {
	close(p.closed)
	return nil
}

// lend begins a lease of a process.
func (s *scene) lend(p fakeProcess, holder caller.Instance) (id string, value secret.Value) {
	s.t.Helper()
	value, err := secret.New([]byte("a value that is lent"))
	must(s.t, err)
	return s.lendAll(p, holder, []secret.Value{value}), value
}

// lendAll begins a lease of a process for several values.
func (s *scene) lendAll(p fakeProcess, holder caller.Instance, values []secret.Value) (id string) {
	s.t.Helper()
	in := gate.NewIntent("run", agent())
	in.Facts["values"] = 1
	must(s.t, s.gate.Do(s.t.Context(), in, func(context.Context) (*gate.Act, error) {
		return &gate.Act{Needs: []policy.Need{policy.ToLend}, Run: func(_ context.Context, permit *gate.Permit) error {
			permit.Lend(gate.Holder{Instance: holder, Process: p, Trusted: true}, values)
			return nil
		}}, nil
	}))
	s.wants(in.ID, created, allowed)
	return in.ID
}

// TestLease: a lease is its holder's, gives its values once, and ends with what the holder tells.
func TestLease(t *testing.T) {
	s := newScene(t)
	holder, p := caller.Instance{PID: 9, Inode: 77}, newProcess()
	id, _ := s.lend(p, holder)
	if !s.gate.Holds(77) || s.gate.Holds(78) {
		t.Error("who holds it is not known")
	}
	for _, wrong := range []struct {
		id string
		by caller.Instance
	}{{id, caller.Instance{PID: 9, Inode: 78}}, {"i-other", holder}, {id, caller.Instance{}}} {
		if _, err := s.gate.Held(wrong.id, wrong.by); !errors.Is(err, gate.ErrNoLease) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	lease, err := s.gate.Held(id, holder)
	must(t, err)
	values, err := lease.Take(1)
	must(t, err)
	if len(values) != 1 || !lease.Trusted() || lease.ID() != id {
		t.Errorf("%d values, trusted %v", len(values), lease.Trusted())
	}
	values[0].Destroy()
	if _, err := lease.Take(1); !errors.Is(err, gate.ErrTaken) {
		t.Errorf("twice: %v", err)
	}
	lease.Completed("exit 3")
	lease.Failed("internal") // it has ended
	<-p.closed
	s.wants(id, created, allowed, "tool_execution.completed exit 3 client")
	if _, err := s.gate.Held(id, holder); err == nil || s.gate.Holds(77) {
		t.Error("it is still open")
	}
	if len(s.book) != 0 {
		t.Errorf("the book has %v", s.book)
	}
}

// TestLeaseOfMany: more values than one reply takes are given in parts, each once, and what was not taken is wiped.
func TestLeaseOfMany(t *testing.T) {
	s := newScene(t)
	holder, p := caller.Instance{PID: 9, Inode: 77}, newProcess()
	var all []secret.Value
	for i := range 5 {
		v, err := secret.New([]byte{byte(i)})
		must(t, err)
		all = append(all, v)
	}
	id := s.lendAll(p, holder, all)
	lease, err := s.gate.Held(id, holder)
	must(t, err)
	for _, want := range []string{"\x00\x01", "\x02\x03"} {
		got := ""
		values, err := lease.Take(2)
		must(t, err)
		for _, v := range values {
			must(t, v.Use(func(b []byte) { got += string(b) }))
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	lease.Completed("exit 0")
	<-p.closed
	if all[3].Use(func([]byte) {}) != nil || all[4].Use(func([]byte) {}) == nil {
		t.Error("what was taken is wiped, or what was not is left")
	}
	if _, err := lease.Take(2); !errors.Is(err, gate.ErrTaken) {
		t.Errorf("after the end: %v", err)
	}
}

// TestLeaseOfWhatFailed: an act that fails after it was handed on ends its lease.
func TestLeaseOfWhatFailed(t *testing.T) {
	s := newScene(t)
	p, wrong := newProcess(), errors.New("wrong")
	in := gate.NewIntent("run", agent())
	err := s.gate.Do(t.Context(), in, func(context.Context) (*gate.Act, error) {
		return &gate.Act{Needs: []policy.Need{policy.ToLend}, Run: func(_ context.Context, permit *gate.Permit) error {
			permit.Lend(gate.Holder{Instance: caller.Instance{PID: 9, Inode: 77}, Process: p}, nil)
			return wrong
		}}, nil
	})
	if !errors.Is(err, wrong) || s.gate.Holds(77) {
		t.Errorf("%v, held %v", err, s.gate.Holds(77))
	}
	<-p.closed
	s.wants(in.ID, created, allowed, "tool_execution.failed word")
}

// TestLeaseOfTheDead: when its holder dies nobody knows the outcome, and what was not taken is wiped.
func TestLeaseOfTheDead(t *testing.T) {
	s := newScene(t)
	p := newProcess()
	id, value := s.lend(p, caller.Instance{PID: 9})
	close(p.gone)
	<-p.closed
	s.wants(id, created, allowed, "tool_execution.completed unknown")
	if err := value.Use(func([]byte) {}); err == nil {
		t.Error("the value outlived its lease")
	}
}

// TestTakeOver: open leases go on with the next gate, without values; those of the dead end there.
func TestTakeOver(t *testing.T) {
	s := newScene(t)
	holder := caller.Instance{PID: 9, Inode: 77}
	p, dies := newProcess(), newProcess()
	id, value := s.lend(p, holder)
	dead, _ := s.lend(dies, caller.Instance{PID: 10})
	s.gate.Shut()
	<-p.closed
	<-dies.closed
	if err := value.Use(func([]byte) {}); err == nil {
		t.Error("a value went to the next gate")
	}
	s.wants(id, created, allowed)
	handed := s.book
	s.book = map[string]gate.Handed{}
	if len(handed) != 2 {
		t.Fatalf("%d leases are in the book", len(handed))
	}
	s.gate = s.another()
	p = newProcess()
	s.gate.TakeOver(handed[id], p)
	s.gate.TakeOver(handed[dead], nil)
	s.wants(dead, created, allowed, "tool_execution.completed unknown")
	if !s.gate.Holds(77) {
		t.Error("the holder is a stranger")
	}
	lease, err := s.gate.Held(id, holder)
	must(t, err)
	if _, err := lease.Take(1); !errors.Is(err, gate.ErrTaken) || lease.Trusted() {
		t.Errorf("values: %v, trusted %v", err, lease.Trusted())
	}
	lease.Completed("signal 15")
	<-p.closed
	s.wants(id, created, allowed, "tool_execution.completed signal 15 client")
	for rec, err := range audit.Records(s.logs, 0) {
		must(t, err)
		if rec.Outcome == "signal 15" && (rec.Principal.Client != "claude" || rec.Session == "" || string(rec.Data) != `{"values":1}`) {
			t.Errorf("recorded %s", rec.Line())
		}
	}
}

// TestSerial: acts that change something run one after another, and nobody waits on who has gone.
func TestSerial(t *testing.T) {
	s := newScene(t)
	begun, goOn := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	go func() {
		in := gate.NewIntent("change", person())
		in.Serial = true
		done <- s.gate.Do(t.Context(), in, func(context.Context) (*gate.Act, error) {
			close(begun)
			<-goOn
			return s.tool(policy.ToChange)(t.Context())
		})
	}()
	<-begun
	gone, leave := context.WithCancel(t.Context())
	leave()
	in := gate.NewIntent("change", person())
	in.Serial = true
	if err := s.gate.Do(gone, in, s.tool(policy.ToChange)); !errors.Is(err, context.Canceled) || s.ran != 0 {
		t.Errorf("beside another: %v", err)
	}
	if _, err := s.do(gate.NewIntent("look", person()), s.tool(policy.ToLook)); err != nil {
		t.Errorf("looking beside it: %v", err)
	}
	close(goOn)
	must(t, <-done)
	must(t, s.gate.Do(t.Context(), in, s.tool(policy.ToChange)))
}
