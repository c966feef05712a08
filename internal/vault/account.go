package vault

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"warder/internal/seal"
	"warder/internal/secret"
	"warder/internal/state"
)

// Least demands on a master password: with a stolen device its strength is what is left (C-36).
const (
	minPasswordLen   = 12 // characters
	minPasswordScore = 3  // of secret.Strength
)

// DefaultVault is the name of the vault that a new account starts with.
const DefaultVault = "personal"

// Config says where an account is and what it runs with.
type Config struct {
	AccountDir string                      // the directory that may be synced
	StateDir   string                      // this device's own
	KDF        seal.KDF                    // cost of new password slots; zero means seal.StandardKDF. The salt is always fresh
	Now        func() time.Time            // nil means time.Now
	AuditHead  func() (uint64, seal.Hash)  // seq and head of the audit log, signed into each manifest root; nil means none
	wrap       func(string, folder) folder // set by tests only
	lockTime   time.Duration               // how long a write waits for other processes; zero means lockTime. Set by tests only
}

// now is the time as F1 keeps it, so that what is in memory is what is read again.
func (c *Config) now() time.Time {
	now := time.Now
	if c.Now != nil {
		now = c.Now
	}
	return now().UTC().Truncate(time.Millisecond)
}

func (c *Config) kdf() seal.KDF {
	k := seal.StandardKDF()
	if c.KDF.Memory != 0 {
		k.Memory, k.Time, k.Lanes = c.KDF.Memory, c.KDF.Time, c.KDF.Lanes
	}
	return k
}

// Account is an unlocked account. It is safe for concurrent use; writes of several processes are serialised by a lock file.
type Account struct {
	c    *core
	wait context.Context // ends what a write waits for other processes; nil: see lockTime
}

// Until is the account for writes that wait for other processes no longer than ctx, for one try at the least.
func Until(ctx context.Context, a *Account) *Account { return &Account{a.c, ctx} }

// core is what the account and its vaults share while unlocked.
type core struct {
	ring

	mu     sync.RWMutex // guards the ring and all below; taken after the lock file, so that nobody waits for that with mu
	locked bool
	stale  bool // an error left what is in memory half read: nothing may be written on it
	// stillborn is a new id of this device that came to nothing, after which its former keys could not be put back.
	stillborn seal.ID
	seen      seen
	vaults    map[seal.ID]*shelf
	headless  map[seal.ID]bool // vault folders that hold something and have no header
	problems  problems
	found     []Finding
}

// Exists reports whether an account is at cfg's place. It needs no password.
func Exists(cfg Config) (bool, error) {
	c, err := openPlaces(cfg)
	switch {
	case errors.Is(err, ErrNoAccount):
		return false, nil
	case errors.Is(err, ErrNoDeviceSecret):
		return true, nil
	case err != nil:
		return false, err
	}
	c.close()
	return true, nil
}

// checkPlaces refuses a state directory inside the account directory: whatever syncs that would carry the device secret along, and with it
// the protection that it gives (C-36).
func checkPlaces(cfg Config) error {
	account, err := realPath(cfg.AccountDir)
	if err != nil {
		return err
	}
	local, err := realPath(cfg.StateDir)
	if err != nil {
		return err
	}
	if below, err := filepath.Rel(account, local); err == nil && filepath.IsLocal(below) {
		return fmt.Errorf("the state directory %s lies inside the account directory %s, which may be synced: it holds the device secret", local, account)
	}
	return nil
}

// realPath is path without links, as far as it is there.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rest := ""
	for {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		above := filepath.Dir(path)
		if !errors.Is(err, fs.ErrNotExist) || above == path {
			return "", fmt.Errorf("looking where %s is: %w", path, err)
		}
		path, rest = above, filepath.Join(filepath.Base(path), rest)
	}
}

