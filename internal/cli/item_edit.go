package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/secret"
)

// itemEdit are the flags of "warder item edit".
type itemEdit struct {
	vault, rename, field, level       string
	set, unset, hosts, commands, tags []string
	neverEnv, asJSON                  bool
}

// changedItem is what a change of an item prints for a program.
type changedItem struct {
	Changed  bool     `json:"changed"`
	Name     string   `json:"name"` // as it is called now
	Vault    string   `json:"vault"`
	Undo     string   `json:"undo"`
	Warnings []string `json:"warnings"`
}

// newItemEdit builds "warder item edit".
func newItemEdit(env *Env) *cobra.Command {
	var o itemEdit
	cmd := &cobra.Command{
		Use:   "edit ITEM",
		Short: "Change an item",
		Long: `Change an item: what is not named stays. --field reads a new value from standard
input or at a hidden prompt. --host, --command and --tag replace the whole list;
an empty text empties it. What widens the use of an item (a higher level, another
host or command, a secret field that becomes readable) needs your password.`,
		Example: `  warder item edit github-token --field token < new-token
  warder item edit github-token --level use --command gh --command git
  warder item edit orders-db --rename orders-db-old --tag ''`,
		Args:              itemArgument(),
		ValidArgsFunction: completeItems(env),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, cmd, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.rename, "rename", "", "a new name")
	f.StringVar(&o.field, "field", "", "a secret field to give a new value, as [SECTION/]FIELD")
	f.StringArrayVar(&o.set, "set", nil, "a field that is no secret, as NAME=TEXT; repeat for more")
	f.StringArrayVar(&o.unset, "unset", nil, "a field to remove; repeat for more")
	f.StringArrayVar(&o.hosts, "host", nil, "the hosts that values may be sent to, in place of those there are")
	f.StringArrayVar(&o.commands, "command", nil, "the programs that agents may run with it, in place of those there are")
	f.StringArrayVar(&o.tags, "tag", nil, "the tags, in place of those there are")
	f.BoolVar(&o.neverEnv, "never-env", false, "give its values to no program in a variable; with =false take that back")
	f.StringVar(&o.level, "level", "", "what agents may do: unset, none, ask, use or read")
	f.StringVar(&o.vault, "vault", "", vaultUsage)
	jsonFlag(cmd, &o.asJSON)
	completeWords(cmd, "level", levels())
	return cmd
}

func (o *itemEdit) run(ctx context.Context, env *Env, cmd *cobra.Command, name string) error {
	if !slices.ContainsFunc(o.changes(), cmd.Flags().Changed) {
		return usageError("there is nothing to change").WithHint("say what: --" + strings.Join(o.changes(), ", --"))
	}
	in, err := o.input(env, cmd, name)
	if err != nil {
		return err
	}
	fields, values, err := plainFields(o.set)
	defer func() { frame.DestroyAll(values) }()
	if err != nil {
		return err
	}
	if o.field != "" {
		value, err := o.newValue(env, name)
		if err != nil {
			return err
		}
		section, field := splitField(o.field)
		fields = append(fields, api.FieldIn{Section: section, Name: field, Concealed: true})
		values = append(values, value)
	}
	in.Set = fields
	var done api.Changed
	if err := env.do(ctx, api.OpItemEdit, in, &done, values...); err != nil {
		return err
	}
	return itemChange{"changed", o.asJSON}.print(env, name, &done)
}

// changes are the flags that change something.
func (o *itemEdit) changes() []string {
	return []string{"field", "level", "set", "unset", "host", "command", "tag", "rename", "never-env"}
}

// itemChange says how the change of an item is told.
type itemChange struct {
	verb   string
	asJSON bool
}

// print says what was done to an item and how it is taken back.
func (c itemChange) print(env *Env, name string, done *api.Changed) error {
	for _, w := range done.Warnings {
		warn(env.Err, "%s", w)
	}
	if c.asJSON {
		return printJSON(env.Out, changedItem{true, done.Name, done.Vault, done.Undo, append([]string{}, done.Warnings...)})
	}
	if done.Name != "" {
		name = place(done.Vault, done.Name)
	}
	fmt.Fprintln(env.Out, printable(c.verb+" "+name))
	if done.Undo == "" {
		return nil
	}
	_, err := fmt.Fprintf(env.Out, "undo: warder item undo %s\n", printable(done.Undo))
	return err
}

// input is all of the change but the fields.
func (o *itemEdit) input(env *Env, cmd *cobra.Command, name string) (*api.ItemEdit, error) {
	in := &api.ItemEdit{Vault: o.vault, Name: name, Rename: o.rename, Unset: o.unset}
	changed := cmd.Flags().Changed
	if changed("host") {
		hosts := given(o.hosts)
		in.Hosts = &hosts
	}
	if changed("tag") {
		tags := given(o.tags)
		in.Tags = &tags
	}
	if changed("command") {
		commands, err := resolveCommands(env, o.commands)
		if err != nil {
			return nil, err
		}
		in.Commands = &commands
	}
	if changed("never-env") {
		in.NeverEnv = &o.neverEnv
	}
	if changed("level") {
		if err := checkLevel(o.level); err != nil || o.level == "" {
			return nil, usageError("--level wants a word").WithHint("to take a level away: --level unset")
		}
		in.Level = &o.level
	}
	return in, nil
}

func (o *itemEdit) newValue(env *Env, name string) (secret.Value, error) {
	value, err := env.readValue(fmt.Sprintf("New value of %s/%s (not shown): ", name, o.field))
	if err == nil && value.Len() == 0 {
		return value, usageError("there is no value on standard input").
			WithHint("pipe it in, or run it in a terminal; to remove a field: --unset FIELD")
	}
	return value, err
}
