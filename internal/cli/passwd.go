package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"warder/internal/api"
	"warder/internal/api/frame"
)

// newPasswd builds "warder passwd".
func newPasswd(env *Env) *cobra.Command {
	var newKit, asJSON bool
	var kitFile string
	cmd := &cobra.Command{
		Use:   "passwd",
		Short: "Change the master password, or make a new recovery kit",
		Long: `Change the master password: the present one and the new one are read on this
terminal. With --new-kit a new recovery kit is made in place of the old one.`,
		Example: `  warder passwd
  warder passwd --new-kit --kit-file /media/stick/warder-kit.txt`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case newKit:
				return makeKit(cmd.Context(), env, kitFile, asJSON)
			case kitFile != "":
				return usageError("--kit-file goes with --new-kit")
			}
			return changePassword(cmd.Context(), env, asJSON)
		},
	}
	cmd.Flags().BoolVar(&newKit, "new-kit", false, "make a new recovery kit; the old one does not work any more")
	cmd.Flags().StringVar(&kitFile, "kit-file", "", "write the kit to this new file, not to the terminal")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// changePassword has the new password travel inside of the proof of presence.
func changePassword(ctx context.Context, env *Env, asJSON bool) error {
	c, err := env.person("change the master password")
	if err != nil {
		return err
	}
	c.close()
	r, err := env.reach()
	if err != nil {
		return err
	}
	defer r.close()
	r.proving = proving{prompt: "Present master password: ", ask: (*console).newPassword}
	var done api.Receipt
	got, err := r.call(ctx, api.OpPasswd, &api.Passwd{}, &done)
	frame.DestroyAll(got)
	if err == nil {
		err = proven(r, done)
	}
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(env.Out, passwdDone{Changed: true})
	}
	_, err = fmt.Fprintln(env.Out, "the master password is changed; your recovery kit still works")
	return err
}

// makeKit makes a new recovery kit and shows it once.
func makeKit(ctx context.Context, env *Env, kitFile string, asJSON bool) error {
	c, err := env.person("make a new recovery kit")
	if err != nil {
		return err
	}
	defer c.close()
	hold := holdSignals() // the old kit does not work any more when the new one is on its way
	defer hold.release()
	target, err := newKitTarget(c, kitFile)
	if err != nil {
		return err
	}
	defer target.abandon()
	r, err := env.reach()
	if err != nil {
		return err
	}
	defer r.close()
	var info api.KitInfo
	got, err := r.call(ctx, api.OpNewKit, &api.Act{}, &info)
	defer frame.DestroyAll(got)
	if err == nil {
		err = proven(r, info.Receipt) // a kit of something else opens nothing, and the one before still does
	}
	if err != nil {
		return err
	}
	err = target.write(kitContent{account: info.Account, stateCode: info.StateCode, values: got, now: env.Now()})
	if err != nil {
		return err
	}
	kitIsOut(r.places)
	if asJSON {
		return printJSON(env.Out, passwdDone{Changed: true, Account: info.Account, KitFile: target.path})
	}
	return nil
}

// passwdDone is what passwd prints for a program. The kit itself never goes to
// its output.
type passwdDone struct {
	Changed bool   `json:"changed"`
	Account string `json:"account,omitempty"`  // of a new kit
	KitFile string `json:"kit_file,omitempty"` // that it was written to; empty if it was shown on the terminal
}
