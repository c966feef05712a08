package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/secret"
)

// projectSet are the flags of "warder project set".
type projectSet struct {
	level     string
	set, refs []string
	asJSON    bool
}

// newProjectSet builds "warder project set".
func newProjectSet(env *Env) *cobra.Command {
	var o projectSet
	cmd := &cobra.Command{
		Use:   "set PROJECT STAGE [NAME]",
		Short: "Set variables of a stage",
		Long: `Set variables of a stage. The value of NAME is read from standard input or at a
hidden prompt, and is a secret. --set takes what is none, --ref what stands for a
field of an item. Project and stage are made if they are not there.`,
		Example: `  warder project set shop production STRIPE_KEY < key
  warder project set shop production --set LOG_LEVEL=info --set PORT=8080
  warder project set shop production --ref GITHUB_TOKEN=warder://personal/github-token/token`,
		Args:              between("a project, a stage, and at most one name", 2, 3),
		ValidArgsFunction: completeProjects(env, true, variableNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), env, args)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.set, "set", nil, "a variable that is no secret, as NAME=TEXT; repeat for more")
	f.StringArrayVar(&o.refs, "ref", nil, "a variable that stands for a field, as NAME=REFERENCE; repeat for more")
	f.StringVar(&o.level, "level", "", "what agents may do with a stage that is new")
	jsonFlag(cmd, &o.asJSON)
	completeWords(cmd, "level", levels())
	return cmd
}

// variableNames offers the variables of a stage.
func variableNames(p api.ProjectShown, stage string) []cobra.Completion {
	var names []cobra.Completion
	for _, s := range p.Detail {
		for _, v := range s.Variables {
			if s.Name == stage {
				names = append(names, v.Name)
			}
		}
	}
	return names
}

func (o *projectSet) run(ctx context.Context, env *Env, args []string) error {
	if err := checkLevel(o.level); err != nil {
		return err
	}
	in := &api.StageSet{Project: args[0], Stage: args[1], Level: o.level}
	values, err := o.variables(env, in, args[2:])
	defer frame.DestroyAll(values)
	if err != nil {
		return err
	}
	if len(in.Set) == 0 {
		return usageError("there is nothing to set").WithHint("name a variable, or use --set or --ref")
	}
	return stageChange{api.OpProjectSet, in, values, o.asJSON}.make(ctx, env)
}

// variables collects the variables and, for those without a reference, their
// values in the same order.
func (o *projectSet) variables(env *Env, in *api.StageSet, names []string) ([]secret.Value, error) {
	fields, values, err := plainFields(o.set)
	if err != nil {
		return nil, err
	}
	for _, f := range fields {
		in.Set = append(in.Set, api.VariableIn{Name: f.Name})
	}
	for _, ref := range o.refs {
		name, target, err := assignment("ref", ref)
		if err != nil {
			return values, err
		}
		in.Set = append(in.Set, api.VariableIn{Name: name, Concealed: true, Ref: target})
	}
	for _, name := range names {
		value, err := env.readValue(fmt.Sprintf("Value of %s (not shown): ", name))
		if err != nil {
			return values, err
		}
		in.Set = append(in.Set, api.VariableIn{Name: name, Concealed: true})
		values = append(values, value)
	}
	return values, nil
}

// stageChange is a change of variables.
type stageChange struct {
	op     string
	in     any
	values []secret.Value
	asJSON bool
}

// make makes the change and says what came of it.
func (c stageChange) make(ctx context.Context, env *Env) error {
	var changed api.StageChanged
	if err := env.do(ctx, c.op, c.in, &changed, c.values...); err != nil {
		return err
	}
	for _, list := range []*[]string{&changed.Added, &changed.Changed, &changed.Unchanged, &changed.Removed, &changed.Warnings} {
		*list = append([]string{}, *list...) // never null
	}
	if c.asJSON {
		return printJSON(env.Out, changed)
	}
	for _, w := range changed.Warnings {
		warn(env.Err, "%s", w)
	}
	rows := columns{}
	addList(&rows, "added", changed.Added)
	addList(&rows, "changed", changed.Changed)
	addList(&rows, "unchanged", changed.Unchanged)
	addList(&rows, "removed", changed.Removed)
	if changed.Undo != "" {
		rows.add("undo", "warder item undo "+changed.Undo)
	}
	return rows.print(env.Out)
}
