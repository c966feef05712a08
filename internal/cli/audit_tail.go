package cli

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"warder/internal/api"
)

// newAuditTail builds "warder audit tail".
func newAuditTail(env *Env) *cobra.Command {
	const lines = 20
	var in api.AuditTail
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Show the last records",
		Long: `Show the last records of the log, and with --follow those to come. With --json
each record is one object on a line of its own, as the log holds it.`,
		Example: `  warder audit tail -n 50
  warder audit tail --follow --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if in.N < 0 {
				return usageError("-n wants a number that is not negative")
			}
			return auditStream{api.OpAuditTail, in, asJSON, printRecordLine}.print(cmd.Context(), env)
		},
	}
	cmd.Flags().IntVarP(&in.N, "lines", "n", lines, "how many of the last records")
	cmd.Flags().BoolVarP(&in.Follow, "follow", "f", false, "go on with new records as they come")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a record")
	return cmd
}

// auditRecord is the part of a record that the text form shows.
type auditRecord struct {
	Seq       uint64 `json:"seq"`
	Time      string `json:"time"`
	Event     string `json:"event"`
	ID        string `json:"id"`
	Principal *struct {
		Verdict string `json:"verdict"`
		Client  string `json:"client"`
	} `json:"principal"`
	Tool     string `json:"tool"`
	Item     string `json:"item"`
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
	Outcome  string `json:"outcome"`
}

// printRecordLine writes the heart of a record on one line.
func printRecordLine(env *Env, raw json.RawMessage) error {
	var r auditRecord
	if err := json.Unmarshal(raw, &r); err != nil {
		return fmt.Errorf("reading an audit record: %w", err)
	}
	who := "-"
	if r.Principal != nil {
		who = strings.TrimSpace(r.Principal.Verdict + " " + r.Principal.Client)
	}
	parts := []string{strconv.FormatUint(r.Seq, 10), r.Time, who, r.Event}
	for _, part := range []string{r.Tool, shownItem(r.Item), r.Decision, r.Outcome, r.Reason} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	_, err := fmt.Fprintln(env.Out, printable(strings.Join(parts, "  ")))
	return err
}

// shownItem is an item's name. One that is sealed, which for a person the daemon
// opens while the account is unlocked, is a word and as much of the box as finds
// the record again in the output of --json: it has 700 characters that say
// nothing, and another one in each record of the same item.
func shownItem(item string) string {
	const prefix, enough = ".sealed:", 8
	box, sealed := strings.CutPrefix(item, prefix)
	if !sealed {
		return item
	}
	return "(a closed item, sealed:" + box[:min(enough, len(box))] + ")"
}
