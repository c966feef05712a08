package daemon

import (
	"context"
	"sync/atomic"
	"time"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/audit"
	"warder/internal/gate"
	"warder/internal/state"
	"warder/internal/vault"
)

// acts are the operations on what the account holds, and on the evidence of them.
//
// Each is a row of [operations] and two functions: one that reads the input and says what is asked for, without doing any of it
// (plan), and one that does it (act.run). Between them stands the gate alone, which decides, asks for presence and records:
// [acts.perform] hands it every call.
type acts struct {
	account    func() (*vault.Account, error) // an *api.Error of code Locked or NoAccount otherwise
	log        *audit.Log
	person     func() // a person acted: the idle clock starts again
	now        func() time.Time
	state      *state.Dir // this device's own, for the trusted directories
	unattended bool       // nobody has the password in mind: there is no presence

	// No workspace may be one of these, or hold one: the user's home, and warder's own places. Nothing may be below a place.
	home   string
	places []string

	gate    *gate.Gate
	holding holding // of the acts that clients carry out

	needles  *needles
	guesses  guesses
	withheld atomic.Int64                     // bytes of masked output that wait for its end
	warn     func(format string, args ...any) // has status tell something; may be nil
}

// operation is how one operation is carried out.
type operation struct {
	name    string
	takes   int  // values, with the proof of presence
	returns bool // values
	kind    kind
	plan    func(r *request) (*act, error)
}

// kind is what has to be there, and what is kept out, while an operation runs.
type kind int

const (
	looks   kind = iota // at the account
	changes             // the account: one after another
	beside              // what is kept beside the account, one after another; works while that is locked
	streams             // the audit log; works while the account is locked
	talks               // at the account, in a dialogue
)

// proof is the one value that an operation takes which may need presence and has no values of its own.
const proof = 1

// operations are all operations on what the account holds.
var operations = [...]operation{
	{api.OpItemAdd, frame.MaxValues, false, changes, planItemAdd},
	{api.OpItemEdit, frame.MaxValues, false, changes, planItemEdit},
	{api.OpItemRemove, proof, false, changes, planItemRemove},
	{api.OpItemShow, proof, true, looks, planItemShow},
	{api.OpItemList, 0, false, looks, planItemList},
	{api.OpItemCheck, 0, false, looks, planItemCheck},
	{api.OpItemUndo, proof, false, changes, planUndo},
	{api.OpItemHistory, proof, false, looks, planItemHistory},

	{api.OpProjectList, 0, false, looks, planProjectList},
	{api.OpProjectShow, 0, false, looks, planProjectShow},
	{api.OpProjectStage, proof, false, changes, planProjectStage},
	{api.OpProjectSet, frame.MaxValues, false, changes, planStageSet},
	{api.OpProjectUnset, proof, false, changes, planStageUnset},
	{api.OpProjectLink, proof, false, changes, planProjectLink},

	{api.OpImport, frame.MaxValues, false, changes, planImport},
	{api.OpExport, proof, true, looks, planExport},

	{api.OpRead, proof, false, looks, planRead},
	{api.OpRun, proof, false, looks, planRun},

	{api.OpMask, 0, false, talks, planMask},

	{api.OpTrustList, 0, false, beside, planTrustList},
	{api.OpTrustAdd, proof, false, changes, planTrustAdd},
	{api.OpTrustRemove, proof, false, beside, planTrustRemove},

	{api.OpAuditTail, 0, false, streams, planAuditTail},
	{api.OpAuditShow, 0, false, streams, planAuditShow},

	{api.OpPasswd, proof, false, changes, planPasswd},
	{api.OpNewKit, proof, true, changes, planNewKit},
	{api.OpRepairList, 0, false, changes, planRepairList},
	{api.OpRepair, proof, false, changes, planRepair},
}

// ops are the operations by name.
func (a *acts) ops() map[string]api.Op {
	ops := make(map[string]api.Op, len(operations))
	for _, o := range operations {
		op := api.Op{Takes: o.takes, Returns: o.returns}
		switch o.kind {
		case streams:
			op.Stream = func(ctx context.Context, call *api.Call, send func(any) error) error {
				_, err := a.perform(ctx, &o, call, way{send: send})
				return err
			}
		case talks:
			op.Dialogue = func(ctx context.Context, call *api.Call, d api.Dialogue) (*api.Reply, error) {
				return a.perform(ctx, &o, call, way{talk: d})
			}
		case looks, changes, beside:
			op.Call = func(ctx context.Context, call *api.Call) (*api.Reply, error) { return a.perform(ctx, &o, call, way{}) }
		}
		ops[o.name] = op
	}
	ops[api.OpRunValues] = api.Op{Returns: true, Call: func(_ context.Context, call *api.Call) (*api.Reply, error) { return a.holding.give(call) }}
	ops[api.OpRunEnd] = api.Op{Call: a.holding.end}
	return ops
}
