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
	// before is called with the open account when it is about to be locked, when nobody else gets it any more, and says whether
	// the log's end was signed. The keys stay until it returns, so it must be quick.
	before func(a *vault.Account) (signed bool)
	// after is called when the keys are gone.
	after func(reason string, by *client, signed bool)

	mu           sync.Mutex // held for no longer than it takes to look: nothing is waited for, and no lock of the account taken
	idle, max    time.Duration
	account      *vault.Account
	opened, last moment        // when it was unlocked, and when a person last acted
	gone         chan struct{} // is closed when the keys are gone; nil before the account was taken away
}

// startFault is why an unattended account did not open, and what to do about it.
type startFault struct{ why, hint string }

// get is the unlocked account. An error is an [*api.Error] of code Locked or NoAccount.
func (k *keeper) get() (*vault.Account, error) {
	defer k.enter()()
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
	defer k.enter()() // an act can't prolong what has ended
	k.last = k.clock.moment()
}

// limit shortens how long the account may stay open. A longer time counts from the next unlocking on: that takes a person,
// and whoever can write the settings must not keep open what a person wanted locked sooner.
func (k *keeper) limit(idle, most time.Duration) {
	defer k.tick()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.idle, k.max = min(k.idle, idle), min(k.max, most)
}

// allow sets how long the account may stay open, where that was accepted by a person.
func (k *keeper) allow(idle, most time.Duration) {
	defer k.tick()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.idle, k.max = idle, most
}

// tick locks the account if its time is over.
func (k *keeper) tick() { k.enter()() }

// lock locks the account and reports whether it was open. by is who asked, nil if nobody did. When it returns the keys are gone,
// also where another call locks the account.
func (k *keeper) lock(reason string, by *client) bool {
	k.mu.Lock()
	wipe, gone := k.take(reason, by), k.gone
	k.mu.Unlock()
	if wipe != nil {
		wipe()
	}
	if gone != nil {
		<-gone
	}
	return wipe != nil
}

// enter takes mu, and the account away from everybody if its time is over. The function that it returns gives mu back and then
// wipes the keys.
func (k *keeper) enter() (leave func()) {
	k.mu.Lock()
	wipe := k.expire()
	return func() {
		k.mu.Unlock()
		if wipe != nil {
			wipe()
		}
	}
}

// expire is take if the account's time is over.
func (k *keeper) expire() (wipe func()) {
	if k.account == nil || k.unattended {
		return nil
	}
	switch {
	case k.clock.since(k.last) >= k.idle:
		return k.take(lockIdle, nil)
	case k.clock.since(k.opened) >= k.max:
		return k.take(lockMax, nil)
	}
	return nil
}

// take takes the account away from everybody, under mu. What it returns locks it and is called without mu, so that what takes
// its time there holds up nobody; nil if no account is open.
func (k *keeper) take(reason string, by *client) (wipe func()) {
	a := k.account
	if a == nil {
		return nil
	}
	gone := make(chan struct{})
	k.account, k.gone = nil, gone
	return func() {
		defer close(gone)
		defer a.Lock() // whatever becomes of the rest
		signed := k.before(a)
		a.Lock()
		k.after(reason, by, signed)
	}
}

// status is what is told about the account.
func (k *keeper) status() (status api.AccountStatus, findings []vault.Finding) {
	leave := k.enter()
	status, a := k.look()
	leave()
	if a != nil {
		findings = a.Findings() // which waits for a write that is under way
	}
	return status, findings
}

// look is status without the findings, under mu.
func (k *keeper) look() (status api.AccountStatus, open *vault.Account) {
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
	return status, k.account
}
