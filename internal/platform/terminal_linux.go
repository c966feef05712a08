package platform

import "golang.org/x/sys/unix"

const (
	getModes      uint = unix.TCGETS
	setModes      uint = unix.TCSETS
	setModesFlush uint = unix.TCSETSF
	setModesDrain uint = unix.TCSETSW

	vDisable = 0 // _POSIX_VDISABLE: no key
)
