//go:build linux || darwin

package platform

import (
	"errors"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func startDetached(program string, args []string, inherit *os.File) (*os.Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	return os.StartProcess(program, append([]string{program}, args...), &os.ProcAttr{
		Dir:   "/",
		Env:   CleanEnviron(),
		Files: []*os.File{null, null, null, inherit},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
}

func connPair() (*net.UnixConn, *os.File, error) {
	// Between making the pair and marking it, a child of another goroutine must
	// not be started: it would hold the connection open.
	syscall.ForkLock.RLock()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(pair[0])
		unix.CloseOnExec(pair[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, err
	}
	theirs := os.NewFile(uintptr(pair[1]), "inherited")
	conn, err := InheritedConn(pair[0])
	if err != nil {
		return nil, nil, errors.Join(err, theirs.Close())
	}
	return conn, theirs, nil
}
