package proc

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"warder/internal/platform"
)

// Between the front, which has the person's terminal, and the monitor, which leads the session of the inner one, go
// messages of two bytes: what, and a number.
const (
	sayStopped    = 'T' // monitor: the signal that stopped the program
	sayExited     = 'X' // monitor: what the program returned
	sayKilled     = 'K' // monitor: the signal that ended it
	askSignal     = 's' // front: send the program this signal
	askContinue   = 'c' // front: go on, in the foreground unless askBackground came before
	askBackground = 'b' // front: be in the background
	messageBytes  = 2
)

// endGrace is how long a program whose front is gone may take to end by itself.
const endGrace = 2 * time.Second

// monitor starts the program below itself and stays: a program that led its session itself could not be stopped by a
// key, since nobody in its session would wait for it.
func monitor(program string, argv []string) int {
	control := os.NewFile(controlFD, "control")
	report := os.NewFile(reportFD, "report")
	pid, err := startBelow(program, argv, [2]*os.File{report, control})
	if err != nil {
		sendReport(report, err)
		return statusOwn
	}
	m := &monitored{control: control, pid: pid, released: make(chan struct{})}
	go m.obey()
	status := m.watch()
	<-m.released // its end is that of the terminal, where something left behind may still have to say something
	return status
}

func startBelow(program string, argv []string, ours [2]*os.File) (pid int, err error) {
	report := ours[0]
	for _, f := range ours {
		if err := platform.CloseOnExec(f); err != nil {
			return 0, err
		}
	}
	tty, err := platform.OpenTerminal()
	if err != nil {
		return 0, err
	}
	self, name, err := ownProgram(os.Args[0])
	if err != nil {
		return 0, err
	}
	values := os.NewFile(valuesFD, "values")
	// This process never is the foreground again, and must neither stop nor end by what is meant for the program.
	// A signal that is taken here is the program's own again once it is executed; one that is ignored for good by it is
	// only SIGINT or SIGHUP, so those are taken.
	signal.Ignore(syscall.Signal(platform.SigTerminalOut))
	notify(make(chan os.Signal, signalsHeld), platform.SigTerminalIn, platform.SigTerminalStop, platform.SigInterrupt, platform.SigQuit, platform.SigHangUp)
	pid, err = platform.StartChild(self, append([]string{name, StageCommand, partProgram, program}, argv...), platform.ChildOptions{
		Env:   stageEnv(),
		Files: []*os.File{os.NewFile(0, "stdin"), os.NewFile(1, "stdout"), os.NewFile(2, "stderr"), values, report},
		Place: platform.ChildInForeground, Terminal: tty,
	})
	if err != nil {
		return 0, err
	}
	return pid, errors.Join(values.Close(), report.Close(), tty.Close(), letGo())
}

// letGo closes the program's streams here, so that they end with the program and what it started.
func letGo() error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	for fd := range 3 {
		if err := platform.MoveTo(null, fd); err != nil {
			return err
		}
	}
	return nil
}

// monitored is a program below a monitor. It leads a process group.
type monitored struct {
	control  *os.File
	pid      int
	ended    atomic.Bool   // the program has ended
	released chan struct{} // closed when the front is done with the terminal, or gone

	background bool // of obey alone
}

// watch tells the front what becomes of the program.
func (m *monitored) watch() int {
	for {
		state, err := platform.WaitChild(m.pid)
		if err != nil {
			return statusOwn
		}
		switch state.Kind {
		case platform.ChildExited:
			m.end()
			m.say(sayExited, state.Code)
			return 0
		case platform.ChildKilled:
			m.end()
			m.say(sayKilled, state.Signal)
			return 0
		case platform.ChildStopped:
			m.say(sayStopped, state.Signal)
		case platform.ChildContinued:
		}
	}
}

// end takes the foreground from what the program left behind, as a shell does: the kernel hangs up on the foreground when the
// terminal is gone.
func (m *monitored) end() {
	m.ended.Store(true)
	m.setForeground(platform.ProcessGroup())
}

func (m *monitored) say(what byte, number int) {
	_, _ = m.control.Write([]byte{what, byte(number)}) // #nosec G115 -- an exit code or a signal
}

// obey does what the front asks for. When that is gone the program ends as it would with its terminal.
func (m *monitored) obey() {
	var message [messageBytes]byte
	defer close(m.released)
	for {
		if _, err := io.ReadFull(m.control, message[:]); err != nil {
			if !m.ended.Load() {
				m.hangUp()
			}
			return
		}
		switch number := int(message[1]); message[0] {
		case askSignal:
			_ = platform.SignalProcess(m.pid, number)
		case askBackground:
			m.background = true
			m.setForeground(platform.ProcessGroup())
		case askContinue:
			m.goOn()
		}
	}
}

// goOn lets the program's group go on. In the background it does too: what it shows there the front passes on.
func (m *monitored) goOn() {
	if !m.background && !m.ended.Load() {
		m.setForeground(m.pid)
	}
	m.background = false // said again each time
	_ = platform.SignalGroup(m.pid, platform.SigContinue)
}

func (m *monitored) setForeground(group int) {
	if tty, err := platform.OpenTerminal(); err == nil {
		_ = platform.SetForegroundGroup(tty, group)
		_ = tty.Close()
	}
}

func (m *monitored) hangUp() {
	_ = platform.SignalGroup(m.pid, platform.SigHangUp)
	_ = platform.SignalGroup(m.pid, platform.SigContinue)
	for end := time.Now().Add(endGrace); time.Now().Before(end); time.Sleep(endGrace / 100) {
		if m.ended.Load() {
			return
		}
	}
	_ = platform.SignalGroup(m.pid, platform.SigKill)
}
