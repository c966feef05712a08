package cli

import "github.com/spf13/cobra"

// newProject builds "warder project".
func newProject(env *Env) *cobra.Command {
	return newGroup("project", "Keep the variables of a project's environments",
		`A project is a named set of variables with stages such as development and
production, and the items that belong to it. Projects and stages have levels too;
the widest of all counts, but an explicit none closes.`,
		newProjectList(env), newProjectShow(env), newProjectStage(env), newProjectSet(env),
		newProjectUnset(env), newProjectLink(env, false), newProjectLink(env, true))
}
