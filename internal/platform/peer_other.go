//go:build !linux && !darwin

package platform

import (
	"net"
	"os"
)

func peerCredentials(*net.UnixConn) (PeerCred, error) { return PeerCred{}, ErrUnsupported }

func peerPidfd(*net.UnixConn) (*os.File, error) { return nil, ErrUnsupported }
