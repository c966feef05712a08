package caller

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"warder/internal/platform"
)

// ErrGone says that the caller's process has exited. Nobody is left to answer.
var ErrGone = errors.New("the caller has exited")

// errOutside is the answer to a caller whose pid reads 0: it runs outside of
// this pid namespace, and nothing can be known of it.
var errOutside = errors.New("the caller is outside of this pid namespace")

// Peer is the process that connected a socket. It is held by a pidfd, so that
// its pid can't come to mean another process, until Close. It is safe for
// concurrent use.
type Peer struct {
	pid   int
	uid   uint32
	pidfd *platform.Pidfd // nil where the system has none
	blind string          // then why
	weak  bool            // the pidfd was opened by pid

	watch sync.Once
	done  chan struct{}
	ctx   context.Context // ends with Close
	close context.CancelFunc
}

// noUser is the user of a peer of whom the system tells nothing.
const noUser = ^uint32(0)

// PeerOf identifies the process on the other end of a connection; call it when
// the connection was accepted. It fails with [ErrGone] if that process has
// exited, and if it is outside of this pid namespace. On systems without pidfds
// it succeeds and Judge answers unknown.
func PeerOf(conn *net.UnixConn) (*Peer, error) {
	p := &Peer{uid: noUser, done: make(chan struct{})}
	p.ctx, p.close = context.WithCancel(context.Background())
	cred, err := platform.PeerCredentials(conn)
	switch {
	case errors.Is(err, platform.ErrUnsupported):
		p.blind = "this system does not tell who calls"
		return p, nil
	case err != nil:
		return nil, fmt.Errorf("identifying the caller: %w", err)
	case cred.PID <= 0:
		return nil, fmt.Errorf("identifying the caller: %w", errOutside)
	}
	p.pid, p.uid = cred.PID, cred.UID
	if err := p.hold(conn); err != nil {
		return nil, fmt.Errorf("identifying the caller: %w", err)
	}
	return p, nil
}

// hold opens the pidfd and checks that it is that of a living process.
func (p *Peer) hold(conn *net.UnixConn) (err error) {
	p.pidfd, err = platform.PeerPidfd(conn)
	if errors.Is(err, platform.ErrUnsupported) {
		// The socket does not name the process. Between connect and now the pid
		// may have become another's: the evidence says so.
		p.weak = true
		p.pidfd, err = platform.OpenPidfd(p.pid)
	}
	switch {
	case errors.Is(err, platform.ErrUnsupported):
		p.blind = "this system can't hold on to a process (no pidfd)"
		return nil
	case platform.IsNoProcess(err):
		return ErrGone
	case err != nil:
		return err
	}
	if !p.Alive() {
		p.Close()
		return ErrGone
	}
	return nil
}

// PID is the caller's pid in this pid namespace, 0 where the system tells none.
func (p *Peer) PID() int { return p.pid }

// UID is the effective user at the time of connect; the highest number, which
// is no user, where the system tells none.
func (p *Peer) UID() uint32 { return p.uid }

// Alive reports whether the process has not exited. On systems without pidfds
// it is always true: only the connection's end tells there.
func (p *Peer) Alive() bool { return p.pidfd == nil || platform.PidfdAlive(p.pidfd) }

// Done is closed when the process exits. It stays open after Close, and on
// systems without pidfds.
func (p *Peer) Done() <-chan struct{} {
	p.watch.Do(func() {
		if p.pidfd == nil {
			return
		}
		go func() {
			if platform.WaitPidfd(p.ctx, p.pidfd) == nil {
				close(p.done)
			}
		}()
	})
	return p.done
}

// Instance names the caller's own process, for the holder of a lease: Judge is
// told of such by inode. It fails with [ErrGone] if the process has exited.
func (p *Peer) Instance() (Instance, error) {
	if p.pidfd == nil {
		return Instance{PID: p.pid}, fmt.Errorf("naming the caller: %w", platform.ErrUnsupported)
	}
	return InstanceOf(p.pid, p.pidfd)
}

// InstanceOf names the process of that number which is held by pidfd. It fails
// with [ErrGone] if the process has exited.
func InstanceOf(pid int, pidfd *platform.Pidfd) (Instance, error) {
	boot, err := platform.BootID()
	if err != nil {
		return Instance{}, fmt.Errorf("naming a process: %w", err)
	}
	stat, err := platform.ReadProcStat(pid)
	if !platform.PidfdAlive(pidfd) {
		return Instance{}, ErrGone
	}
	if err != nil {
		return Instance{}, fmt.Errorf("naming a process: %w", err)
	}
	return Instance{BootID: boot, PID: pid, Start: stat.Start, Inode: inodeOf(pidfd)}, nil
}

// inodeOf is the pidfs inode, or 0.
func inodeOf(pidfd *platform.Pidfd) uint64 {
	inode, err := platform.PidfdInode(pidfd)
	if err != nil {
		return 0
	}
	return inode
}

// Close lets go of the process and ends the watching.
func (p *Peer) Close() {
	p.close()
	if p.pidfd != nil {
		_ = p.pidfd.Close() // nothing was written to it
	}
}
