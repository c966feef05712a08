package platform

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

func peerCredentials(conn *net.UnixConn) (PeerCred, error) {
	var cred *unix.Ucred
	err := withConn(conn, func(fd uintptr) (err error) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		return err
	})
	if err != nil {
		return PeerCred{}, fmt.Errorf("reading the peer's credentials: %w", err)
	}
	return PeerCred{PID: int(cred.Pid), UID: cred.Uid, GID: cred.Gid}, nil
}

func peerPidfd(conn *net.UnixConn) (*Pidfd, error) {
	var fd int
	err := withConn(conn, func(conn uintptr) (err error) {
		fd, err = unix.GetsockoptInt(int(conn), unix.SOL_SOCKET, unix.SO_PEERPIDFD)
		return err
	})
	switch {
	case isOneOf(err, unix.ENOPROTOOPT):
		err = fmt.Errorf("%w: %w", ErrUnsupported, err)
	case isOneOf(err, unix.EINVAL): // how Linux before 6.16 says that it has exited and was waited for
		err = fmt.Errorf("%w: %w", unix.ESRCH, err)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the peer's process: %w", err)
	}
	return &Pidfd{fd: fd}, nil
}

// withConn calls f with the descriptor of conn, which stays open meanwhile.
func withConn(conn *net.UnixConn, f func(fd uintptr) error) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = f(fd) }); err != nil {
		return err
	}
	return inner
}
