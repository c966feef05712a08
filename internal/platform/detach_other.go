//go:build !linux && !darwin

package platform

import (
	"net"
	"os"
)

func startDetached(string, []string, *os.File) (*os.Process, error) { return nil, ErrUnsupported }

func connPair() (*net.UnixConn, *os.File, error) { return nil, nil, ErrUnsupported }
