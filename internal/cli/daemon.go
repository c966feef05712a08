package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/daemon"
	"warder/internal/platform"
)

// newDaemon builds "warder daemon" and the commands below it.
func newDaemon(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "daemon",
		Short: "Run, look at or end the daemon",
		Long: `The daemon holds the unlocked account and makes every decision. Other commands
start it when they need it, so these are for service managers and for finding
out what is wrong.`,
	}
	cmd.AddCommand(newDaemonRun(env), newDaemonProve(env), newDaemonStatus(env), newDaemonStop(env), newDaemonRestart(env))
	return cmd
}

// newDaemonRun builds "warder daemon run", which is the daemon itself.
func newDaemonRun(env *Env) *cobra.Command {
	var o daemon.Options
	var home, startedBy string
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Be the daemon, in the foreground",
		Long: `Be the daemon until a signal ends it: for service managers, containers and
debugging. The account stays locked until "warder unlock" starts a daemon that
takes this one's place, unless it is an unattended one.

It takes nothing from its environment. Without flags for its places they are
those that other commands would use.`,
		Example: `  warder daemon run
  warder daemon run --home /srv/warder`,
		Args:              noArguments,
		ValidArgsFunction: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := daemonPlaces(env, &o, home); err != nil {
				return err
			}
			o.StartedBy = daemon.Verdict(startedBy)
			o.Version = readVersion().Version
			o.Log, o.Getenv = env.Err, env.Getenv
			return daemon.Run(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&home, "home", "", "directory with data, state, config and run")
	daemonFlags(cmd, &o, &startedBy)
	cmd.MarkFlagsMutuallyExclusive("home", "data")
	return cmd
}

// newDaemonProve builds "warder daemon prove", which other commands start.
func newDaemonProve(env *Env) *cobra.Command {
	var o daemon.Options
	var startedBy string
	cmd := &cobra.Command{
		Use:               "prove",
		Short:             "Make a proof of presence for the command that started this",
		Hidden:            true,
		Args:              noArguments,
		ValidArgsFunction: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.StartedBy = daemon.Verdict(startedBy)
			o.Version = readVersion().Version
			o.Log, o.Getenv = env.Err, env.Getenv
			return daemon.Prove(cmd.Context(), o)
		},
	}
	daemonFlags(cmd, &o, &startedBy)
	return cmd
}

// daemonFlags are the flags by which commands start the recorded program.
func daemonFlags(cmd *cobra.Command, o *daemon.Options, startedBy *string) {
	f := cmd.Flags()
	f.StringVar(&o.Data, "data", "", "directory of the account")
	f.StringVar(&o.State, "state", "", "directory of what belongs to this device")
	f.StringVar(&o.Config, "config", "", "directory of the settings")
	f.StringVar(&o.Socket, "socket", "", "path of the socket")
	f.StringVar(startedBy, "started-by", "", "verdict on who started it")
	f.IntVar(&o.StartFD, "start-fd", 0, "descriptor of the starting command's connection")
	f.BoolVar(&o.Again, "again", false, "it has begun anew already")
	for _, name := range []string{"started-by", "start-fd", "again"} {
		_ = f.MarkHidden(name) // they are there
	}
	cmd.MarkFlagsRequiredTogether("data", "state", "config", "socket")
}

// daemonPlaces fills in where the daemon's places are, where the flags don't say so: they name all or none.
func daemonPlaces(env *Env, o *daemon.Options, home string) error {
	if o.Data != "" {
		return nil
	}
	getenv := env.Getenv
	if home != "" {
		absolute, err := filepath.Abs(home)
		if err != nil {
			return err
		}
		getenv = func(name string) string {
			if name == "WARDER_HOME" {
				return absolute
			}
			return env.Getenv(name)
		}
	}
	at := *env
	at.Getenv = getenv
	places, in, err := at.placesHere()
	if err != nil {
		return err
	}
	var socket string
	if in != nil {
		socket = in.Socket // where clients look, whatever this session's runtime directory is
	} else if socket, err = places.Socket(); err != nil {
		return usageError("%v", err).WithHint("set WARDER_HOME to a shorter path")
	}
	o.Data, o.State, o.Config, o.Socket = places.Data.Path, places.State.Path, places.Config.Path, socket
	return nil
}

// newDaemonStatus builds "warder daemon status".
func newDaemonStatus(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show which daemon runs, and who started it",
		Long: `Show the daemon's process, its program and the processes above the one that
started it. Whether the account is locked is in "warder status".`,
		Example: `  warder daemon status
  warder daemon status --json`,
		Args:              noArguments,
		ValidArgsFunction: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := daemonStatus(cmd.Context(), env)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(env.Out, s.Daemon)
			}
			printDaemon(env, s)
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// daemonStatus asks the daemon. One that does not run is a status, too.
func daemonStatus(ctx context.Context, env *Env) (api.Status, error) {
	var s api.Status
	r, err := env.glance()
	if err != nil {
		return s, err
	}
	defer r.close()
	_, err = r.call(ctx, api.OpStatus, nil, &s)
	if errors.Is(err, frame.ErrNotRunning) {
		warnStranger(r)
		return api.Status{Daemon: api.DaemonStatus{Chain: []api.ChainProcess{}}}, silent(ctx, r)
	}
	return s, err
}

// logOnDisk is what is known of the log where no daemon runs.
func logOnDisk(r *reach) api.AuditStatus {
	return daemon.LogOnDisk(r.places.State.Path, r.install.Unattended)
}

