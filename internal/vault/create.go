package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"warder/internal/seal"
	"warder/internal/secret"
	"warder/internal/state"
)

// Create makes a new account with one vault, unlocked, and the recovery kit that must be printed: its code is nowhere else.
//
// Errors: *WeakPasswordError, ErrExists, and those of the file system. A Create that was interrupted may be repeated.
func Create(cfg Config, password secret.Value) (*Account, *Kit, error) {
	if err := checkPassword(password); err != nil {
		return nil, nil, err
	}
	c, err := createPlaces(cfg)
	if err != nil {
		return nil, nil, err
	}
	var kit *Kit
	err = c.exclusive(func() error {
		f := founder{c}
		if err := f.clearGround(); err != nil {
			return err
		}
		if kit, err = f.establish(password); err != nil {
			err = fmt.Errorf("the account is not finished, create it again: %w", err)
		}
		return err
	})
	if err != nil {
		c.lock()
		return nil, nil, err
	}
	return &Account{c: c}, kit, nil
}

func createPlaces(cfg Config) (*core, error) {
	if err := checkPlaces(cfg); err != nil {
		return nil, err
	}
	shared, err := state.CreateDir(cfg.AccountDir)
	if err != nil {
		return nil, fmt.Errorf("making the account directory: %w", err)
	}
	local, err := state.CreateDir(cfg.StateDir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making the state directory: %w", err), shared.Close())
	}
	return newCore(cfg, shared, local), nil
}

// founder makes new accounts and opens lost ones.
type founder struct{ *core }

// clearGround refuses a folder that holds anything, and a state directory with a device secret, which may be somebody's only key. What an
// interrupted Create of this device left is removed: its marker names the account it was making.
func (c founder) clearGround() error {
	marker, err := c.creating()
	if err != nil {
		return err
	}
	if marker.IsZero() {
		return c.bareGround()
	}
	if ours, err := c.holdsOnly(marker); err != nil || !ours {
		return errors.Join(err, fmt.Errorf("account in %s: %w", c.shared.top.Path(), ErrExists))
	}
	if err := c.removeTree(""); err != nil {
		return err
	}
	return c.local.in("device", func(d folder) error {
		return errors.Join(d.Remove(secretFile), d.Remove(keysFile), d.Remove(seenFile))
	})
}

func (c founder) bareGround() error {
	names, err := c.list("")
	if err != nil {
		return err
	}
	if len(names) > 0 {
		return fmt.Errorf("account in %s: %w", c.shared.top.Path(), ErrExists)
	}
	ds, err := readDeviceSecret(c.local)
	if errors.Is(err, ErrNoDeviceSecret) {
		return nil
	}
	ds.Destroy()
	return errors.Join(err, fmt.Errorf("device secret in %s: %w", c.local.top.Path(), ErrExists))
}

// holdsOnly says whether the account directory holds nothing but files of one account, by the id in their clear part. Where it is synced,
// another account may have begun to arrive since Create was interrupted.
func (s *store) holdsOnly(account seal.ID) (bool, error) {
	vaults, err := s.list("vaults")
	if err != nil {
		return false, err
	}
	folders := []string{"", "keysets", "devices"}
	for _, name := range vaults {
		folders = append(folders, "vaults/"+strings.TrimSuffix(name, "/"))
	}
	for _, path := range folders {
		if ours, err := s.folderHoldsOnly(path, account); err != nil || !ours {
			return false, err
		}
	}
	return true, nil
}

func (s *store) folderHoldsOnly(path string, account seal.ID) (bool, error) {
	names, err := s.list(path)
	if err != nil {
		return false, err
	}
	files := 0
	for _, name := range names {
		if sub, isFolder := strings.CutSuffix(name, "/"); isFolder {
			if !isFolderName(sub) {
				return false, nil
			}
			continue
		}
		var file []byte
		err := s.shared.in(path, func(d folder) error {
			file, err = d.Read(name, limitSmall)
			return err
		})
		if err != nil {
			return false, err
		}
		// Here every header begins with the account.
		if len(file) < framePrefix+len(account) || seal.ID(file[framePrefix:framePrefix+len(account)]) != account {
			return false, nil
		}
		files++
	}
	if files > 0 || !strings.HasPrefix(path, "vaults/") {
		return true, nil
	}
	// A vault's header is its first file. One that has only others is not of our making.
	return s.isEmpty(path)
}

