//go:build linux || darwin

package platform

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

func openTerminal() (*os.File, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, fmt.Errorf("opening the controlling terminal: %w", err)
	}
	return tty, nil
}

func readHidden(tty *os.File, prompt string, buf []byte) (n int, err error) {
	err = withFD(tty, func(fd uintptr) error {
		mode, err := newHiddenMode(int(fd))
		if err != nil {
			return err
		}
		n, err = mode.readLine(prompt, buf)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("reading a hidden line: %w", err)
	}
	return n, nil
}

// hiddenMode switches a terminal between its own modes and hidden ones, in
// which it neither shows nor interprets anything. In those Ctrl-C is a byte to
// read and no signal, so that only signals from elsewhere are left to handle.
type hiddenMode struct {
	fd            int
	plain, hidden unix.Termios
}

func newHiddenMode(fd int) (*hiddenMode, error) {
	plain, err := unix.IoctlGetTermios(fd, getModes)
	if err != nil {
		return nil, err
	}
	hidden := *plain
	hidden.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	hidden.Cc[unix.VMIN], hidden.Cc[unix.VTIME] = 1, 0
	return &hiddenMode{fd: fd, plain: *plain, hidden: hidden}, nil
}

// set changes the modes. A signal that arrives meanwhile is not a failure.
func (m *hiddenMode) set(request uint, modes *unix.Termios) error {
	for {
		if err := unix.IoctlSetTermios(m.fd, request, modes); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// readLine hides, reads and shows again.
func (m *hiddenMode) readLine(prompt string, buf []byte) (n int, err error) {
	alarm, err := newAlarm()
	if err != nil {
		return 0, err
	}
	defer alarm.close()
	if err := m.set(setModes, &m.hidden); err != nil {
		return 0, err
	}
	// What is left of a line that was given up must not reach the shell as a command.
	shown := setModesFlush
	defer func() {
		if err = errors.Join(err, m.set(shown, &m.plain)); err != nil || shown == setModesFlush {
			clear(buf)
		}
	}()
	if _, err := unix.Write(m.fd, []byte(prompt)); err != nil {
		return 0, err
	}
	line := hiddenLine{buf: buf, keys: m.keys()}
	if err := m.collect(&line, alarm); err != nil {
		return 0, err
	}
	shown = setModes
	return line.n, nil
}

// collect reads byte by byte, so that nothing beyond the line is taken, until
// the line is complete or a signal ends the wait.
func (m *hiddenMode) collect(line *hiddenLine, alarm *alarm) error {
	var b [1]byte
	defer clear(b[:])
	for {
		ready, err := m.await(alarm)
		if err != nil {
			return err
		}
		if !ready {
			continue
		}
		n, err := unix.Read(m.fd, b[:])
		switch {
		case isOneOf(err, unix.EINTR, unix.EAGAIN):
			continue
		case isOneOf(err, unix.EIO): // hung up
			return io.EOF
		case err != nil:
			return err
		case n == 0:
			return io.EOF
		}
		if done, err := line.key(b[0]); done || err != nil {
			return err
		}
	}
}

// await waits for a byte or a signal, and acts on signals.
func (m *hiddenMode) await(alarm *alarm) (ready bool, err error) {
	var set unix.FdSet
	if max(m.fd, alarm.fd()) >= len(set.Bits)*unix.NFDBITS {
		return false, unix.EMFILE // beyond what a set holds
	}
	set.Set(m.fd)
	set.Set(alarm.fd())
	// Not poll: on macOS it does not know terminals.
	if _, err := unix.Select(max(m.fd, alarm.fd())+1, &set, nil, nil, nil); err != nil {
		if isOneOf(err, unix.EINTR) {
			return false, nil
		}
		return false, err
	}
	if !set.IsSet(alarm.fd()) {
		return set.IsSet(m.fd), nil
	}
	switch s := alarm.next(); s {
	case unix.SIGTSTP:
		return false, m.stop()
	case unix.SIGCONT:
		return false, m.set(setModes, &m.hidden) // the shell may have changed them
	default:
		return false, fmt.Errorf("%w by signal: %v", ErrInterrupted, s)
	}
}

// stop does what the signal asks for, with the terminal as it was. The threads
// of a process stop a little later than it is told to, so the terminal is hidden
// again by the signal that ends the stop and not here.
func (m *hiddenMode) stop() error {
	if err := m.set(setModes, &m.plain); err != nil {
		return err
	}
	return unix.Kill(unix.Getpid(), unix.SIGSTOP)
}

func (m *hiddenMode) keys() lineKeys {
	key := func(index int) byte {
		if k := m.plain.Cc[index]; k != vDisable {
			return k
		}
		return 0
	}
	return lineKeys{
		interrupt: key(unix.VINTR), quit: key(unix.VQUIT),
		end: key(unix.VEOF), erase: key(unix.VERASE), kill: key(unix.VKILL),
	}
}

// alarm makes signals readable beside a terminal.
type alarm struct {
	r, w    *os.File
	signals chan os.Signal
	pending chan os.Signal
	done    chan struct{}
}

func newAlarm() (*alarm, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	a := &alarm{
		r: r, w: w,
		signals: make(chan os.Signal, 8),
		pending: make(chan os.Signal, 8),
		done:    make(chan struct{}),
	}
	for _, s := range [...]os.Signal{unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGHUP, unix.SIGTSTP, unix.SIGCONT} {
		if !signal.Ignored(s) { // as under nohup: it must not end this process now
			signal.Notify(a.signals, s)
		}
	}
	go a.forward()
	return a, nil
}

// forward hands each signal over and makes the pipe readable.
func (a *alarm) forward() {
	defer close(a.done)
	for s := range a.signals {
		select {
		case a.pending <- s:
			_, _ = a.w.Write([]byte{0})
		default: // enough of them wait
		}
	}
}

func (a *alarm) fd() int { return int(a.r.Fd()) }

// next takes the signal that made the pipe readable.
func (a *alarm) next() os.Signal {
	var b [1]byte
	_, _ = a.r.Read(b[:])
	return <-a.pending
}

func (a *alarm) close() {
	signal.Stop(a.signals)
	close(a.signals)
	<-a.done
	a.r.Close()
	a.w.Close()
}
