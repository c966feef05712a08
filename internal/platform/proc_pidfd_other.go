//go:build !linux

package platform

import "context"

func openPidfd(int) (*Pidfd, error) { return nil, ErrUnsupported }

func closePidfd(int) error { return ErrUnsupported }

func pidfdInfo(*Pidfd) (ProcessInfo, error) { return ProcessInfo{}, ErrUnsupported }

func pidfdAlive(*Pidfd) bool { return false }

func pidfdInode(*Pidfd) (uint64, error) { return 0, ErrUnsupported }

func waitPidfd(context.Context, *Pidfd) error { return ErrUnsupported }

func isNoProcess(error) bool { return false }
