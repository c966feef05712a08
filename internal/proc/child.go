package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"warder/internal/platform"
)

// Child is a program that was started.
type Child struct {
	stage *stage
	pumps pumps
	tty   *os.File // the controlling terminal, if the program is in this process's group
	front *front   // of a program under a pseudo terminal, else nil
	place platform.ChildPlace
	modes platform.TerminalModes // of tty, before the program
	made  []*os.File             // ours to close once it was started

	scratch *scratch       // of a program whose files are not in memory alone
	swept   sync.WaitGroup // of what others have left
}

// Run starts a program, passes on what concerns it, and waits for it. The error is about starting it: a
// *TooLargeError before anything was started, a *TooMuchError or *StartError where it can't be run; or an *OutputError about
// what was withheld, since it could not be masked or written; with that the outcome is the program's.
func Run(spec Spec) (Outcome, error) {
	c := &Child{}
	defer c.close()
	if err := spec.check(); err != nil {
		return Outcome{}, errors.Join(err, spec.Ahead.Close())
	}
	signals := spec.Ahead.signals()
	// Each signal takes a thread of the runtime a while: who has run the program does not wait for it.
	defer func() { go signal.Stop(signals.c) }()
	if err := c.start(&spec, signals.taken); err != nil {
		if errors.Is(err, syscall.E2BIG) {
			err = spec.tooMuch()
		}
		return Outcome{}, errors.Join(err, spec.Ahead.Close())
	}
	if c.front == nil && c.tty != nil {
		// Who reads the terminal from the background stops its whole group. This process must see the program stop, and
		// not stop beside it: it would stop once more when both are to go on.
		notify(signals.c, platform.SigTerminalIn, platform.SigTerminalOut)
	}
	for _, place := range spec.Places {
		c.swept.Go(func() { sweep(place) })
	}
	stop := c.relay(signals.c)
	outcome, err := c.wait()
	stop()
	// The terminal stays raw until the last of the output is through: its line ends are made already.
	err = errors.Join(err, c.pumps.drain())
	return outcome, errors.Join(err, c.finish(outcome))
}

func (c *Child) close() {
	if c.stage != nil {
		c.stage.letGo()
	}
	for _, f := range c.made {
		_ = f.Close()
	}
	c.made = nil
	if c.scratch != nil {
		_ = c.scratch.remove()
		_ = c.scratch.parent.Close()
	}
	c.swept.Wait()
}

// start starts the stage, gives it the values, and waits until it has become the program. It does not become that before
// signals are taken: what one of them would have told the program must not be lost.
func (c *Child) start(spec *Spec, taken <-chan struct{}) error {
	if err := c.placeFiles(spec, taken); err != nil {
		return err
	}
	out, err := c.begin(spec, taken)
	if err != nil {
		return err
	}
	c.pumps.start()
	lost := writePayload(c.stage.values, orders{out, spec.Env}, spec.Inject)
	<-taken
	if lost == nil {
		_, lost = c.stage.values.Write([]byte{payloadGo})
	}
	_ = c.stage.values.Close()
	text, err := awaitReport(c)
	if err == nil {
		err = reportedError(spec.Path, text)
	}
	if err == nil && lost != nil {
		err = fmt.Errorf("handing the values over: %w", lost)
	}
	if err != nil {
		_ = platform.SignalProcess(c.stage.pid, platform.SigKill)
		if c.front == nil {
			return errors.Join(err, c.reapStage(), c.pumps.drain())
		}
		c.front.stopKeys()
		return errors.Join(err, c.pumps.drain(), c.finish(Outcome{}))
	}
	return nil
}

// earlyStop is how long a stage may take to become the program before it is taken for stopped.
const earlyStop = 100 * time.Millisecond

// awaitReport reads what the stage reports until it has become the program or given up. A key that stops jobs may stop a stage; nobody
// sees that yet, so it is woken, and the key means nothing.
func awaitReport(c *Child) (text string, err error) {
	var report []byte
	var buf [512]byte
	for {
		if err := c.stage.reported.SetReadDeadline(time.Now().Add(earlyStop)); err != nil {
			return "", err
		}
		n, err := c.stage.reported.Read(buf[:])
		report = append(report, buf[:n]...)
		switch {
		case errors.Is(err, io.EOF):
			return string(report), nil
		case !errors.Is(err, os.ErrDeadlineExceeded):
			if err != nil {
				return "", err
			}
		case c.front != nil:
			c.front.tellPlace()
			c.front.tell(askContinue, 0)
		default:
			_ = platform.SignalProcess(c.stage.pid, platform.SigContinue)
		}
	}
}

