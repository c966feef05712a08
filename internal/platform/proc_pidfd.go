package platform

import (
	"context"
	"io/fs"
	"sync"
)

// Pidfd is a descriptor of a process. It is safe for concurrent use, and must be closed. It is no os.File, which asks the kernel what it
// was given each time: a judgement opens one for every ancestor.
type Pidfd struct {
	mu sync.RWMutex // its writer is Close alone: what is being asked through fd must not meet another file's number
	fd int          // -1 once closed
}

// Close gives up the descriptor. Whoever waits by [WaitPidfd] goes on waiting.
func (p *Pidfd) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fd < 0 {
		return fs.ErrClosed
	}
	fd := p.fd
	p.fd = -1
	return closePidfd(fd)
}

// use lends f the descriptor, which stays open meanwhile.
func (p *Pidfd) use(f func(fd int) error) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.fd < 0 {
		return fs.ErrClosed
	}
	return f(p.fd)
}

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
func OpenPidfd(pid int) (*Pidfd, error) { return openPidfd(pid) }

// PidfdInfo asks the kernel for the process behind a descriptor
// (PIDFD_GET_INFO, Linux 6.13), which no reuse of a pid can mislead. Older
// kernels answer with an error wrapping [ErrUnsupported]; a process that is gone
// gives one for which [IsNoProcess] is true.
func PidfdInfo(pidfd *Pidfd) (ProcessInfo, error) { return pidfdInfo(pidfd) }

// PidfdAlive reports whether the process has not exited yet. One that has
// exited and was not waited for (a zombie) is not alive, though signals still
// reach it.
func PidfdAlive(pidfd *Pidfd) bool { return pidfdAlive(pidfd) }

// PidfdInode returns the number that pidfs (Linux 6.9) gives to each process
// and to no other one until the next boot. Older kernels answer with an error
// wrapping [ErrUnsupported].
func PidfdInode(pidfd *Pidfd) (uint64, error) { return pidfdInode(pidfd) }

// WaitPidfd returns nil once the process has exited, or ctx's error. It blocks
// no thread, and does not need pidfd to stay open.
func WaitPidfd(ctx context.Context, pidfd *Pidfd) error { return waitPidfd(ctx, pidfd) }

// IsNoProcess reports whether err, or an error that it wraps, says that a
// process is not there, or not any more.
func IsNoProcess(err error) bool { return isNoProcess(err) }
