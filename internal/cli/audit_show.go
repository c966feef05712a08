package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"warder/internal/api"
)

// newAuditShow builds "warder audit show".
func newAuditShow(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show the records of one act",
		Long: `Show all records of one act, by the id that errors and answers carry, or one record
by its number. With --json each record is one object on a line of its own.`,
		Example: `  warder audit show 42
  warder audit show 01J9Z3 --json`,
		Args: oneArgument("ID", "an id or a number"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return auditStream{api.OpAuditShow, api.AuditShow{ID: args[0]}, asJSON, printRecord}.print(cmd.Context(), env)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a record")
	return cmd
}

// printRecord writes every member of a record that is there, one a line.
func printRecord(env *Env, raw json.RawMessage) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return fmt.Errorf("reading an audit record: %w", err)
	}
	rows := columns{}
	for _, name := range []string{
		"seq", "time", "event", "id", "session", "principal", "tool", "item", "decision", "reason", "rule", "source",
		"outcome", "reported_by", "data", "prev", "mac",
	} {
		text := string(members[name])
		if text == "" || text == "null" {
			continue
		}
		var plain string
		if json.Unmarshal(members[name], &plain) == nil {
			text = plain
		}
		if name == "item" {
			text = shownItem(text)
		}
		rows.add(name, text)
	}
	if err := rows.print(env.Out); err != nil {
		return err
	}
	_, err := fmt.Fprintln(env.Out)
	return err
}
