package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"warder/internal/secret"
	"warder/internal/vault"
)

const (
	startRounds = 60 // of each command; they take turns, so that a busy moment hits all
	versionMax  = 5  // times /bin/true
	statusMax   = 6  // times /bin/true, with a warm daemon
)

// startupPart measures what each command costs before it does anything, against a process that does nothing.
func startupPart(r *report, dir string) error {
	r.step("startup: starting programs many times")
	return withWarder(dir, func(warder program, home string) error {
		if err := startTimes(r, warder); err != nil {
			return err
		}
		return daemonMemory(r, warder, home)
	})
}

// withWarder builds warder, sets up an account that needs nobody, with a warm daemon, and takes it away afterwards.
func withWarder(dir string, f func(warder program, home string) error) error {
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
	warder := program(func(args ...string) *exec.Cmd {
		cmd := exec.Command(exe, args...) //nolint:noctx // ends by itself
		cmd.Env = []string{"WARDER_HOME=" + home, "HOME=" + home, "PATH=/usr/bin:/bin"}
		return cmd
	})
	if _, err := warder.output("setup", "--headless", "--no-install", "--json"); err != nil {
		return err
	}
	defer func() { _ = warder("daemon", "stop").Run() }()
	if _, err := warder.output("item", "list"); err != nil { // the daemon is warm from here on
		return err
	}
	return f(warder, home)
}

// program runs warder with arguments.
type program func(args ...string) *exec.Cmd

// output runs it to its end.
func (p program) output(args ...string) ([]byte, error) {
	out, err := p(args...).Output()
	if err != nil {
		return nil, fmt.Errorf("warder %s: %w: %s", args[0], err, out)
	}
	return out, nil
}

// startTimes compares commands with a process that does nothing.
func startTimes(r *report, warder program) error {
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

// daemonMemory measures the daemon with a large account.
func daemonMemory(r *report, warder program, home string) error {
	if _, err := warder.output("daemon", "stop"); err != nil {
		return err
	}
	r.step("startup: storing %d items", vaultItems)
	pw, err := os.ReadFile(filepath.Join(home, "state", "unattended", "password"))
	if err != nil {
		return err
	}
	password, err := secret.New(pw)
	if err != nil {
		return err
	}
	defer password.Destroy()
	account, err := vault.Open(benchConfig(home), password)
	if err != nil {
		return err
	}
	err = fillItems(account.Vaults()[0])
	account.Lock()
	if err != nil {
		return err
	}
	if _, err := warder.output("item", "list"); err != nil { // starts the daemon, which opens the account
		return err
	}
	out, err := warder.output("status", "--json")
	if err != nil {
		return err
	}
	var status struct{ Daemon struct{ PID int } }
	if err := json.Unmarshal(out, &status); err != nil {
		return err
	}
	rss, err := resident(strconv.Itoa(status.Daemon.PID))
	if err != nil {
		return err
	}
	r.show([]row{{
		fmt.Sprintf("daemon resident with %d items", vaultItems), "80 MiB",
		fmt.Sprintf("%.1f MiB", float64(rss)/1024), float64(rss) / (80 * 1024),
	}})
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
