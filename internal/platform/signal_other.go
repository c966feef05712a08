//go:build !linux && !darwin

package platform

import "syscall"

// Signals by number, since not every system has a name for each; a negative one is none.
const (
	SigHangUp       = -2
	SigInterrupt    = int(syscall.SIGINT)
	SigQuit         = -3
	SigKill         = int(syscall.SIGKILL)
	SigUser1        = -4
	SigUser2        = -5
	SigPipe         = -6
	SigTerminate    = int(syscall.SIGTERM)
	SigContinue     = -7
	SigStop         = -8
	SigTerminalStop = -9
	SigTerminalIn   = -10
	SigTerminalOut  = -11
	SigWindow       = -12
)
