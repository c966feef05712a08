package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/secret"
)

// itemShow are the flags of "warder item show".
type itemShow struct {
	vault, field   string
	reveal, asJSON bool
}

// newItemShow builds "warder item show".
func newItemShow(env *Env) *cobra.Command {
	var o itemShow
	cmd := &cobra.Command{
		Use:   "show ITEM[/FIELD]",
		Short: "Show an item, without its secrets",
		Long: `Show an item: its fields, what it is for, and what agents may do with it. Values
of secret fields are shown with --reveal alone, which needs your password on this
terminal each time. Of one field, named behind the item or with --field, only the
value is printed, and nothing else.`,
		Example: `  warder item show github-token
  warder item show github-token --json
  warder item show github-token --reveal --field token
  warder item show warder://personal/github-token/token --reveal`,
		Args:              itemArgument(),
		ValidArgsFunction: completeItems(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args[0])
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.reveal, "reveal", false, "print the values of secret fields; needs your password")
	f.StringVar(&o.field, "field", "", "with --reveal, this field alone, as [SECTION/]FIELD")
	f.StringVar(&o.vault, "vault", "", vaultUsage)
	jsonFlag(cmd, &o.asJSON)
	return cmd
}

func (o *itemShow) run(ctx context.Context, env *Env, name string) error {
	switch {
	case o.reveal && o.asJSON:
		return usageError("--reveal prints values, which never stand in JSON").WithHint("leave one of the two away")
	case o.field != "" && !o.reveal:
		return usageError("--field goes with --reveal").
			WithHint("to see whether a field is set: warder item check ITEM/FIELD")
	}
	in := &api.ItemShow{Vault: o.vault, Name: name, Reveal: o.reveal, Field: o.field}
	var item api.ItemShown
	values, err := env.ask(ctx, api.OpItemShow, in, &item)
	defer frame.DestroyAll(values)
	switch {
	case err != nil:
		return err
	case o.asJSON:
		return printJSON(env.Out, item)
	case o.field != "" || o.reveal && item.Field != "":
		if len(values) != 1 {
			return api.Errorf(api.Internal, "the daemon answered with %d values in place of one", len(values))
		}
		return printValue(env.Out, values[0])
	}
	return printItem(env, &item, values)
}

// printItem writes an item for a person, with the values that were revealed.
func printItem(env *Env, item *api.ItemShown, values []secret.Value) error {
	fmt.Fprintf(env.Out, "%s: %s, level %s, %s\n",
		printable(place(item.Vault, item.Name)), printable(item.Type), printable(item.Level), openText(item.Open))
	rows := columns{indent: "  "}
	if item.State != "ok" {
		rows.add("state", item.State)
	}
	rows.add("made", strings.TrimSpace(item.Created+" by "+item.By+" "+item.Client))
	if item.Modified != item.Created {
		rows.add("changed", item.Modified)
	}
	addList(&rows, "tags", item.Tags)
	addList(&rows, "hosts", item.Hosts)
	var programs []string
	for _, c := range item.Commands {
		programs = append(programs, c.Name+" = "+c.Path)
	}
	addList(&rows, "commands", programs)
	if item.NeverEnv {
		rows.add("delivery", "never in a variable: --file or --stdin")
	}
	for _, f := range item.Fields {
		rows.add(fieldName(f), fieldText(f), f.Ref)
	}
	if err := rows.print(env.Out); err != nil {
		return err
	}
	return printRevealed(env, item.Fields, values)
}

// printRevealed writes the values that were revealed, in the order of their
// fields.
func printRevealed(env *Env, fields []api.ItemField, values []secret.Value) error {
	for _, f := range fields {
		if !f.Revealed || len(values) == 0 {
			continue
		}
		fmt.Fprintf(env.Out, "%s: ", printable(fieldName(f)))
		if err := printValue(env.Out, values[0]); err != nil {
			return err
		}
		values = values[1:]
	}
	return nil
}

// fieldName is a field's name with its section.
func fieldName(f api.ItemField) string {
	if f.Section == "" {
		return f.Name
	}
	return f.Section + "/" + f.Name
}

func fieldText(f api.ItemField) string {
	switch {
	case !f.Set:
		return "(empty)"
	case f.Concealed:
		return "(secret)"
	}
	return "(text)"
}

func openText(open bool) string {
	if open {
		return "open to agents"
	}
	return "closed to agents"
}

// addList adds a row for a list that is not empty.
func addList(rows *columns, label string, list []string) {
	if len(list) > 0 {
		rows.add(label, strings.Join(list, ", "))
	}
}
