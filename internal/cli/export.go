package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"warder/internal/api"
	"warder/internal/api/frame"
)

// newExport builds "warder export".
func newExport(env *Env) *cobra.Command {
	in := api.Export{}
	cmd := &cobra.Command{
		Use:   "export --format env|json [--project P --stage S]",
		Short: "Print values for another program to read",
		Long: `Print the variables of a stage as an env file, or everything there is as JSON. It
needs your password on this terminal. What is printed is not protected any more:
write it where nobody else reads, with 'umask 077' before.`,
		Example: `  warder export --format env --project shop --stage production
  (umask 077; warder export --format json > backup.json)`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return export(cmd.Context(), env, &in)
		},
	}
	cmd.Flags().StringVar(&in.Format, "format", "", "env or json")
	stageFlags(env, cmd, &in.Project, &in.Stage)
	completeWords(cmd, "format", []string{"env", "json"})
	return cmd
}

func export(ctx context.Context, env *Env, in *api.Export) error {
	switch {
	case in.Format != "env" && in.Format != "json":
		return usageError("--format is env or json, not %q", in.Format)
	case (in.Project == "") != (in.Stage == ""):
		return usageError("--project and --stage go together")
	case in.Format == "env" && in.Project == "":
		return usageError("an env file holds the variables of one stage").WithHint("add --project and --stage, or use --format json")
	}
	var done api.Exported
	values, err := env.ask(ctx, api.OpExport, in, &done)
	defer frame.DestroyAll(values)
	if err != nil {
		return err
	}
	for _, v := range values {
		var failed error
		if err := v.Use(func(b []byte) { _, failed = env.Out.Write(b) }); err != nil {
			return err
		}
		if failed != nil {
			return failed
		}
	}
	what := plural(done.Variables, "variable")
	if done.Items > 0 {
		what = plural(done.Items, "item") + ", " + what
	}
	_, err = fmt.Fprintf(env.Err, "exported %s\n", what)
	return err
}
