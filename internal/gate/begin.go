package gate

import "context"

// Begin lets an intent pass as far as the decision, which is durable when it returns a lease. The caller ends the lease.
//
// Errors: those of the tool; *Refusal; *approval.Asked, for what takes a person's presence; those of the proof that came;
// *RecordError; the cause of ctx.
func (g *Gate) Begin(ctx context.Context, in *Intent, tool Tool) (*Lease, error) {
	act, err := tool(ctx)
	if err != nil {
		if lost := g.record(ctx, in.created(), in.ended(eventInvalid, g.cfg.Word(err))); lost != nil {
			err = lost // and nothing is known of what the tool found
		}
		return nil, err
	}
	d, proved, refused := g.decide(in, act)
	if err := g.record(ctx, in.created(), in.decided(d)); err != nil { // one without the other is of no use
		refused = err
	}
	if refused != nil {
		close(act)
		return nil, refused
	}
	return &Lease{gate: g, intent: in, act: act, proved: proved}, nil
}

func close(act *Act) {
	if act != nil && act.Close != nil {
		act.Close()
	}
}
