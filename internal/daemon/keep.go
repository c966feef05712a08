package daemon

import (
	"sync"
	"time"

	"warder/internal/api"
	"warder/internal/vault"
)

// Why an account was locked, as the audit log has it.
const (
	lockAsked    = "asked"
	lockIdle     = "idle"
	lockMax      = "max"
	lockSleep    = "sleep"
	lockSession  = "session_lock"
	lockShutdown = "shutdown"
)

// keeper hands out the unlocked account until it is locked, for good: what is locked is opened by a fresh process.
type keeper struct {
	clock      clock
	exists     bool   // there is an account
	id         string // of the account; "" if it was never open
	unattended bool   // opened without a person, who could unlock it again: it has no time limits
	// fault is why an unattended account did not open with this daemon; nil if it did. It is set before anybody else sees it.
	fault *startFault
	// before is called with the open account when it is about to be locked, under mu.
	before func(a *vault.Account, reason string, by *client)

	mu           sync.Mutex // taken before any lock of the account or the log
	idle, max    time.Duration
	account      *vault.Account
	opened, last moment // when it was unlocked, and when a person last acted
}

// startFault is why an unattended account did not open, and what to do about it.
type startFault struct{ why, hint string }

// get is the unlocked account. An error is an [*api.Error] of code Locked or NoAccount.
func (k *keeper) get() (*vault.Account, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.expire()
	switch {
	case k.account != nil:
		return k.account, nil
	case !k.exists:
		return nil, api.Errorf(api.NoAccount, "there is no account on this device")
	case k.fault != nil:
		return nil, api.Errorf(api.Locked, "the unattended account is locked: %s", k.fault.why).WithHint(k.fault.hint)
	case k.unattended:
		return nil, api.Errorf(api.Locked, "the account is locked").WithHint("it is unattended and opens with the daemon: warder daemon restart")
	}
	return nil, api.Errorf(api.Locked, "the account is locked")
}

// acted notes that a person did something.
func (k *keeper) acted() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.expire() // an act can't prolong what has ended
	k.last = k.clock.moment()
}

// limit shortens how long the account may stay open. A longer time counts from the next unlocking on: that takes a person,
// and whoever can write the settings must not keep open what a person wanted locked sooner.
func (k *keeper) limit(idle, most time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.idle, k.max = min(k.idle, idle), min(k.max, most)
	k.expire()
}

// allow sets how long the account may stay open, where that was accepted by a person.
func (k *keeper) allow(idle, most time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.idle, k.max = idle, most
	k.expire()
}

// tick locks the account if its time is over.
func (k *keeper) tick() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.expire()
}

// lock locks the account and reports whether it was open. by is who asked, nil if nobody did.
func (k *keeper) lock(reason string, by *client) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.close(reason, by)
}

// expire locks the account if its time is over.
func (k *keeper) expire() {
	if k.account == nil || k.unattended {
		return
	}
	switch {
	case k.clock.since(k.last) >= k.idle:
		k.close(lockIdle, nil)
	case k.clock.since(k.opened) >= k.max:
		k.close(lockMax, nil)
	}
}

func (k *keeper) close(reason string, by *client) bool {
	a := k.account
	if a == nil {
		return false
	}
	k.account = nil
	k.before(a, reason, by)
	a.Lock()
	return true
}

// status is what is told about the account.
func (k *keeper) status() (status api.AccountStatus, findings []vault.Finding) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.expire()
	status = api.AccountStatus{State: "none", ID: k.id, Unattended: k.unattended}
	if k.exists {
		status.State = "locked"
	}
	if k.fault != nil {
		status.Why, status.Hint = k.fault.why, k.fault.hint
	}
	if k.account == nil {
		return status, nil
	}
	status.State = "unlocked"
	if !k.unattended {
		left := min(k.idle-k.clock.since(k.last), k.max-k.clock.since(k.opened))
		status.LocksAt = k.clock.now().Add(left).UTC().Format(time.RFC3339)
	}
	return status, k.account.Findings()
}
