package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"warder/internal/api"
)

// The verdicts of a check.
const (
	checkOK      = "ok"
	checkLimited = "limited" // it works, with less protection or comfort
	checkBroken  = "broken"  // something does not work
)

// check is what doctor found out about one thing.
type check struct {
	Name   string `json:"name"`
	Result string `json:"result"` // "ok", "limited" or "broken"
	Text   string `json:"text"`
	Do     string `json:"do"` // what to do; empty for ok
}

// checkup collects the checks of one run.
type checkup struct {
	env    *Env
	checks []check
}

// newDoctor builds "warder doctor".
func newDoctor(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Try what this machine enforces, and say what to do",
		Long: `Try each thing that warder builds on, on this machine and now: protected memory,
process descriptors, locks, the owner and mode of its places, the socket, the
daemon, what holds the keys, the audit log, the clock, and whom this shell is taken
for. Each line is ok, limited (it
works with less protection) or broken, with what to do. Exit status 1 says that
something is broken.`,
		Example: `  warder doctor
  warder doctor --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return doctor(cmd.Context(), env, asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func doctor(ctx context.Context, env *Env, asJSON bool) error {
	c := checkup{env: env}
	c.memory()
	c.processes()
	c.places()
	c.daemon(ctx)
	c.desktop()
	c.caller(ctx)
	c.dumps() // last: it changes this process
	broken := 0
	for _, x := range c.checks {
		if x.Result == checkBroken {
			broken++
		}
	}
	var err error
	if asJSON {
		err = printJSON(env.Out, map[string]any{"checks": c.checks, "ok": broken == 0})
	} else {
		err = printChecks(&c)
	}
	if err == nil && broken > 0 {
		return outcome(api.ExitFailed)
	}
	return err
}

func (c *checkup) ok(name, format string, args ...any) {
	c.checks = append(c.checks, check{name, checkOK, fmt.Sprintf(format, args...), ""})
}

func (c *checkup) limited(name, do, format string, args ...any) {
	c.checks = append(c.checks, check{name, checkLimited, fmt.Sprintf(format, args...), do})
}

func (c *checkup) broken(name, do, format string, args ...any) {
	c.checks = append(c.checks, check{name, checkBroken, fmt.Sprintf(format, args...), do})
}

// printChecks writes the checks for a person: one line each, and one for what to do.
func printChecks(c *checkup) error {
	colours := map[string]colour{checkOK: green, checkLimited: yellow, checkBroken: red}
	for _, x := range c.checks {
		word := c.env.paint(colours[x.Result], fmt.Sprintf("%-7s", x.Result))
		fmt.Fprintf(c.env.Out, "%s  %s: %s\n", word, printable(x.Name), printable(x.Text))
		if x.Do != "" {
			fmt.Fprintf(c.env.Out, "         -> %s\n", printable(x.Do))
		}
	}
	counts := map[string]int{}
	for _, x := range c.checks {
		counts[x.Result]++
	}
	_, err := fmt.Fprintf(c.env.Out, "%d ok, %d limited, %d broken\n", counts[checkOK], counts[checkLimited], counts[checkBroken])
	return err
}
