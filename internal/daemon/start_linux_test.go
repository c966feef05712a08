package daemon_test

import (
	"strings"
	"testing"

	"warder/internal/api"
	"warder/internal/secret"
)

// TestALockedDaemonServes starts a daemon without anything and asks it what it is.
func TestALockedDaemonServes(t *testing.T) {
	h := newHome(t)
	started := h.mustStart(t, api.OpStart, nil)
	s := h.status(t)
	if s.Daemon.PID != started.PID || !s.Daemon.Running || !s.Daemon.SameBinary || len(s.Daemon.SHA256) != 64 {
		t.Errorf("daemon: %+v", s.Daemon)
	}
	if s.Account.State != "none" || s.Account.LocksAt != "" {
		t.Errorf("account: %+v", s.Account)
	}
	var who api.Whoami
	must(t, h.call(t, api.OpWhoami, nil, &who))
	if len(who.Evidence) == 0 {
		t.Errorf("no evidence: %+v", who)
	}
	h.stop(t)
	h.requireEvent(t, "daemon.started")
	h.requireEvent(t, "daemon.stopped")
}

// TestUnlockIsAFreshDaemon unlocks, locks, and unlocks again: each time another process serves, and a wrong password leaves
// the one that runs as it is.
func TestUnlockIsAFreshDaemon(t *testing.T) {
	h := newHome(t)
	password := h.account(t)
	first := h.mustStart(t, api.OpStart, nil)
	if s := h.status(t); s.Account.State != "locked" {
		t.Fatalf("account: %+v", s.Account)
	}
	_, _, err := h.start(t, api.OpStartUnlock, api.StartUnlock{}, newPassword(t))
	if codeOf(err) != api.WrongPassword {
		t.Fatalf("a wrong password: %v", err)
	}
	if s := h.status(t); s.Daemon.PID != first.PID {
		t.Fatalf("a wrong password replaced the daemon")
	}
	eventually(t, "the wait after a wrong password is over", func() bool {
		_, _, err := h.start(t, api.OpStartUnlock, api.StartUnlock{}, password)
		return err == nil
	})
	if r := h.requireEvent(t, "account.unlocked"); !strings.Contains(string(r.Data), `"wrong_before":1`) {
		t.Errorf("the wrong password is not in the log: %s", r.Data)
	}
	second := h.status(t)
	if second.Daemon.PID == first.PID || second.Account.State != "unlocked" || second.Account.LocksAt == "" {
		t.Fatalf("after unlocking: %+v", second)
	}
	eventually(t, "the first daemon ends", func() bool { return hasEnded(first.PID) })
	must(t, h.call(t, api.OpLock, nil, nil))
	if s := h.status(t); s.Account.State != "locked" || s.Daemon.PID != second.Daemon.PID {
		t.Fatalf("after locking: %+v", s)
	}
	third := h.unlock(t, password)
	if third.PID == second.Daemon.PID || h.status(t).Account.State != "unlocked" {
		t.Fatalf("not unlocked by a fresh one: %+v", third)
	}
	var report api.AuditReport
	must(t, h.call(t, api.OpAuditVerify, nil, &report))
	// What came before the account was first opened is in the chain, and proved by nothing.
	if !report.OK || report.Full || report.Proved < 2 {
		t.Errorf("the log: %+v", report)
	}
	for _, event := range []string{"daemon.replaced", "account.unlocked", "account.locked"} {
		h.requireEvent(t, event)
	}
}

