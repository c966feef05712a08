package proc

import (
	"errors"
	"io"
	"os"
	"sync"

	"warder/internal/platform"
)

// front is this side of a program under a pseudo terminal: the person's terminal is outer, the program's is inner.
type front struct {
	outer    *os.File // where the person types and reads
	keyboard *os.File // the other side of inner
	inner    *os.File
	ours     *os.File // to the monitor
	theirs   *os.File

	typed bool                   // the program's input is the terminal, so keys are passed on
	modes platform.TerminalModes // of outer, as it was

	mu     sync.Mutex
	ended  bool
	raw    bool          // outer has raw modes
	stops  int           // signals to stop that this process sent to itself among others
	inFore chan struct{} // gets one when this process may read keys
	wakeR  *os.File      // closed when there is nothing to type at any more
	wakeW  *os.File
	keys   chan struct{} // closed when keys are read no more
}

func (c *Child) openFront(streams [3]*os.File, onTTY [3]bool) error {
	outer := streams[1]
	if onTTY[0] {
		outer = streams[0]
	} else if !onTTY[1] {
		outer = streams[2]
	}
	f := &front{outer: outer, typed: onTTY[0], inFore: make(chan struct{}, 1), keys: make(chan struct{})}
	var err error
	if f.modes, err = platform.ModesOf(outer); err != nil {
		return err
	}
	if f.keyboard, f.inner, err = platform.OpenPTY(); err != nil {
		return err
	}
	ours, theirs, err := platform.ConnPair()
	if err != nil {
		return errors.Join(err, f.keyboard.Close(), f.inner.Close())
	}
	f.theirs = theirs
	if f.ours, err = ours.File(); err != nil {
		return err
	}
	_ = ours.Close()
	if f.wakeR, f.wakeW, err = os.Pipe(); err != nil {
		return err
	}
	c.made = append(c.made, f.theirs, f.ours, f.wakeR, f.wakeW, f.inner)
	modes := f.modes
	if !f.typed {
		// Its output is changed by the outer terminal, which stays in its own modes.
		modes = modes.PlainOutput()
	}
	if err := modes.SetOn(f.inner); err != nil {
		return err
	}
	f.resize()
	c.front, c.place = f, platform.ChildInOwnSession
	return nil
}

// started closes what the monitor has by now, and begins to type.
func (f *front) started() {
	_ = f.theirs.Close()
	_ = f.inner.Close()
	if !f.typed {
		close(f.keys)
		return
	}
	f.takeTerminal()
	f.tellPlace()
	go f.typeKeys()
}

func (f *front) resize() {
	if rows, cols, err := platform.TerminalSize(f.outer); err == nil {
		_ = platform.SetTerminalSize(f.keyboard, rows, cols)
	}
}

// tellPlace lets the program's terminal be as this one: a job in the background that reads it stops.
func (f *front) tellPlace() {
	if f.inBackground() {
		f.tell(askBackground, 0)
	}
}

// inBackground says whether this process may not read its terminal. One that is not its controlling terminal anybody may read.
func (f *front) inBackground() bool {
	group, err := platform.ForegroundGroup(f.outer)
	return err == nil && group != platform.ProcessGroup()
}

func (f *front) inForeground() bool {
	group, err := platform.ForegroundGroup(f.outer)
	return err == nil && group == platform.ProcessGroup()
}

// takeTerminal makes the outer terminal pass every byte, if this process may.
func (f *front) takeTerminal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended || !f.typed || !f.inForeground() {
		return
	}
	if !f.raw {
		f.raw = f.modes.Raw().SetOn(f.outer) == nil
	}
	select {
	case f.inFore <- struct{}{}:
	default:
	}
}

// giveTerminal gives the outer terminal its modes back.
func (f *front) giveTerminal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.raw {
		f.raw = false
		_ = f.modes.SetOn(f.outer)
	}
}

// typeKeys passes keys on. It reads only when there is one, and only in the foreground: nothing that is meant for the
// shell afterwards is taken.
func (f *front) typeKeys() {
	defer close(f.keys)
	buf := make([]byte, 4096)
	for range f.inFore {
		for {
			ready, err := platform.AwaitInput(f.outer, f.wakeR)
			if err != nil || !ready {
				return
			}
			if !f.inForeground() {
				break
			}
			n, err := f.outer.Read(buf)
			if n > 0 {
				_, err = f.keyboard.Write(buf[:n])
			}
			if err != nil || n == 0 {
				return
			}
		}
	}
}

func (f *front) tell(what byte, number int) {
	_, _ = f.ours.Write([]byte{what, byte(number)}) // #nosec G115 -- a signal
}

// wait follows the program to its end.
func (f *front) wait() (Outcome, error) {
	var message [messageBytes]byte
	for {
		if _, err := io.ReadFull(f.ours, message[:]); err != nil {
			return Outcome{}, errors.New("the program's monitor is gone")
		}
		switch number := int(message[1]); message[0] {
		case sayExited:
			return Outcome{Code: number}, nil
		case sayKilled:
			return Outcome{Signal: number}, nil
		case sayStopped:
			f.stop(number)
		}
	}
}

// stop stops the whole job, as the key would have without a pseudo terminal: the others of a pipeline never saw it.
func (f *front) stop(number int) {
	if platform.IsOrphan() {
		// Nobody would let this process go on. A shell's child could not be stopped by a key there either.
		f.tell(askContinue, 0)
		return
	}
	f.giveTerminal()
	if number != platform.SigTerminalStop {
		_ = platform.SignalGroup(platform.ProcessGroup(), platform.SigStop)
		return
	}
	f.mu.Lock()
	f.stops++
	f.mu.Unlock()
	_ = platform.SignalGroup(platform.ProcessGroup(), number)
	_ = platform.SignalProcess(os.Getpid(), platform.SigStop)
}

// signal acts on one that this process got.
func (f *front) signal(number int) {
	switch number {
	case platform.SigWindow:
		f.resize()
	case platform.SigContinue:
		f.takeTerminal()
		f.resize()
		f.tellPlace()
		f.tell(askContinue, 0)
	case platform.SigTerminalStop:
		f.mu.Lock()
		own := f.stops > 0
		if own {
			f.stops--
		}
		f.mu.Unlock()
		if !own {
			f.tell(askSignal, number)
		}
	default:
		f.tell(askSignal, number)
	}
}

// stopKeys reads no more keys: what is typed from now on is for the shell.
func (f *front) stopKeys() {
	f.mu.Lock()
	f.ended = true
	f.mu.Unlock()
	_ = f.wakeW.Close()
	close(f.inFore)
	<-f.keys
}