// isEmpty says whether there is no file in a folder and below it.
func (s *store) isEmpty(path string) (bool, error) {
	names, err := s.list(path)
	if err != nil {
		return false, err
	}
	for _, name := range names {
		sub, isFolder := strings.CutSuffix(name, "/")
		if !isFolder {
			return false, nil
		}
		if empty, err := s.isEmpty(path + "/" + sub); err != nil || !empty {
			return false, err
		}
	}
	return true, nil
}

// creating reads the marker of an interrupted Create; zero if there is none.
func (s *store) creating() (id seal.ID, err error) {
	err = s.local.in("device", func(d folder) error {
		text, err := d.Read(creatingFile, limitSmall)
		if err != nil {
			return err
		}
		id, err = parseMarker(text)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return seal.ID{}, nil
	}
	return id, err
}

// parseMarker reads an account's id on a line of its own.
func parseMarker(text []byte) (seal.ID, error) { return seal.ParseID(strings.TrimSpace(string(text))) }

// establish writes a whole new account. The marker is there from before the first file until after the last, so that a crash in
// between leaves something that can be told from an account under sync.
func (c founder) establish(password secret.Value) (*Kit, error) {
	c.account = seal.NewID()
	err := c.local.make("device", func(d folder) error { return d.Replace(creatingFile, []byte(c.account.String()+"\n")) })
	if err != nil {
		return nil, err
	}
	if c.ds, err = secret.Random(deviceSecretLen); err != nil {
		return nil, err
	}
	if err := writeDeviceSecret(c.local, c.ds); err != nil {
		return nil, err
	}
	if c.root, err = seal.NewRootKey(); err != nil {
		return nil, err
	}
	code, err := c.firstKeyset(password)
	if err != nil {
		return nil, err
	}
	defer code.Destroy()
	err = c.shared.in("", func(d folder) error { return d.WriteNew("format", frame(magicFormat, c.account[:])) })
	if err != nil {
		return nil, err
	}
	if _, err := createVault(c.core, DefaultVault); err != nil {
		return nil, err
	}
	kit, err := makeKit(c.core, code)
	if err != nil {
		return nil, err
	}
	if err := c.local.in("device", func(d folder) error { return d.Remove(creatingFile) }); err != nil {
		return nil, err
	}
	// Writing there makes the removal durable: a marker that came back with a power cut would have the account made anew.
	_ = memory(c).save()
	return kit, nil
}

// firstKeyset makes this device's card and keyset 1, and returns the recovery code.
func (c founder) firstKeyset(password secret.Value) (code secret.Value, err error) {
	if code, err = secret.Random(recoveryCodeLen); err != nil {
		return code, err
	}
	if c.dev, err = newDevice(); err != nil {
		return code, err
	}
	if err := c.publishDevice(); err != nil {
		return code, err
	}
	k := &keyset{epoch: 1, created: c.cfg.now(), roster: map[seal.ID]seal.Hash{c.dev.id: c.cards[c.dev.id].hash}}
	pw, err := c.passwordSlot(1, password)
	if err != nil {
		return code, err
	}
	rec, err := c.recoverySlot(1, code)
	if err != nil {
		return code, err
	}
	k.slots = []slot{pw, rec}
	if err := k.encode(c.account, c.root); err != nil {
		return code, err
	}
	return code, c.writeKeyset(k)
}

// makeKit makes the texts of a recovery kit.
func makeKit(c *core, code secret.Value) (*Kit, error) {
	ds, err := codeText(c.ds)
	if err != nil {
		return nil, err
	}
	rc, err := codeText(code)
	if err != nil {
		ds.Destroy()
		return nil, err
	}
	return &Kit{Account: c.account, DeviceSecret: ds, RecoveryCode: rc, StateCode: stateCode(c.keyset.roster, c.vaults), Created: c.cfg.now()}, nil
}

// NewKit makes a new recovery code and returns the kit with it; the code before it works no longer. It is for a kit that was lost or
// that somebody else has seen.
func (a *Account) NewKit() (kit *Kit, err error) {
	c := a.c
	code, err := secret.Random(recoveryCodeLen)
	if err != nil {
		return nil, err
	}
	defer code.Destroy()
	err = c.writing(a.wait, func() error {
		if err := c.sync(); err != nil {
			return err
		}
		err := (roster{c}).advance(func(k *keyset) error {
			s, err := c.recoverySlot(k.epoch, code)
			k.setSlot(s)
			return err
		}, commitOptions{})
		if err != nil {
			return err
		}
		kit, err = makeKit(c, code)
		return err
	})
	return kit, err
}

// SetDeviceSecret stores the device secret of an existing account on this device, as typed from the recovery kit.
// One that is there already is never replaced: ErrExists.
func SetDeviceSecret(cfg Config, text secret.Value) error {
	ds, err := parseCode(text, deviceSecretLen)
	if err != nil {
		return err
	}
	defer ds.Destroy()
	if err := checkPlaces(cfg); err != nil {
		return err
	}
	local, err := state.CreateDir(cfg.StateDir)
	if err != nil {
		return err
	}
	defer local.Close() //nolint:errcheck // nothing is written through it
	err = writeDeviceSecret(newTree(local, cfg.wrap), ds)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("device secret: %w", ErrExists)
	}
	return err
}

