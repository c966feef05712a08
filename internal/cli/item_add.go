package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/secret"
)

// itemAdd are the flags of "warder item add".
type itemAdd struct {
	kind, field, level, vault  string
	set, hosts, commands, tags []string
	neverEnv, asJSON           bool
}

// newItemAdd builds "warder item add".
func newItemAdd(env *Env) *cobra.Command {
	var o itemAdd
	cmd := &cobra.Command{
		Use:   "add NAME --type TYPE",
		Short: "Store a credential",
		Long: `Store a credential. Its value is read from standard input, without one final
newline, or at a hidden prompt on a terminal. Fields given with --set are not
secret and stand in lists. Without a level no agent sees the item that a person
stores, and an agent can use what it stores itself.`,
		Example: `  warder item add github-token --type api-token --host api.github.com --level use
  pass show db | warder item add orders-db --type database --set user=app --command psql
  warder item add tls-key --type certificate < key.pem`,
		Args: oneArgument("NAME", "the item's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.kind, "type", "", "what it is: login, password, api-token, ssh-key, database, certificate, note, card, identity, other")
	f.StringVar(&o.field, "field", "", "name of the field that holds the value (default by type), as [SECTION/]FIELD")
	f.StringArrayVar(&o.set, "set", nil, "a field that is no secret, as NAME=TEXT; repeat for more")
	f.StringArrayVar(&o.hosts, "host", nil, "a host that the value may be sent to; repeat for more")
	f.StringArrayVar(&o.commands, "command", nil, "a program that agents may run with it; repeat for more")
	f.StringArrayVar(&o.tags, "tag", nil, "a tag; repeat for more")
	f.StringVar(&o.level, "level", "", "what agents may do: none, ask, use or read")
	f.BoolVar(&o.neverEnv, "never-env", false, "give the value to no program in a variable, only as a file or standard input")
	f.StringVar(&o.vault, "vault", "", "the vault (default personal)")
	jsonFlag(cmd, &o.asJSON)
	completeWords(cmd, "type", typeNames())
	completeWords(cmd, "level", levels())
	return cmd
}

func (o *itemAdd) run(ctx context.Context, env *Env, name string) error {
	in := api.ItemAdd{Vault: o.vault, Name: name, Type: o.kind, Hosts: given(o.hosts), Tags: given(o.tags), Level: o.level, NeverEnv: o.neverEnv}
	if o.kind == "" {
		return usageError("--type is missing").WithHint("say what it is, such as --type api-token; see 'warder item add --help'")
	}
	field, err := secretField(o.kind)
	if err != nil {
		return err
	}
	if o.field != "" {
		field = o.field
	}
	if err := checkLevel(o.level); err != nil {
		return err
	}
	if in.Commands, err = resolveCommands(env, o.commands); err != nil {
		return err
	}
	values, err := o.fields(env, &in, field)
	defer frame.DestroyAll(values)
	if err != nil {
		return err
	}
	var added api.ItemAdded
	if err := env.do(ctx, api.OpItemAdd, in, &added, values...); err != nil {
		return err
	}
	return o.print(env, &added)
}

// fields collects the fields and, in the same order, their values.
func (o *itemAdd) fields(env *Env, in *api.ItemAdd, field string) ([]secret.Value, error) {
	var values []secret.Value
	plain, texts, err := plainFields(o.set)
	if err != nil {
		return nil, err
	}
	value, err := env.readValue(fmt.Sprintf("Value of %s/%s (not shown): ", in.Name, field))
	if err != nil {
		frame.DestroyAll(texts)
		return nil, err
	}
	section, name := splitField(field)
	switch {
	case value.Len() > 0:
		in.Fields = append(in.Fields, api.FieldIn{Section: section, Name: name, Concealed: true})
		values = append(values, value)
	case len(plain) == 0 || o.field != "":
		return texts, usageError("there is no value on standard input").
			WithHint("pipe it in, as in 'warder item add NAME --type TYPE < FILE', or run it in a terminal")
	}
	in.Fields = append(in.Fields, plain...)
	return append(values, texts...), nil
}

// plainFields reads --set. The caller destroys the values.
func plainFields(set []string) ([]api.FieldIn, []secret.Value, error) {
	var fields []api.FieldIn
	var values []secret.Value
	for _, s := range set {
		name, text, err := assignment("set", s)
		if err != nil {
			frame.DestroyAll(values)
			return nil, nil, err
		}
		v, err := secret.New([]byte(text))
		if err != nil {
			frame.DestroyAll(values)
			return nil, nil, err
		}
		section, name := splitField(name)
		fields = append(fields, api.FieldIn{Section: section, Name: name})
		values = append(values, v)
	}
	return fields, values, nil
}

func (o *itemAdd) print(env *Env, added *api.ItemAdded) error {
	for _, w := range added.Warnings {
		warn(env.Err, "%s", w)
	}
	if o.asJSON {
		return printJSON(env.Out, added)
	}
	rows := columns{}
	rows.add("added", fmt.Sprintf("%s (%s, level %s)", place(added.Vault, added.Name), o.kind, added.Level))
	if added.Ref != "" {
		rows.add("reference", added.Ref)
	}
	rows.add("undo", "warder item undo "+added.Undo)
	return rows.print(env.Out)
}
