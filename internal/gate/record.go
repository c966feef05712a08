package gate

import (
	"context"
	"encoding/json"
	"fmt"

	"warder/internal/audit"
	"warder/internal/caller"
	"warder/internal/policy"
)

// The events around an act. No event of one holds a name in its data: the item is the only place of a name, where it is sealed
// unless everybody may know it.
const (
	eventCreated   = "tool_intent.created"
	eventInvalid   = "tool.validation.failed"
	eventDecided   = "permission.decided"
	eventCompleted = "tool_execution.completed"
	eventFailed    = "tool_execution.failed"
)

// Outcomes that are no word of an error.
const (
	OutcomeOK      = "ok"
	outcomeUnknown = "unknown" // its executor died before it told
)

// byClient says that the outcome is known by hearsay.
const byClient = "client"

// builtIn is the source of decisions: a table of this program, no file of the user's.
const builtIn = "built-in"

// RecordError says that an act was not done because it could not be recorded.
type RecordError struct{ Err error }

func (e *RecordError) Error() string { return "it could not be recorded, so it was not done" }

func (e *RecordError) Unwrap() error { return e.Err }

// created is the record that an intent came.
func (in *Intent) created() audit.Record { return in.Event(eventCreated) }

// decided is the record of a decision.
func (in *Intent) decided(d policy.Decision) audit.Record {
	r := in.Event(eventDecided)
	r.Decision, r.Reason, r.Rule, r.Source = d.Effect.String(), d.Reason, string(d.Need), builtIn
	return r
}

// ended is the record of how an act ended.
func (in *Intent) ended(event, outcome string) audit.Record {
	r := in.Event(event)
	r.Outcome = outcome
	if len(in.Facts) > 0 {
		r.Data, _ = json.Marshal(in.Facts) // numbers and fixed words
	}
	return r
}

// Event is what all events of an act have in common. None of it is taken from the input but the item (C-16).
func (in *Intent) Event(event string) audit.Record {
	return audit.Record{
		Event: event, ID: in.ID, Session: in.Session.ID, Principal: in.principal, Tool: in.Tool, Item: in.Item,
	}
}

// PrincipalOf is who asked, as the log holds it.
func PrincipalOf(id caller.Identity) *audit.Principal {
	p := &audit.Principal{Verdict: string(id.Verdict), Client: id.Client, Depth: id.Depth}
	if i := id.Instance; i != (caller.Instance{}) {
		p.Instance = fmt.Sprintf("%s/%d/%d/%d", i.BootID, i.PID, i.Start, i.Inode)
	}
	return p
}

// record appends events, durably and in one commit. What they stand for may not be done if that fails.
func (g *Gate) record(ctx context.Context, events ...audit.Record) error {
	if _, err := g.cfg.Log.AppendAll(ctx, events...); err != nil {
		if ctx.Err() != nil {
			return err
		}
		g.note(ctx, events[0]) // which counts what is missing from the log
		return &RecordError{err}
	}
	return nil
}

// note appends how an act ended. It is done by then, so a failure is only counted.
func (g *Gate) note(ctx context.Context, r audit.Record) {
	g.cfg.Log.Note(context.WithoutCancel(ctx), r)
}
