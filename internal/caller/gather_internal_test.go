package caller

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"warder/internal/platform"
)

// sleeper is a child that lives until it is told to end.
type sleeper struct {
	cmd   *exec.Cmd
	stdin io.Closer
	pidfd *platform.Pidfd
}

func startSleeper(t testing.TB) *sleeper {
	t.Helper()
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	s := &sleeper{cmd: cmd, stdin: stdin}
	t.Cleanup(s.end)
	if s.pidfd, err = platform.OpenPidfd(cmd.Process.Pid); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { s.pidfd.Close() })
	return s
}

// end lets the child end and waits for it.
func (s *sleeper) end() {
	s.stdin.Close()
	_ = s.cmd.Wait()
}

func (s *sleeper) subject() subject {
	return subject{pidfd: s.pidfd, pid: s.cmd.Process.Pid, own: uint32(os.Geteuid())}
}

// meddle makes a walker whose n-th look at a process, from 1, goes through lie.
func meddle(pid int, lie func(n int, info *platform.ProcessInfo) error) walker {
	looks := 0
	info := func(pidfd *platform.Pidfd, p int) (platform.ProcessInfo, error) {
		info, err := infoOf(pidfd, p)
		if p == pid && err == nil {
			looks++
			err = lie(looks, &info)
		}
		return info, err
	}
	return walker{platform.OpenPidfd, info, func(pidfd *platform.Pidfd, p int) (int, error) {
		i, err := info(pidfd, p)
		return i.PPID, err
	}}
}

// TestC43_chainsThatChange: each process is looked at twice, first on the way up
// and then to see whether all of it still holds.
func TestC43_chainsThatChange(t *testing.T) {
	tables, s := loaded(t), startSleeper(t)
	self, parent := os.Getpid(), os.Getppid()
	elsewhere := func(info *platform.ProcessInfo) { info.PPID = 1 }
	for _, row := range []struct {
		name string
		pid  int
		lie  func(n int, info *platform.ProcessInfo) error
		want error
	}{
		{"nothing", 0, nil, nil},
		{"another parent at the second look, once", s.cmd.Process.Pid, func(n int, info *platform.ProcessInfo) error {
			if n == 2 {
				elsewhere(info)
			}
			return nil
		}, nil},
		{"another parent at every second look", s.cmd.Process.Pid, func(n int, info *platform.ProcessInfo) error {
			if n%2 == 0 {
				elsewhere(info)
			}
			return nil
		}, errChanged},
		{"an ancestor that changed once", self, func(n int, info *platform.ProcessInfo) error {
			if n == 2 {
				elsewhere(info)
			}
			return nil
		}, nil},
		{"an ancestor that dies each time", parent, func(n int, _ *platform.ProcessInfo) error {
			if n%2 == 0 {
				return syscall.ESRCH
			}
			return nil
		}, errChanged},
		{"an ancestor that died once", parent, func(n int, _ *platform.ProcessInfo) error {
			if n == 1 {
				return syscall.ESRCH
			}
			return nil
		}, nil},
		{"another failure", self, func(int, *platform.ProcessInfo) error { return errOutside }, errOutside},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWalker()
			if row.lie != nil {
				w = meddle(row.pid, row.lie)
			}
			c, err := tables.gather(s.subject(), w)
			if !errors.Is(err, row.want) || (err == nil) != (row.want == nil) {
				t.Fatalf("error %v, want %v", err, row.want)
			}
			if err == nil && (len(c.links) < 2 || c.links[0].pid != s.cmd.Process.Pid || c.links[1].pid != self) {
				t.Errorf("chain %+v", c.links)
			}
		})
	}
}

// TestC43_parentOfAnotherProcess: the parent died and its pid has gone to a
// stranger when it is opened. By then the caller has another parent, which gives
// it away.
func TestC43_parentOfAnotherProcess(t *testing.T) {
	s, stranger := startSleeper(t), startSleeper(t)
	gone := os.Getpid()
	opened := false
	w := newWalker()
	w.open = func(pid int) (*platform.Pidfd, error) {
		if pid == gone {
			opened = true
			pid = stranger.cmd.Process.Pid
		}
		return platform.OpenPidfd(pid)
	}
	w.info = func(pidfd *platform.Pidfd, pid int) (platform.ProcessInfo, error) {
		info, err := infoOf(pidfd, pid)
		if pid == gone {
			info.PPID = 0 // so that the walk ends here
		}
		return info, err
	}
	w.parent = func(pidfd *platform.Pidfd, pid int) (int, error) {
		if opened {
			return 1, nil
		}
		return parentOf(pidfd, pid)
	}
	processes, err := w.walk(s.pidfd, s.cmd.Process.Pid)
	if err != nil || len(processes) != 2 {
		t.Fatalf("%d processes, %v", len(processes), err)
	}
	defer release(processes)
	if err := w.verify(processes); !errors.Is(err, errChanged) {
		t.Errorf("a stranger passed as the parent: %v", err)
	}
}

// TestC43_callerThatDies during each look.
func TestC43_callerThatDies(t *testing.T) {
	for _, when := range []int{1, 2} {
		s := startSleeper(t)
		w := meddle(s.cmd.Process.Pid, func(n int, _ *platform.ProcessInfo) error {
			if n == when {
				s.end()
			}
			return nil
		})
		if _, err := loaded(t).gather(s.subject(), w); !errors.Is(err, ErrGone) {
			t.Errorf("at look %d: %v", when, err)
		}
	}
}

// TestProcAgreesWithTheKernel: the way of older kernels sees the same.
func TestProcAgreesWithTheKernel(t *testing.T) {
	s := startSleeper(t)
	want, err := platform.PidfdInfo(s.pidfd)
	if err != nil {
		t.Skip(err)
	}
	if got, err := infoFromProc(s.pidfd, s.cmd.Process.Pid); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	pid := s.cmd.Process.Pid
	s.end()
	if _, err := infoFromProc(s.pidfd, pid); !errors.Is(err, errChanged) {
		t.Errorf("of a dead process: %v", err)
	}
}

// TestGather_unseen: where /proc hides a living process nothing is known, which
// is no failure.
func TestGather_unseen(t *testing.T) {
	s := startSleeper(t)
	w := meddle(os.Getpid(), func(int, *platform.ProcessInfo) error { return errors.Join(errUnseen, syscall.ENOENT) })
	tables := loaded(t)
	c, err := tables.gather(s.subject(), w)
	if err != nil {
		t.Fatal(err)
	}
	if id := tables.judge(c, nil); id.Verdict != Unknown || id.Why != errUnseen.Error() {
		t.Errorf("judged %s: %s", id.Verdict, id.Why)
	}
}

// TestGather_closesWhatItOpens, whether it succeeds or not.
func TestGather_closesWhatItOpens(t *testing.T) {
	s := startSleeper(t)
	var opened []*platform.Pidfd
	w := meddle(s.cmd.Process.Pid, func(n int, info *platform.ProcessInfo) error {
		if n == 2 {
			info.PPID = 1
		}
		return nil
	})
	open := w.open
	w.open = func(pid int) (*platform.Pidfd, error) {
		f, err := open(pid)
		opened = append(opened, f)
		return f, err
	}
	if _, err := loaded(t).gather(s.subject(), w); err != nil {
		t.Fatal(err)
	}
	if len(opened) < 2 {
		t.Fatalf("%d opened", len(opened))
	}
	for i, f := range opened {
		if err := f.Close(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("descriptor %d of %d was left open", i, len(opened))
		}
	}
	if !platform.PidfdAlive(s.pidfd) {
		t.Error("the caller's own descriptor was closed")
	}
}
