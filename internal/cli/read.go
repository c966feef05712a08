package cli

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/platform"
	"warder/internal/secret"
)

// newRead builds "warder read".
func newRead(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "read REFERENCE",
		Short: "Print one value",
		Long: `Print the value that a reference names, on your own terminal. Into a pipe or a
file, in a terminal multiplexer, and of an item that agents may not use, it needs
your password on this terminal. To an agent no value is printed: it uses one
without seeing it, with "warder run".`,
		Example: `  warder read warder://personal/github-token/token
  warder read personal/db/password`,
		Args:              oneArgument("REFERENCE", "a reference"),
		ValidArgsFunction: completeItems(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			return readReference(cmd.Context(), env, args[0])
		},
	}
}

func readReference(ctx context.Context, env *Env, ref string) error {
	r, err := env.reach()
	if err != nil {
		return err
	}
	defer r.close()
	var lease api.RunLease
	if err := tell(ctx, r, api.OpRead, &api.Read{Ref: ref, Terminal: onTerminal(env)}, &lease); err != nil {
		return err
	}
	values, err := take(ctx, r, lease, 1)
	defer frame.DestroyAll(values)
	end := api.RunEnd{Lease: lease.Lease}
	if err == nil {
		err = printValue(env.Out, values[0])
	}
	if err != nil {
		end.Failed = "internal"
	}
	_ = tell(ctx, r, api.OpRunEnd, end, nil)
	return err
}

// take takes the values of a lease. Who asked for it was judged by now; from here on nobody of this user reads this process,
// and only so it gets them. The caller destroys them.
func take(ctx context.Context, r *reach, lease api.RunLease, want int) ([]secret.Value, error) {
	if err := platform.DropDumps(); err != nil && !errors.Is(err, platform.ErrUnsupported) {
		return nil, err
	}
	var values []secret.Value
	for {
		more, err := r.call(ctx, api.OpRunValues, lease, nil)
		values = append(values, more...)
		if err == nil && (len(values) > want || len(more) == 0 && len(values) < want) {
			err = api.Errorf(api.Internal, "the daemon gave %d values in place of %d", len(values), want)
		}
		if err != nil {
			frame.DestroyAll(values)
			return nil, err
		}
		if len(values) == want {
			return values, nil
		}
	}
}

// onTerminal says whether what is printed goes to the controlling terminal.
func onTerminal(env *Env) bool {
	f, ok := env.rawOut.(*os.File)
	if !ok {
		return false
	}
	_, err := platform.ForegroundGroup(f)
	return err == nil
}
