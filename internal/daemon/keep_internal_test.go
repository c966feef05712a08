package daemon

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"warder/internal/api"
	"warder/internal/platform"
	"warder/internal/vault"
)

// hands is a clock that a test moves.
type hands struct {
	wall  time.Time
	boot  time.Duration
	blind bool // the system has no clock that goes on in sleep
}

func (h *hands) clock() clock {
	return clock{now: func() time.Time { return h.wall }, boot: func() (time.Duration, error) {
		if h.blind {
			return 0, platform.ErrUnsupported
		}
		return h.boot, nil
	}}
}

// pass lets time go by.
func (h *hands) pass(d time.Duration) {
	h.wall = h.wall.Add(d)
	h.boot += d
}

// kept is a keeper of an open account, and what it was locked for.
type kept struct {
	*keeper
	hands   *hands
	reasons []string
}

func newKept(t *testing.T) *kept {
	t.Helper()
	s := newScene(t)
	k := &kept{hands: &hands{wall: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), boot: time.Hour}}
	now := k.hands.clock().moment()
	var locked *vault.Account
	k.keeper = &keeper{
		clock: k.hands.clock(), idle: 8 * time.Hour, max: 12 * time.Hour, exists: true, account: s.account, opened: now, last: now,
		before: func(a *vault.Account) bool {
			locked = a
			if _, err := a.Vault(vault.DefaultVault); err != nil {
				t.Errorf("the keys are gone before the log is signed: %v", err)
			}
			return true
		},
		after: func(reason string, _ *client, _ bool) {
			if _, err := locked.Vault(vault.DefaultVault); !errors.Is(err, vault.ErrLocked) {
				t.Errorf("recorded as locked with %v", err)
			}
			k.reasons = append(k.reasons, reason)
		},
	}
	return k
}

func (k *kept) isOpen() bool {
	_, err := k.get()
	return err == nil
}

// TestU_158_TheTimeOfAnAccount plays how long an account stays open.
func TestU_158_TheTimeOfAnAccount(t *testing.T) {
	const almost = time.Second
	for name, c := range map[string]struct {
		play   func(k *kept)
		open   bool
		reason string
	}{
		"nobody acts": {
			func(k *kept) { k.hands.pass(8 * time.Hour) }, false, lockIdle,
		},
		"almost": {
			func(k *kept) { k.hands.pass(8*time.Hour - almost) }, true, "",
		},
		"a person acts": {
			func(k *kept) { k.hands.pass(7 * time.Hour); k.acted(); k.hands.pass(4 * time.Hour) }, true, "",
		},
		"a person acts again and again": {
			func(k *kept) {
				for range 12 {
					k.hands.pass(time.Hour)
					k.acted()
				}
			}, false, lockMax,
		},
		"too late": {
			func(k *kept) { k.hands.pass(8 * time.Hour); k.acted() }, false, lockIdle,
		},
		"agents act": {
			func(k *kept) {
				for range 8 {
					k.hands.pass(time.Hour)
					_, _ = k.get()
				}
			}, false, lockIdle,
		},
		"asleep": { // the wall clock of a machine that slept is set when it wakes
			func(k *kept) { k.hands.boot += 8 * time.Hour }, false, lockIdle,
		},
		"the clock jumps forward": {
			func(k *kept) { k.hands.wall = k.hands.wall.Add(1000 * time.Hour) }, true, "",
		},
		"the clock jumps back": {
			func(k *kept) { k.hands.wall = k.hands.wall.Add(-1000 * time.Hour); k.hands.boot += 8 * time.Hour }, false, lockIdle,
		},
		"asleep, with no clock for that": {
			func(k *kept) { k.hands.blind = true; k.hands.wall = k.hands.wall.Add(8 * time.Hour) }, false, lockIdle,
		},
		"unattended": {
			func(k *kept) { k.unattended = true; k.hands.pass(1000 * time.Hour) }, true, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKept(t)
			c.play(k)
			if k.isOpen() != c.open {
				t.Errorf("open: %t, want %t", !c.open, c.open)
			}
			if c.reason == "" && len(k.reasons) > 0 || c.reason != "" && (len(k.reasons) != 1 || k.reasons[0] != c.reason) {
				t.Errorf("locked for %q, want %q", k.reasons, c.reason)
			}
		})
	}
}

