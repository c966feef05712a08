package daemon_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"warder/internal/api"
	"warder/internal/daemon"
	"warder/internal/state"
)

// holdLock keeps a lock file of the home's, as any process of this user can, until the test ends.
func holdLock(t *testing.T, h *home, name string) {
	t.Helper()
	dir, err := state.OpenDir(h.state)
	must(t, err)
	t.Cleanup(func() { dir.Close() })
	lock, err := dir.TryLock(name)
	must(t, err)
	t.Cleanup(func() { must(t, lock.Release()) })
}

// TestAForeignLock plays a process of this user that holds the account's lock file: who looks does not wait, what writes is told who
// holds it, and locking and stopping go through, with a write under way as well.
func TestAForeignLock(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, h *home){
		"lock": func(t *testing.T, h *home) {
			must(t, h.call(t, api.OpLock, nil, nil))
			if s := h.status(t); s.Account.State != "locked" {
				t.Errorf("after locking: %+v", s.Account)
			}
			if r := h.requireEvent(t, "account.locked"); !strings.Contains(string(r.Data), `"signed":false`) {
				t.Errorf("the record does not tell that the log's end is not signed: %s", r.Data)
			}
			h.stop(t)
		},
		"stop": func(t *testing.T, h *home) { h.stop(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			started := h.unlock(t, h.account(t))
			holdLock(t, h, "write.lock")
			adding := make(chan error, 1)
			conn := h.dial(t)
			go func() {
				_, err := conn.Call(t.Context(), api.OpItemAdd, api.ItemAdd{Name: "waits", Type: "other"}, nil)
				adding <- err
			}()
			eventually(t, "the write is under way", func() bool {
				for _, r := range events(t, h) {
					if r.Tool == api.OpItemAdd && r.Event == "permission.decided" {
						return true
					}
				}
				return false
			})
			must(t, h.call(t, api.OpItemList, nil, nil))
			if s := h.status(t); s.Account.State != "unlocked" {
				t.Errorf("meanwhile: %+v", s.Account)
			}
			select {
			case err := <-adding:
				t.Fatalf("the write did not wait: %v", err)
			default:
			}
			end(t, h)
			if err := <-adding; err == nil {
				t.Error("it was stored without the lock")
			}
			eventually(t, "the daemon is gone", func() bool { return hasEnded(started.PID) })
		})
	}
}

// TestAForeignLockIsTold: what writes says who is in its way.
func TestAForeignLockIsTold(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits out the patience of a write")
	}
	t.Parallel()
	h := newHome(t)
	h.unlock(t, h.account(t))
	holdLock(t, h, "write.lock")
	err := h.call(t, api.OpItemAdd, api.ItemAdd{Name: "waits", Type: "other"}, nil)
	var told *api.Error
	if !errors.As(err, &told) || !strings.Contains(told.Message, "holds "+h.state+"/write.lock") || told.Hint == "" {
		t.Errorf("told %v", err)
	}
}

// TestSilent tells a daemon that does not listen from none.
func TestSilent(t *testing.T) {
	h := newHome(t)
	if err := daemon.Silent(t.Context(), h.state); err != nil {
		t.Errorf("before any daemon: %v", err)
	}
	h.unlock(t, h.account(t))
	pid := h.status(t).Daemon.PID
	must(t, os.Remove(h.sock)) // as where it ends and does not get there
	var told *api.Error
	if err := daemon.Silent(t.Context(), h.state); !errors.As(err, &told) || told.Code != api.Unreachable || !strings.Contains(told.Message, "does not answer") {
		t.Errorf("of a daemon that does not listen: %v", err)
	}
	p, err := os.FindProcess(pid)
	must(t, err)
	must(t, p.Signal(os.Interrupt))
	eventually(t, "it has ended", func() bool { return hasEnded(pid) })
	if err := daemon.Silent(t.Context(), h.state); err != nil {
		t.Errorf("of one that has ended: %v", err)
	}
}
