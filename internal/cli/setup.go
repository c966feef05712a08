package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/platform"
	"warder/internal/secret"
)

// setup are the flags of "warder setup".
type setup struct {
	headless, noInstall, asJSON bool
	kitFile, deviceSecret       string
}

// setupDone is what a headless setup prints. The proof is what was tried before
// it was called done.
type setupDone struct {
	Account      string     `json:"account"`
	PasswordFile string     `json:"password_file"`
	KitFile      string     `json:"kit_file"`
	Binary       string     `json:"binary"`
	Already      bool       `json:"already"` // it was set up before
	Proof        setupProof `json:"proof"`
}

// setupProof says what of the chain was seen to work.
type setupProof struct {
	Masked   bool `json:"masked"`   // a stored value was masked in a child's output
	Verified bool `json:"verified"` // the audit log of it is whole
}

// newSetup builds "warder setup".
func newSetup(env *Env) *cobra.Command {
	var o setup
	cmd := &cobra.Command{
		Use:     "setup",
		Aliases: []string{"init"},
		Short:   "Make your account on this machine",
		Long: `Make your account: you choose a master password, get a recovery kit once, and the
program is installed where the daemon starts from. Run again it records the
program anew, as after an update, and changes nothing else.

With --headless the account is for a machine without people: the daemon makes the
password, keeps it in a file and opens the account by itself. It has no presence,
so nothing that needs a person is ever allowed there.`,
		Example: `  warder setup
  warder setup --kit-file /media/stick/warder-kit.txt
  warder setup --headless --no-install --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), env)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.headless, "headless", false, "an account that the daemon opens by itself, for a machine without people")
	f.BoolVar(&o.noInstall, "no-install", false, "copy the program to the state directory, not to ~/.local/bin")
	f.StringVar(&o.kitFile, "kit-file", "", "write the recovery kit to this new file")
	f.StringVar(&o.deviceSecret, "device-secret", "file", "where this device's secret is kept: file or keyring")
	jsonFlag(cmd, &o.asJSON)
	completeWords(cmd, "device-secret", []string{"file", "keyring"})
	return cmd
}

func (o *setup) run(ctx context.Context, env *Env) error {
	if o.deviceSecret != "file" && o.deviceSecret != "keyring" {
		return usageError("--device-secret is file or keyring, not %q", o.deviceSecret)
	}
	r, err := env.reach()
	if err != nil {
		return err
	}
	defer r.close()
	r.mayAsk, r.dialer.AnyBuild = false, true
	who, err := env.judgeSelf()
	if err != nil {
		return err
	}
	switch known := r.install != nil; {
	case known && r.hasAccount():
		if done, err := o.again(ctx, r, who); done || err != nil {
			return err
		}
	case o.headless && r.hasAccount():
		return api.Errorf(api.Exists, "there is an account in %s, and this device does not know it", r.places.Account()).
			WithHint("a person opens it: warder setup, then warder unlock --recovery; or set WARDER_HOME for another account")
	}
	switch {
	case o.headless:
		return o.unattended(ctx, r)
	case who.Verdict != verdictPerson:
		return notSetUp(who)
	case r.install == nil && r.hasAccount():
		return o.adopt(r)
	}
	return o.attended(ctx, r)
}

// again is setup where it was done before. The program is recorded anew by
// whoever may have set it up. It is not done where what is there is only what an
// interrupted setup left.
func (o *setup) again(ctx context.Context, r *reach, who api.Whoami) (done bool, err error) {
	if who.Verdict == verdictPerson || r.install.Unattended {
		if err := recordAnew(r); err != nil {
			return false, err
		}
	}
	s, err := r.status(ctx)
	if err != nil || s.Account.State == accountNone {
		return false, err
	}
	if !o.asJSON {
		_, err := fmt.Fprintf(r.env.Out, "already set up: account %s, %s\n", printable(s.Account.ID), accountText(&s))
		return true, err
	}
	now := setupDone{Account: s.Account.ID, Binary: r.install.Binary, Already: true}
	if r.install.Unattended {
		now.PasswordFile = passwordFile(r)
	}
	now.Proof.Verified = verified(ctx, r)
	return true, printJSON(r.env.Out, now)
}

// recordAnew copies the running program over the recorded one, if it differs.
func recordAnew(r *reach) error {
	p, err := installTo(filepath.Dir(r.install.Binary))
	if err != nil || p.sha256 == r.install.SHA256 && p.path == r.install.Binary {
		return err
	}
	if err := recordProgram(r, p, r.install.Unattended); err != nil {
		return err
	}
	warn(r.env.Err, "the program was recorded anew; a daemon that runs goes on as it is until: warder daemon restart")
	return nil
}

// adopt records the program for an account that is there without this device:
// synced from another one, or left by a removed installation.
func (o *setup) adopt(r *reach) error {
	if _, err := o.install(r, false, !o.noInstall); err != nil {
		return err
	}
	_, err := fmt.Fprintf(r.env.Out, `There is an account in %s already; it was left as it is.
Open it: warder unlock
On a device that is new to it: warder unlock --recovery --device-secret
`, printable(r.places.Account()))
	return err
}

// install copies the program and records it.
func (o *setup) install(r *reach, unattended, toUser bool) (program, error) {
	dir, err := binaryDir(r, toUser)
	if err != nil {
		return program{}, err
	}
	p, err := installTo(dir)
	if err != nil {
		return program{}, err
	}
	return p, recordProgram(r, p, unattended)
}

// unattended makes an account that the daemon opens by itself.
func (o *setup) unattended(ctx context.Context, r *reach) error {
	p, err := o.install(r, true, !o.noInstall)
	if err != nil {
		return err
	}
	if o.kitFile == "" {
		o.kitFile = filepath.Join(r.places.State.Path, "recovery-kit.txt")
		removeEmpty(o.kitFile) // of a setup that was interrupted
	}
	kit, err := newKitTarget(nil, o.kitFile)
	if err != nil {
		return err
	}
	defer kit.abandon()
	kitFile := kit.path
	started, err := o.create(ctx, r, kit, nil)
	if err != nil {
		return err
	}
	done := setupDone{
		Account: started.Account, PasswordFile: started.PasswordFile, KitFile: kitFile, Binary: p.path,
		Proof: setupProof{Verified: verified(ctx, r)},
	}
	if o.asJSON {
		return printJSON(r.env.Out, done)
	}
	rows := columns{}
	rows.add("account", done.Account)
	rows.add("password", done.PasswordFile)
	rows.add("recovery kit", done.KitFile+" (move it off this machine)")
	rows.add("program", done.Binary)
	return rows.print(r.env.Out)
}

// removeEmpty removes a file that holds nothing.
func removeEmpty(path string) {
	if fi, err := os.Lstat(path); err == nil && fi.Mode().IsRegular() && fi.Size() == 0 {
		_ = os.Remove(path)
	}
}

// create has a fresh daemon make the account and writes the kit.
func (o *setup) create(ctx context.Context, r *reach, kit *kitTarget, password []secret.Value) (api.Started, error) {
	started, got, err := r.launch(ctx, order{
		op:     api.OpStartCreate,
		in:     api.StartCreate{Unattended: o.headless, DeviceSecret: o.deviceSecret},
		values: password,
	})
	defer frame.DestroyAll(got)
	if err != nil {
		return started, err
	}
	return started, kit.write(kitContent{
		account: started.Account, stateCode: started.StateCode, values: got, now: r.env.Now(),
	})
}

// attended makes an account with the person at the terminal.
func (o *setup) attended(ctx context.Context, r *reach) error {
	c, err := r.env.console()
	if err != nil {
		return noTerminal(err)
	}
	defer c.close()
	kit, err := newKitTarget(c, o.kitFile)
	if err != nil {
		return err
	}
	defer kit.abandon()
	toUser, err := o.offerInstall(r, c)
	if err != nil {
		return err
	}
	if err := c.say("Choose a master password. It opens everything and can't be reset without the recovery kit."); err != nil {
		return err
	}
	password, err := c.newPassword()
	if err != nil {
		return err
	}
	defer password.Destroy()
	p, err := o.install(r, false, toUser)
	if err != nil {
		return err
	}
	started, err := o.create(ctx, r, kit, []secret.Value{password})
	if err != nil {
		return err
	}
	return o.attendedDone(r, started, p)
}

// attendedDone tells what there is now and what comes next.
func (o *setup) attendedDone(r *reach, started api.Started, p program) error {
	env := r.env
	if o.asJSON {
		kitFile := ""
		if o.kitFile != "" {
			kitFile, _ = filepath.Abs(o.kitFile)
		}
		return printJSON(env.Out, setupDone{Account: started.Account, KitFile: kitFile, Binary: p.path})
	}
	fmt.Fprintf(env.Out, "Your account is made and open. The program is %s.\n", printable(p.path))
	if dir := filepath.Dir(p.path); dir == userBin(env) && !inPath(env, dir) {
		warn(env.Err, "%s is not in PATH: add it, and open a new shell", dir)
	}
	_, err := fmt.Fprintln(env.Out, "Store something: warder item add github-token --type api-token")
	return err
}

// offerInstall asks whether the program goes to the person's own programs.
func (o *setup) offerInstall(r *reach, c *console) (bool, error) {
	dir := userBin(r.env)
	if o.noInstall || dir == "" || apart(r) {
		return false, nil
	}
	if self, err := platform.OwnProgram(); err == nil {
		defer self.Close()
		if sameFile(self, filepath.Join(dir, "warder")) {
			return true, nil
		}
	}
	return c.confirm(fmt.Sprintf("Install warder as %s?", filepath.Join(dir, "warder")), true)
}

// passwordFile is where the daemon keeps the password of an unattended account.
func passwordFile(r *reach) string {
	return filepath.Join(r.places.State.Path, "unattended", "password")
}

// verified reports whether the audit log is whole.
func verified(ctx context.Context, r *reach) bool {
	r.mayStart = false // it runs, or there is nothing to be proud of
	var report api.AuditReport
	_, err := r.call(ctx, api.OpAuditVerify, nil, &report)
	return err == nil && report.OK
}
