package proc

import (
	"os"
	"os/signal"
	"syscall"

	"warder/internal/platform"
)

// signalsHeld is how many signals wait to be passed on before one is lost.
const signalsHeld = 64

// relayed are the signals that somebody may send this process and mean the program. SIGPIPE among them is never passed
// on: noticing it keeps a write to a closed stream from ending this process.
func relayed() []int {
	return []int{
		platform.SigHangUp, platform.SigInterrupt, platform.SigQuit, platform.SigTerminate, platform.SigUser1,
		platform.SigUser2, platform.SigPipe, platform.SigContinue, platform.SigTerminalStop, platform.SigWindow,
	}
}

// signals are those that wait to be passed on.
type signals struct {
	c     chan os.Signal
	taken chan struct{} // closed when they are taken
}

// takeSignals begins to take those that are passed on. It goes on beside the start of the program, since the runtime needs
// a while for each.
func takeSignals() *signals {
	s := &signals{c: make(chan os.Signal, signalsHeld), taken: make(chan struct{})}
	go func() {
		defer close(s.taken)
		notify(s.c, relayed()...)
	}()
	return s
}

// notify begins to take signals. One that this process was started to ignore, as under nohup, stays so for both.
func notify(c chan os.Signal, numbers ...int) {
	for _, n := range numbers {
		if s := syscall.Signal(n); n > 0 && !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
}

func numberOf(s os.Signal) int {
	n, _ := s.(syscall.Signal)
	return int(n)
}

// terminalSent reports whether a signal came from the terminal, which then sent it to the program too: it is not to
// arrive twice. tty is the controlling terminal if the program shares the group of this process, else nil.
//
// The kernel does not tell Go who sent it. In the foreground of the terminal it was a key, or somebody who signals the
// group; who signals this process alone there is taken for a key.
func terminalSent(tty *os.File, number int) bool {
	if tty == nil {
		return false
	}
	group, err := platform.ForegroundGroup(tty)
	switch number {
	case platform.SigInterrupt, platform.SigQuit, platform.SigTerminalStop:
		return err == nil && group == platform.ProcessGroup()
	case platform.SigHangUp:
		return err != nil // the terminal is gone
	case platform.SigWindow:
		return true
	}
	return false
}
