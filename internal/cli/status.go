package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/state"
)

// The states of an account, as status shows them.
const (
	accountNone     = "none"
	accountLocked   = "locked"
	accountUnlocked = "unlocked"
)

// newStatus builds "warder status".
func newStatus(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the daemon, the account, and what was found",
		Long: `Show which daemon runs and who started it, whether the account is open, and what
was found in its files and in the audit log. Exit status 8 says that something was
found, or that the log can't be written. It starts no daemon.`,
		Example: `  warder status
  warder status --json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return showStatus(cmd.Context(), env, asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func showStatus(ctx context.Context, env *Env, asJSON bool) error {
	r, err := env.glance()
	if err != nil {
		return err
	}
	defer r.close()
	s, err := r.status(ctx)
	if err != nil {
		return statusFault(err)
	}
	if r.stranger != nil {
		s.Warnings = append(s.Warnings, strangerText(r.stranger))
	}
	if asJSON {
		err = printJSON(env.Out, s)
	} else {
		err = printStatus(env, &s)
	}
	if err == nil && (len(s.Findings) > 0 || !s.Audit.OK) {
		return outcome(api.ExitIntegrity)
	}
	return err
}

// statusFault is the failure of a status. What others are told to do about a
// daemon that can't be asked is to ask for its status.
func statusFault(err error) error {
	if e := api.AsError(err); strings.Contains(e.Hint, "warder status") {
		return e.WithHint("see what this machine and its daemon are like: warder doctor")
	}
	return err
}

// status asks the daemon, or where none runs says so and what the disk tells.
func (r *reach) status(ctx context.Context) (api.Status, error) {
	s := api.Status{Findings: []api.Finding{}, Warnings: []string{}}
	s.Daemon.Chain = []api.ChainProcess{}
	_, err := r.call(ctx, api.OpStatus, nil, &s)
	if err == nil {
		tellSetUp(r, &s)
		r.warnMissing(&s)
		return s, nil
	}
	if !errors.Is(err, frame.ErrNotRunning) {
		return s, err
	}
	if r.blind != nil {
		return s, noAccount(r)
	}
	if err := silent(ctx, r); err != nil {
		return s, err
	}
	s.Account.State = accountNone
	s.Audit.OK = true
	s.Memory = memoryKind()
	if r.install != nil && r.hasAccount() {
		s.Account.State = accountLocked
		s.Account.Unattended = r.install.Unattended
		s.Audit = logOnDisk(r)
		s.Account.DeviceSecretFile = filepath.Join(r.places.State.Path, "device", "secret")
		if s.Account.Unattended {
			s.Account.PasswordFile = passwordFile(r)
		}
	}
	tellSetUp(r, &s)
	r.warnMissing(&s)
	warnSettings(r.env, &s)
	return s, nil
}

// tellSetUp says who set the account up, which the record knows.
func tellSetUp(r *reach, s *api.Status) {
	if r.install != nil && s.Account.State != accountNone {
		s.Account.SetUpBy = r.install.SetUpBy
	}
}

// warnSettings says what is wrong with the settings, which a daemon that runs
// says itself.
func warnSettings(env *Env, s *api.Status) {
	set, err := loadSettings(env)
	if err != nil {
		s.Warnings = append(s.Warnings, settingsFault(err))
		return
	}
	for _, w := range set.warnings {
		s.Warnings = append(s.Warnings, w.String())
	}
}

// settingsFault says why the settings don't count, and what to do where their
// directory or file is refused: a line that is wrong says it itself.
func settingsFault(err error) string {
	text := fmt.Sprintf("the settings don't count: %v", err)
	if hint := state.Hint(err); hint != "" {
		text += ": " + hint
	}
	return text
}

// What is said of a device secret that is gone while the account is open.
const (
	deviceGone = "the device secret in "
	deviceHint = "warder unlock --recovery"
)

// warnMissing says that the account won't open any more as it did.
func (r *reach) warnMissing(s *api.Status) {
	if r.install != nil && r.install.Unattended && s.Account.State != accountNone && !hasPasswordFile(r) {
		s.Warnings = append(s.Warnings, "the account is unattended, and "+passwordMissing(r)+": put it back")
	}
	if file := s.Account.DeviceSecretFile; r.install != nil && file != "" {
		if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
			s.Warnings = append(s.Warnings, fmt.Sprintf("%s%s is gone: once it is locked, the account opens only with the recovery kit: %s",
				deviceGone, file, deviceHint))
		}
	}
}

// hasAccount reports whether there is anything where the account would be.
func (r *reach) hasAccount() bool {
	entries, err := os.ReadDir(r.places.Account())
	return err == nil && len(entries) > 0
}

func printStatus(env *Env, s *api.Status) error {
	rows := columns{}
	if s.Daemon.Running {
		rows.add("daemon", fmt.Sprintf("running, pid %d, warder %s, started by %s", s.Daemon.PID, s.Daemon.Version, startedBy(s)))
		if !s.Daemon.SameBinary {
			rows.add("", "it is not the recorded program: warder daemon restart")
		}
	} else {
		rows.add("daemon", "not running; the next command that needs it starts it")
	}
	rows.add("account", accountText(s))
	if s.Account.Unattended {
		rows.add("", unattendedText(s))
	}
	if s.Account.Hint != "" {
		rows.add("", s.Account.Hint)
	}
	if text := keysText(s); text != "" {
		rows.add("keys", text)
	}
	rows.add("memory", memoryText(s.Memory))
	if s.Daemon.Running || !s.Audit.OK || s.Audit.Signed > 0 {
		auditRows(&rows, &s.Audit)
	}
	if s.PolicyPending > 0 {
		rows.add("policy", waitFor(s.PolicyPending, "a person")+": warder policy accept")
	}
	if s.GuardDegraded > 0 {
		rows.add("guard", fmt.Sprintf("%s went through unasked", plural(s.GuardDegraded, "call")))
	}
	for _, f := range s.Findings {
		rows.add("found", fmt.Sprintf("%s: %s (%s)", f.Kind, f.Text, f.Object))
	}
	if len(s.Findings) > 0 {
		rows.add("", "see what can be done: warder repair")
	}
	for _, w := range s.Warnings {
		warn(env.Err, "%s", w)
	}
	return rows.print(env.Out)
}

// auditRows tells of the log: how long it is, what is wrong with it, and what to do.
func auditRows(rows *columns, a *api.AuditStatus) {
	rows.add("audit", auditText(a))
	if a.Signed > 0 {
		rows.add("", begunAnew(a.Signed))
	}
	if !a.OK && a.Hint != "" {
		rows.add("", a.Hint)
	}
}

// auditText is what is known of the log. Without a daemon that is no number of
// events.
func auditText(a *api.AuditStatus) string {
	var parts []string
	if a.Seq > 0 {
		parts = append(parts, fmt.Sprintf("%d events", a.Seq))
	}
	if a.First > 1 {
		parts = append(parts, dropped(a.First))
	}
	if bad := a.FirstBad; bad != nil {
		parts = append(parts, fmt.Sprintf("damaged at seq %d (%s: %s)", bad.Seq, bad.Cause, bad.Text))
	}
	switch {
	case a.Fault != "":
		parts = append(parts, a.Fault)
	case !a.OK && a.FirstBad == nil:
		parts = append(parts, "it is broken: warder audit verify")
	case a.OK && a.Checked == "":
		parts = append(parts, "not verified since a daemon started")
	case a.OK:
		parts = append(parts, "verified at "+a.Checked)
	}
	return strings.Join(parts, "; ")
}

// dropped says how many records a log has no more that begins with a record.
func dropped(first uint64) string {
	return fmt.Sprintf("the oldest %d dropped for their size (kept from seq %d on)", first-1, first)
}

// begunAnew says that the log is not the account's first.
func begunAnew(signed uint64) string {
	return fmt.Sprintf("it began anew: the log before it, which the account had signed up to record %d, was taken away", signed)
}

func startedBy(s *api.Status) string {
	who := s.Daemon.StartedBy
	if len(s.Daemon.Chain) > 0 {
		first := s.Daemon.Chain[0]
		if first.Exe != "" {
			return who + " (" + first.Exe + ")"
		}
		return who + " (" + first.Argv0 + ")"
	}
	return who
}

func accountText(s *api.Status) string {
	switch {
	case s.Account.State == accountNone:
		return "none: warder setup"
	case s.Account.State == accountLocked && s.Account.Why != "":
		return "locked, unattended: " + s.Account.Why
	case s.Account.State == accountLocked && s.Account.Unattended:
		return "locked, unattended"
	case s.Account.State == accountLocked:
		return "locked: warder unlock"
	case s.Account.Unattended:
		return "unlocked, unattended"
	case s.Account.LocksAt != "":
		return "unlocked until " + s.Account.LocksAt
	}
	return s.Account.State
}

// opensForAll is what nobody may overlook who uses an unattended account (L25).
const opensForAll = "any program of this user can open it"

// unattendedText is opensForAll, and who chose that.
func unattendedText(s *api.Status) string {
	if by := s.Account.SetUpBy; by != "" {
		return opensForAll + "; set up by " + by
	}
	return opensForAll
}

// keysText says what holds the keys and what the account opens with. There is
// one such place, whatever else runs on this machine: no keyring, agent or helper
// is looked for.
func keysText(s *api.Status) string {
	a := &s.Account
	if a.DeviceSecretFile == "" {
		return ""
	}
	held := "held by nobody"
	switch {
	case a.State != accountUnlocked:
	case a.LocksAt != "":
		held = "in the daemon's memory alone, until " + a.LocksAt
	default:
		held = "in the daemon's memory alone, as long as it runs"
	}
	password := "your master password"
	if a.PasswordFile != "" {
		password = "the password in " + a.PasswordFile
	}
	return fmt.Sprintf("%s; opened with %s and the device secret in %s", held, password, a.DeviceSecretFile)
}

// memoryText says what a kind of memory means.
func memoryText(kind string) string {
	switch kind {
	case "memfd_secret":
		return "memfd_secret: secrets are kept from swap, dumps and debuggers"
	case "mlock":
		return "mlock: secrets are kept from swap and dumps"
	}
	return "none: secrets may be swapped out; raise the limit with 'ulimit -l'"
}
