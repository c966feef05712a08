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
	var newKit bool
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
				return makeKit(cmd.Context(), env, kitFile)
			case kitFile != "":
				return usageError("--kit-file goes with --new-kit")
			}
			return changePassword(cmd.Context(), env)
		},
	}
	cmd.Flags().BoolVar(&newKit, "new-kit", false, "make a new recovery kit; the old one does not work any more")
	cmd.Flags().StringVar(&kitFile, "kit-file", "", "write the kit to this new file, not to the terminal")
	return cmd
}

func changePassword(ctx context.Context, env *Env) error {
	c, err := env.person("change the master password")
	if err != nil {
		return err
	}
	defer c.close()
	old, err := c.hidden("Present master password: ")
	if err != nil {
		return err
	}
	defer old.Destroy()
	fresh, err := c.newPassword()
	if err != nil {
		return err
	}
	defer fresh.Destroy()
	if err := env.do(ctx, api.OpPasswd, api.Passwd{}, nil, old, fresh); err != nil {
		return err
	}
	_, err = fmt.Fprintln(env.Out, "the master password is changed; your recovery kit still works")
	return err
}

// makeKit makes a new recovery kit and shows it once.
func makeKit(ctx context.Context, env *Env, kitFile string) error {
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
	if err != nil {
		return err
	}
	err = target.write(kitContent{account: info.Account, stateCode: info.StateCode, values: got, now: env.Now()})
	if err == nil {
		kitIsOut(r.places)
	}
	return err
}
