package platform

import "golang.org/x/sys/unix"

const (
	getModes      uint = unix.TIOCGETA
	setModes      uint = unix.TIOCSETA
	setModesFlush uint = unix.TIOCSETAF
	setModesDrain uint = unix.TIOCSETAW

	vDisable = 0xff // _POSIX_VDISABLE: no key
)
