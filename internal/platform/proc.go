package platform

// ProcStat is what /proc/PID/stat tells of a process. Pids are those of the pid
// namespace that /proc shows: see [ProcIsOwn].
type ProcStat struct {
	PID, PPID int
	// Session is the pid of the session's leader, 0 where it is outside of the
	// pid namespace. The leader may be gone.
	Session int
	// TTY is the device number of the controlling terminal, 0 without one.
	TTY int
	// Start is when the process started, in clock ticks (10 ms) since boot.
	Start uint64
	// Comm is the name of the program file or what the process made of it: at
	// most 15 bytes, which the process chooses freely.
	Comm string
	// State is a letter: Z is a zombie.
	State byte
}

// ReadProcStat reads the state of a process. It, like all functions here that
// take a pid, speaks of whoever has that pid at the time: hold a pidfd and
// check [PidfdAlive] afterwards. For a process that is not there they return an
// error for which [IsNoProcess] is true.
func ReadProcStat(pid int) (ProcStat, error) { return readProcStat(pid) }

// ReadProcInfo returns what [PidfdInfo] does, for kernels that don't answer that.
func ReadProcInfo(pid int) (ProcessInfo, error) { return readProcInfo(pid) }

// ReadProcExe returns the path of the program file of a process, with
// " (deleted)" appended if that file is gone or another one has its name. It
// fails with fs.ErrPermission for processes of other users and for those that
// are not dumpable, unless the reader is root.
func ReadProcExe(pid int) (string, error) { return readProcExe(pid) }

// ReadProcCmdline returns the arguments of a process, the first 4 KiB of them.
// The process may have overwritten them. There are none for a zombie, and for a
// moment in the middle of an exec; an environment is empty then, too.
func ReadProcCmdline(pid int) ([]string, error) { return readProcCmdline(pid) }

// ReadProcEnviron calls visit with each entry, NAME=VALUE, of the environment
// that a process was started with, until visit returns false. It reads through
// buf (at least 4096 bytes), and an entry longer than that comes cut. The
// entries may hold secrets: visit must not keep them, and buf is wiped at the
// end. It fails where [ReadProcExe] fails.
func ReadProcEnviron(pid int, buf []byte, visit func(entry []byte) bool) error {
	return readProcEnviron(pid, buf, visit)
}

// ReadProcCgroup returns the control group of a process as /proc/PID/cgroup
// shows it.
func ReadProcCgroup(pid int) (string, error) { return readProcCgroup(pid) }

// SamePidNamespace reports whether a process lives in the same pid namespace as
// this one, and not in one below it. It needs no right over that process.
func SamePidNamespace(pid int) (bool, error) { return samePidNamespace(pid) }

// ProcIsOwn reports whether /proc shows the pid namespace of this process. If
// not, as in a new namespace under an old mount, a pid leads there to somebody
// else.
func ProcIsOwn() (bool, error) { return procIsOwn() }

// BootID returns the random id that the kernel chose at boot.
func BootID() (string, error) { return bootID() }
