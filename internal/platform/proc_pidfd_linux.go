package platform

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

func openPidfd(pid int) (*Pidfd, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if isOneOf(err, unix.ENOSYS) {
		err = fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	if err != nil {
		return nil, fmt.Errorf("opening process %d: %w", pid, err)
	}
	return &Pidfd{fd: fd}, nil
}

func closePidfd(fd int) error { return unix.Close(fd) }

func pidfdInfo(pidfd *Pidfd) (ProcessInfo, error) {
	info := unix.PidfdInfo{Mask: unix.PIDFD_INFO_PID | unix.PIDFD_INFO_CREDS}
	err := pidfd.use(func(fd int) error { return unix.IoctlPidfdInfo(fd, &info) })
	// ENOTTY and EINVAL are the answers of kernels that don't know the request.
	if isOneOf(err, unix.ENOTTY, unix.EINVAL, unix.ENOSYS) {
		err = fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	if err != nil {
		return ProcessInfo{}, fmt.Errorf("asking for a process: %w", err)
	}
	return ProcessInfo{PID: int(info.Tgid), PPID: int(info.Ppid), UID: info.Ruid, EUID: info.Euid}, nil
}

func pidfdAlive(pidfd *Pidfd) bool {
	exited := true
	err := pidfd.use(func(fd int) (err error) {
		exited, err = hasExited(fd)
		return err
	})
	return err == nil && !exited
}

// hasExited asks without waiting. A pidfd becomes readable when its process
// exits; signal 0, the other way to ask, still succeeds for a zombie and fails
// for the process of another user.
func hasExited(fd int) (bool, error) {
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(poll, 0)
		if !errors.Is(err, unix.EINTR) {
			return n > 0, err
		}
	}
}

func pidfdInode(pidfd *Pidfd) (uint64, error) {
	var inode uint64
	err := pidfd.use(func(fd int) error {
		var system unix.Statfs_t
		if err := unix.Fstatfs(fd, &system); err != nil {
			return err
		}
		if system.Type != unix.PID_FS_MAGIC {
			return ErrUnsupported // before pidfs all pidfds shared one inode
		}
		var stat unix.Stat_t
		if err := unix.Fstat(fd, &stat); err != nil {
			return err
		}
		inode = stat.Ino
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("reading a process's inode: %w", err)
	}
	return inode, nil
}

func waitPidfd(ctx context.Context, pidfd *Pidfd) error {
	watched, err := pollable(pidfd)
	if err != nil {
		return fmt.Errorf("waiting for a process: %w", err)
	}
	defer watched.Close()
	defer context.AfterFunc(ctx, func() { watched.Close() })()
	raw, err := watched.SyscallConn()
	if err != nil {
		return fmt.Errorf("waiting for a process: %w", err)
	}
	var inner error
	err = raw.Read(func(fd uintptr) bool {
		var exited bool
		exited, inner = hasExited(int(fd))
		return exited || inner != nil
	})
	if err != nil {
		err = ctx.Err() // nobody else closes it
	}
	return errors.Join(err, inner)
}

// pollable is a second descriptor in non-blocking mode, so that package os hands
// it to the poller.
func pollable(pidfd *Pidfd) (*os.File, error) {
	var second int
	err := pidfd.use(func(fd int) (err error) {
		second, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(second, true); err != nil {
		unix.Close(second)
		return nil, err
	}
	return os.NewFile(uintptr(second), "pidfd"), nil
}

func isNoProcess(err error) bool { return isOneOf(err, unix.ESRCH, unix.ENOENT) }
