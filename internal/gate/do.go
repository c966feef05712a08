package gate

import "context"

// Do lets an intent pass and its act run here, and records how it ended. An act that was handed to a process goes on: its
// outcome is recorded when that tells, or dies.
//
// Errors: those of Begin and of the act.
func (g *Gate) Do(ctx context.Context, in *Intent, tool Tool) error {
	if in.Serial {
		select {
		case g.serial <- struct{}{}:
			defer func() { <-g.serial }()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	lease, err := g.Begin(ctx, in, tool)
	if err != nil {
		return err
	}
	defer close(lease.act)
	if err = ctx.Err(); err == nil {
		err = lease.act.Run(ctx, &Permit{lease, lease.proved})
	}
	switch {
	case err != nil:
		if lease.holder != nil {
			lease.close() // nobody was told that it may go on
		}
		g.note(ctx, in.ended(eventFailed, g.cfg.Word(err)))
	case lease.holder == nil:
		g.note(ctx, in.ended(eventCompleted, OutcomeOK))
	}
	return err
}
