package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"warder/internal/api"
)

// newAuditSeal builds "warder audit seal".
func newAuditSeal(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "seal",
		Short: "Declare a broken log broken, and go on",
		Long: `Close a broken part of the log byte for byte, as evidence, and go on in a new one
that names the break. It needs your password.`,
		Example: `  warder audit seal`,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var sealed api.AuditSealed
			if err := env.do(cmd.Context(), api.OpAuditSeal, &api.Act{}, &sealed); err != nil {
				return err
			}
			if asJSON {
				return printJSON(env.Out, sealed)
			}
			_, err := fmt.Fprintf(env.Out, "declared at seq %d: %s\n", sealed.Seq, printable(sealed.Text))
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
