package gate

import "context"

// Begin lets an intent pass as far as the decision, which is durable when it returns a lease. The caller ends the lease.
//
// Errors: those of the tool; *Refusal; *approval.Asked, for what takes a person's presence; those of the proof that came;
// *RecordError; the cause of ctx.
func (g *Gate) Begin(ctx context.Context, in *Intent, tool Tool) (*Lease, error) {
	act, err := tool(ctx)
	if lost := g.record(ctx, in.created()); lost != nil {
		err = lost // and nothing is known of what the tool found
	}
	if err != nil {
		g.note(ctx, in.ended(eventInvalid, g.cfg.Word(err)))
		close(act)
		return nil, err
	}
	d, refused := g.decide(in, act)
	if err := g.record(ctx, in.decided(d)); err != nil {
		refused = err
	}
	if refused != nil {
		close(act)
		return nil, refused
	}
	return &Lease{gate: g, intent: in, act: act}, nil
}

func close(act *Act) {
	if act != nil && act.Close != nil {
		act.Close()
	}
}
