package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"warder/internal/api"
)

// The repairs, by their names in api.
const (
	repairRestore = "accept-restore"
	repairDevice  = "new-device"
	repairAdopt   = "adopt"
	repairForget  = "forget"
)

// newRepair builds "warder repair".
func newRepair(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "repair [accept-restore | new-device | adopt ID | forget ID]",
		Short: "See what is wrong with the account's files, and put it right",
		Long: `Without a word, list what was found in the account's files and what can be done.
Each repair overrules a warning, so it needs your password:

  accept-restore  the account was put back from a backup by you: take it as it is
  new-device      this device's files were copied from another: make it a device of its own
  adopt ID        an item's file is there that nothing lists: take it in
  forget ID       of an item nothing can be read any more: end it`,
		Example: `  warder repair
  warder repair accept-restore
  warder repair adopt 5f0c6a8be3d14c0f9a7b2d4e6f8091a3`,
		Args: between("nothing, or a repair and what it is for", 0, 2),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nothing(cmd, args, word)
			}
			return []cobra.Completion{repairRestore, repairDevice, repairAdopt, repairForget}, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listRepairs(cmd.Context(), env, asJSON)
			}
			in, err := repairAct(args)
			if err != nil {
				return err
			}
			return repair(cmd.Context(), env, in, asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// repairAct reads the words of a repair.
func repairAct(args []string) (*api.RepairAct, error) {
	in := &api.RepairAct{Do: args[0]}
	switch in.Do {
	case repairRestore, repairDevice:
		if len(args) > 1 {
			return nil, usageError("%s takes no id, got %q", in.Do, args[1])
		}
	case repairAdopt, repairForget:
		if len(args) < 2 {
			return nil, usageError("%s wants an id", in.Do).WithHint("the ids are listed by 'warder repair'")
		}
		in.ID = args[1]
	default:
		return nil, usageError("there is no repair called %q", in.Do)
	}
	return in, nil
}

func listRepairs(ctx context.Context, env *Env, asJSON bool) error {
	list := api.RepairList{Findings: []api.Finding{}, Orphans: []api.Orphan{}}
	if err := env.do(ctx, api.OpRepairList, nil, &list); err != nil {
		return err
	}
	if asJSON {
		return printJSON(env.Out, list)
	}
	if len(list.Findings)+len(list.Orphans) == 0 {
		_, err := fmt.Fprintln(env.Out, "nothing is wrong")
		return err
	}
	rows := columns{}
	for _, f := range list.Findings {
		rows.add(f.Kind, f.Object, f.Text, repairFor(f))
	}
	for _, o := range list.Orphans {
		rows.add("orphan", o.ID, fmt.Sprintf("%s %s, of %s", o.Kind, place(o.Vault, o.Name), o.Modified), "warder repair adopt "+o.ID)
	}
	return rows.print(env.Out)
}

// repairFor is the command that may put a finding right.
func repairFor(f api.Finding) string {
	switch f.Kind {
	case "rollback", "fork", "keyset_rollback", "behind":
		return "if you restored a backup: warder repair " + repairRestore
	case "cloned":
		return "warder repair " + repairDevice
	case "tampered", "missing":
		return "bring the file back from a backup, or: warder repair " + repairForget + " ID"
	}
	return ""
}

func repair(ctx context.Context, env *Env, in *api.RepairAct, asJSON bool) error {
	done := api.Repaired{Mended: []string{}, Lost: []string{}}
	if err := env.do(ctx, api.OpRepair, in, &done); err != nil {
		return err
	}
	if asJSON {
		return printJSON(env.Out, done)
	}
	rows := columns{}
	rows.add("done", in.Do)
	switch {
	case in.Do == repairDevice:
		rows.add("", "this device has an identity of its own in the account now; items and password are as they were")
	case in.Do == repairRestore && len(done.Mended)+len(done.Lost) == 0:
		rows.add("", "the account counts as it is now; nothing in it is changed or missing")
	}
	addList(&rows, "got an older revision", done.Mended)
	addList(&rows, "can't be read", done.Lost)
	return rows.print(env.Out)
}
