package cli

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"warder/internal/platform"
	"warder/internal/secret"
	"warder/internal/state"
)

// memoryKind is how well this process could keep a secret.
func memoryKind() string { return string(secret.MemoryKind()) }

// memory tries what memory for secrets the system grants.
func (c *checkup) memory() {
	const name = "memory"
	mem, kind, err := platform.AllocLocked(os.Getpagesize())
	if err != nil {
		c.broken(name, "close other programs", "no memory: %v", err)
		return
	}
	_ = platform.FreeLocked(mem)
	switch kind {
	case platform.MemorySecret:
		c.ok(name, "memfd_secret: values are in no swap, no dump, and no debugger reads them")
	case platform.MemoryLocked:
		c.limited(name, "use a kernel with memfd_secret (Linux 5.14 and secretmem.enable=1)",
			"mlock: values are in no swap and no dump, but a debugger of your user reads them")
	default:
		c.limited(name, "raise the limit of locked memory: ulimit -l", "values may be swapped out")
	}
}

// processes tries what the system tells of processes without races.
func (c *checkup) processes() {
	const name = "callers"
	self, err := platform.OpenPidfd(os.Getpid())
	if err != nil {
		c.limited(name, "use Linux 5.3 or newer; until then everybody counts as unknown", "no descriptors of processes: %v", err)
		return
	}
	defer self.Close() //nolint:errcheck // nothing was written to it
	_, noInode := platform.PidfdInode(self)
	_, noInfo := platform.PidfdInfo(self)
	own, err := platform.ProcIsOwn()
	switch {
	case err != nil || !own:
		c.limited(name, "mount /proc of this pid namespace", "/proc does not show this namespace, so callers are unknown")
	case noInode != nil:
		c.limited(name, "use Linux 6.9 or newer", "pidfd: held without races; grants tell processes apart by their start time alone")
	case noInfo != nil:
		c.limited(name, "nothing; Linux 6.13 has the quicker way", "pidfd and its inode: parents are read from /proc and checked again")
	default:
		c.ok(name, "pidfd, its inode and PIDFD_GET_INFO: no reused pid can mislead")
	}
}

// dumps tries to make this process unreadable, as the daemon does.
func (c *checkup) dumps() {
	const name = "dumps"
	if err := platform.DropDumps(); err != nil {
		c.limited(name, "see what forbids it: a seccomp filter or the system", "processes stay readable for your other programs: %v", err)
		return
	}
	c.ok(name, "not dumpable, core limit 0: your other programs can't read the daemon's memory")
}

// places judges owner, mode and locks of the directories, and the socket.
func (c *checkup) places() {
	places, err := c.env.places()
	if err != nil {
		c.broken("places", "set HOME, or WARDER_HOME to an absolute path", "%v", err)
		return
	}
	for _, place := range []struct {
		name string
		at   state.Place
	}{{"data", places.Data}, {"state", places.State}, {"config", places.Config}} {
		c.directory(place.name, place.at)
	}
	c.locks(places)
	path, err := places.Socket()
	if err != nil {
		c.broken("socket", "set WARDER_HOME to a shorter path", "%v", err)
		return
	}
	c.ok("socket", "%s, %d of %d bytes", path, len(path), state.MaxSocketPath)
	c.directory("runtime", state.Place{Path: filepath.Dir(path), From: places.Runtime.From})
}

// directory opens one directory with the checks that each use makes.
func (c *checkup) directory(name string, place state.Place) {
	dir, err := state.OpenDir(place.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.missing(name, place)
	case err != nil:
		do := state.Hint(err)
		if do == "" {
			do = "see what it is: ls -ld " + place.Path
		}
		c.broken(name, do, "%v", err)
	default:
		_ = dir.Close()
		c.ok(name, "%s, yours alone (%s)", place.Path, place.From)
	}
}

// missing judges whether a directory that is not there could be made.
func (c *checkup) missing(name string, place state.Place) {
	above := filepath.Dir(place.Path)
	for above != filepath.Dir(above) {
		if _, err := os.Stat(above); err == nil {
			break
		}
		above = filepath.Dir(above)
	}
	probe, err := os.MkdirTemp(above, ".warder-doctor-")
	if err != nil {
		c.broken(name, "set WARDER_HOME to a directory that can be written to", "%s is missing and can't be made: %v", place.Path, err)
		return
	}
	_ = os.Remove(probe)
	c.ok(name, "%s, made when it is needed (%s)", place.Path, place.From)
}

// locks tries a lock where the daemon takes its own.
func (c *checkup) locks(places state.Places) {
	const name, file = "locks", "doctor.lock"
	dir, err := state.OpenDir(places.State.Path)
	if err != nil {
		return // told already, or nothing is there yet
	}
	defer func() { _ = dir.Close() }()
	lock, err := dir.TryLock(file)
	if err != nil {
		do := state.Hint(err)
		if do == "" {
			do = "move the state to a local disk: WARDER_HOME or XDG_STATE_HOME"
		}
		c.broken(name, do, "%v", err)
		return
	}
	_ = lock.Release()
	_ = dir.Remove(file)
	c.ok(name, "file locks work in %s", places.State.Path)
}

// busSocket is where the system's message bus listens, if not told otherwise.
const busSocket = "/run/dbus/system_bus_socket"

// desktop looks for what tells the daemon that the screen was locked.
func (c *checkup) desktop() {
	const name = "lock with the screen"
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", busSocket)
	if err != nil {
		c.limited(name, "nothing on a server; the times lock.idle and lock.max still count",
			"no system bus, so neither sleep nor the screen lock locks the account")
		return
	}
	_ = conn.Close()
	c.ok(name, "the system bus answers: sleep and screen lock can lock the account")
}

// earliest is before any clock that is right.
func earliest() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// clock compares the clock with times that were written down before.
func (c *checkup) clock(written time.Time) {
	const name, slack = "clock", 5 * time.Minute
	now := c.env.Now()
	switch {
	case now.Before(earliest()):
		c.broken(name, "set the clock", "it says %s", now.UTC().Format(time.RFC3339))
	case written.After(now.Add(slack)):
		c.limited(name, "set the clock; the order of audit records does not depend on it",
			"it says %s, and something was recorded at %s", now.UTC().Format(time.RFC3339), written.UTC().Format(time.RFC3339))
	default:
		c.ok(name, "%s", now.UTC().Format(time.RFC3339))
	}
}
