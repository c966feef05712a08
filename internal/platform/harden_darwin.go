package platform

import "golang.org/x/sys/unix"

func refuseTracing() error { return unix.PtraceDenyAttach() }