// openPlaces opens both directories and reads which account is there.
func openPlaces(cfg Config) (*core, error) {
	if err := checkPlaces(cfg); err != nil {
		return nil, err
	}
	shared, err := state.OpenDir(cfg.AccountDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoAccount
	}
	if err != nil {
		return nil, err
	}
	local, err := state.OpenDir(cfg.StateDir)
	if errors.Is(err, fs.ErrNotExist) {
		// Nothing of this device is here, so it is new to the account, if that is here.
		if _, err = readFormat(newTree(shared, cfg.wrap)); err == nil {
			err = ErrNoDeviceSecret
		}
		return nil, errors.Join(err, shared.Close())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening the state directory: %w", err), shared.Close())
	}
	c := newCore(cfg, shared, local)
	if c.account, err = c.readAccount(); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func newCore(cfg Config, shared, local *state.Dir) *core {
	return &core{
		ring: ring{
			store: store{cfg: cfg, shared: newTree(shared, cfg.wrap), local: newTree(local, cfg.wrap), turn: make(turn, 1)},
			cards: map[seal.ID]*card{},
		},
		seen:     newSeen(),
		vaults:   map[seal.ID]*shelf{},
		problems: problems{},
	}
}

// readAccount says which account is here. One whose Create was interrupted is none: nobody has its recovery kit.
func (s *store) readAccount() (seal.ID, error) {
	account, err := readFormat(s.shared)
	if err != nil {
		return account, err
	}
	unfinished, err := s.creating()
	if err == nil && unfinished == account {
		err = fmt.Errorf("creating the account was interrupted and must be repeated: %w", ErrNoAccount)
	}
	return account, err
}

func readFormat(shared tree) (account seal.ID, err error) {
	err = shared.in("", func(d folder) error {
		file, err := d.Read("format", limitSmall)
		if errors.Is(err, fs.ErrNotExist) {
			return ErrNoAccount
		}
		if err != nil {
			return err
		}
		f, err := unframe(magicFormat, "account format", len(account), file)
		if err == nil && len(f.body) != 0 {
			err = seal.ErrOpen
		}
		if err != nil {
			return fmt.Errorf("reading the account's format file: %w", err)
		}
		account = seal.ID(f.header)
		return nil
	})
	return account, err
}

// Open unlocks the account with the master password and this device's secret. On a device that is new to the account it also
// enrols the device, unless a finding stops writes.
//
// Errors: ErrNoAccount, ErrNoDeviceSecret, ErrWrongPassword, *WaitError, *FormatError, and those of the file system.
func Open(cfg Config, password secret.Value) (*Account, error) {
	c, err := openPlaces(cfg)
	if err != nil {
		return nil, err
	}
	if c.ds, err = readDeviceSecret(c.local); err == nil {
		err = c.open(passwordSlot, password)
	}
	if err == nil {
		err = c.start()
	}
	if err != nil {
		c.lock()
		return nil, err
	}
	return &Account{c: c}, nil
}

// start loads everything behind the root key and enrols a new device.
func (c *core) start() error {
	err := c.exclusive(func() error {
		var err error
		c.dev, err = readDevice(c.local, c.account, c.root, c.ds)
		if errors.Is(err, seal.ErrOpen) {
			c.problems.set(alarm, FindTampered, objectDeviceKeys, "this device's own keys were changed: it needs a new id")
		} else if err != nil {
			return fmt.Errorf("opening the device keys: %w", err)
		}
		var cleaning sync.WaitGroup
		cleaning.Go(c.cleanTemps) // a walk over all folders, beside the loading
		err = c.load()
		cleaning.Wait()
		if err != nil {
			return err
		}
		if len(alarms(c.found)) > 0 {
			return nil
		}
		if err := (roster{c}).takePart(); !unwritable(err) {
			return err
		}
		return nil // a new device reads without being enrolled
	})
	// The index is built from short-lived buffers several times its size.
	debug.FreeOSMemory()
	return err
}

// Lock wipes keys and index. Every later call that returns an error returns ErrLocked; of the others List, Vaults and Findings return
// nothing, StateCode an empty string, and ID, Device and the ID of a vault what they did before. A vault's name is then its id.
func (a *Account) Lock() {
	a.c.mu.Lock()
	defer a.c.mu.Unlock()
	a.c.lock()
}

func (c *core) lock() {
	if c.locked {
		return
	}
	c.locked = true
	c.destroy()
	for _, s := range c.vaults {
		s.forget()
	}
	c.vaults, c.found = nil, nil
	c.close()
}

func (c *core) isLocked() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.locked
}

