package platform

import (
	"fmt"
	"net"
	"os"
)

// InheritedFD is the number of the descriptor that [StartDetached] passes on.
const InheritedFD = 3

// StartDetached starts a program that takes nothing from this process but
// inherit, which becomes its descriptor [InheritedFD]: it has a session of its
// own, / as its directory, the null device for its streams and the environment
// of [CleanEnviron]. inherit stays the caller's, who closes it. The caller waits
// for the process or releases it.
func StartDetached(program string, args []string, inherit *os.File) (*os.Process, error) {
	p, err := startDetached(program, args, inherit)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	return p, nil
}

// ConnPair makes a connection that no path leads to: one end for this process,
// and the other as a file to pass on.
func ConnPair() (ours *net.UnixConn, theirs *os.File, err error) {
	ours, theirs, err = connPair()
	if err != nil {
		return nil, nil, fmt.Errorf("making a connection to pass on: %w", err)
	}
	return ours, theirs, nil
}

// InheritedConn is the connection behind a descriptor that this process was
// started with. The descriptor is closed, whatever comes of it.
func InheritedConn(fd int) (*net.UnixConn, error) {
	f := os.NewFile(uintptr(fd), "inherited") // #nosec G115 -- a small number
	if f == nil {
		return nil, fmt.Errorf("using the inherited descriptor %d: %w", fd, os.ErrInvalid)
	}
	defer f.Close()
	nc, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("using the inherited descriptor %d: %w", fd, err)
	}
	conn, ok := nc.(*net.UnixConn)
	if !ok {
		_ = nc.Close()
		return nil, fmt.Errorf("using the inherited descriptor %d: not a unix socket", fd)
	}
	return conn, nil
}