// begin starts the stage, or takes the one that was started ahead.
func (c *Child) begin(spec *Spec, taken <-chan struct{}) (output, error) {
	if spec.Ahead != nil {
		return c.adopt(spec)
	}
	streams, err := c.streams(spec)
	if err != nil {
		return outputKept, err
	}
	order := stageOrder{part: partProgram, place: c.place, files: streams[:]}
	if c.front != nil {
		<-taken // one that ended this process would leave the terminal in raw modes
		order.part, order.control, order.terminal = partMonitor, c.front.theirs, c.front.inner
	}
	if c.stage, err = startStage(spec, order); err != nil {
		return outputKept, err
	}
	if c.front != nil {
		c.front.started()
	}
	for i, f := range streams {
		if i > 0 && f != spec.Streams[i] {
			_ = f.Close()
		}
	}
	return outputKept, nil
}

// reap ends a stage that did not become the program.
func (c *Child) reap() error {
	_ = platform.SignalProcess(c.stage.pid, platform.SigKill)
	return c.reapStage()
}

func (c *Child) pipe() (r, w *os.File, err error) {
	if r, w, err = os.Pipe(); err != nil {
		return nil, nil, fmt.Errorf("making a pipe: %w", err)
	}
	c.made = append(c.made, r, w)
	return r, w, nil
}

// findTerminal says in which group the program begins.
func (c *Child) findTerminal() {
	if tty, err := platform.OpenTerminal(); err == nil {
		c.tty, c.place = tty, platform.ChildInOurGroup
		c.made = append(c.made, tty)
		c.modes, _ = platform.ModesOf(tty) // of none nothing is restored
		return
	}
	// Without a terminal nothing but a person or a supervisor signals this group, and a signal passed on must
	// arrive once.
	c.place = platform.ChildInOwnGroup
}

// streams are the program's standard streams.
func (c *Child) streams(spec *Spec) ([3]*os.File, error) {
	out := spec.Streams
	c.findTerminal()
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
		if i == 1 && spec.together() {
			out[2] = out[1]
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
		c.front.stopKeys()
		return outcome, err
	}
	for {
		state, err := platform.WaitChild(c.stage.pid)
		for err == nil && state.Kind == platform.ChildStopped && isJob(c) {
			state, err = stopWith(c.stage.pid)
		}
		switch {
		case err != nil:
			return Outcome{}, err
		case state.Kind == platform.ChildExited:
			return Outcome{Code: state.Code}, nil
		case state.Kind == platform.ChildKilled:
			return Outcome{Signal: state.Signal}, nil
		}
	}
}

// isJob says whether a shell controls this process as a job. Where none does nobody would let it go on: who lets the program go on then
// does not know of this process.
func isJob(c *Child) bool { return c.tty != nil && !platform.IsOrphan() }

// stopWith stops this process after its program, since the job stops as a whole, as the shell expects. Who lets the group go on lets the
// program go on, too: it may have been stopped anew by now, and must not be woken from that. Who lets this process go on alone
// means the program.
func stopWith(pid int) (platform.ChildState, error) {
	if err := platform.StopOurselves(); err != nil {
		return platform.ChildState{}, err
	}
	state, changed, err := platform.PollChild(pid)
	if err != nil || changed {
		return state, err
	}
	return platform.ChildState{Kind: platform.ChildContinued}, platform.SignalProcess(pid, platform.SigContinue)
}

// finish leaves the terminal as it was, and nothing behind.
func (c *Child) finish(outcome Outcome) error {
	switch {
	case c.front != nil:
		c.front.giveTerminal()
		_ = c.front.ours.Close() // the monitor may end
		return c.reapStage()
	case c.place == platform.ChildInOurGroup && outcome.Signal != 0:
		// A shell does so for a program that a signal ended. Of this process it only learns a status.
		if group, err := platform.ForegroundGroup(c.tty); err == nil && group == platform.ProcessGroup() {
			_ = c.modes.SetOn(c.tty)
		}
	}
	return nil
}

// reapStage waits for what was started.
func (c *Child) reapStage() error {
	for {
		state, err := platform.WaitChild(c.stage.pid)
		if err != nil || state.Kind == platform.ChildExited || state.Kind == platform.ChildKilled {
			return err
		}
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
	case c.tty != nil && c.front == nil && number == platform.SigContinue: // stopWith's
	case c.tty != nil && (number == platform.SigTerminalIn || number == platform.SigTerminalOut):
	case c.front != nil:
		c.front.signal(number)
	case number == platform.SigWindow || terminalSent(c.tty, number):
	case number == platform.SigContinue && c.place == platform.ChildInOwnGroup:
		_ = platform.SignalGroup(c.stage.pid, number)
	default:
		_ = platform.SignalProcess(c.stage.pid, number)
	}
}
