package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"warder/internal/api"
)

// newPolicy builds "warder policy".
func newPolicy(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "See and accept what your files ask for and does not count yet",
		Long: `Your files (config.toml, agents.toml) can be written by other programs too. What
makes them stricter counts at once; what widens waits until you accept it: a lock
time over the default, an agent that is no longer named. Without a word this lists
what waits, as 'warder policy pending' does.`,
		Example: `  warder policy
  warder policy accept`,
		Args:              noArguments,
		ValidArgsFunction: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return listPending(cmd.Context(), env, asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.AddCommand(newPolicyPending(env), newPolicyAccept(env))
	return cmd
}

// listPending prints what waits.
func listPending(ctx context.Context, env *Env, asJSON bool) error {
	list := api.PolicyPending{Proposals: []api.Proposal{}}
	if err := env.do(ctx, api.OpPolicyPending, nil, &list); err != nil {
		return err
	}
	if asJSON {
		return printJSON(env.Out, list)
	}
	if len(list.Proposals) == 0 {
		return nothingWaits(env)
	}
	if list.Shown == "" { // for who is no person
		for _, p := range list.Proposals {
			if _, err := fmt.Fprintf(env.Out, "%s asks for %s: ask a person to run warder policy accept\n", printable(p.File), printable(p.Widens)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := printDiff(env, env.Out, list.Proposals); err != nil {
		return err
	}
	_, err := fmt.Fprintf(env.Out, "\n%s: warder policy accept\n", waitFor(len(list.Proposals), "you"))
	return err
}

func nothingWaits(env *Env) error {
	_, err := fmt.Fprintln(env.Out, "nothing waits to be accepted")
	return err
}

// waitFor says how much waits for whom.
func waitFor(n int, whom string) string {
	if n == 1 {
		return "1 change waits for " + whom
	}
	return fmt.Sprintf("%d changes wait for %s", n, whom)
}

// maxShown is how many proposals are shown one by one, and how many lines of one:
// any program can make thousands, and a person reads no such list. What a person
// accepts is still all of it, so the rest is counted, with how to see it.
const maxShown = 20

// printDiff shows what counts and what would count, as a unified difference: one part for each proposal, in the order of the
// files. All of it may come from others, so nothing of it reaches the terminal as it is.
func printDiff(env *Env, to io.Writer, proposals []api.Proposal) error {
	var text strings.Builder
	file := ""
	for _, p := range proposals[:min(len(proposals), maxShown)] {
		if p.File != file {
			file = p.File
			fmt.Fprintf(&text, "--- %s: what counts\n+++ %s: what it asks for\n", printable(file), printable(file))
		}
		place := printable(p.Entry)
		if p.Line > 0 {
			place = fmt.Sprintf("line %d, %s", p.Line, place)
		}
		fmt.Fprintf(&text, "@@ %s: %s @@\n", place, printable(p.Widens))
		lines := diffLines(env, &p)
		for _, line := range lines[:min(len(lines), maxShown)] {
			text.WriteString(line + "\n")
		}
		if more := len(lines) - maxShown; more > 0 {
			fmt.Fprintf(&text, "and %s of this one: warder policy --json\n", plural(more, "more line"))
		}
	}
	if more := len(proposals) - maxShown; more > 0 {
		fmt.Fprintf(&text, "and %s, of %d in all; to see each of them: warder policy --json\n", plural(more, "more change"), len(proposals))
	}
	_, err := io.WriteString(to, text.String())
	return err
}

// diffLines is the difference of one proposal: first what it takes away, since
// that is what is shown of a long one, then what it leaves and what it adds.
func diffLines(env *Env, p *api.Proposal) (lines []string) {
	before, after := linesOf(p.Accepted), linesOf(p.Proposed)
	var left []string
	for _, line := range before {
		if slices.Contains(after, line) {
			left = append(left, " "+printable(line))
		} else {
			lines = append(lines, env.paint(red, "-"+printable(line)))
		}
	}
	lines = append(lines, left...)
	for _, line := range after {
		if !slices.Contains(before, line) {
			lines = append(lines, env.paint(green, "+"+printable(line)))
		}
	}
	return lines
}

// linesOf are the lines of a value; nothing has none.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
