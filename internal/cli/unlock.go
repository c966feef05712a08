package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/daemon"
	"warder/internal/secret"
)

// unlocking are the flags of "warder unlock".
type unlocking struct {
	recovery, deviceSecret, asJSON bool
	kitFile                        string
}

// newUnlock builds "warder unlock".
func newUnlock(env *Env) *cobra.Command {
	var o unlocking
	cmd := &cobra.Command{
		Use:   "unlock",
		Short: "Open the account with your master password",
		Long: `Open the account with your master password, which is read on this terminal and
goes to a daemon that is started for it. With --recovery the recovery code of your
kit opens the account and sets a new password; --device-secret also asks for the
device secret of the kit, on a device that has none.`,
		Example: `  warder unlock
  warder unlock --recovery
  warder unlock --recovery --device-secret`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), env)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.recovery, "recovery", false, "open it with the recovery code, and set a new password")
	f.BoolVar(&o.deviceSecret, "device-secret", false, "with --recovery: type the device secret of the kit, too")
	f.StringVar(&o.kitFile, "kit-file", "", "with --recovery: write the new kit to this new file")
	jsonFlag(cmd, &o.asJSON)
	return cmd
}

func (o *unlocking) run(ctx context.Context, env *Env) error {
	if !o.recovery && (o.deviceSecret || o.kitFile != "") {
		return usageError("--device-secret and --kit-file go with --recovery")
	}
	r, err := env.glance()
	if err != nil {
		return err
	}
	defer r.close()
	s, err := r.status(ctx)
	switch {
	case err != nil && codeOf(err) != api.Version && (codeOf(err) != api.Unreachable || isPlace(err)):
		return err // whatever else answers or does not, a fresh daemon takes its place
	case r.install == nil:
		return noAccount(r)
	case s.Account.State == accountUnlocked && !o.recovery:
		return printAccount(env, o.asJSON, accountChange{State: accountUnlocked}, accountText(&s))
	case r.install.Unattended && !o.recovery:
		return o.unattended(ctx, r)
	case r.install.Unattended && hasPasswordFile(r):
		return api.Errorf(api.Denied, "this account is unattended, and its password file %s is there", passwordFile(r)).
			WithHint("if it does not open the account any more, remove that file, then: warder unlock --recovery")
	}
	c, err := env.person("unlock the account")
	if err != nil {
		return err
	}
	defer c.close()
	if o.recovery {
		if err := daemon.CheckWait(r.places.Data.Path, r.places.State.Path); err != nil {
			return err
		}
		return o.recover(ctx, r, c)
	}
	if err := r.unlockAt(ctx, c); err != nil {
		return err
	}
	return o.print(env, "unlocked")
}

// print says that the account is open now.
func (o *unlocking) print(env *Env, text string) error {
	return printAccount(env, o.asJSON, accountChange{true, accountUnlocked}, text)
}

// unattended has the daemon of an unattended account open it again, which
// takes a fresh one.
func (o *unlocking) unattended(ctx context.Context, r *reach) error {
	if _, err := stopDaemon(ctx, r.env); err != nil {
		return err
	}
	r.close()
	r.mayStart = true
	s, err := r.status(ctx)
	if err != nil {
		return err
	}
	if s.Account.State != accountUnlocked {
		return staysLocked(r, &s)
	}
	return o.print(r.env, "unlocked (unattended)")
}

// staysLocked says why an unattended account does not open.
func staysLocked(r *reach, s *api.Status) error {
	if s.Account.Why != "" {
		return notOpened(api.Started{Locked: s.Account.Why, Hint: s.Account.Hint})
	}
	if !hasPasswordFile(r) {
		return api.Errorf(api.Locked, "the unattended account stays locked: %s", passwordMissing(r)).
			WithHint("put that file back; if it is lost, a person opens the account with the recovery kit: warder unlock --recovery")
	}
	return api.Errorf(api.Locked, "the unattended account stays locked: the password in %s does not open it", passwordFile(r)).
		WithHint("see why: tail " + shellWords(filepath.Join(r.places.State.Path, "daemon.log")))
}

// passwordMissing names the file that an unattended account can't be opened
// without.
func passwordMissing(r *reach) string {
	return fmt.Sprintf("its password file %s is missing", passwordFile(r))
}

// person is the console of somebody who is to be asked for a password, and the
// failure of everybody else. An agent that was given a terminal is told at once
// that it has to fetch a person, rather than led to ask for the password.
func (env *Env) person(act string) (*console, error) {
	who, err := env.judgeSelf()
	if err != nil {
		return nil, err
	}
	if who.Verdict != verdictPerson {
		return nil, api.Errorf(api.Denied, "only a person may %s, and this is %s: %s", act, who.Verdict, who.Why).
			WithHint("a person has to do it, in a terminal of their own; to see the verdict: warder whoami")
	}
	if _, _, err := env.placesHere(); err != nil {
		return nil, err // before anything is typed
	}
	c, err := env.console()
	if err != nil {
		return nil, noTerminal(err)
	}
	return c, nil
}

// recover opens the account with the recovery code, sets a new password and
// prints the new kit.
func (o *unlocking) recover(ctx context.Context, r *reach, c *console) error {
	hold := holdSignals()
	defer hold.release()
	kit, err := newKitTarget(c, o.kitFile)
	if err != nil {
		return err
	}
	defer kit.abandon()
	values, err := o.proofs(r, c)
	defer frame.DestroyAll(values)
	if err != nil {
		return err
	}
	if err := hold.arrived(); err != nil {
		return err
	}
	started, got, err := r.launch(ctx, order{
		op: api.OpStartRecover, in: api.StartUnlock{DeviceSecret: o.deviceSecret}, values: values,
	})
	defer frame.DestroyAll(got)
	if err != nil {
		return err
	}
	if err := kit.write(kitContent{account: started.Account, stateCode: started.StateCode, values: got, now: r.env.Now()}); err != nil {
		return err
	}
	kitIsOut(r.places)
	if in := r.install; in.Unattended { // it has a password that a person knows from now on
		if err := recordProgram(r, program{in.Binary, in.SHA256}, false, verdictPerson); err != nil {
			return err
		}
	}
	return o.print(r.env, "unlocked; the old recovery code does not work any more")
}

// proofs asks for what a recovery takes, in the order of the operation.
func (o *unlocking) proofs(r *reach, c *console) ([]secret.Value, error) {
	code, err := c.fitting("Recovery code (not shown): ", daemon.CheckRecoveryCode)
	if err != nil {
		return nil, err
	}
	values := []secret.Value{code}
	password, err := c.newPassword()
	if err != nil {
		return values, err
	}
	values = append(values, password)
	if !o.deviceSecret {
		return values, nil
	}
	device, err := c.fitting("Device secret (not shown): ", func(text secret.Value) error {
		return daemon.CheckDeviceSecret(r.places.Data.Path, r.places.State.Path, text)
	})
	if err != nil {
		return values, err
	}
	return append(values, device), nil
}

// fitting asks for a hidden line until check finds nothing wrong with it. What
// is mistyped may be typed again.
func (c *console) fitting(prompt string, check func(secret.Value) error) (secret.Value, error) {
	for try := 1; ; try++ {
		text, err := c.hidden(prompt)
		if err != nil {
			return text, err
		}
		if err = check(text); err == nil {
			return text, nil
		}
		text.Destroy()
		if codeOf(err) != api.WrongPassword || try == passwordTries {
			return secret.Value{}, err
		}
		if err := c.say("%s", sentence(err.Error())); err != nil {
			return secret.Value{}, err
		}
	}
}
