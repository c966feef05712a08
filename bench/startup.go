package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

const (
	startRounds = 60 // of each command; they take turns, so that a busy moment hits all
	versionMax  = 5  // times /bin/true
	statusMax   = 6  // times /bin/true, with a warm daemon
)

// startupPart measures what each command costs before it does anything, against a process that does nothing.
func startupPart(r *report, dir string) error {
	r.step("startup: starting programs many times")
	exe := filepath.Join(dir, "warder")
	build := exec.Command("go", "build", "-trimpath", "-o", exe, "./cmd/warder") //nolint:noctx // ends by itself
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building: %w: %s", err, out)
	}
	// A short path: a socket's has 103 bytes at most.
	home, err := os.MkdirTemp("/tmp", "wb")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home) //nolint:errcheck // a temporary folder
	warder := func(args ...string) *exec.Cmd {
		cmd := exec.Command(exe, args...) //nolint:noctx // ends by itself
		cmd.Env = []string{"WARDER_HOME=" + home, "HOME=" + home, "PATH=/usr/bin:/bin"}
		return cmd
	}
	if out, err := warder("setup", "--headless", "--no-install", "--json").CombinedOutput(); err != nil {
		return fmt.Errorf("setup: %w: %s", err, out)
	}
	defer func() { _ = warder("daemon", "stop").Run() }()
	if out, err := warder("item", "list").CombinedOutput(); err != nil { // the daemon is warm from here on
		return fmt.Errorf("item list: %w: %s", err, out)
	}
	medians, err := takeTurns([]func() *exec.Cmd{
		func() *exec.Cmd { return exec.CommandContext(context.Background(), "/bin/true") },
		func() *exec.Cmd { return warder("version") },
		func() *exec.Cmd { return warder("status") },
		func() *exec.Cmd { return warder("whoami") },
	})
	if err != nil {
		return err
	}
	bare := medians[0]
	fmt.Fprintf(r.out, "  /bin/true: %s\n", bare.Round(10*time.Microsecond))
	r.show([]row{
		times("warder version", versionMax, medians[1], bare),
		times("warder status, the daemon running", statusMax, medians[2], bare),
		times("warder whoami, the daemon running", statusMax, medians[3], bare),
	})
	return nil
}

// times is the row of a command whose budget is a multiple of a bare process.
func times(what string, most int, got, bare time.Duration) row {
	ratio := float64(got) / float64(bare)
	return row{what, fmt.Sprintf("%d × true", most), fmt.Sprintf("%.1f × true", ratio), ratio / float64(most)}
}

// takeTurns runs the commands one after the other, many times, and returns the median of each.
func takeTurns(commands []func() *exec.Cmd) ([]time.Duration, error) {
	all := make([][]time.Duration, len(commands))
	for range startRounds {
		for i, command := range commands {
			cmd := command()
			start := time.Now()
			err := cmd.Run()
			all[i] = append(all[i], time.Since(start))
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				return nil, err
			}
		}
	}
	medians := make([]time.Duration, len(all))
	for i, runs := range all {
		slices.Sort(runs)
		medians[i] = runs[len(runs)/2]
	}
	return medians, nil
}
