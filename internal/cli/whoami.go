package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"warder/internal/api"
	"warder/internal/api/frame"
)

// newWhoami builds "warder whoami".
func newWhoami(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "whoami",
		Short: "Say whom warder takes you for, and why",
		Long: `Say whether warder takes this shell for an agent, a person, or somebody unknown
(who is treated as an agent), with the processes that it judges by. Where no
daemon runs it judges by itself.`,
		Example: `  warder whoami
  warder whoami --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			who, err := askWhoami(cmd.Context(), env)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(env.Out, who)
			}
			return printWhoami(env, who)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// askWhoami is the daemon's verdict on this process, or its own where none runs.
func askWhoami(ctx context.Context, env *Env) (api.Whoami, error) {
	r, err := env.glance()
	if err != nil {
		return api.Whoami{}, err
	}
	defer r.close()
	who := api.Whoami{Evidence: []api.ChainProcess{}}
	_, err = r.call(ctx, api.OpWhoami, nil, &who)
	if errors.Is(err, frame.ErrNotRunning) {
		warnStranger(r)
		return env.judgeSelf()
	}
	return who, err
}

func printWhoami(env *Env, who api.Whoami) error {
	name := who.Verdict
	if who.Client != "" {
		name += " " + who.Client
	}
	if who.Depth > 1 {
		name += fmt.Sprintf(" (depth %d)", who.Depth)
	}
	fmt.Fprintf(env.Out, "%s: %s\n", printable(name), printable(who.Why))
	if err := printChain(env, who.Evidence); err != nil {
		return err
	}
	text := "output of 'warder run' is shown as it is"
	if who.Masked {
		text = "output of 'warder run' is masked"
	}
	_, err := fmt.Fprintln(env.Out, text)
	return err
}

// printChain writes the processes of a chain, the nearest first.
func printChain(env *Env, chain []api.ChainProcess) error {
	rows := columns{indent: "  "}
	for _, p := range chain {
		program := p.Exe
		if program == "" {
			program = p.Argv0
		}
		rows.add(strconv.Itoa(p.PID), p.Role, program, p.Why)
	}
	return rows.print(env.Out)
}
