package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"warder/internal/api"
	"warder/internal/platform"
	"warder/internal/state"
)

const (
	lockFile   = "daemon.lock" // held by the daemon for as long as it lives
	holderFile = "daemon.json" // who holds it, for messages

	// endTime is how long a daemon that ends may keep the lock.
	endTime = 10 * time.Second
	// lockPause is the wait between two tries.
	lockPause = 20 * time.Millisecond
)

// Unclaimed reports whether no daemon runs for a state directory: nobody holds the lock that a daemon takes before it
// listens. Whoever listens there then is none. The error is fs.ErrNotExist where there is no lock yet; any other says that
// it can't be told, as in a sandbox. Nothing is created.
func Unclaimed(path string) (bool, error) {
	if _, err := os.Lstat(filepath.Join(path, lockFile)); err != nil { // taking the lock would make it
		return false, err
	}
	dir, err := state.OpenDir(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = dir.Close() }()
	lock, err := dir.TryLock(lockFile)
	if errors.Is(err, state.ErrLocked) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, lock.Release()
}

// holder is the content of holderFile. It is a note for people: the lock itself is what counts.
type holder struct {
	PID     int       `json:"pid"`
	Socket  string    `json:"socket"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`

	// The pid may be another process's by now, or one of another pid namespace:
	// this tells the process from it. Empty where the system does not say.
	Boot  string `json:"boot,omitempty"`
	Ticks uint64 `json:"ticks,omitempty"` // of its start, since boot
}

// mark is what tells a process from all others that have had or will have its pid.
func mark(pid int) (boot string, ticks uint64, err error) {
	stat, err := platform.ReadProcStat(pid)
	if err != nil {
		return "", 0, err
	}
	boot, err = platform.BootID()
	return boot, stat.Start, err
}

// claim makes this process the daemon of its place.
type claim struct{ *Daemon }

// takeLock takes the daemon's lock, which another daemon may be about to give up. It waits for no longer than patience, and
// not for a daemon of which hopeless says that it stays.
func (d claim) takeLock(ctx context.Context, patience time.Duration, hopeless func() error) error {
	end := d.clock.moment()
	for try := 0; ; try++ {
		lock, err := d.state.TryLock(lockFile)
		if err == nil {
			d.onEnd(lock.Release)
			return d.noteHolder()
		}
		if !errors.Is(err, state.ErrLocked) {
			return placeError("the daemon's lock", err)
		}
		if try > 0 { // at first it may be a command that looks whether the lock is free
			if err := hopeless(); err != nil {
				return err
			}
		}
		if d.clock.since(end) >= patience {
			return d.stuck()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the daemon's lock: %w", context.Cause(ctx))
		case <-time.After(lockPause):
		}
	}
}

// noteHolder says in the state directory who holds the lock. A full disk is no reason not to serve.
func (d claim) noteHolder() error {
	h := holder{PID: ownPID(), Socket: d.opt.Socket, Version: d.opt.Version, Started: d.begun.UTC().Truncate(time.Second)}
	if boot, ticks, err := mark(h.PID); err == nil {
		h.Boot, h.Ticks = boot, ticks
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if err := d.state.Replace(holderFile, append(text, '\n')); err != nil {
		d.warn("who serves can't be noted: %v", err)
	}
	return nil
}

// holderPID is which process holds the lock, 0 if that is not known. Where the system does not tell processes of one pid
// apart it is not sure.
func (d claim) holderPID() (pid int, sure bool) {
	text, err := d.state.Read(holderFile, 4<<10)
	if err != nil {
		return 0, false
	}
	var h holder
	if json.Unmarshal(text, &h) != nil || h.PID <= 0 {
		return 0, false
	}
	boot, ticks, err := mark(h.PID)
	switch {
	case platform.IsNoProcess(err):
		return 0, false
	case err != nil || h.Boot == "":
		return h.PID, false
	case boot != h.Boot || ticks != h.Ticks:
		return 0, false
	}
	return h.PID, true
}

// isHolder reports whether that process holds the lock, as far as can be told.
func (d claim) isHolder(pid int) bool {
	holder, _ := d.holderPID()
	return pid == holder
}

// stuck is the error about a daemon that keeps the lock and does not answer.
func (d claim) stuck() error {
	pid, sure := d.holderPID()
	if !sure {
		return api.Errorf(api.Unreachable, "another process holds the daemon's lock and does not let go").
			WithHint("find out which and end it: fuser " + d.state.Path() + "/" + lockFile)
	}
	return api.Errorf(api.Unreachable, "the daemon that runs (pid %d) does not answer and does not end", pid).
		WithHint(fmt.Sprintf("end it, then try again: kill -9 %d", pid))
}

// running is the error about a daemon that is well.
func running(pid int) error {
	return api.Errorf(api.Exists, "a daemon is running already (pid %d)", pid).WithHint("see what it does: warder status")
}

// silentTime is how long a daemon that listens no more may keep its lock: it may be ending.
const silentTime = 2 * time.Second

// Silent is why it can't be said that no daemon runs where nobody listens: a process keeps the daemon's lock, and may hold an open
// account. It is nil if none does, or none for long.
func Silent(ctx context.Context, stateDir string) error {
	if _, err := os.Lstat(filepath.Join(stateDir, lockFile)); err != nil {
		return nil //nolint:nilerr // no daemon was here, or nobody can tell
	}
	dir, err := state.OpenDir(stateDir)
	if err != nil {
		return nil //nolint:nilerr // as above
	}
	defer dir.Close() //nolint:errcheck // nothing is written through it
	limited, cancel := context.WithTimeout(ctx, silentTime)
	defer cancel()
	lock, err := dir.LockUntil(limited, lockFile)
	if err == nil {
		_ = lock.Release()
	}
	if !errors.Is(err, state.ErrLocked) {
		return nil // among others, that it can't be written here
	}
	return claim{&Daemon{state: dir}}.stuck()
}
