package platform

import (
	"net"
)

// PeerCred is who connected a unix socket, as the kernel noted it at the time
// of connect. A socket that was inherited or passed on keeps it, so it tells
// who opened the connection, not who writes to it now.
type PeerCred struct {
	// PID is the connecting process as seen from here: 0 where it lives in a
	// pid namespace that is not this one or below it.
	PID int
	// UID and GID are its effective ids.
	UID, GID uint32
}

// PeerCredentials returns who is on the other end of conn (SO_PEERCRED; on
// macOS LOCAL_PEERCRED and LOCAL_PEERPID). By the time it is asked the process
// may have exited and its pid may be another's: see [PeerPidfd].
func PeerCredentials(conn *net.UnixConn) (PeerCred, error) { return peerCredentials(conn) }

// PeerPidfd returns a descriptor of the very process that connected conn
// (SO_PEERPIDFD, Linux 6.5), whatever became of its pid. A process that has
// exited yields a descriptor for which [PidfdAlive] is false, or an error for
// which [IsNoProcess] is true, depending on the kernel. The caller closes the
// descriptor.
func PeerPidfd(conn *net.UnixConn) (*Pidfd, error) { return peerPidfd(conn) }