// TestALockedAccountStaysLocked asks for what is over.
func TestALockedAccountStaysLocked(t *testing.T) {
	k := newKept(t)
	held, err := k.get()
	must(t, err)
	if !k.lock(lockAsked, nil) || k.lock(lockAsked, nil) {
		t.Error("it is locked once")
	}
	k.acted()
	k.tick()
	_, err = k.get()
	var told *api.Error
	if !errors.As(err, &told) || told.Code != api.Locked {
		t.Errorf("got %v", err)
	}
	if _, err := held.Vault(vault.DefaultVault); !errors.Is(err, vault.ErrLocked) {
		t.Errorf("who holds on to it gets %v", err)
	}
	if s, findings := k.status(); s.State != "locked" || s.LocksAt != "" || findings != nil {
		t.Errorf("status %+v", s)
	}
	k.exists = false
	if _, err := k.get(); !errors.As(err, &told) || told.Code != api.NoAccount {
		t.Errorf("got %v", err)
	}
}

// TestLocksAt tells when the account will be locked, by the clock on the wall.
func TestLocksAt(t *testing.T) {
	k := newKept(t)
	for _, step := range []struct {
		pass time.Duration
		want string
	}{
		{0, "2026-01-02T11:04:05Z"},
		{time.Hour, "2026-01-02T12:04:05Z"},
		{6 * time.Hour, "2026-01-02T15:04:05Z"}, // the most in all
	} {
		k.hands.pass(step.pass)
		k.acted()
		if s, _ := k.status(); s.LocksAt != step.want {
			t.Errorf("after %s more: %s, want %s", step.pass, s.LocksAt, step.want)
		}
	}
	k.hands.wall = k.hands.wall.Add(-time.Hour) // set back: what is left stays
	if s, _ := k.status(); s.LocksAt != "2026-01-02T14:04:05Z" {
		t.Errorf("after the clock was set back: %s", s.LocksAt)
	}
}

// TestTheClockOfThisSystem reads the real one.
func TestTheClockOfThisSystem(t *testing.T) {
	c := clock{now: time.Now, boot: platform.SinceBoot}
	m := c.moment()
	if d := c.since(m); d < 0 || d > time.Minute {
		t.Errorf("%s passed", d)
	}
	if !m.booted {
		t.Skip("this system has no clock that goes on in sleep")
	}
	if m.boot <= 0 {
		t.Errorf("booted %s ago", m.boot)
	}
}

// TestLimitOnlyShortens: what the settings say while the account is open can
// lock it sooner, and never keep it open for longer.
func TestLimitOnlyShortens(t *testing.T) {
	k := newKept(t)
	k.limit(10*time.Minute, time.Hour)
	k.limit(8*time.Hour, 12*time.Hour)
	k.hands.pass(11 * time.Minute)
	if k.isOpen() {
		t.Error("a longer time counts for an account that is open")
	}
}

// TestTheTimeEndsUnderAForeignLock: whoever keeps the account's lock file keeps no account open.
func TestTheTimeEndsUnderAForeignLock(t *testing.T) {
	s := newAsking(t)
	lock, err := s.acts.state.TryLock("write.lock")
	must(t, err)
	defer lock.Release()
	s.hands.pass(13 * time.Hour)
	s.d.keep.tick()
	if _, err := s.account.Vault(vault.DefaultVault); !errors.Is(err, vault.ErrLocked) {
		t.Errorf("its time is over, and the keys are there: %v", err)
	}
	if all := s.records(); all[len(all)-1].Event != eventLocked {
		t.Errorf("the last record is %s", all[len(all)-1].Event)
	}
}

// TestWhatAStarterIsTold: a full disk has the hint for that, wherever the start failed.
func TestWhatAStarterIsTold(t *testing.T) {
	full := &os.PathError{Op: "write", Path: "/state", Err: syscall.ENOSPC}
	for name, err := range map[string]error{"plain": full, "wrapped": fmt.Errorf("storing: %w", full), "coded": api.Errorf(api.Internal, "storing").WithCause(full)} {
		if e := toldError(err); e.Code != api.Internal || !strings.Contains(e.Hint, "make room on that disk") {
			t.Errorf("%s: %v, hint %q", name, e, e.Hint)
		}
	}
	for _, err := range []error{errors.New("another"), api.Errorf(api.Locked, "locked")} {
		if e := toldError(err); e.Hint != api.RowOf(e.Code).Hint {
			t.Errorf("%v: hint %q", e, e.Hint)
		}
	}
}

// TestReopenHint names a command that opens an unattended account again, once.
func TestReopenHint(t *testing.T) {
	for _, hint := range []string{"make room on that disk", "see who may write there; then: warder daemon restart", "type it from the recovery kit: warder unlock --recovery"} {
		got := reopenHint(hint)
		if !strings.HasPrefix(got, hint) || strings.Count(got, "warder daemon restart")+strings.Count(got, "warder unlock") != 1 {
			t.Errorf("%q: %q", hint, got)
		}
	}
}