// Recover opens the account with the recovery code from the kit and sets a new master password. The code is used up: the new kit
// that it returns holds another one. Where this device has lost its device secret too, a new one is made, and the account's other
// devices need the new kit.
func Recover(cfg Config, code, password secret.Value) (*Account, *Kit, error) {
	if err := checkPassword(password); err != nil {
		return nil, nil, err
	}
	c, raw, err := recoveryPlaces(cfg, code)
	if err != nil {
		return nil, nil, err
	}
	defer raw.Destroy()
	kit, err := founder{c}.recover(raw, password)
	if err != nil {
		c.lock()
		return nil, nil, err
	}
	return &Account{c: c}, kit, nil
}

// recoveryPlaces opens the places for a recovery, which a device that is new to the account may have none of, and reads the code.
func recoveryPlaces(cfg Config, code secret.Value) (c *core, raw secret.Value, err error) {
	if raw, err = parseCode(code, recoveryCodeLen); err != nil {
		return nil, raw, err
	}
	defer func() {
		if err != nil {
			raw.Destroy()
		}
	}()
	local, err := state.CreateDir(cfg.StateDir)
	if err != nil {
		return nil, raw, fmt.Errorf("making the state directory: %w", err)
	}
	defer local.Close() //nolint:errcheck // nothing is written through it
	c, err = openPlaces(cfg)
	return c, raw, err
}

// openByCode opens the root key with a recovery code.
func (c founder) openByCode(code secret.Value) error {
	if err := c.local.make("device", func(folder) error { return nil }); err != nil {
		return err
	}
	return c.open(recoverySlot, code)
}

func (c founder) recover(code, password secret.Value) (*Kit, error) {
	if err := c.openByCode(code); err != nil {
		return nil, err
	}
	if err := c.recoverSecret(); err != nil {
		return nil, err
	}
	if err := c.start(); err != nil {
		return nil, err
	}
	fresh, err := secret.Random(recoveryCodeLen)
	if err != nil {
		return nil, err
	}
	defer fresh.Destroy()
	err = c.exclusive(func() error {
		if err := c.sync(); err != nil {
			return err
		}
		return roster(c).advance(func(k *keyset) error {
			pw, err := c.passwordSlot(k.epoch, password)
			if err != nil {
				return err
			}
			rec, err := c.recoverySlot(k.epoch, fresh)
			k.setSlot(pw)
			k.setSlot(rec)
			return err
		}, commitOptions{recovery: true})
	})
	if err != nil {
		return nil, err
	}
	return makeKit(c.core, fresh)
}

// recoverSecret reads the device secret, or makes a new one where it is lost. The device's keys were wrapped under the lost one
// and go with it.
func (c founder) recoverSecret() (err error) {
	c.ds, err = readDeviceSecret(c.local)
	if !errors.Is(err, ErrNoDeviceSecret) {
		return err
	}
	if c.ds, err = secret.Random(deviceSecretLen); err != nil {
		return err
	}
	// They go first: keys that a new secret does not open would keep the device out.
	err = c.local.in("device", func(d folder) error { return errors.Join(d.Remove(keysFile), d.Remove(seenFile)) })
	if err != nil {
		return err
	}
	return writeDeviceSecret(c.local, c.ds)
}
