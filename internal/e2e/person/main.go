package person

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"warder/internal/caller"
	"warder/internal/platform"
)

// BinaryVar names the environment variable with the executable to test. Where
// it is empty the executable is built first; a run that can't build, such as
// one as another user, sets it.
const BinaryVar = "WARDER_TEST_BINARY"

// BuiltVar is set where this run has built the executable: it can build more.
const BuiltVar = "WARDER_TEST_BUILT"

// The parts that the test binary plays, as its first argument.
const (
	partInit   = "@init"   // SOCKET: the first process of a world
	partRun    = "@run"    // COMMAND…: a program that runs another one
	partPTY    = "@pty"    // ROWS COLS COMMAND…: a program with a terminal for another one
	partOrphan = "@orphan" // STATUS-FILE COMMAND…: leaves a program alone
	partReport = "@report" // STATUS-FILE COMMAND…: writes down how it ended
	partJudge  = "@judge"  // judges itself, by package caller
)

// Main is the main function of a test binary. It plays a program of a world if
// it was started as one; otherwise it provides the executable under test and
// runs the tests.
func Main(m interface{ Run() int }) int {
	if len(os.Args) > 1 && os.Args[1][0] == '@' {
		return play(os.Args[1], os.Args[2:])
	}
	if os.Getenv(BinaryVar) != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "warder-built-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "warder")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "warder/cmd/warder")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building warder: %v\n%s", err, output)
		return 1
	}
	if err := errors.Join(os.Chmod(dir, 0o755), os.Setenv(BinaryVar, binary), os.Setenv(BuiltVar, "1")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// play is the main function of every program of a world that is a copy of the
// test binary. It returns the exit status.
func play(part string, args []string) int {
	status := 0
	var err error
	switch part {
	case partInit:
		err = serveInit(args[0])
	case partRun:
		status, err = runInside(args)
	case partPTY:
		status, err = holdTerminal(args)
	case partOrphan:
		err = leaveAlone(args)
	case partReport:
		status, err = report(args)
	case partJudge:
		err = judgeSelf()
	default:
		err = errors.New("no such part")
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s %s: %v\n", os.Args[0], part, err)
		return max(status, 1)
	}
	return status
}

// inherit is a command with the streams of this process.
func inherit(argv []string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd
}

// runInside runs a command below this process and returns its status.
func runInside(argv []string) (int, error) {
	return statusOf(inherit(argv).Run())
}

// statusOf tells a command that ended with a status, as shells count it, from
// one that could not be run.
func statusOf(err error) (int, error) {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 0, err
	}
	if exit.Exited() {
		return exit.ExitCode(), nil
	}
	return 0, fmt.Errorf("ended by a signal: %w", err)
}

// leaveAlone starts the command and ends, as the middle of a double fork does.
func leaveAlone(args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return inherit(append([]string{self, partReport}, args...)).Start()
}

// report waits until its parent is gone, runs a command and writes its status
// down, since nobody is left to be told.
func report(args []string) (int, error) {
	for os.Getppid() != 1 {
		if _, err := os.Stat("/proc/self"); err != nil { // as good as any call that yields
			return 0, err
		}
	}
	status, err := runInside(args[1:])
	if err != nil {
		return 0, err
	}
	return status, os.WriteFile(args[0], []byte(strconv.Itoa(status)), 0o600)
}

// judgeSelf prints what package caller makes of this process.
func judgeSelf() error {
	tables, _, err := caller.LoadTables(nil, "")
	if err != nil {
		return err
	}
	identity, err := tables.JudgeSelf(os.Getenv)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(identity)
}

// keys is one message to a program with a terminal: what to type, or the new
// size of its window.
type keys struct {
	Type       []byte `json:",omitempty"`
	Rows, Cols uint16 `json:",omitempty"`
}

// holdTerminal plays a terminal: messages come on its standard input, the screen
// goes to its standard output. It ends with the command, or hangs up when there
// are no more messages.
func holdTerminal(args []string) (int, error) {
	rows, errRows := strconv.ParseUint(args[0], 10, 16)
	cols, errCols := strconv.ParseUint(args[1], 10, 16)
	keyboard, tty, err := platform.OpenPTY()
	if err := errors.Join(errRows, errCols, err); err != nil {
		return 0, err
	}
	defer keyboard.Close()
	if err := platform.SetTerminalSize(tty, uint16(rows), uint16(cols)); err != nil {
		return 0, err
	}
	cmd := exec.Command(args[2], args[3:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	if err := tty.Close(); err != nil {
		return 0, err
	}
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		_, _ = io.Copy(os.Stdout, keyboard) // ends with an error when all in the terminal have ended
	}()
	go func() {
		defer keyboard.Close()
		typeAll(os.Stdin, keyboard)
	}()
	status, err := statusOf(cmd.Wait())
	<-shown
	return status, err
}

// typeAll does what the messages say.
func typeAll(messages io.Reader, keyboard *os.File) {
	for from := json.NewDecoder(messages); ; {
		var k keys
		if from.Decode(&k) != nil {
			return
		}
		if _, err := keyboard.Write(k.Type); err != nil {
			return
		}
		if k.Rows > 0 && platform.SetTerminalSize(keyboard, k.Rows, k.Cols) != nil {
			return
		}
	}
}
