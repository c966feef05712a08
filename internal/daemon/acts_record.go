package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"warder/internal/api"
	"warder/internal/audit"
	"warder/internal/caller"
	"warder/internal/seal"
	"warder/internal/state"
)

// The events around an act. No event of one holds a name in its data: the item is the only place of a name, where it is sealed
// unless everybody may know it.
const (
	eventIntent    = "tool_intent.created"
	eventInvalid   = "tool.validation.failed"
	eventDecided   = "permission.decided"
	eventCompleted = "tool_execution.completed"
	eventFailed    = "tool_execution.failed"
)

const outcomeOK = "ok"

// builtIn is the source of decisions: a table of this program, no file of the user's.
const builtIn = "built-in"

// subject is what an act is about.
type subject struct {
	name string // vault/item or vault/project/stage; for what was not found, as the caller wrote it
	open bool   // to all agents, so that the log, which they may read, can name it
}

// maxSubject is how much of a name that was not found is kept; the longest real one is shorter.
const maxSubject = 450

// sealed is the subject as the log holds it: sealed unless it is open to all agents. It is empty where there is none, and while
// the account is locked.
func (r *request) sealed() string {
	if r.subject.open {
		return r.subject.name
	}
	name := r.subject.name
	if len(name) > maxSubject {
		name = strings.ToValidUTF8(name[:maxSubject], "")
	}
	if name == "" || r.account == nil || !utf8.ValidString(name) {
		return ""
	}
	id := r.account.ID()
	item := ""
	err := r.account.WithRoot(func(root seal.RootKey) (err error) {
		item, err = audit.SealName(root, id, name)
		return err
	})
	if err != nil {
		return "" // it was locked since
	}
	return item
}

// record appends an event, durably. What it stands for may not be done if that fails.
func (r *request) record(ctx context.Context, event string, d *decision) error {
	rec := r.event(event)
	if d != nil {
		rec.Decision, rec.Reason, rec.Rule, rec.Source = d.effect.String(), d.reason, string(d.need), builtIn
	}
	if _, err := r.acts.log.Append(ctx, rec); err != nil {
		if ctx.Err() != nil {
			return err
		}
		hint := state.Hint(err)
		if hint == "" {
			hint = "see what is wrong with the log: warder audit verify, warder doctor"
		}
		return api.Errorf(api.Denied, "it could not be recorded, so it was not done").WithHint(hint).WithCause(err)
	}
	return nil
}

// note appends how an act ended. It is done by then, so a failure is only counted.
func (r *request) note(ctx context.Context, event, outcome string) {
	rec := r.event(event)
	rec.Outcome, rec.ReportedBy = outcome, r.reportedBy
	if len(r.facts) > 0 {
		rec.Data, _ = json.Marshal(r.facts) // numbers and fixed words
	}
	r.acts.log.Note(context.WithoutCancel(ctx), rec)
}

// event is what all events of an act have in common. None of it is taken from the input but the item (C-16).
func (r *request) event(event string) audit.Record {
	return audit.Record{Event: event, ID: r.id, Principal: principalOf(r.who), Tool: r.tool, Item: r.item}
}

// principalOf is who asked, as the log holds it.
func principalOf(id caller.Identity) *audit.Principal {
	p := &audit.Principal{Verdict: string(id.Verdict), Client: id.Client, Depth: id.Depth}
	if i := id.Instance; i != (caller.Instance{}) {
		p.Instance = fmt.Sprintf("%s/%d/%d/%d", i.BootID, i.PID, i.Start, i.Inode)
	}
	return p
}

// outcomeOf is the word for an error in the log: its code. Its message may hold names.
func outcomeOf(err error) string {
	var e *api.Error
	if errors.As(err, &e) {
		return string(e.Code)
	}
	return string(api.Internal)
}

// named puts the intent's id into an error, so that whoever reads it finds the records.
func (r *request) named(err error) error {
	var e *api.Error
	if !errors.As(err, &e) {
		return err
	}
	c := *e
	c.ID = r.id
	return &c
}
