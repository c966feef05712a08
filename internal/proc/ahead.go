package proc

import (
	"errors"
	"os"
)

// Ahead is a stage that was started before it is known whether its program may run, which values it gets, and whether
// its output is masked, so that its start takes no time of what is waited for. It has nothing of all that: it waits for the
// values, and ends if none come.
type Ahead struct {
	begun   chan struct{} // closed when the fields below are there
	err     error
	child   Child       // its stage and its terminal
	readers [2]*os.File // the second is nil if both streams go to one place

	signalled *signals // nil before TakeSignals
}

// StartAhead starts the stage of a program. Of spec it takes Path, Argv and Streams, which must be those of the
// spec that Run gets. It does not wait: what went wrong Run says. It is nil, which Run takes as well, where the output goes to a
// terminal, since a stage below a pseudo terminal is another one.
func StartAhead(spec Spec) *Ahead {
	if isTerminal(spec.Streams[1]) || isTerminal(spec.Streams[2]) {
		return nil
	}
	a := &Ahead{begun: make(chan struct{})}
	go func() {
		defer close(a.begun)
		a.err = a.begin(&spec)
	}()
	return a
}

func (a *Ahead) begin(spec *Spec) error {
	order := stageOrder{part: partAhead, files: spec.Streams[:]}
	var writers [2]*os.File
	for i := range writers {
		if i == 1 && spec.together() {
			order.piped[1] = writers[0]
			continue
		}
		var err error
		if a.readers[i], writers[i], err = os.Pipe(); err != nil {
			return errors.Join(err, closeAll(a.readers[:i]), closeAll(writers[:i]))
		}
		order.piped[i] = writers[i]
	}
	a.child.findTerminal()
	order.place = a.child.place
	stage, err := startStage(spec, order)
	a.child.stage = stage
	if err = errors.Join(err, closeAll(writers[:])); err != nil {
		return errors.Join(err, a.end())
	}
	return nil
}

// TakeSignals begins to hold the signals that Run will pass on, for whoever knows that the program may run and has yet to get
// its values: the runtime needs a while for each. From here on none of them ends this process. Of nil it does nothing.
func (a *Ahead) TakeSignals() {
	if a != nil {
		a.signalled = takeSignals()
	}
}

// signals are those that were taken, or are from now on.
func (a *Ahead) signals() *signals {
	if a == nil || a.signalled == nil {
		return takeSignals()
	}
	return a.signalled
}

// Close ends a stage that Run did not take. Of nil it does nothing.
func (a *Ahead) Close() error {
	if a == nil {
		return nil
	}
	<-a.begun
	if a.err != nil {
		return nil // there is none
	}
	a.err = errNoStage
	return a.end()
}

// errNoStage says that a stage was taken or ended.
var errNoStage = errors.New("the stage that was started ahead is gone")

func (a *Ahead) end() error {
	var err error
	if a.child.stage != nil {
		err = a.child.reap()
	}
	a.child.close()
	return errors.Join(err, closeAll(a.readers[:]))
}

// adopt makes the stage that was started ahead this child's.
func (c *Child) adopt(spec *Spec) (output, error) {
	a := spec.Ahead
	<-a.begun
	if a.err != nil {
		return outputKept, a.err
	}
	a.err = errNoStage
	c.stage, c.tty, c.place, c.modes, c.made = a.child.stage, a.child.tty, a.child.place, a.child.modes, a.child.made
	if spec.Mask == nil {
		return outputKept, closeAll(a.readers[:])
	}
	for i, r := range a.readers {
		if r != nil {
			c.pumps.add(r, spec.Mask(spec.Streams[1+i]))
		}
	}
	return outputPiped, nil
}

// closeAll closes the files that there are.
func closeAll(files []*os.File) error {
	var err error
	for _, f := range files {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}
