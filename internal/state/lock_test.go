package state_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"warder/internal/state"
)

func TestLockExcludes(t *testing.T) {
	d := newDir(t)
	lock, err := d.Lock("lock")
	must(t, err)
	if _, err := d.TryLock("lock"); !errors.Is(err, state.ErrLocked) {
		t.Errorf("TryLock of a held lock: %v", err)
	}
	other, err := d.TryLock("other")
	must(t, err)
	must(t, other.Release())
	must(t, lock.Release())
	must(t, lock.Release())
	again, err := d.TryLock("lock")
	must(t, err)
	must(t, again.Release())
}

// TestLockOutlivesTheDir: the lock is the lock file's, not the Dir's.
func TestLockOutlivesTheDir(t *testing.T) {
	d := newDir(t)
	second, err := state.OpenDir(d.Path())
	must(t, err)
	lock, err := second.Lock("lock")
	must(t, err)
	must(t, second.Close())
	if _, err := d.TryLock("lock"); !errors.Is(err, state.ErrLocked) {
		t.Errorf("got %v", err)
	}
	must(t, lock.Release())
}

// TestU_152_ProcessesTakeTurns lets processes count in one file, each step a
// read and a whole new file. No count is lost, whether they wait by Lock or
// come again by TryLock.
func TestU_152_ProcessesTakeTurns(t *testing.T) {
	const processes, each = 4, 15
	if state.IsRerun() {
		d, err := state.OpenDir(os.Getenv("DIR"))
		must(t, err)
		defer d.Close()
		for range each {
			count(t, d)
		}
		return
	}
	d := newDir(t)
	must(t, d.WriteNew("count", []byte("0")))
	var all sync.WaitGroup
	for range processes {
		cmd := state.RerunCommand(t, `exec "$@"`)
		cmd.Env = append(cmd.Env, "DIR="+d.Path())
		all.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	all.Wait()
	got, err := d.Read("count", 10)
	must(t, err)
	if string(got) != strconv.Itoa(processes*each) {
		t.Errorf("counted to %s, want %d", got, processes*each)
	}
	wantNoTemp(t, d)
}

// count adds one under the lock.
func count(t *testing.T, d *state.Dir) {
	t.Helper()
	lock, err := d.Lock("lock")
	must(t, err)
	defer lock.Release()
	must(t, d.CleanTemp(time.Now().Add(time.Minute)))
	data, err := d.Read("count", 10)
	must(t, err)
	n, err := strconv.Atoi(string(data))
	must(t, err)
	must(t, d.Replace("count", []byte(strconv.Itoa(n+1))))
}

// TestLockEndsWithTheProcess kills a process that holds the lock and waits for
// the lock, which no stale file must keep.
func TestLockEndsWithTheProcess(t *testing.T) {
	if state.IsRerun() {
		d, err := state.OpenDir(os.Getenv("DIR"))
		must(t, err)
		_, err = d.Lock("lock")
		must(t, err)
		_, err = os.Stdout.WriteString("held\n")
		must(t, err)
		select {}
	}
	d := newDir(t)
	cmd := state.RerunCommand(t, `exec "$@"`)
	cmd.Env = append(cmd.Env, "DIR="+d.Path())
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	var seen []byte
	for buf := make([]byte, 100); !bytes.Contains(seen, []byte("held")); {
		n, err := out.Read(buf)
		must(t, err)
		seen = append(seen, buf[:n]...)
	}
	if _, err := d.TryLock("lock"); !errors.Is(err, state.ErrLocked) {
		t.Errorf("the other process holds the lock: %v", err)
	}
	must(t, cmd.Process.Kill())
	lock, err := d.Lock("lock")
	must(t, err)
	must(t, lock.Release())
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) {
		t.Errorf("waiting for the killed process: %v", err)
	}
}

// TestLockUntil waits for a lock that another process keeps: no longer than it
// is told to, and the error says who that is.
func TestLockUntil(t *testing.T) {
	if state.IsRerun() {
		d, err := state.OpenDir(os.Getenv("DIR"))
		must(t, err)
		_, err = d.Lock("lock")
		must(t, err)
		_, err = os.Stdout.WriteString("held\n")
		must(t, err)
		select {}
	}
	d := newDir(t)
	cmd := state.RerunCommand(t, `exec "$@"`)
	cmd.Env = append(cmd.Env, "DIR="+d.Path())
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	for said := bufio.NewReader(out); ; {
		line, err := said.ReadString('\n')
		must(t, err)
		if line == "held\n" {
			break
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = d.LockUntil(over, "lock")
	var locked *state.LockedError
	if !errors.As(err, &locked) || !errors.Is(err, state.ErrLocked) || locked.Path != filepath.Join(d.Path(), "lock") {
		t.Fatalf("got %v", err)
	}
	if runtime.GOOS == "linux" && locked.PID != cmd.Process.Pid && locked.PID != 0 { // some file systems number devices otherwise there
		t.Errorf("process %d holds it, not %d", cmd.Process.Pid, locked.PID)
	}
	if hint := state.Hint(err); !strings.Contains(hint, "ps -p") && !strings.Contains(hint, "fuser") {
		t.Errorf("hint %q", hint)
	}
	got := make(chan error)
	go func() {
		lock, err := d.LockUntil(t.Context(), "lock")
		if err == nil {
			err = lock.Release()
		}
		got <- err
	}()
	must(t, cmd.Process.Kill())
	must(t, <-got)
	_ = cmd.Wait()
	lock, err := d.LockUntil(over, "lock")
	must(t, err) // one try at the least
	must(t, lock.Release())
}
