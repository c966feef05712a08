//go:build linux || darwin

package platform

import "golang.org/x/sys/unix"

// Signals by number, since not every system has a name for each.
const (
	SigHangUp       = int(unix.SIGHUP)
	SigInterrupt    = int(unix.SIGINT)
	SigQuit         = int(unix.SIGQUIT)
	SigKill         = int(unix.SIGKILL)
	SigUser1        = int(unix.SIGUSR1)
	SigUser2        = int(unix.SIGUSR2)
	SigPipe         = int(unix.SIGPIPE)
	SigTerminate    = int(unix.SIGTERM)
	SigContinue     = int(unix.SIGCONT)
	SigStop         = int(unix.SIGSTOP)
	SigTerminalStop = int(unix.SIGTSTP)
	SigTerminalIn   = int(unix.SIGTTIN)
	SigTerminalOut  = int(unix.SIGTTOU)
	SigWindow       = int(unix.SIGWINCH)
)
