package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
)

// newAudit builds "warder audit".
func newAudit(env *Env) *cobra.Command {
	return newGroup("audit", "Read and check the log of what was asked and done",
		`The audit log holds what was asked, decided and done, without values. Each record
is chained to the one before it, so that a change, a gap or a cut is found.`,
		newAuditTail(env), newAuditShow(env), newAuditVerify(env), newAuditSeal(env))
}

// auditStream is a question that is answered with records.
type auditStream struct {
	op     string
	in     any
	asJSON bool
	text   func(*Env, json.RawMessage) error // prints a record for a person
}

// print prints the records as they come.
func (q auditStream) print(ctx context.Context, env *Env) error {
	r, err := env.reach()
	if err != nil {
		return err
	}
	defer r.close()
	return r.stream(ctx, q.op, q.in, func(record json.RawMessage) error {
		if q.asJSON {
			_, err := fmt.Fprintf(env.Out, "%s\n", record)
			return err
		}
		return q.text(env, record)
	})
}
