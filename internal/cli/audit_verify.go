package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"warder/internal/api"
)

// newAuditVerify builds "warder audit verify".
func newAuditVerify(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that the log is whole",
		Long: `Check every record of the log against the chain and, while the account is open,
against its key. Exit status 0 says that the log is whole, 8 that it is not; the
first bad record is named with the cause: tamper, tear, cut, key or gap. What was
found stays in "warder status" until "warder audit seal" declares it.`,
		Example: `  warder audit verify
  warder audit verify --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return verifyAudit(cmd.Context(), env, asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func verifyAudit(ctx context.Context, env *Env, asJSON bool) error {
	var report api.AuditReport
	if err := env.do(ctx, api.OpAuditVerify, nil, &report); err != nil {
		return err
	}
	var err error
	if asJSON {
		err = printJSON(env.Out, report)
	} else {
		err = printReport(env, &report)
	}
	if err == nil && !report.OK {
		return outcome(api.ExitIntegrity)
	}
	return err
}

func printReport(env *Env, report *api.AuditReport) error {
	for _, declared := range report.Breaks {
		fmt.Fprintf(env.Out, "declared break at seq %d: %s\n", declared.Seq, printable(declared.Text))
	}
	if report.Signed > 0 {
		fmt.Fprintln(env.Out, begunAnew(report.Signed))
	}
	if was := report.Found; was != nil && report.OK {
		fmt.Fprintf(env.Out, "found before and not declared: %s at seq %d: %s; warder status tells it until: warder audit seal\n",
			printable(was.Cause), was.Seq, printable(was.Text))
	}
	if bad := report.FirstBad; bad != nil {
		fmt.Fprintf(env.Out, "%s at seq %d: %s: %s\n", env.paint(red, "broken"), bad.Seq, printable(bad.Cause), printable(bad.Text))
		hint := "To keep the broken part as evidence and go on: warder audit seal"
		if report.Hint != "" {
			hint = printable(report.Hint)
		}
		_, err := fmt.Fprintln(env.Out, hint)
		return err
	}
	proof := "each one proved with the account's key"
	switch {
	case report.Full:
	case report.Proved > 0:
		proof = fmt.Sprintf("proved with the account's key from seq %d on", report.Proved)
	default:
		proof = "by the chain alone, since the account is locked"
	}
	word := env.paint(green, "whole")
	if !report.OK {
		word = env.paint(red, "broken")
	}
	if report.First > 1 {
		proof += "; " + dropped(report.First)
	}
	_, err := fmt.Fprintf(env.Out, "%s: %s in %s, %s\n", word, judged(report), plural(report.Segments, "segment"), proof)
	return err
}

// judged says how many events were judged. Those before a declared break are
// evidence: they are as they were when it was declared, and nobody judges them
// again.
func judged(report *api.AuditReport) string {
	text := fmt.Sprintf("%d events", report.Events)
	if report.Events == 1 {
		text = "1 event"
	}
	if n := len(report.Breaks); n > 0 && report.Breaks[n-1].Seq > 1 {
		text += fmt.Sprintf(" from the declared break on, and those before seq %d as they were declared,", report.Breaks[n-1].Seq)
	}
	return text
}
