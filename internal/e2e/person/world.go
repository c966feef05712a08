package person

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// patience bounds every wait for something that has to come, also in a test
// binary without a timeout.
const patience = 90 * time.Second

// Options say how a world is made. The zero value is the usual one.
type Options struct {
	// First is the name of the first process, which is a copy of the test
	// binary: "init" if empty, and for example "bash" for a container whose
	// first process is a shell.
	First string
	// UID is the user of all programs where the test runs as root; 0 stands for
	// the test's own user.
	UID int
	// Env is added to the environment of everything in the world.
	Env []string
}

// World is a pid namespace. It ends with the test that made it.
type World struct {
	layout *layout
	env    []string
	socket string
	ended  sync.Once
	cmd    *exec.Cmd
	stdin  interface{ Close() error }
	stderr bytes.Buffer
	count  atomic.Int64 // of orphans
}

// Start makes a world for a test and ends it with the test. It skips the test
// where the machine has no worlds.
func Start(t testing.TB, o Options) *World {
	t.Helper()
	if err := Missing(); err != nil {
		t.Skip(err)
	}
	w, err := New(t.Context(), o)
	if err != nil {
		t.Fatalf("person: %v", err)
	}
	t.Cleanup(func() {
		if err := w.End(); err != nil {
			t.Errorf("person: %v", err)
		}
	})
	return w
}

// New makes a world that ends with the context, or by End.
func New(ctx context.Context, o Options) (*World, error) {
	uid := o.UID
	if uid == 0 {
		uid = -1
	}
	l, err := newLayout(uid)
	if err != nil {
		return nil, fmt.Errorf("making the folder of a world: %w", err)
	}
	w := &World{layout: l, env: l.environ(o.Env...), socket: filepath.Join(l.dir, "enter")}
	if err := w.start(ctx, o.First); err != nil {
		return nil, errors.Join(fmt.Errorf("starting a world: %w: %s", err, w.stderr.Bytes()), w.End())
	}
	return w, nil
}

// start starts the first process and returns when it can be asked for others.
func (w *World) start(ctx context.Context, name string) error {
	if name == "" {
		name = "init"
	}
	program, err := w.layout.program(name)
	if err != nil {
		return err
	}
	argv := append(namespace(), program, partInit, w.socket)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stderr = w.env, "/", &w.stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	w.cmd, w.stdin = cmd, stdin
	_, err = bufio.NewReader(stdout).ReadString('\n')
	return err
}

// End kills everything in the world, waits for that, and removes its folder.
func (w *World) End() error {
	var err error
	w.ended.Do(func() {
		if w.cmd != nil {
			w.stdin.Close()  // the first process ends, and the kernel ends the others
			_ = w.cmd.Wait() // the context may have killed it
		}
		err = os.RemoveAll(w.layout.dir)
	})
	return err
}

// Dir is the folder of the world: everything that its programs write by
// themselves is below it.
func (w *World) Dir() string { return w.layout.dir }

// Home is the home of the person, HOME.
func (w *World) Home() string { return w.layout.home() }

// WarderHome is the folder of all of warder's places, WARDER_HOME.
func (w *World) WarderHome() string { return w.layout.work() }

// Warder is the executable under test, a copy for this world alone.
func (w *World) Warder() string { return filepath.Join(w.layout.bin(), "warder") }

// Program returns the path of a program of that name which is a copy of the test
// binary.
func (w *World) Program(t testing.TB, name string) string {
	t.Helper()
	path, err := w.layout.program(name)
	if err != nil {
		t.Fatalf("person: a program called %s: %v", name, err)
	}
	return path
}

// Under returns a command beneath a program of that name: an agent such as
// claude, or any other.
func (w *World) Under(t testing.TB, name string, argv ...string) []string {
	t.Helper()
	return append([]string{w.Program(t, name), partRun}, argv...)
}

// Judge returns the command that prints package caller's judgement on itself, as
// JSON.
func (w *World) Judge(t testing.TB) []string {
	t.Helper()
	return []string{w.Program(t, "judge"), partJudge}
}

// Command is a program to run without a terminal.
type Command struct {
	Argv  []string
	Env   []string // added to the world's
	Dir   string   // the home if empty
	Stdin string
	UID   int // where the test runs as root, another user than the world's; -1 is root
	// Orphan lets the program's parent end first, so that there is nobody above
	// it but the first process.
	Orphan bool
}

// Result is how a program ended.
type Result struct {
	Stdout, Stderr string
	Status         int
}

// Run runs a program in the world to its end. A program that can't be started or
// is ended by a signal ends the test.
func (w *World) Run(t testing.TB, c Command) Result {
	t.Helper()
	r, err := w.run(t.Context(), c)
	if err != nil {
		t.Fatalf("person: running %q: %v", c.Argv, err)
	}
	return r
}

// Background is Run beside the test: the function that it returns waits for the
// end.
func (w *World) Background(t testing.TB, c Command) (wait func(t testing.TB) Result) {
	t.Helper()
	type outcome struct {
		result Result
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := w.run(t.Context(), c)
		done <- outcome{r, err}
	}()
	return func(t testing.TB) Result {
		t.Helper()
		o := <-done
		if o.err != nil {
			t.Fatalf("person: running %q: %v", c.Argv, o.err)
		}
		return o.result
	}
}

func (w *World) run(ctx context.Context, c Command) (Result, error) {
	argv, statusFile := c.Argv, ""
	if c.Orphan {
		runner, err := w.layout.program("runner")
		if err != nil {
			return Result{}, err
		}
		statusFile = filepath.Join(w.layout.home(), ".status-"+strconv.FormatInt(w.count.Add(1), 10))
		argv = append([]string{runner, partOrphan, statusFile}, argv...)
	}
	conn, err := w.ask(ctx, c, argv, false)
	if err != nil {
		return Result{}, err
	}
	defer conn.Close()
	var r reply
	if err := json.NewDecoder(conn).Decode(&r); err != nil {
		return Result{}, fmt.Errorf("waiting for its end: %w", err)
	}
	if r.Err != "" {
		return Result{}, fmt.Errorf("%s: %s", r.Err, r.Stderr)
	}
	result := Result{Stdout: string(r.Stdout), Stderr: string(r.Stderr), Status: r.Status}
	if statusFile != "" {
		text, err := os.ReadFile(statusFile)
		if err != nil {
			return result, fmt.Errorf("no status: %w: %s", err, r.Stderr)
		}
		if result.Status, err = strconv.Atoi(string(text)); err != nil {
			return result, err
		}
		return result, os.Remove(statusFile)
	}
	return result, nil
}

// ask sends a request for argv to the first process.
func (w *World) ask(ctx context.Context, c Command, argv []string, live bool) (*net.UnixConn, error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: w.socket, Net: "unix"})
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { conn.Close() })
	uid := w.layout.uid
	if c.UID != 0 {
		uid = c.UID
	}
	dir := c.Dir
	if dir == "" {
		dir = w.layout.home()
	}
	r := request{
		Argv: append(dropTo(uid), argv...), Env: append(append([]string(nil), w.env...), c.Env...),
		Dir: dir, Stdin: []byte(c.Stdin), Live: live,
	}
	if !live {
		err = conn.SetDeadline(time.Now().Add(patience))
	}
	if err := errors.Join(err, json.NewEncoder(conn).Encode(r)); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}
