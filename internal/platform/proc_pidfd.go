package platform

import (
	"context"
	"os"
)

// ProcessInfo is what the kernel tells of a process through a descriptor of it.
type ProcessInfo struct {
	// PID and PPID are seen from the pid namespace of the asking process. PPID
	// is 0 where the parent lives outside of it.
	PID, PPID int
	// UID and EUID are the real and the effective user.
	UID, EUID uint32
}

// OpenPidfd returns a descriptor of the process that has this pid now (Linux
// 5.3). The pid can't get to another process while this one is alive, so what
// was read by pid concerns this process if [PidfdAlive] is true afterwards. The
// caller closes the descriptor.
func OpenPidfd(pid int) (*os.File, error) { return openPidfd(pid) }

// PidfdInfo asks the kernel for the process behind a descriptor
// (PIDFD_GET_INFO, Linux 6.13), which no reuse of a pid can mislead. Older
// kernels answer with an error wrapping [ErrUnsupported]; a process that is gone
// gives one for which [IsNoProcess] is true.
func PidfdInfo(pidfd *os.File) (ProcessInfo, error) { return pidfdInfo(pidfd) }

// PidfdAlive reports whether the process has not exited yet. One that has
// exited and was not waited for (a zombie) is not alive, though signals still
// reach it.
func PidfdAlive(pidfd *os.File) bool { return pidfdAlive(pidfd) }

// PidfdInode returns the number that pidfs (Linux 6.9) gives to each process
// and to no other one until the next boot. Older kernels answer with an error
// wrapping [ErrUnsupported].
func PidfdInode(pidfd *os.File) (uint64, error) { return pidfdInode(pidfd) }

// WaitPidfd returns nil once the process has exited, or ctx's error. It blocks
// no thread, and does not need pidfd to stay open.
func WaitPidfd(ctx context.Context, pidfd *os.File) error { return waitPidfd(ctx, pidfd) }

// IsNoProcess reports whether err, or an error that it wraps, says that a
// process is not there, or not any more.
func IsNoProcess(err error) bool { return isNoProcess(err) }
