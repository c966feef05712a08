package platform

import "os"

// ChildPlace says which process group and session a child begins in.
type ChildPlace int

const (
	// ChildInOurGroup shares the group of this process: a key that signals the
	// terminal's foreground group reaches both.
	ChildInOurGroup ChildPlace = iota
	// ChildInOwnGroup leads a new group in this session.
	ChildInOwnGroup
	// ChildInForeground leads a new group that is the foreground of the terminal.
	ChildInForeground
	// ChildWithoutTerminal leads a new session that has no terminal.
	ChildWithoutTerminal
	// ChildInOwnSession leads a new session, whose controlling terminal is the
	// given one.
	ChildInOwnSession
)

// ChildOptions is what a child gets of this process, and nothing else.
type ChildOptions struct {
	Env   []string
	Files []*os.File // its descriptors 0, 1, 2 and on
	Place ChildPlace
	// Terminal is that of ChildInForeground and ChildInOwnSession; for the latter
	// it is one of Files.
	Terminal *os.File
}

// ChildState is a change of a child.
type ChildState struct {
	Kind   ChildChange
	Code   int // of Exited
	Signal int // of Killed and Stopped
}

// ChildChange says what happened to a child.
type ChildChange int

const (
	ChildExited    ChildChange = iota // it ended by itself
	ChildKilled                       // a signal ended it
	ChildStopped                      // a signal stopped it
	ChildContinued                    // it goes on
)

// StartChild starts a program as a child of this process, and returns its pid.
// The caller waits for it with [WaitChild] until it ended.
func StartChild(program string, argv []string, o ChildOptions) (pid int, err error) {
	return startChild(program, argv, o)
}

// WaitChild waits for the next change of a child. After ChildExited and
// ChildKilled the pid is nobody's, or somebody else's.
func WaitChild(pid int) (ChildState, error) { return waitChild(pid) }

// PollChild is WaitChild without waiting: changed is false where nothing has
// happened since.
func PollChild(pid int) (state ChildState, changed bool, err error) { return pollChild(pid) }

// StopOurselves stops this process, and returns when it goes on.
func StopOurselves() error { return stopOurselves() }

// SignalProcess sends a signal to a process, SignalGroup to each of a process
// group. Who has ended already is no error.
func SignalProcess(pid, signal int) error { return signalProcess(pid, signal) }

// SignalGroup sends a signal to each process of a group.
func SignalGroup(group, signal int) error { return signalProcess(-group, signal) }

// ProcessGroup is the group of this process.
func ProcessGroup() int { return processGroup() }

// ForegroundGroup is the process group that a terminal reads its keys for. It
// fails where tty is not the controlling terminal of this process.
func ForegroundGroup(tty *os.File) (group int, err error) { return foregroundGroup(tty) }

// SetForegroundGroup makes another group of this session the foreground of the
// terminal. Only for a process that ignores SIGTTOU.
func SetForegroundGroup(tty *os.File, group int) error { return setForegroundGroup(tty, group) }

// DieWithParent lets the kernel kill this process, and after execve the program
// that it became, when the thread that started it ends.
func DieWithParent() error { return dieWithParent() }

// MemoryFile makes a file that has no name in any directory and is closed when
// a program is executed. It vanishes with its last descriptor.
func MemoryFile(name string) (*os.File, error) { return memoryFile(name) }

// KeepOpen lets a file stay open under its number when this process executes a
// program, and returns the number.
func KeepOpen(f *os.File) (fd int, err error) { return keepOpen(f) }

// MoveTo makes f also this process's descriptor number fd, in place of what was
// there; it stays open when a program is executed.
func MoveTo(f *os.File, fd int) error { return moveTo(f, fd) }

// Execute makes this process the program, which gets argv and env as they are.
// It returns only if it fails.
func Execute(program string, argv, env []string) error { return execute(program, argv, env) }

// IsOrphan reports whether no process of this session waits for this one: if it
// stopped, nobody would let it go on.
func IsOrphan() bool { return isOrphan() }

// AwaitInput waits until a terminal has something to read, and reports whether
// it has: false means that wake, which nobody reads, became readable or closed.
func AwaitInput(tty, wake *os.File) (bool, error) { return awaitInput(tty, wake) }

// GrowPipe gives a pipe room for size bytes. Of what is no pipe it changes
// nothing and fails.
func GrowPipe(f *os.File, size int) error { return growPipe(f, size) }

// CloseOnExec keeps a file that was inherited from the program that this
// process executes.
func CloseOnExec(f *os.File) error { return closeOnExec(f) }

// IsReaderGone reports whether a write failed since nobody reads any more.
func IsReaderGone(err error) bool { return isReaderGone(err) }