// TestCreateGivesTheKit makes an account through the inherited connection.
func TestCreateGivesTheKit(t *testing.T) {
	h := newHome(t)
	password := newPassword(t)
	started, kit, err := h.start(t, api.OpStartCreate, api.StartCreate{}, password)
	must(t, err)
	if len(kit) != 2 || kit[0].Len() == 0 || kit[1].Len() == 0 || started.StateCode == "" || started.Account == "" {
		t.Fatalf("no kit: %+v, %d values", started, len(kit))
	}
	if s := h.status(t); s.Account.State != "unlocked" || s.Account.ID != started.Account {
		t.Errorf("account: %+v", s.Account)
	}
	if first := events(t, h)[0]; first.Event != "daemon.started" {
		t.Errorf("the log begins with %s", first.Event)
	}
	_, _, err = h.start(t, api.OpStartCreate, api.StartCreate{}, password)
	if codeOf(err) != api.Exists {
		t.Errorf("a second account: %v", err)
	}
	if s := h.status(t); s.Daemon.PID != started.PID {
		t.Error("a refused request replaced the daemon")
	}
	fresh := newPassword(t)
	again, kit2, err := h.start(t, api.OpStartRecover, api.StartUnlock{}, kit[1], fresh)
	must(t, err)
	if len(kit2) != 2 || kit2[1].Equal(kit[1]) || again.PID == started.PID {
		t.Errorf("after recovering: %+v", again)
	}
	h.unlock(t, fresh)
}

// TestAnUnattendedAccountOpensByItself restarts a daemon that nobody unlocks.
func TestAnUnattendedAccountOpensByItself(t *testing.T) {
	h := newHome(t)
	started, kit, err := h.start(t, api.OpStartCreate, api.StartCreate{Unattended: true})
	must(t, err)
	if len(kit) != 2 || started.PasswordFile != h.state+"/unattended/password" {
		t.Fatalf("started: %+v", started)
	}
	h.stop(t)
	h.mustStart(t, api.OpStart, nil)
	s := h.status(t)
	if s.Account.State != "unlocked" || !s.Account.Unattended || s.Account.LocksAt != "" {
		t.Errorf("account: %+v, %v", s.Account, s.Warnings)
	}
	if _, _, err := h.start(t, api.OpStartUnlock, api.StartUnlock{}, newPassword(t)); codeOf(err) != api.Denied {
		t.Errorf("unlocking it: %v", err)
	}
	must(t, h.call(t, api.OpLock, nil, nil))
	if s := h.status(t); s.Account.State != "locked" {
		t.Errorf("after locking: %+v", s.Account)
	}
}

// TestAWrongRecoveryCodeLeavesTheDaemon tries codes that open nothing while a daemon has the account open: it goes on (G16).
func TestAWrongRecoveryCodeLeavesTheDaemon(t *testing.T) {
	h := newHome(t)
	password := newPassword(t)
	first, kit, err := h.start(t, api.OpStartCreate, api.StartCreate{}, password)
	must(t, err)
	other := newHome(t)
	_, foreign, err := other.start(t, api.OpStartCreate, api.StartCreate{}, newPassword(t))
	must(t, err)
	weak, err := secret.New([]byte("password"))
	must(t, err)
	t.Cleanup(weak.Destroy)
	for _, row := range []struct {
		name           string
		in             api.StartUnlock
		code, password secret.Value
		want           api.Code
	}{
		{"mistyped", api.StartUnlock{}, password, newPassword(t), api.WrongPassword},
		{"the device secret", api.StartUnlock{}, kit[0], newPassword(t), api.WrongPassword},
		{"a weak password", api.StartUnlock{}, kit[1], weak, api.Usage},
		{"a device secret too many", api.StartUnlock{DeviceSecret: true}, kit[1], newPassword(t), api.Exists},
		{"another account's", api.StartUnlock{}, foreign[1], newPassword(t), api.WrongPassword},
	} {
		values := []secret.Value{row.code, row.password}
		if row.in.DeviceSecret {
			values = append(values, kit[0])
		}
		_, _, err := h.start(t, api.OpStartRecover, row.in, values...)
		if codeOf(err) != row.want {
			t.Errorf("%s: %v", row.name, err)
		}
		if s := h.status(t); s.Daemon.PID != first.PID || s.Account.State != "unlocked" {
			t.Fatalf("%s: the daemon is %+v, the account %+v", row.name, s.Daemon, s.Account)
		}
	}
	if _, _, err = h.start(t, api.OpStartRecover, api.StartUnlock{}, kit[1], newPassword(t)); err != nil {
		t.Errorf("the right code, after a short wait: %v", err)
	}
}
