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
	proof  *secret.Value  // of presence, if one came
	shown  string         // hash of the act that the proof is for
	input  any            // as the plan decoded it
	item   string         // the subject as the log may hold it
	facts  map[string]any // about the outcome, for the log: no names, no values
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
		a.changing.Lock()
		defer a.changing.Unlock()
	}
	planned, err := r.plan(op)
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
	r.note(ctx, eventCompleted, outcomeOK)
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
func (r *request) plan(op *operation) (*act, error) {
	account, err := r.acts.account()
	switch {
	case err == nil:
		r.account = account
	case op.kind == looks || op.kind == changes:
		return nil, err
	}
	if err := r.takeProof(op); err != nil {
		return nil, err
	}
	return op.plan(r)
}

// takeProof parts the proof of presence from the values. Only operations whose input embeds api.Act know the member.
func (r *request) takeProof(op *operation) error {
	var in api.Act
	if op.takes == 0 || len(r.call.Input) == 0 || json.Unmarshal(r.call.Input, &in) != nil || !in.Presence {
		return nil // what is wrong with the input is told when it is decoded
	}
	if len(r.values) == 0 {
		return api.Errorf(api.Usage, "the proof of presence is missing: the master password is the last of the values")
	}
	if in.Hash == "" {
		return api.Errorf(api.Usage, "the proof of presence says not what was shown: the hash of the act is missing")
	}
	last := len(r.values) - 1
	r.shown = in.Hash
	r.proof, r.values = &r.values[last], r.values[:last]
	return nil
}

// permit decides, and lets the act pass only with the decision recorded.
func (r *request) permit(ctx context.Context, planned *act) error {
	d := decide(r.who.Verdict, r.acts.unattended, planned.needs)
	refusal := error(nil)
	switch {
	case d.effect == deny:
		refusal = d.refusal()
	case d.effect == ask || r.proof != nil:
		refusal = r.present(planned, &d)
	}
	if err := r.record(ctx, eventDecided, &d); err != nil {
		return err
	}
	return refusal
}

// present wants a person's presence for the act as it is planned now. A proof for anything else counts for nothing: the
// person is asked again, and told what it would do by now.
func (r *request) present(planned *act, d *decision) error {
	hash, err := planned.hash(r)
	if err != nil {
		d.effect, d.reason = deny, "the act has no hash"
		return err
	}
	if r.proof != nil && r.shown != hash {
		d.effect, d.reason = ask, "it does something else than what was shown"
	}
	if d.effect == allow {
		return nil // it turned out to need no proof
	}
	if r.proof == nil || r.shown != hash {
		asks := api.Errorf(api.NeedsApproval, "%s", printable(planned.text)).WithHint("type the master password to allow exactly this")
		asks.Hash = hash
		return asks
	}
	if err := r.prove(); err != nil {
		d.effect, d.reason = deny, "presence was not proved"
		return err
	}
	d.effect, d.reason = allow, "presence was proved with the master password"
	return nil
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
	delete(members, "presence")
	delete(members, "hash")
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

// prove verifies the proof of presence.
func (r *request) prove() error {
	if r.account == nil {
		return api.Errorf(api.Locked, "the account is locked")
	}
	return vaultError(r, afterShortWait(func() error { return r.account.VerifyPassword(*r.proof) }))
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
