package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/signal"
	"path/filepath"
	"strconv"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/caller"
	"warder/internal/platform"
)

// Options is all that a daemon is told from outside. It judges the places when it opens them.
type Options struct {
	Data, State, Config string // directories, absolute
	Socket              string // path, absolute
	StartedBy           caller.Verdict
	StartFD             int    // the descriptor of the inherited connection; 0 without one: the daemon serves in the foreground
	Again               bool   // this process was begun anew by Run or Prove already
	prover              bool   // it makes a proof of presence and is no daemon
	Version             string // of the build
	Log                 io.Writer
	Getenv              func(name string) string // finds marks of agents; nothing else is read from the environment
}

// check says what is wrong with the options.
func (o Options) check() error {
	for name, path := range map[string]string{"data": o.Data, "state": o.State, "config": o.Config, "socket": o.Socket} {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path {
			return api.Errorf(api.Usage, "--%s is %q, not an absolute path in its shortest form", name, path)
		}
	}
	switch o.StartedBy {
	case "", caller.Agent, caller.Person, caller.Unknown:
	default:
		return api.Errorf(api.Usage, "--started-by is %q: agent, person or unknown", o.StartedBy)
	}
	if o.StartFD != 0 && o.StartFD != platform.InheritedFD {
		return api.Errorf(api.Usage, "--start-fd is %d: it can only be %d", o.StartFD, platform.InheritedFD)
	}
	return nil
}

// Args are the arguments of "warder" that start a daemon, or a prover, with these options.
func (o Options) Args() []string {
	part := "run"
	if o.prover {
		part = "prove"
	}
	args := []string{
		"daemon", part, "--data", o.Data, "--state", o.State, "--config", o.Config, "--socket", o.Socket,
		"--started-by", string(o.StartedBy),
	}
	if o.StartFD != 0 {
		args = append(args, "--start-fd", strconv.Itoa(o.StartFD))
	}
	if o.Again {
		args = append(args, "--again")
	}
	return args
}

// Run is the daemon. It returns when the daemon has ended in order: nil after a signal, [api.OpDaemonStop] or
// [api.OpDaemonReplace], the reason otherwise. In a process that inherited an environment it does not return but begins the
// process anew, so it has to be the first thing that the process does.
func Run(ctx context.Context, o Options) error {
	if err := o.check(); err != nil {
		return err
	}
	self, _ := JudgeSelf(o) // unknown with an error
	if o.StartFD == 0 {
		o.StartedBy = stricter(self.Verdict, o.StartedBy) // of a client that starts a daemon the kernel tells
	}
	if err := clean(o); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, platform.EndSignals()...)
	defer stop()
	d, err := newDaemon(o)
	if err != nil {
		return err
	}
	d.starter = self
	d.starter.Verdict = o.StartedBy
	return d.run(ctx)
}

// run starts the daemon, serves, and ends it.
func (d *Daemon) run(ctx context.Context) error {
	defer func() { d.flush() }()
	s, err := meetStarter(d.opt)
	if err != nil {
		return err
	}
	err = d.start(ctx, s)
	if err == nil {
		err = d.wait(ctx)
	}
	err = errors.Join(err, d.end())
	if err != nil {
		d.log.LogAttrs(context.Background(), slog.LevelError, "ended", slog.String("cause", err.Error()))
	}
	return err
}

// start brings the daemon to where it serves, and tells whoever started it, how it went.
func (d *Daemon) start(ctx context.Context, s *starter) error {
	started, kit, err := birth{d}.begin(ctx, s)
	defer frame.DestroyAll(kit)
	if s == nil {
		return err
	}
	defer s.close()
	if err != nil {
		s.fail(err)
		return err
	}
	if err := s.reply(started, kit); err != nil {
		// Whoever asked has gone. What was done stays done, and the next one finds a daemon that serves.
		d.log.LogAttrs(ctx, slog.LevelWarn, "nobody waits for the answer to the start", slog.String("cause", err.Error()))
	}
	return nil
}

// wait returns when the daemon shall end.
func (d *Daemon) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		d.ending = "signal"
		return nil
	case d.ending = <-d.quits:
		return nil
	case err := <-d.failed:
		d.ending = "failure"
		return fmt.Errorf("serving: %w", err)
	}
}

// Verdict is what a command says on who started it: package caller's word.
type Verdict = caller.Verdict
