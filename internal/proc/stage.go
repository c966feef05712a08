package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"warder/internal/platform"
)

// StageCommand is the argument by which a process is a stage: warder stage PART PROGRAM ARGV…
const StageCommand = "stage"

// The parts that a stage plays.
const (
	partProgram = "program" // becomes the program
	partAhead   = "ahead"   // the same, started before it is known where the program's output goes
	partMonitor = "monitor" // leads the session of a pseudo terminal, and starts the program below itself
)

// Descriptors of a stage.
const (
	valuesFD  = 3 // the payload comes here
	reportFD  = 4 // why there is no program is said here
	controlFD = 5 // of a monitor
	pipedFD   = 5 // of a stage that was started ahead: pipes for standard output and, one further, for standard error
)

// pipeRoom is what a pipe takes before anybody reads it: Linux's default.
const pipeRoom = 64 << 10

// stageEnv is the environment of a stage. That of the program comes with the values, so that nothing in it steers the stage,
// as GODEBUG would. A stage does one thing after the other.
func stageEnv() []string { return []string{"GOMAXPROCS=1"} }

// Stage plays a stage: args are those after StageCommand. It returns the exit status of a stage that failed; one that
// works becomes the program, and the monitor returns when its program ended.
func Stage(args []string) int {
	if len(args) < 3 {
		return statusUsage
	}
	part, program, argv := args[0], args[1], args[2:]
	report := os.NewFile(reportFD, "report")
	var err error
	switch part {
	case partMonitor:
		return monitor(program, argv)
	case partProgram, partAhead:
		err = becomeProgram(start{program, argv}, report, part == partAhead)
	default:
		err = errPayload
	}
	sendReport(report, err)
	return statusOwn
}

// start is a program with its arguments.
type start struct {
	program string
	argv    []string
}

// becomeProgram returns only if it fails.
func becomeProgram(s start, report *os.File, ahead bool) error {
	// From here on nobody of this user reads this process's memory. A program that becomes readable again is the child,
	// which has the values by right.
	if err := platform.DropDumps(); err != nil && !errors.Is(err, platform.ErrUnsupported) {
		return err
	}
	// That it dies with its parent is kept by thread: the one that executes the program has to be the one that asked for it.
	runtime.LockOSThread()
	if err := platform.DieWithParent(); err != nil && !errors.Is(err, platform.ErrUnsupported) {
		return err
	}
	values := os.NewFile(valuesFD, "values")
	got, err := readPayload(values)
	if err != nil {
		return err
	}
	if err := values.Close(); err != nil {
		return err
	}
	if err := platform.CloseOnExec(report); err != nil {
		return err
	}
	if ahead {
		err = settleOutput(got.out)
	} else if got.out != outputKept {
		err = errPayload
	}
	if err != nil {
		return err
	}
	env, err := buildEnv(got.env, got.list)
	if err != nil {
		return err
	}
	return platform.Execute(s.program, s.argv, env)
}

// settleOutput has the program print where it is to, and leaves it none of the pipes beside.
func settleOutput(out output) error {
	for i := range 2 {
		pipe := os.NewFile(uintptr(pipedFD+i), "piped")
		if out == outputPiped {
			if err := platform.MoveTo(pipe, 1+i); err != nil {
				return err
			}
		}
		if err := pipe.Close(); err != nil {
			return err
		}
	}
	return nil
}

// buildEnv is the environment of the program. Its strings lie in locked memory; execve's caller makes one more copy of
// each, which ends with this process's memory a moment later (limit L4).
func buildEnv(base []string, list []injected) ([]string, error) {
	replaced := map[string]bool{}
	for i := range list {
		replaced[list[i].name] = list[i].delivery != ByStdin
	}
	var env []string
	for _, entry := range base {
		if name, _, _ := strings.Cut(entry, "="); !replaced[name] {
			env = append(env, entry)
		}
	}
	for i := range list {
		in := &list[i]
		switch in.delivery {
		case ByEnv:
			if strings.IndexByte(in.name, 0) >= 0 || bytes.IndexByte(in.text, 0) >= 0 {
				return nil, fmt.Errorf("the value of %s has a zero byte, which no variable can hold", in.name)
			}
			env = append(env, platform.AliasString(in.text)) // no copy on the heap
		case ByFile:
			fd, err := lendFile(in)
			if err != nil {
				return nil, err
			}
			env = append(env, in.name+"="+platform.LentPath(fd))
		case ByStdin:
			if err := lendStdin(in); err != nil {
				return nil, err
			}
		}
	}
	return env, nil
}

// lendFile puts a value into a file without a name, which the program inherits.
func lendFile(in *injected) (fd int, err error) {
	f, err := fileOf(in)
	if err != nil {
		return 0, err
	}
	return platform.KeepOpen(f)
}

func fileOf(in *injected) (*os.File, error) {
	f, err := platform.MemoryFile("warder")
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(in.text); err != nil {
		return nil, err
	}
	if _, err := f.Seek(0, 0); err != nil {
		return nil, err
	}
	return f, nil
}

// lendStdin makes a value the program's standard input: through a pipe where one takes it whole, so that it is gone
// once it was read.
func lendStdin(in *injected) error {
	if len(in.text) > pipeRoom {
		f, err := fileOf(in)
		if err != nil {
			return err
		}
		return platform.MoveTo(f, 0)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	if _, err := w.Write(in.text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return platform.MoveTo(r, 0)
}

// sendReport says why there is no program: a line that the other side reads with reportedError.
func sendReport(report *os.File, err error) {
	var errno syscall.Errno
	number := 0
	if errors.As(err, &errno) {
		number = int(errno)
	}
	_, _ = fmt.Fprintf(report, "%d %v", number, err)
}

// A StartError says that the program could not be started although it was found.
type StartError struct {
	Path string
	Err  error
}

func (e *StartError) Error() string { return fmt.Sprintf("%s can't be run: %v", e.Path, e.Err) }

func (e *StartError) Unwrap() error { return e.Err }

// reportedError is the error in a report; an empty one is none.
func reportedError(path, report string) error {
	if report == "" {
		return nil
	}
	number, text, _ := strings.Cut(report, " ")
	if n, err := strconv.Atoi(number); err == nil && n != 0 {
		return &StartError{Path: path, Err: syscall.Errno(n)} // #nosec G115 -- an errno
	}
	return &StartError{Path: path, Err: errors.New(text)}
}
