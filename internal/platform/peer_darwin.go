package platform

import (
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// solLocal is the level of the options of unix sockets (SOL_LOCAL in sys/un.h).
const solLocal = 0

func peerCredentials(conn *net.UnixConn) (PeerCred, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return PeerCred{}, fmt.Errorf("reading the peer's credentials: %w", err)
	}
	var (
		cred   *unix.Xucred
		pid    int
		errUID error
		errPID error
	)
	err = raw.Control(func(fd uintptr) {
		cred, errUID = unix.GetsockoptXucred(int(fd), solLocal, unix.LOCAL_PEERCRED)
		pid, errPID = unix.GetsockoptInt(int(fd), solLocal, unix.LOCAL_PEERPID)
	})
	if err := errors.Join(err, errUID, errPID); err != nil {
		return PeerCred{}, fmt.Errorf("reading the peer's credentials: %w", err)
	}
	return PeerCred{PID: pid, UID: cred.Uid, GID: cred.Groups[0]}, nil
}

func peerPidfd(*net.UnixConn) (*Pidfd, error) { return nil, ErrUnsupported }
