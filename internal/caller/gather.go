package caller

import (
	"errors"
	"fmt"
	"slices"

	"warder/internal/platform"
)

// maxAncestors is how many processes above the caller are looked at (S2-31). A
// chain that goes on beyond them hides what is above, so nobody in it is a person.
const maxAncestors = 16

// errChanged says that the chain was not the same from beginning to end.
var errChanged = errors.New("the processes above the caller changed while they were looked at")

// errUnseen says that /proc does not show a process that is alive.
var errUnseen = errors.New("/proc hides the processes of other users (hidepid)")

// chain is what was gathered: all that judge sees.
type chain struct {
	links []link // the caller, its parent, and so on
	cut   bool   // there are more above
	blind string // why there are none

	own     uint32 // the caller's user
	boot    string
	session int    // the pid of the leader of the caller's session
	tty     int    // the caller's controlling terminal, 0 for none
	unit    string // the transient unit that the caller runs in
	below   bool   // the caller is in a pid namespace below this one
	weak    bool   // the caller is known by its pid alone
	bare    bool   // somebody's environment read as empty
}

// held is one process of the chain that can't be mistaken for another one.
type held struct {
	pidfd *platform.Pidfd
	info  platform.ProcessInfo
}

// walker goes up from a process. Its functions are replaced in tests.
type walker struct {
	open func(pid int) (*platform.Pidfd, error)
	info func(pidfd *platform.Pidfd, pid int) (platform.ProcessInfo, error)
	// parent is the part of info that is asked for twice.
	parent func(pidfd *platform.Pidfd, pid int) (ppid int, err error)
}

// newWalker asks the kernel through pidfds where it can tell, else /proc.
func newWalker() walker {
	return walker{open: platform.OpenPidfd, info: infoOf, parent: parentOf}
}

func infoOf(pidfd *platform.Pidfd, pid int) (platform.ProcessInfo, error) {
	info, err := platform.PidfdInfo(pidfd)
	if err != nil && platform.PidfdAlive(pidfd) {
		return infoFromProc(pidfd, pid)
	}
	return info, err
}

func parentOf(pidfd *platform.Pidfd, pid int) (int, error) {
	info, err := platform.PidfdInfo(pidfd)
	if err != nil && platform.PidfdAlive(pidfd) {
		return parentFromProc(pidfd, pid)
	}
	return info.PPID, err
}

// infoFromProc reads by pid. What was read is that of the process that is held
// if it is still alive afterwards, which verify finds out: until then nobody
// else can have its pid.
func infoFromProc(pidfd *platform.Pidfd, pid int) (platform.ProcessInfo, error) {
	info, err := platform.ReadProcInfo(pid)
	return info, unread(pidfd, err)
}

func parentFromProc(pidfd *platform.Pidfd, pid int) (int, error) {
	stat, err := platform.ReadProcStat(pid)
	return stat.PPID, unread(pidfd, err)
}

// unread judges the error of a reading by what became of the process.
func unread(pidfd *platform.Pidfd, err error) error {
	switch {
	case err == nil:
		return nil
	case !platform.PidfdAlive(pidfd):
		return errChanged
	}
	return fmt.Errorf("%w: %w", errUnseen, err)
}

// walk collects a process and its ancestors. The first pidfd stays the
// caller's; release closes the others.
func (w walker) walk(pidfd *platform.Pidfd, pid int) (processes []held, err error) {
	defer func() {
		if err != nil {
			release(processes)
			processes = nil
		}
	}()
	for {
		info, err := w.info(pidfd, pid)
		processes = append(processes, held{pidfd, info})
		if err != nil {
			return processes, asChange(err)
		}
		if info.PPID == 0 || len(processes) > maxAncestors {
			return processes, nil
		}
		pid = info.PPID
		if pidfd, err = w.open(pid); err != nil {
			return processes, asChange(err)
		}
	}
}

// asChange takes the death of an ancestor for a change of the chain.
func asChange(err error) error {
	if platform.IsNoProcess(err) && !errors.Is(err, errUnseen) {
		return errChanged
	}
	return err
}

// verify reports whether all are still alive and each still has the parent that
// it had. A pid that was read from a child and opened afterwards is that child's
// parent if, after that, the child names the same pid: a parent that dies gives
// its children, dead ones too, to another process before it is a zombie, and
// that one existed before, so it can't have taken over the pid. So a child's
// answer also says that its parent lives, and only the caller, whose child is
// not asked, has to be looked at itself.
//
// That is why the topmost is asked first. By /proc an answer is that of whoever
// has the pid; that the parent lives when the child answers makes everything
// that was read of the parent until then its own.
func (w walker) verify(processes []held) error {
	for _, p := range slices.Backward(processes) {
		ppid, err := w.parent(p.pidfd, p.info.PID)
		if err != nil {
			return asChange(err)
		}
		if ppid != p.info.PPID {
			return errChanged
		}
	}
	if !platform.PidfdAlive(processes[0].pidfd) {
		return errChanged
	}
	return nil
}

// release closes all pidfds but the first.
func release(processes []held) {
	for i, p := range processes {
		if i > 0 {
			_ = p.pidfd.Close() // nothing was written to it
		}
	}
}

// subject is the process to gather the chain of.
type subject struct {
	pidfd *platform.Pidfd
	pid   int
	own   uint32
	self  func(name string) string // reads the environment of this very process
}

// gather collects the chain above a process, again if it changed meanwhile. It
// fails with ErrGone if the process itself is gone.
func (t *Tables) gather(s subject, w walker) (chain, error) {
	if own, err := t.procIsOwn(); err != nil || !own {
		return chain{blind: "/proc does not show the processes of this pid namespace"}, nil
	}
	boot, err := t.bootID()
	if err != nil {
		return chain{}, fmt.Errorf("looking at the caller: %w", err)
	}
	c, err := t.attempt(s, w)
	// In the middle of an exec an environment reads as empty for a moment.
	if errors.Is(err, errChanged) || err == nil && c.bare {
		c, err = t.attempt(s, w)
	}
	switch {
	case errors.Is(err, errUnseen):
		return chain{blind: errUnseen.Error()}, nil
	case err != nil && !platform.PidfdAlive(s.pidfd):
		return chain{}, fmt.Errorf("looking at the caller: %w", ErrGone)
	case err != nil:
		return chain{}, fmt.Errorf("looking at the caller: %w", err)
	}
	c.boot = boot
	return c, nil
}

// attempt collects the chain once. All is held until all was read.
func (t *Tables) attempt(s subject, w walker) (chain, error) {
	processes, err := w.walk(s.pidfd, s.pid)
	if err != nil {
		return chain{}, err
	}
	defer release(processes)
	c := chain{own: s.own, cut: processes[len(processes)-1].info.PPID != 0}
	scratch := make([]byte, 16<<10)
	for i, p := range processes {
		l, stat := newLink(p, s.own).observed()
		switch {
		case i == 0 && s.self != nil:
			l.traces = tracesOf(t, s.self)
		case l.own:
			var entries int
			l, entries = l.traced(t, scratch)
			c.bare = c.bare || entries == 0 && !l.hidden
		}
		if i == 0 {
			c.session, c.tty = stat.Session, stat.TTY
		}
		c.links = append(c.links, l)
	}
	c.unit = transientUnit(s.pid)
	same, err := platform.SamePidNamespace(s.pid)
	c.below = err == nil && !same
	return c, w.verify(processes)
}
