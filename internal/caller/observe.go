package caller

import (
	"path"
	"strings"

	"warder/internal/platform"
)

// link is what is known of one process of the chain.
type link struct {
	pid, ppid int
	euid      uint32
	own       bool   // both users are the caller's
	hidden    bool   // own, but program or environment can't be read
	exe       string // of own processes
	argv      []string
	comm      string
	start     uint64
	inode     uint64
	traces
}

func newLink(p held, own uint32) link {
	return link{
		pid: p.info.PID, ppid: p.info.PPID, euid: p.info.EUID,
		own:   p.info.UID == own && p.info.EUID == own,
		inode: inodeOf(p.pidfd),
	}
}

// name is what the process is looked up by: its program file where that can be
// read, else its first argument.
func (l link) name() string {
	if l.exe != "" {
		return exeName(l.exe)
	}
	return argName(at(l.argv, 0))
}

// observed is the link with everything but its environment. What can't be read
// stays empty: whether that is because the process is gone, verify finds out.
func (l link) observed() (link, platform.ProcStat) {
	stat, err := platform.ReadProcStat(l.pid)
	if err == nil {
		l.comm, l.start = stat.Comm, stat.Start
	}
	if argv, err := platform.ReadProcCmdline(l.pid); err == nil {
		l.argv = argv
	}
	if l.own {
		exe, err := platform.ReadProcExe(l.pid)
		l.exe, l.hidden = exe, err != nil
	}
	return l, stat
}

// traced is the link of an own process with the traces in its environment, and
// how many entries that has.
func (l link) traced(t *Tables, scratch []byte) (traced link, entries int) {
	if l.hidden {
		return l, 0
	}
	err := platform.ReadProcEnviron(l.pid, scratch, func(entry []byte) bool {
		entries++
		l.note(t, entry)
		return true
	})
	l.hidden = err != nil
	return l, entries
}

// transientUnit is the unit that systemd-run made for a process, or "". Such a
// process is whoever asked systemd for it, and its chain doesn't show who did.
func transientUnit(pid int) string {
	groups, err := platform.ReadProcCgroup(pid)
	if err != nil {
		return ""
	}
	return unitIn(groups)
}

// unitIn finds a transient unit in the text of /proc/PID/cgroup.
func unitIn(groups string) string {
	for line := range strings.Lines(groups) {
		for element := range strings.SplitSeq(strings.TrimSpace(line), "/") {
			kind := path.Ext(element)
			if strings.HasPrefix(element, "run-") && (kind == ".service" || kind == ".scope") {
				return element
			}
		}
	}
	return ""
}
