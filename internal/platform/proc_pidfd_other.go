//go:build !linux

package platform

import (
	"context"
	"os"
)

func openPidfd(int) (*os.File, error) { return nil, ErrUnsupported }

func pidfdInfo(*os.File) (ProcessInfo, error) { return ProcessInfo{}, ErrUnsupported }

func pidfdAlive(*os.File) bool { return false }

func pidfdInode(*os.File) (uint64, error) { return 0, ErrUnsupported }

func waitPidfd(context.Context, *os.File) error { return ErrUnsupported }

func isNoProcess(error) bool { return false }
