package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"

	"warder/internal/platform"
)

// Child is a program that was started.
type Child struct {
	pid   int // of the stage, which is the program's but under a pseudo terminal
	pumps pumps
	tty   *os.File // the controlling terminal, if the program is in this process's group
	front *front   // of a program under a pseudo terminal, else nil
	place platform.ChildPlace
	made  []*os.File // ours to close once it was started
}

// Run starts a program, passes on what concerns it, and waits for it. The error is about starting it: a
// *TooLargeError before anything was started, a *StartError where it can't be run; or about output that was withheld,
// since it could not be masked or written. It locks the caller to its thread, since the kernel ends a program with the
// thread that started it.
func Run(spec Spec) (Outcome, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := spec.check(); err != nil {
		return Outcome{}, err
	}
	c := &Child{}
	defer c.closeMade()
	signals := notify(relayed()...)
	defer signal.Stop(signals)
	if err := c.start(&spec); err != nil {
		return Outcome{}, err
	}
	stop := c.relay(signals)
	outcome, err := c.wait()
	stop()
	return outcome, errors.Join(err, c.pumps.drain())
}

func (c *Child) closeMade() {
	for _, f := range c.made {
		_ = f.Close()
	}
	c.made = nil
}

// start starts the stage, gives it the values, and waits until it has become the program.
func (c *Child) start(spec *Spec) error {
	values, giveValues, err := c.pipe()
	if err != nil {
		return err
	}
	reported, report, err := c.pipe()
	if err != nil {
		return err
	}
	streams, err := c.streams(spec)
	if err != nil {
		return err
	}
	options := platform.ChildOptions{Env: spec.Env, Place: c.place}
	options.Files = append(options.Files, streams[0], streams[1], streams[2], values, report)
	part := partProgram
	if c.front != nil {
		part = partMonitor
		options.Files = append(options.Files, c.front.theirs)
		options.Terminal = c.front.inner
	}
	argv := append([]string{"warder", StageCommand, part, spec.Path}, spec.Argv...)
	self, err := platform.OwnProgramPath()
	if err != nil {
		return err
	}
	if c.pid, err = platform.StartChild(self, argv, options); err != nil {
		return err
	}
	_ = values.Close()
	_ = report.Close()
	if c.front != nil {
		c.front.started()
	}
	for i, f := range streams {
		if i > 0 && f != spec.Streams[i] {
			_ = f.Close()
		}
	}
	c.pumps.start()
	lost := writePayload(giveValues, spec.Inject)
	_ = giveValues.Close()
	text, err := io.ReadAll(reported)
	if err == nil {
		err = reportedError(spec.Path, string(text))
	}
	if err == nil && lost != nil {
		err = fmt.Errorf("handing the values over: %w", lost)
	}
	if err != nil {
		_ = c.reap()
		c.finish()
		return errors.Join(err, c.pumps.drain())
	}
	return nil
}

// reap ends a stage that did not become the program.
func (c *Child) reap() error {
	_ = platform.SignalProcess(c.pid, platform.SigKill)
	return c.reapMonitor()
}

func (c *Child) pipe() (r, w *os.File, err error) {
	if r, w, err = os.Pipe(); err != nil {
		return nil, nil, fmt.Errorf("making a pipe: %w", err)
	}
	c.made = append(c.made, r, w)
	return r, w, nil
}

// streams are the program's standard streams.
func (c *Child) streams(spec *Spec) ([3]*os.File, error) {
	out := spec.Streams
	if tty, err := platform.OpenTerminal(); err == nil {
		c.tty, c.place = tty, platform.ChildInOurGroup
		c.made = append(c.made, tty)
	} else {
		// Without a terminal nothing but a person or a supervisor signals this group, and a signal passed on must
		// arrive once.
		c.place = platform.ChildInOwnGroup
	}
	if spec.Mask == nil {
		return out, nil
	}
	onTTY := [3]bool{isTerminal(out[0]), isTerminal(out[1]), isTerminal(out[2])}
	if onTTY[1] || onTTY[2] {
		if err := c.openFront(spec.Streams, onTTY); err != nil {
			return out, err
		}
		if onTTY[0] {
			out[0] = c.front.inner
		}
	}
	shown := false
	for i, dst := range spec.Streams[1:] {
		if onTTY[i+1] {
			out[i+1] = c.front.inner
			if !shown {
				c.pumps.add(c.front.keyboard, spec.Mask(dst))
			}
			shown = true
			continue
		}
		r, w, err := c.pipe()
		if err != nil {
			return out, err
		}
		out[i+1] = w
		c.pumps.add(r, spec.Mask(dst))
	}
	return out, nil
}

func isTerminal(f *os.File) bool {
	_, err := platform.ModesOf(f)
	return err == nil
}

// wait waits for the end of the program.
func (c *Child) wait() (Outcome, error) {
	if c.front != nil {
		outcome, err := c.front.wait()
		c.finish()
		return outcome, errors.Join(err, c.reapMonitor())
	}
	for {
		state, err := platform.WaitChild(c.pid)
		if err != nil {
			return Outcome{}, err
		}
		switch state.Kind {
		case platform.ChildExited:
			return Outcome{Code: state.Code}, nil
		case platform.ChildKilled:
			return Outcome{Signal: state.Signal}, nil
		case platform.ChildStopped:
			// The job stops as a whole, as the shell expects; SIGCONT is passed on by relay.
			_ = platform.SignalProcess(os.Getpid(), platform.SigStop)
		case platform.ChildContinued:
		}
	}
}

// reapMonitor lets the monitor end, which it does right after the program.
func (c *Child) reapMonitor() error {
	for {
		state, err := platform.WaitChild(c.pid)
		if err != nil || state.Kind == platform.ChildExited || state.Kind == platform.ChildKilled {
			return err
		}
	}
}

func (c *Child) finish() {
	if c.front != nil {
		c.front.finish()
	}
}

// relay passes signals on until it is stopped: once the program has ended its pid may be somebody else's.
func (c *Child) relay(signals <-chan os.Signal) (stop func()) {
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case s := <-signals:
				c.pass(numberOf(s))
			case <-end:
				return
			}
		}
	}()
	return func() { close(end); <-ended }
}

// pass passes one signal on.
func (c *Child) pass(number int) {
	switch {
	case number == platform.SigPipe:
	case c.front != nil:
		c.front.signal(number)
	case number == platform.SigWindow || terminalSent(c.tty, number):
	case number == platform.SigContinue && c.place == platform.ChildInOwnGroup:
		_ = platform.SignalGroup(c.pid, number)
	default:
		_ = platform.SignalProcess(c.pid, number)
	}
}
