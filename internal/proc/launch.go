package proc

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"

	"warder/internal/platform"
)

// stage is a process that becomes the program once it has the values.
type stage struct {
	pid      int
	values   *net.UnixConn // the values go in here
	reported *os.File      // why there is no program comes out here
	thread   chan struct{} // closed when the thread that started it may end
}

// stageOrder says how a stage is started.
type stageOrder struct {
	part     string
	place    platform.ChildPlace
	files    []*os.File  // the standard streams
	piped    [2]*os.File // of one that is started ahead
	control  *os.File    // of a monitor
	terminal *os.File    // of a monitor
}

// startStage starts a stage. What it is given stays the caller's.
//
// The values go through a pair of sockets, not through a pipe: whoever may look at this process's descriptors in /proc could
// open a pipe there and read along, and a socket nobody can open.
func startStage(spec *Spec, o stageOrder) (*stage, error) {
	ours, theirs, err := platform.ConnPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	reported, report, err := os.Pipe()
	if err != nil {
		_ = ours.Close()
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	defer report.Close()
	s := &stage{values: ours, reported: reported, thread: make(chan struct{})}
	options := platform.ChildOptions{Env: stageEnv(), Place: o.place, Terminal: o.terminal}
	options.Files = append(append(options.Files, o.files...), theirs, report)
	switch {
	case o.control != nil:
		options.Files = append(options.Files, o.control)
	case o.piped[0] != nil:
		options.Files = append(options.Files, o.piped[:]...)
	}
	self, name, err := ownProgram(spec.Self)
	if err == nil {
		err = s.launch(self, append([]string{name, StageCommand, o.part, spec.Path}, spec.Argv...), options)
	}
	if err != nil {
		s.letGo()
		return nil, err
	}
	return s, nil
}

// ownProgram is this process's executable, and the name by which a stage that has to start another one finds it again.
func ownProgram(told string) (path, name string, err error) {
	path, err = platform.OwnProgramPath()
	if err != nil && filepath.IsAbs(told) {
		return told, told, nil
	}
	return path, "warder", err
}

// launch starts the process on a thread that lives on, since the kernel ends a program with the thread that started it. No
// goroutine but one that waits is bound to that thread: each change to a bound one costs two changes of threads.
func (s *stage) launch(self string, argv []string, options platform.ChildOptions) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var err error
		s.pid, err = platform.StartChild(self, argv, options)
		started <- err
		<-s.thread
	}()
	return <-started
}

// letGo gives up what this process has of a stage. One that has no program yet ends.
func (s *stage) letGo() {
	_ = s.values.Close()
	_ = s.reported.Close()
	close(s.thread)
}