// printDaemon prints what is known of the daemon.
func printDaemon(env *Env, s api.Status) {
	d := s.Daemon
	if !d.Running {
		fmt.Fprintln(env.Out, "no daemon is running; the next command that needs one starts it")
		return
	}
	fmt.Fprintf(env.Out, "running as pid %d since %s\n", d.PID, d.Started)
	fmt.Fprintf(env.Out, "program: warder %s, sha256 %s\n", printable(d.Version), printable(d.SHA256))
	if !d.SameBinary {
		fmt.Fprintln(env.Out, "program: not the one that setup recorded; replace it: warder daemon restart")
	}
	fmt.Fprintf(env.Out, "started by: %s\n", printable(d.StartedBy))
	for _, p := range d.Chain {
		fmt.Fprintf(env.Out, "  %d %s (%s)\n", p.PID, printable(p.Exe), printable(p.Role))
	}
}

// newDaemonStop builds "warder daemon stop".
func newDaemonStop(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "stop",
		Short:             "End the daemon in order",
		Long:              `End the daemon: calls that run are finished, the account is locked.`,
		Example:           `  warder daemon stop`,
		Args:              noArguments,
		ValidArgsFunction: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			stopped, err := stopDaemon(cmd.Context(), env)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(env.Out, daemonChange{Changed: stopped})
			}
			if !stopped {
				fmt.Fprintln(env.Out, "no daemon was running")
				return nil
			}
			fmt.Fprintln(env.Out, "the daemon has ended")
			return nil
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// daemonChange is what stopping and restarting print for a program.
type daemonChange struct {
	Changed bool `json:"changed"` // false: none was running
	Running bool `json:"running"`
	PID     int  `json:"pid"` // of the one that runs now, else 0
}

// newDaemonRestart builds "warder daemon restart".
func newDaemonRestart(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "restart",
		Short: "End the daemon and start the recorded program",
		Long: `End the daemon and start the program that setup recorded, as after an update.
The account is locked then, unless it is an unattended one.`,
		Example:           `  warder daemon restart`,
		Args:              noArguments,
		ValidArgsFunction: nothing,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return restart(cmd.Context(), env, asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func restart(ctx context.Context, env *Env, asJSON bool) error {
	r, err := env.glance()
	if err != nil {
		return err
	}
	defer r.close()
	if r.install == nil {
		if _, err := stopDaemon(ctx, env); err != nil {
			return err
		}
		return noAccount(r)
	}
	// From before the old one ends until the new one serves, commands that find
	// none wait for this one.
	release, err := holdStart(ctx, r)
	if err != nil {
		return err
	}
	defer release()
	if _, err := endDaemon(ctx, r); err != nil && (codeOf(err) != api.Unreachable || isPlace(err)) {
		return err // one that does not answer the fresh one gets rid of, or says what keeps it
	}
	started, got, err := r.launch(ctx, order{op: api.OpStart})
	frame.DestroyAll(got)
	if codeOf(err) == api.Exists {
		// Another command was quicker, which is as good if it started the same.
		if s, asked := r.status(ctx); asked == nil && s.Daemon.Running && s.Daemon.SameBinary {
			started.PID, err = s.Daemon.PID, nil
			started.Locked, started.Hint = s.Account.Why, s.Account.Hint
		}
	}
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(env.Out, daemonChange{true, true, started.PID})
	}
	_, err = fmt.Fprintf(env.Out, "the daemon runs as pid %d\n", started.PID)
	switch {
	case err != nil:
		return err
	case started.Locked != "":
		return notOpened(started)
	case r.install != nil && r.install.Unattended && !hasPasswordFile(r):
		return staysLocked(r, &api.Status{})
	}
	return nil
}

// notOpened is the failure of a start that left an unattended account locked.
func notOpened(started api.Started) error {
	return api.Errorf(api.Locked, "the unattended account stays locked: %s", started.Locked).WithHint(started.Hint)
}

// hasEnded reports whether a daemon that listens no more has written its last,
// as far as can be seen here. A zombie has.
func hasEnded(pid int) bool {
	stat, err := platform.ReadProcStat(pid)
	return err != nil || stat.State == 'Z'
}

// stopPatience is how long a daemon may take to end, and stopPause how long between two looks.
const (
	stopPatience = 10 * time.Second
	stopPause    = 20 * time.Millisecond
)

// stopDaemon ends the daemon and waits until it is gone, or until another one
// is in its place. It reports whether one was running.
func stopDaemon(ctx context.Context, env *Env) (bool, error) {
	r, err := env.glance()
	if err != nil {
		return false, err
	}
	defer r.close()
	stopped, err := endDaemon(ctx, r)
	if err == nil && !stopped {
		warnStranger(r)
	}
	return stopped, err
}

// endDaemon is stopDaemon for whoever has found out where it is.
func endDaemon(ctx context.Context, r *reach) (bool, error) {
	_, err := r.call(ctx, api.OpDaemonStop, nil, nil)
	if errors.Is(err, frame.ErrNotRunning) {
		return false, silent(ctx, r)
	}
	if err != nil {
		return false, err
	}
	pid := 0
	if r.conn != nil {
		pid = r.conn.ServerPID()
	}
	limited, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	for {
		r.close()
		conn, err := dial(limited, r)
		if errors.Is(err, frame.ErrNotRunning) && hasEnded(pid) {
			return true, nil
		}
		if err == nil {
			_ = conn.Close()
			if conn.ServerPID() != pid {
				return true, nil
			}
		}
		select {
		case <-limited.Done():
			return true, api.Errorf(api.Unreachable, "the daemon was asked to end and has not ended").WithHint(fmt.Sprintf("end it, then try again: kill -9 %d", pid))
		case <-time.After(stopPause):
		}
	}
}
