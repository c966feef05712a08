package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"warder/internal/platform"
)

const (
	runMax     = 10 * time.Millisecond // over the bare program, with a warm daemon
	pipeRounds = 5
	pipeBytes  = 256 << 20
	ttyBytes   = 16 << 20
)

// runPart measures what it costs to run a program with a value, and to have its output masked.
func runPart(r *report, dir string) error {
	r.step("run: running programs many times")
	return withWarder(dir, func(warder program, _ string) error {
		add := warder("item", "add", "bench", "--type", "api-token", "--level", "use")
		add.Stdin = strings.NewReader("zq7-Lm2-Xv9-Rk4-Tb8-Wc1\n")
		if out, err := add.CombinedOutput(); err != nil {
			return fmt.Errorf("item add: %w: %s", err, out)
		}
		if err := runTimes(r, warder); err != nil {
			return err
		}
		if err := pipeSpeed(r, warder); err != nil {
			return err
		}
		return terminalSpeed(r, warder)
	})
}

// runTimes compares a run with the bare program.
func runTimes(r *report, warder program) error {
	medians, err := takeTurns([]func() *exec.Cmd{
		func() *exec.Cmd { return exec.CommandContext(context.Background(), "/bin/true") },
		func() *exec.Cmd { return warder("run", "bench", "--env-var", "V", "--", "/bin/true") },
	})
	if err != nil {
		return err
	}
	over := medians[1] - medians[0]
	fmt.Fprintf(r.out, "  /bin/true: %s\n", medians[0].Round(10*time.Microsecond))
	r.show([]row{{
		"warder run ITEM -- true, over true alone", runMax.String(), over.Round(10 * time.Microsecond).String(),
		float64(over) / float64(runMax),
	}})
	return nil
}

// pipeSpeed compares what comes through a pipe with and without a masker in between.
func pipeSpeed(r *report, warder program) error {
	r.step("run: reading %d MiB through pipes", pipeBytes>>20)
	return throughput(r, warder, "a pipe", pipeBytes, drain)
}

// terminalSpeed does so with a terminal.
func terminalSpeed(r *report, warder program) error {
	r.step("run: reading %d MiB through terminals", ttyBytes>>20)
	return throughput(r, warder, "a terminal", ttyBytes, drainTerminal)
}

// throughput runs a program that prints so many bytes, bare and masked in turns. read returns how fast they came.
func throughput(r *report, warder program, what string, size int, read func(cmd *exec.Cmd) (float64, error)) error {
	script := fmt.Sprintf("yes 'one line of a log that holds no value' | head -c %d", size)
	var bare, masked []float64
	for range pipeRounds {
		for _, side := range []struct {
			speeds *[]float64
			cmd    *exec.Cmd
		}{
			{&bare, exec.CommandContext(context.Background(), "/bin/sh", "-c", script)},
			{&masked, warder("run", "bench", "--env-var", "V", "--mask", "--", "/bin/sh", "-c", script)},
		} {
			speed, err := read(side.cmd)
			if err != nil {
				return err
			}
			*side.speeds = append(*side.speeds, speed)
		}
	}
	slices.Sort(bare)
	slices.Sort(masked)
	fmt.Fprintf(r.out, "  through %s: %.0f MB/s, through %s and the masker: %.0f MB/s (%.2f of it)\n",
		what, bare[pipeRounds/2], what, masked[pipeRounds/2], masked[pipeRounds/2]/bare[pipeRounds/2])
	return nil
}

// drainTerminal is drain for a program at a terminal of its own.
func drainTerminal(cmd *exec.Cmd) (float64, error) {
	keyboard, tty, err := platform.OpenPTY()
	if err != nil {
		return 0, err
	}
	defer keyboard.Close()
	begun := time.Now()
	pid, err := platform.StartChild(cmd.Path, cmd.Args, platform.ChildOptions{
		Env: cmd.Environ(), Files: []*os.File{tty, tty, tty}, Place: platform.ChildInOwnSession, Terminal: tty,
	})
	if err := errors.Join(err, tty.Close()); err != nil {
		return 0, err
	}
	n, _ := io.Copy(io.Discard, keyboard) // its end is an error
	took := time.Since(begun)
	state, err := platform.WaitChild(pid)
	if err == nil && (state.Kind != platform.ChildExited || state.Code != 0 || n < ttyBytes) {
		err = fmt.Errorf("a program at a terminal ended with %+v after %d bytes", state, n)
	}
	return float64(n) / 1e6 / took.Seconds(), err
}

// drain reads all that a program prints and returns how fast it came, in MB/s.
func drain(cmd *exec.Cmd) (float64, error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	n, err := io.Copy(io.Discard, out)
	if err := errors.Join(err, cmd.Wait()); err != nil {
		return 0, err
	}
	return float64(n) / 1e6 / time.Since(begun).Seconds(), nil
}
