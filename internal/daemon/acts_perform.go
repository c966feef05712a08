package daemon

import (
	"context"
	"encoding/json"
	"strings"
	"unicode"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/gate"
	"warder/internal/policy"
	"warder/internal/secret"
	"warder/internal/vault"
)

// request is one call of an operation, with all that is known of it before it is planned.
type request struct {
	*gate.Intent
	lookup
	acts   *acts
	call   *api.Call
	values []secret.Value // without the proof; the server's to destroy
	input  any            // as the plan decoded it

	carried secret.Value // inside of the proof, once that was opened
	receipt api.Receipt  // that it was
}

// act is what a request comes down to.
type act struct {
	needs  []policy.Need
	text   string // what it does: what a person is asked, as in "show the value of personal/github/token"
	run    func(ctx context.Context) (*api.Reply, error)
	lend   func(p *gate.Permit) (*api.Reply, error) // in place of run, where the caller carries it out
	stream func(ctx context.Context, send func(any) error) error
	talk   func(ctx context.Context, d api.Dialogue) (*api.Reply, error)
	close  func() // wipes what the plan opened; may be nil
	faults faults // the names behind a refusal, for the caller alone
}

// way is how an act answers that does not do so all at once. It has what its operation is declared for.
type way struct {
	send func(any) error
	talk api.Dialogue
}

// perform carries out one operation: it makes an intent of the call, and the gate does the rest with what the operation's plan
// says.
func (a *acts) perform(ctx context.Context, op *operation, call *api.Call, back way) (*api.Reply, error) {
	r, err := a.newRequest(op, call)
	if err != nil {
		return nil, err
	}
	defer func() { r.carried.Destroy() }()
	var planned *act
	var reply *api.Reply
	err = a.gate.Do(ctx, r.Intent, func(ctx context.Context) (*gate.Act, error) {
		var err error
		planned, err = r.plan(ctx, op)
		r.subject.open = r.subject.open && (err == nil || !r.subject.made)
		if r.Item = r.sealed(); err != nil {
			return nil, vaultError(r, err)
		}
		return r.toGate(planned, func(ctx context.Context, p *gate.Permit) (err error) {
			reply, err = planned.execute(ctx, p, back)
			return vaultError(r, err)
		})
	})
	if err != nil {
		return nil, r.told(planned, err)
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
		Intent: gate.NewIntent(op.name, gate.Session{ID: c.session, Who: c.id}), acts: a, call: call, values: call.Values,
		lookup: lookup{who: c.id, known: map[string]*levels{}},
	}
	r.Serial = op.kind == changes || op.kind == beside
	if r.isPerson() && a.person != nil {
		a.person()
	}
	return r, nil
}

// plan unlocks what the operation works on and plans it.
func (r *request) plan(ctx context.Context, op *operation) (*act, error) {
	account, err := r.acts.account()
	switch {
	case err == nil:
		r.account = vault.Until(ctx, account) // nothing waits on for a caller that has gone
	case op.kind == looks || op.kind == changes || op.kind == talks:
		return nil, err
	}
	if err := takeProof(r, op); err != nil {
		return nil, err
	}
	return op.plan(r)
}

// toGate is an act as the gate takes it.
func (r *request) toGate(planned *act, run func(context.Context, *gate.Permit) error) (*gate.Act, error) {
	input, err := unproved(r.input)
	if err != nil {
		if planned.close != nil {
			planned.close()
		}
		return nil, err
	}
	return &gate.Act{
		Needs: planned.needs, Canonical: input, Shown: frame.Text(printable(planned.text)), Run: run, Close: planned.close,
	}, nil
}

// execute runs an act that was permitted.
func (a *act) execute(ctx context.Context, p *gate.Permit, back way) (*api.Reply, error) {
	switch {
	case a.stream != nil:
		return nil, a.stream(ctx, back.send)
	case a.talk != nil:
		return a.talk(ctx, back.talk)
	case a.lend != nil:
		return a.lend(p)
	}
	return a.run(ctx)
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

// origin is what the revisions of this act say of it.
func (r *request) origin() vault.Origin {
	if r.isPerson() {
		return vault.Origin{By: vault.ByPerson, Tag: r.ID}
	}
	return vault.Origin{By: vault.ByAgent, Client: r.who.Client, Tag: r.ID}
}

// decode reads the input, and keeps it for the hash of the act.
func (r *request) decode(into any) error {
	r.input = into
	return r.call.Decode(into)
}

// want refuses another number of values than n.
func (r *request) want(n int) error {
	if len(r.values) != n {
		return api.Errorf(api.Usage, "%s: %d values came, %d are wanted", r.Tool, len(r.values), n)
	}
	return nil
}
