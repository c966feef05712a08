//go:build linux || darwin

package platform

import (
	"os"

	"golang.org/x/sys/unix"
)

func endSignals() []os.Signal { return []os.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP} }
