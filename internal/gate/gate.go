// Package gate is the one way from a request to an act: what an agent or a person wants done is an [Intent], and [Gate.Begin] and
// [Gate.Do] alone let it be done.
//
// One intent passes these steps, each in its file:
//
//	intent    it is recorded that it came               begin.go
//	validate  its tool says what it comes down to       begin.go
//	decide    policy decides, a person proves presence  decide.go
//	execute   the act runs with a permit                do.go, lease.go
//	record    how it ended                              record.go
//
// The decision is durable before anything runs. Where it can't be written, nothing does.
package gate

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"time"

	"warder/internal/approval"
	"warder/internal/audit"
	"warder/internal/caller"
	"warder/internal/policy"
	"warder/internal/secret"
)

// Config is what a gate works with.
type Config struct {
	Log        *audit.Log
	Unattended bool             // nobody has the password in mind: there is no presence
	Now        func() time.Time // for what lasts a while; it should go on in sleep
	// Word is how the log calls an error. It must hold nothing of the error's text, which may name what is hidden.
	Word func(error) string
	// Keep writes down what the next gate has to know of an open lease, and Drop forgets it. They are called beside the act; what
	// could not be kept ends with this gate.
	Keep func(Handed) error
	Drop func(id string)
}

// Gate decides and records. Its methods are safe for concurrent use.
type Gate struct {
	cfg      Config
	presence *approval.Presence

	// serial is held by an act that changes something from its plan to its end: what it was allowed for is still so when it
	// runs. It is taken before any lock of a tool, and a proof of presence is opened under it. It has room for one.
	serial chan struct{}

	mu   sync.Mutex
	open map[string]*Lease // those that were handed to a process, by id
}

// New makes a gate.
func New(cfg Config) *Gate {
	return &Gate{cfg: cfg, presence: approval.NewPresence(cfg.Now), serial: make(chan struct{}, 1), open: map[string]*Lease{}}
}

// Session is one connection of one principal.
type Session struct {
	ID  string
	Who caller.Identity // as it was judged when it connected
}

// NewSession begins a session.
func NewSession(who caller.Identity) Session { return Session{ID: newID("s"), Who: who} }

// IsPerson says whether a person asks, proved or not. All others are treated as agents.
func (s Session) IsPerson() bool { return s.Who.Verdict == caller.Person }

// Intent is a request to run one tool. What is known of it grows while it passes the gate.
type Intent struct {
	ID      string // what the act changes is tagged with it, so that it also undoes the act
	Tool    string
	Session Session
	Serial  bool           // it changes something, and waits until others that do have ended
	Proof   approval.Proof // of presence, if one came

	Item  string         // the subject as the log may hold it
	Facts map[string]any // about the outcome, for the log: no names, no values

	principal *audit.Principal
}

// NewIntent makes the intent of a request.
func NewIntent(tool string, s Session) *Intent {
	return &Intent{ID: newID("i"), Tool: tool, Session: s, Facts: map[string]any{}, principal: PrincipalOf(s.Who)}
}

// newID makes an id. It begins with a letter, so it is never taken for a record's number.
func newID(kind string) string { return kind + strings.ToLower(rand.Text()[:15]) }

// Act is what an intent comes down to, as its tool has validated and assessed it. What was validated is what runs: nothing reads
// the request again.
type Act struct {
	Needs     []policy.Need
	Canonical []byte // the request as the tool understood it; no value and no proof is in it
	Shown     string // what it does, in the words that a person is asked

	// Run does it. The permit is the proof of the decision; only a gate makes one.
	Run func(ctx context.Context, p *Permit) error
	// Close wipes what the tool opened; it is called in any case. It may be nil.
	Close func()
}

// Tool validates a request and says what it comes down to. It touches nothing that others see. An error is recorded and returned as
// it is.
type Tool func(ctx context.Context) (*Act, error)

// Permit lets an act run.
type Permit struct {
	lease  *Lease
	proved bool
}

// Proved says whether a person proved to be there for this very act.
func (p *Permit) Proved() bool { return p.proved }

// Lease is the open life of one permitted act, from the decision to the outcome.
type Lease struct {
	gate   *Gate
	intent *Intent
	act    *Act
	proved bool // a person's presence, for this act

	// Of one that was handed to a process, guarded by the gate's mu:
	holder *Holder
	values []secret.Value // until they were taken
	cancel context.CancelFunc
	keep   func() // writes it down for the gate that takes over, the first time
	kept   bool
}
