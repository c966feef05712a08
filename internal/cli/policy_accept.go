package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"warder/internal/api"
	"warder/internal/api/frame"
)

// newPolicyAccept builds "warder policy accept".
func newPolicyAccept(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "accept",
		Short: "Let what waits count, after seeing it",
		Long: `Show what your files ask for and what waits, and let it count. It needs your
password, for exactly what was shown: where a file has changed since, nothing is
accepted. It counts at once, and until the file is stricter again.`,
		Example: `  warder policy accept`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return acceptPending(cmd.Context(), env, asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// acceptPending shows what waits, and has the daemon ask for the password for that.
func acceptPending(ctx context.Context, env *Env, asJSON bool) error {
	r, err := env.reach()
	if err != nil {
		return err
	}
	defer r.close()
	var list api.PolicyPending
	if err := plain(ctx, r, api.OpPolicyPending, nil, &list); err != nil {
		return err
	}
	done := api.PolicyAccepted{Accepted: []api.Proposal{}}
	if len(list.Proposals) > 0 {
		to := env.Out
		if asJSON {
			to = env.Err // standard output is one object
		}
		if list.Shown != "" { // else it is refused, and by the daemon
			if err := printDiff(env, to, list.Proposals); err != nil {
				return err
			}
		}
		if err := plain(ctx, r, api.OpPolicyAccept, &api.PolicyAccept{Shown: list.Shown}, &done); err != nil {
			return err
		}
	}
	switch {
	case asJSON:
		return printJSON(env.Out, done)
	case len(done.Accepted) == 0:
		return nothingWaits(env)
	}
	_, err = fmt.Fprintf(env.Out, "accepted: %s\n", plural(len(done.Accepted), "change"))
	return err
}

// plain is a call for an operation that returns no values.
func plain(ctx context.Context, r *reach, op string, in, out any) error {
	got, err := r.call(ctx, op, in, out)
	frame.DestroyAll(got)
	return err
}
