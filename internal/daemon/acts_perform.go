package daemon

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"warder/internal/api"
	"warder/internal/secret"
	"warder/internal/vault"
)

// request is one call of an operation, with all that is known of it before it is planned.
type request struct {
	lookup
	acts   *acts
	call   *api.Call
	tool   string
	id     string         // of the intent; what it changes is tagged with it, so that it also undoes the act
	values []secret.Value // without the proof; the server's to destroy
	proof  *secret.Value  // of presence, sealed, if one came
	shown  api.Act        // what it says it is for
	input  any            // as the plan decoded it
	item   string         // the subject as the log may hold it
	facts  map[string]any // about the outcome, for the log: no names, no values

	carried    secret.Value // inside of the proof, once that was opened
	receipt    api.Receipt  // that it was
	reportedBy string       // who knows the outcome, if not the daemon
}

// act is what a request comes down to.
type act struct {
	needs  []need
	text   string // what it does: what a person is asked, as in "show the value of personal/github/token"
	run    func(ctx context.Context) (*api.Reply, error)
	stream func(ctx context.Context, send func(any) error) error
	close  func() // wipes what the plan opened; may be nil
	faults faults // the names behind a refusal, for the caller alone
}

// perform carries out one operation: plan, decide, prove presence, record, run, record.
func (a *acts) perform(ctx context.Context, op *operation, call *api.Call, send func(any) error) (*api.Reply, error) {
	r, err := a.newRequest(op, call)
	if err != nil {
		return nil, err
	}
	if op.kind == changes || op.kind == beside {
		select {
		case a.changing <- struct{}{}:
			defer func() { <-a.changing }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	defer func() { r.carried.Destroy() }()
	planned, err := r.plan(ctx, op)
	r.item = r.sealed()
	if lost := r.record(ctx, eventIntent, nil); lost != nil {
		err = lost
	}
	if err != nil {
		return nil, r.failed(ctx, eventInvalid, err)
	}
	if planned.close != nil {
		defer planned.close()
	}
	if err := r.permit(ctx, planned); err != nil {
		return nil, r.named(planned.faults.explain(err))
	}
	reply, err := r.execute(ctx, planned, send)
	if err != nil {
		return nil, r.failed(ctx, eventFailed, err)
	}
	if op.kind != lends {
		r.note(ctx, eventCompleted, outcomeOK)
	}
	return reply, nil
}

// newRequest takes a call in.
func (a *acts) newRequest(op *operation, call *api.Call) (*request, error) {
	c, err := clientOf(call)
	if err != nil {
		return nil, err
	}
	r := &request{
		acts: a, call: call, tool: op.name, id: newIntentID(), values: call.Values, facts: map[string]any{},
		lookup: lookup{who: c.id, known: map[string]*levels{}},
	}
	if r.isPerson() && a.person != nil {
		a.person()
	}
	return r, nil
}

// newIntentID makes the id of an intent. It holds a letter, so it is never taken for a record's number.
func newIntentID() string { return "i" + strings.ToLower(rand.Text()[:15]) }

// plan unlocks what the operation works on and plans it.
func (r *request) plan(ctx context.Context, op *operation) (*act, error) {
	account, err := r.acts.account()
	switch {
	case err == nil:
		r.account = vault.Until(ctx, account) // nothing waits on for a caller that has gone
	case op.kind == looks || op.kind == changes || op.kind == lends:
		return nil, err
	}
	if err := (presence{r}).take(op); err != nil {
		return nil, err
	}
	return op.plan(r)
}

// permit decides, and lets the act pass only with the decision recorded.
func (r *request) permit(ctx context.Context, planned *act) error {
	d := decide(r.who.Verdict, r.acts.unattended, planned.needs)
	refusal := error(nil)
	switch {
	case d.effect == deny:
		refusal = d.refusal()
	case d.effect == ask || r.proof != nil:
		refusal = presence{r}.present(planned, &d)
	}
	if err := r.record(ctx, eventDecided, &d); err != nil {
		return err
	}
	return refusal
}

// hash is that of an act as it is planned for a request: of the operation, the input as the plan understood it, what a person
// reads of it, which names what the plan found behind the input's names, and what it takes. No value goes into it, and it needs
// no secret: it is only ever compared with itself.
func (a *act) hash(r *request) (string, error) {
	input, err := unproved(r.input)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	parts := []string{r.tool, string(input), a.text}
	for _, n := range slices.Compact(slices.Sorted(slices.Values(a.needs))) {
		parts = append(parts, string(n))
	}
	for _, part := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// unproved is an input without the members of api.Act, and with its members in order.
func unproved(input any) ([]byte, error) {
	text, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	for _, name := range []string{"presence", "hash", "challenge"} {
		delete(members, name)
	}
	return json.Marshal(members)
}

// printable is a text that shows on a terminal what it says: names and paths in it may come from anywhere.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) || c == '\u2028' || c == '\u2029' {
			return unicode.ReplacementChar
		}
		return c
	}, text)
}

// execute runs an act that was permitted.
func (r *request) execute(ctx context.Context, planned *act, send func(any) error) (*api.Reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if planned.stream != nil {
		return nil, planned.stream(ctx, send)
	}
	return planned.run(ctx)
}

// failed records that an act ended with an error, and returns that.
func (r *request) failed(ctx context.Context, event string, err error) error {
	err = r.named(vaultError(r, err))
	r.note(ctx, event, outcomeOf(err))
	return err
}

// origin is what the revisions of this act say of it.
func (r *request) origin() vault.Origin {
	if r.isPerson() {
		return vault.Origin{By: vault.ByPerson, Tag: r.id}
	}
	return vault.Origin{By: vault.ByAgent, Client: r.who.Client, Tag: r.id}
}

// decode reads the input, and keeps it for the hash of the act.
func (r *request) decode(into any) error {
	r.input = into
	return r.call.Decode(into)
}

// want refuses another number of values than n.
func (r *request) want(n int) error {
	if len(r.values) != n {
		return api.Errorf(api.Usage, "%s: %d values came, %d are wanted", r.tool, len(r.values), n)
	}
	return nil
}
