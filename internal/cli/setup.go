package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/secret"
	"warder/internal/state"
)

// setupLock is held while an account is made.
const setupLock = "setup.lock"

// setup are the flags of "warder setup".
type setup struct {
	headless, noInstall, asJSON bool
	kitFile, deviceSecret       string

	by      string // who runs it, as status tells it afterwards
	replace bool   // the person lets warder take the place of another program of its name
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
program anew, as after an update, and changes nothing else. Where warder's files
were copied or moved it records where they are now.

With --headless the account is for a machine without people: the daemon makes the
password, keeps it in a file and opens the account by itself. It is marked as
unattended: any program of this user can open it. It has no presence, so nothing
that needs a person is ever allowed there. An account that is there stays what it is.`,
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
	f.StringVar(&o.deviceSecret, "device-secret", "file", "where this device's secret is kept: file")
	jsonFlag(cmd, &o.asJSON)
	completeWords(cmd, "device-secret", []string{"file"})
	return cmd
}

func (o *setup) run(ctx context.Context, env *Env) error {
	switch o.deviceSecret {
	case "file":
	case "keyring":
		return noKeyring(o.headless)
	default:
		return usageError("--device-secret is file or keyring, not %q", o.deviceSecret)
	}
	r, err := env.reachAny()
	if err != nil {
		return err
	}
	defer r.close()
	r.mayAsk, r.dialer.AnyBuild = false, true
	who, err := env.judgeSelf()
	if err != nil {
		return err
	}
	o.by = strings.TrimSpace(who.Verdict + " " + who.Client)
	warnLoose(r)
	switch known := r.install != nil; {
	case r.moved != nil:
		return o.resettle(ctx, r, who)
	case known && r.hasAccount():
		if done, err := o.again(ctx, r, who); done || err != nil {
			return err
		}
	case o.headless && r.hasAccount() && hasPasswordFile(r):
		// The record was lost or removed, and the account is this device's.
		if _, err := o.install(r, true, !o.noInstall); err != nil {
			return err
		}
		if done, err := o.again(ctx, r, who); done || err != nil {
			return err
		}
	case o.headless && r.hasAccount():
		return api.Errorf(api.Exists, "there is an account in %s, and this device does not know it", r.places.Account()).
			WithHint("a person opens it: warder setup, then warder unlock --recovery; or set WARDER_HOME for another account")
	}
	return o.begin(ctx, r, who)
}

// noKeyring is the failure of a setup that was to keep the device's secret in a
// keyring. It never falls back to the file by itself: whoever asked for a keyring
// may not want it there.
func noKeyring(headless bool) error {
	again := "warder setup --device-secret file"
	if headless {
		again = "warder setup --headless --device-secret file"
	}
	return usageError("a keyring is not available: this version of warder talks to none, so nothing was set up").
		WithHint("keep the device's secret in a file that only you can read: " + again)
}

// begin is setup where nothing was set up before, for one command at a time.
func (o *setup) begin(ctx context.Context, r *reach, who api.Whoami) error {
	if !o.headless && who.Verdict != verdictPerson {
		return notSetUp(who)
	}
	if err := lostAccount(r); err != nil {
		return err
	}
	lock, err := lockSetup(r)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Release() }()
	switch {
	case o.headless:
		return o.unattended(ctx, r)
	case r.install == nil && r.hasAccount():
		return o.adopt(r)
	}
	return o.attended(ctx, r)
}

// lockSetup keeps two commands from setting up at the same time: one would take
// the other's kit for what an interrupted one has left.
func lockSetup(r *reach) (*state.Lock, error) {
	dir, err := state.CreateDir(r.places.State.Path)
	if err != nil {
		return nil, placeFault(err)
	}
	defer func() { _ = dir.Close() }()
	lock, err := dir.TryLock(setupLock)
	if errors.Is(err, state.ErrLocked) {
		return nil, api.Errorf(api.Exists, "another setup is going on").WithHint("let it end, then see what there is: warder status")
	}
	if err != nil {
		return nil, placeFault(err)
	}
	return lock, nil
}

// lostAccount is the failure of a setup on a device that holds the secret of an account whose files are not there, as those on a
// disk that is not mounted. Another account in its place would leave the first one closed when the files come back: its record
// would say that it opens by itself, or with another password. nil if nothing is lost.
func lostAccount(r *reach) error {
	device := filepath.Join(r.places.State.Path, "device") // F1.7
	if r.hasAccount() || !isThere(filepath.Join(device, "secret")) || isThere(filepath.Join(device, "creating")) {
		return nil
	}
	return api.Errorf(api.Exists, "this device has the secret of an account in %s, and nothing is there", r.places.Account()).
		WithHint("bring its files back: mount or sync them, or take a backup; for another account set WARDER_HOME to a new directory. " +
			"Who gives the lost one up for good removes the only key to it that is here: " + shellWords(device))
}

// kitMissing is the failure of a setup after one that made an account and was
// ended before its kit was out. nil if there was none.
func kitMissing(r *reach) error {
	if !isKitPending(r.places) {
		return nil
	}
	lock, err := lockSetup(r) // held by the one that is about to write it
	if err != nil {
		return err
	}
	_ = lock.Release()
	e := api.Errorf(api.Internal, "the account is made, but its recovery kit was never written: the setup before this one was broken off")
	if !r.install.Unattended {
		return e.WithHint("make a new kit: warder passwd --new-kit")
	}
	return e.WithHint(fmt.Sprintf("remove the account with all that it holds and its log, and make it anew: "+
		"warder daemon stop; rm -rf %s; warder setup --headless", shellWords(
		r.places.Account(), filepath.Join(r.places.State.Path, "device"), filepath.Join(r.places.State.Path, "audit"), defaultKit(r))))
}

// shellWords are paths as a shell reads them.
func shellWords(paths ...string) string {
	words := make([]string, len(paths))
	for i, p := range paths {
		words[i] = p
		if strings.ContainsFunc(p, func(c rune) bool { return !strings.ContainsRune("/.-_", c) && !isPlain(c) }) {
			words[i] = "'" + strings.ReplaceAll(p, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

func isPlain(c rune) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// defaultKit is where the kit of an unattended account goes.
func defaultKit(r *reach) string { return filepath.Join(r.places.State.Path, "recovery-kit.txt") }

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
	if err := kitMissing(r); err != nil {
		return false, err
	}
	if o.kitFile != "" {
		how := "for a new one in its place: warder passwd --new-kit --kit-file FILE"
		if r.install.Unattended {
			how = "it was written when the account was made"
		}
		warn(r.env.Err, "no kit was written to %s: the account has one already; %s", o.kitFile, how)
	}
	o.warnOtherKind(r, who)
	if !o.asJSON {
		account := "account"
		if s.Account.ID != "" { // nobody knows the id of one that is locked
			account += " " + printable(s.Account.ID)
		}
		_, err := fmt.Fprintf(r.env.Out, "already set up: %s, %s\n", account, accountText(&s))
		return true, err
	}
	now := setupDone{Account: s.Account.ID, Binary: r.install.Binary, Already: true}
	if r.install.Unattended {
		now.PasswordFile = passwordFile(r)
	}
	now.Proof.Verified = verified(ctx, r)
	return true, printJSON(r.env.Out, now)
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

// unattended makes an account that the daemon opens by itself.
func (o *setup) unattended(ctx context.Context, r *reach) error {
	p, err := o.install(r, true, !o.noInstall)
	if err != nil {
		return err
	}
	hold := holdSignals()
	defer hold.release()
	if o.kitFile == "" {
		o.kitFile = defaultKit(r)
		removeEmpty(o.kitFile) // of a setup that was interrupted
	}
	kit, err := newKitTarget(nil, o.kitFile)
	if err != nil {
		return err
	}
	defer kit.abandon()
	kitFile := kit.path
	if err := hold.arrived(); err != nil {
		return err
	}
	started, err := o.create(ctx, r, kit, nil)
	if err != nil {
		return err
	}
	hold.release()
	done := setupDone{
		Account: started.Account, PasswordFile: started.PasswordFile, KitFile: kitFile, Binary: p.path,
		Proof: o.prove(ctx, r, p.path),
	}
	if o.asJSON {
		return printJSON(r.env.Out, done)
	}
	rows := columns{}
	rows.add("account", done.Account+", unattended: "+opensForAll)
	rows.add("password", done.PasswordFile)
	rows.add("recovery kit", done.KitFile+" (move it off this machine)")
	rows.add("program", done.Binary)
	rows.add("proof", done.Proof.text())
	if err := rows.print(r.env.Out); err != nil {
		return err
	}
	warnPath(r.env, p.path)
	return nil
}

// removeEmpty removes a file that holds nothing.
func removeEmpty(path string) {
	if fi, err := os.Lstat(path); err == nil && fi.Mode().IsRegular() && fi.Size() == 0 {
		_ = os.Remove(path)
	}
}

// create has a fresh daemon make the account and writes the kit. The caller
// holds the signals that would lose it.
func (o *setup) create(ctx context.Context, r *reach, kit *kitTarget, password []secret.Value) (api.Started, error) {
	owed := isKitPending(r.places)
	if err := markPending(r.places); err != nil {
		return api.Started{}, err
	}
	started, got, err := r.launch(ctx, order{
		op:     api.OpStartCreate,
		in:     api.StartCreate{Unattended: o.headless, DeviceSecret: o.deviceSecret},
		values: password,
	})
	defer frame.DestroyAll(got)
	if err != nil {
		if !owed && (codeOf(err) == api.Exists || !r.hasAccount()) {
			kitIsOut(r.places) // there is none
		}
		return started, err
	}
	err = kit.write(kitContent{
		account: started.Account, stateCode: started.StateCode, values: got, now: r.env.Now(),
	})
	if err == nil {
		kitIsOut(r.places)
	}
	return started, err
}

// attended makes an account with the person at the terminal.
func (o *setup) attended(ctx context.Context, r *reach) error {
	c, err := r.env.console()
	if err != nil {
		return noTerminal(err)
	}
	defer c.close()
	toUser, err := o.offerInstall(r, c)
	if err != nil {
		return err
	}
	hold := holdSignals()
	defer hold.release()
	kit, err := newKitTarget(c, o.kitFile)
	if err != nil {
		return err
	}
	defer kit.abandon()
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
	if err := hold.arrived(); err != nil {
		return err
	}
	started, err := o.create(ctx, r, kit, []secret.Value{password})
	if err != nil {
		return err
	}
	return o.attendedDone(ctx, r, started, p)
}

// attendedDone tells what there is now and what comes next.
func (o *setup) attendedDone(ctx context.Context, r *reach, started api.Started, p program) error {
	env, proof := r.env, o.prove(ctx, r, p.path)
	if o.asJSON {
		kitFile := ""
		if o.kitFile != "" {
			kitFile, _ = filepath.Abs(o.kitFile)
		}
		return printJSON(env.Out, setupDone{Account: started.Account, KitFile: kitFile, Binary: p.path, Proof: proof})
	}
	fmt.Fprintf(env.Out, "Your account is made and open. The program is %s.\n", printable(p.path))
	proof.say(env)
	_, err := fmt.Fprintln(env.Out, "Store something: warder item add github-token --type api-token --level use")
	warnPath(env, p.path)
	return err
}

// passwordFile is where the daemon keeps the password of an unattended account.
func passwordFile(r *reach) string {
	return filepath.Join(r.places.State.Path, "unattended", "password")
}

// hasPasswordFile reports whether that file is there.
func hasPasswordFile(r *reach) bool {
	_, err := os.Lstat(passwordFile(r))
	return err == nil
}

// verified reports whether the audit log is whole.
func verified(ctx context.Context, r *reach) bool {
	r.mayStart = false // it runs, or there is nothing to be proud of
	var report api.AuditReport
	_, err := r.call(ctx, api.OpAuditVerify, nil, &report)
	return err == nil && report.OK
}