// ID is the account's id.
func (a *Account) ID() seal.ID { return a.c.account }

// Device is this device's id in the account; zero while it is not enrolled.
func (a *Account) Device() seal.ID {
	a.c.mu.RLock()
	defer a.c.mu.RUnlock()
	return a.c.dev.id
}

// Findings lists what is wrong with the store, as of the last load, write or Check.
func (a *Account) Findings() []Finding {
	a.c.mu.RLock()
	defer a.c.mu.RUnlock()
	return slices.Clone(a.c.found)
}

// Check reads the whole store again, with the history, and judges it.
func (a *Account) Check() ([]Finding, error) {
	err := a.c.writing(a.wait, func() error { return a.c.examine() })
	return a.Findings(), err
}

// writing runs f as the only writer of all processes, on an account that is still unlocked. Whoever waits for the lock file holds
// nothing that readers or Lock need: any process of this user can keep that file locked.
func (c *core) writing(wait context.Context, f func() error) error {
	if c.isLocked() {
		return ErrLocked
	}
	err := c.alone(wait, func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.locked {
			return ErrLocked
		}
		return c.holding(f)
	})
	if err != nil && c.isLocked() {
		return ErrLocked // its directories were closed while it waited
	}
	return err
}

// Touch writes each vault's manifest root again, without a change: it signs the present audit head, and shows other devices that
// this one is alive.
func (a *Account) Touch() error {
	return a.c.writing(a.wait, func() error {
		if err := a.c.sync(); err != nil {
			return err
		}
		for _, s := range a.c.vaults {
			if err := s.commit(nil, commitOptions{}); err != nil {
				return err
			}
		}
		return nil
	})
}

// Vaults lists the vaults by name.
func (a *Account) Vaults() []*Vault {
	a.c.mu.RLock()
	defer a.c.mu.RUnlock()
	list := make([]*Vault, 0, len(a.c.vaults))
	for _, s := range a.c.vaults {
		list = append(list, &Vault{s, a.wait})
	}
	slices.SortFunc(list, func(x, y *Vault) int { return strings.Compare(x.s.name(), y.s.name()) })
	return list
}

// Vault finds a vault by name without regard to case.
func (a *Account) Vault(name string) (*Vault, error) {
	if a.c.isLocked() {
		return nil, ErrLocked
	}
	for _, v := range a.Vaults() {
		if FoldName(v.Name()) == FoldName(name) {
			return v, nil
		}
	}
	return nil, fmt.Errorf("vault %q: %w", name, ErrNotFound)
}

// SetPassword replaces the password slot; the recovery code stays as it is. That the present password was known to whoever wants
// this is the caller's to see to: a proof of presence carries the fresh one. Old copies of the keyset still open with the old
// password: after a leak the account's keys must be changed too.
func (a *Account) SetPassword(fresh secret.Value) error {
	if err := checkPassword(fresh); err != nil {
		return err
	}
	defer debug.FreeOSMemory()
	c := a.c
	return c.writing(a.wait, func() error {
		if err := c.sync(); err != nil {
			return err
		}
		return (roster{c}).advance(func(k *keyset) error {
			s, err := c.passwordSlot(k.epoch, fresh)
			k.setSlot(s)
			return err
		}, commitOptions{})
	})
}

// checkPassword refuses a weak master password.
func checkPassword(p secret.Value) error {
	weak := &WeakPasswordError{MinLength: minPasswordLen, MinScore: minPasswordScore}
	err := p.Use(func(b []byte) {
		for _, c := range b {
			if c&0xc0 != 0x80 { // counts characters without making a string of them
				weak.Length++
			}
		}
		if weak.Length >= minPasswordLen {
			weak.Score = secret.Strength(b)
		}
	})
	if err != nil {
		return err
	}
	if weak.Score < minPasswordScore {
		return weak
	}
	return nil
}
