package cli

import (
	"context"

	"github.com/spf13/cobra"

	"warder/internal/api"
)

// newItemList builds "warder item list".
func newItemList(env *Env) *cobra.Command {
	var in api.ItemListIn
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the items",
		Long: `List the items that the caller may know of: a person sees all of them, an agent
those that are open to it. There are no values in lists.`,
		Example: `  warder item list
  warder item list --type api-token --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listItems(cmd.Context(), env, in, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Vault, "vault", "", "of this vault alone")
	f.StringVar(&in.Tag, "tag", "", "with this tag alone")
	f.StringVar(&in.Type, "type", "", "of this type alone")
	jsonFlag(cmd, &asJSON)
	completeWords(cmd, "type", typeNames())
	return cmd
}

func listItems(ctx context.Context, env *Env, in api.ItemListIn, asJSON bool) error {
	if in.Type != "" {
		if _, err := secretField(in.Type); err != nil {
			return err
		}
	}
	list := api.ItemList{Items: []api.ItemRow{}}
	if err := env.do(ctx, api.OpItemList, in, &list); err != nil {
		return err
	}
	if asJSON {
		return printJSON(env.Out, list)
	}
	switch filtered := in != (api.ItemListIn{}); {
	case len(list.Items) == 0 && filtered:
		return env.none("no item is like that; without a filter: warder item list")
	case len(list.Items) == 0:
		return env.none("no items yet; warder item add NAME --type TYPE")
	}
	rows := columns{}
	for _, item := range list.Items {
		state := ""
		if item.State != "ok" {
			state = item.State
		}
		rows.add(place(item.Vault, item.Name), item.Type, item.Level, state)
	}
	return rows.print(env.Out)
}
