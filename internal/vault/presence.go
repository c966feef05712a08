package vault

import (
	"runtime/debug"

	"warder/internal/secret"
)

// VerifyPassword says whether password is the account's master password: that whoever brought it is there. It reads and changes
// nothing else. Wrong ones count on disk together with those of Open, so that neither way lets anybody guess faster.
//
// Errors: ErrWrongPassword, *WaitError, ErrLocked, and those of the file system.
func (a *Account) VerifyPassword(password secret.Value) error {
	c := a.c
	if err := c.writing(c.sync); err != nil { // another device may have changed the password
		return err
	}
	c.mu.RLock() // others go on reading: stretching takes a while
	defer c.mu.RUnlock()
	if c.locked {
		return ErrLocked
	}
	return c.exclusive(func() error {
		if err := countAttempt(c.local, c.cfg.now()); err != nil {
			return err
		}
		root, err := c.keyset.slot(passwordSlot).open(c.account, password, c.ds)
		debug.FreeOSMemory()
		if err != nil {
			return ErrWrongPassword
		}
		root.Destroy()
		return clearAttempts(c.local)
	})
}
