//go:build linux || darwin

package platform

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

func dropDumps() error {
	none := unix.Rlimit{} // soft and hard: nobody raises it again
	err := errors.Join(refuseTracing(), unix.Setrlimit(unix.RLIMIT_CORE, &none))
	if err != nil {
		return fmt.Errorf("hiding this process from debuggers: %w", err)
	}
	return nil
}
