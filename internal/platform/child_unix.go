//go:build linux || darwin

package platform

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

func startChild(program string, argv []string, o ChildOptions) (int, error) {
	attr := &syscall.SysProcAttr{}
	switch o.Place {
	case ChildInOurGroup:
	case ChildInOwnGroup:
		attr.Setpgid = true
	case ChildInForeground: // by its number here
		attr.Setpgid, attr.Foreground, attr.Ctty = true, true, int(o.Terminal.Fd())
	case ChildWithoutTerminal:
		attr.Setsid = true
	case ChildInOwnSession: // by its number there
		attr.Setsid, attr.Setctty, attr.Ctty = true, true, slices.Index(o.Files, o.Terminal)
	}
	files := make([]uintptr, len(o.Files))
	for i, f := range o.Files {
		files[i] = f.Fd()
	}
	pid, err := syscall.ForkExec(program, argv, &syscall.ProcAttr{Env: o.Env, Files: files, Sys: attr})
	if err != nil {
		return 0, &os.PathError{Op: "start", Path: program, Err: err}
	}
	return pid, nil
}

func waitChild(pid int) (ChildState, error) {
	state, _, err := childState(pid, 0)
	return state, err
}

func pollChild(pid int) (state ChildState, changed bool, err error) {
	return childState(pid, unix.WNOHANG)
}

func childState(pid, options int) (state ChildState, changed bool, err error) {
	var status unix.WaitStatus
	for {
		got, err := unix.Wait4(pid, &status, unix.WUNTRACED|unix.WCONTINUED|options, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return ChildState{}, false, fmt.Errorf("waiting for process %d: %w", pid, err)
		case got == 0:
			return ChildState{}, false, nil
		case status.Exited():
			return ChildState{Kind: ChildExited, Code: status.ExitStatus()}, true, nil
		case status.Signaled(): //nolint:misspell // its name
			return ChildState{Kind: ChildKilled, Signal: int(status.Signal())}, true, nil
		case status.Stopped():
			return ChildState{Kind: ChildStopped, Signal: int(status.StopSignal())}, true, nil
		case status.Continued():
			return ChildState{Kind: ChildContinued}, true, nil
		}
	}
}

func signalProcess(pid, signal int) error {
	err := unix.Kill(pid, unix.Signal(signal))
	if err == nil || errors.Is(err, unix.ESRCH) {
		return nil
	}
	return fmt.Errorf("sending signal %d to %d: %w", signal, pid, err)
}

func processGroup() int { return unix.Getpgrp() }

func foregroundGroup(tty *os.File) (group int, err error) {
	err = withFD(tty, func(fd uintptr) (err error) {
		group, err = unix.IoctlGetInt(int(fd), unix.TIOCGPGRP)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("asking a terminal for its foreground: %w", err)
	}
	return group, nil
}

func setForegroundGroup(tty *os.File, group int) error {
	err := withFD(tty, func(fd uintptr) error {
		return unix.IoctlSetPointerInt(int(fd), unix.TIOCSPGRP, group)
	})
	if err != nil {
		return fmt.Errorf("setting the foreground of a terminal: %w", err)
	}
	return nil
}

func keepOpen(f *os.File) (fd int, err error) {
	err = withFD(f, func(number uintptr) error {
		fd = int(number)
		_, err := unix.FcntlInt(number, unix.F_SETFD, 0)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("keeping a file open: %w", err)
	}
	return fd, nil
}

func execute(program string, argv, env []string) error {
	return &os.PathError{Op: "execute", Path: program, Err: syscall.Exec(program, argv, env)}
}

func isOrphan() bool {
	own, err := unix.Getsid(0)
	if err != nil || own == unix.Getpgrp() {
		return true // no process above the leader's own group is in its session
	}
	parents, err := unix.Getsid(unix.Getppid())
	return err != nil || parents != own
}

func awaitInput(tty, wake *os.File) (ready bool, err error) {
	err = withFD(tty, func(input uintptr) error {
		return withFD(wake, func(alarm uintptr) error {
			ready, err = selectTwo(int(input), int(alarm))
			return err
		})
	})
	if err != nil {
		return false, fmt.Errorf("waiting for a key: %w", err)
	}
	return ready, nil
}

// selectTwo reports whether a and not b has something to read. Not poll: on macOS it does not know terminals.
func selectTwo(a, b int) (bool, error) {
	for {
		var set unix.FdSet
		if max(a, b) >= len(set.Bits)*unix.NFDBITS {
			return false, unix.EMFILE // beyond what a set holds
		}
		set.Set(a)
		set.Set(b)
		_, err := unix.Select(max(a, b)+1, &set, nil, nil, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return false, err
		}
		return !set.IsSet(b) && set.IsSet(a), nil
	}
}

func closeOnExec(f *os.File) error {
	return withFD(f, func(fd uintptr) error {
		_, err := unix.FcntlInt(fd, unix.F_SETFD, unix.FD_CLOEXEC)
		return err
	})
}

func isReaderGone(err error) bool { return errors.Is(err, unix.EPIPE) }
