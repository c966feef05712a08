//go:build !linux && !darwin

package platform

import (
	"net"
)

func peerCredentials(*net.UnixConn) (PeerCred, error) { return PeerCred{}, ErrUnsupported }

func peerPidfd(*net.UnixConn) (*Pidfd, error) { return nil, ErrUnsupported }
