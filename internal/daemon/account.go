package daemon

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"runtime/debug"
	"strings"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/seal"
	"warder/internal/secret"
	"warder/internal/state"
	"warder/internal/vault"
)

const (
	// unattendedDir holds, in the state directory, the password of an account that opens by itself.
	unattendedDir  = "unattended"
	unattendedFile = "password"

	// unattendedBytes is how many random bytes such a password stands for.
	unattendedBytes = 32
)

// accountPlace says where the account is.
type accountPlace struct {
	dir, state string
	head       func() (uint64, seal.Hash)
}

// accountDir is the account's folder in the data directory: the one that may be synced.
func accountDir(data string) string { return filepath.Join(data, "account") }

func (p accountPlace) config() vault.Config {
	return vault.Config{AccountDir: p.dir, StateDir: p.state, AuditHead: p.head}
}

// kitValues are the secret parts of a recovery kit: device secret and recovery code.
type kitValues = []secret.Value

// openedAccount is what came of opening the account.
type openedAccount struct {
	account    *vault.Account // nil if it stays locked
	exists     bool
	unattended bool
	how        string // event: eventCreated, eventUnlocked, eventRecovered
	wrong      int64  // passwords that were tried since the last right one
	kit        kitValues
	stateCode  string
	file       string // path of the password of an unattended account
	fault      *startFault
}

// discard gives up what was opened.
func (o *openedAccount) discard() {
	if o.account != nil {
		o.account.Lock()
	}
	frame.DestroyAll(o.kit)
}

// opener opens the account.
type opener struct{ *Daemon }

// open does what the request asks with the account.
func (d opener) open(ctx context.Context, r *startRequest) (*openedAccount, error) {
	// The stretching of a password takes 128 MiB, which the runtime would keep for long.
	defer debug.FreeOSMemory()
	var o *openedAccount
	var err error
	switch r.op {
	case api.OpStartCreate:
		o, err = d.createAccount(r)
	case api.OpStartUnlock:
		o, err = d.unlockAccount(ctx, r)
	case api.OpStartRecover:
		o, err = d.recoverAccount(r)
	default:
		o, err = d.openUnattended(ctx)
	}
	if err != nil {
		return nil, accountError(err)
	}
	return o, nil
}

func (d opener) unlockAccount(ctx context.Context, r *startRequest) (*openedAccount, error) {
	if d.isUnattended() {
		return nil, api.Errorf(api.Denied, "this account is unattended: nobody unlocks it").
			WithHint("the daemon opens it by itself whenever it starts: warder daemon restart")
	}
	wrong, err := vault.WrongPasswords(d.account.config()) // the right one makes them forgotten
	if err != nil {
		return nil, err
	}
	var a *vault.Account
	err = afterShortWait(ctx, func() (err error) {
		a, err = vault.Open(d.account.config(), r.values[0])
		return err
	})
	if err != nil {
		return nil, err
	}
	return &openedAccount{account: a, exists: true, how: eventUnlocked, wrong: wrong}, nil
}

// mayMakeKit says beforehand why an account can't be made or recovered, as far as that can be seen.
func (d opener) mayMakeKit(ctx context.Context, r *startRequest) error {
	if r.create.DeviceSecret != "" && r.create.DeviceSecret != "file" {
		return api.Errorf(api.Internal, "the device secret can't be kept in %q: this version keeps it in a file", r.create.DeviceSecret).
			WithHint("keep it in a file that only you can read: warder setup --device-secret file")
	}
	exists, err := vault.Exists(d.account.config())
	switch {
	case err != nil:
		return accountError(err)
	case exists && r.op == api.OpStartCreate:
		return accountError(vault.ErrExists)
	case !exists && r.op == api.OpStartRecover:
		return accountError(vault.ErrNoAccount)
	case r.op == api.OpStartRecover:
		return d.mayRecover(ctx, r)
	}
	return nil
}

func (d opener) createAccount(r *startRequest) (*openedAccount, error) {
	o := &openedAccount{exists: true, how: eventCreated, unattended: r.create.Unattended}
	var password secret.Value
	if o.unattended {
		var err error
		if password, o.file, err = d.makeUnattended(); err != nil {
			return nil, err
		}
		defer password.Destroy()
	} else {
		password = r.values[0]
	}
	a, kit, err := vault.Create(d.account.config(), password)
	if err != nil {
		return nil, err
	}
	o.account = a
	o.take(kit)
	return o, nil
}

func (d opener) recoverAccount(r *startRequest) (*openedAccount, error) {
	if r.unlock.DeviceSecret {
		if err := vault.SetDeviceSecret(d.account.config(), r.values[2]); err != nil {
			return nil, err
		}
	}
	a, kit, err := vault.Recover(d.account.config(), r.values[0], r.values[1])
	if err != nil {
		return nil, recoveryError(err)
	}
	o := &openedAccount{account: a, exists: true, how: eventRecovered}
	o.take(kit)
	return o, nil
}

// take keeps the parts of a kit for the reply.
func (o *openedAccount) take(kit *vault.Kit) {
	o.kit = kitValues{kit.DeviceSecret, kit.RecoveryCode}
	o.stateCode = kit.StateCode
}

// openUnattended opens an unattended account, and leaves any other locked. A failure leaves it locked, too: a daemon that
// serves can say what is wrong.
func (d opener) openUnattended(ctx context.Context) (*openedAccount, error) {
	exists, err := vault.Exists(d.account.config())
	if err != nil {
		d.warn("the account can't be looked at: %v", err)
		return &openedAccount{exists: true}, nil
	}
	o := &openedAccount{exists: exists, how: eventUnlocked, unattended: d.isUnattended()}
	if !exists || !o.unattended {
		return o, nil
	}
	password, err := d.readUnattended()
	if err == nil {
		defer password.Destroy()
		err = afterShortWait(ctx, func() (err error) {
			o.account, err = vault.Open(d.account.config(), password)
			return err
		})
	}
	if err != nil {
		o.fault = d.unattendedFault(err)
		d.log.LogAttrs(context.Background(), slog.LevelWarn, "the unattended account stays locked", slog.String("cause", err.Error()))
	}
	return o, nil
}

// unattendedFault is what is told of an unattended account that does not open.
func (d opener) unattendedFault(err error) *startFault {
	file := filepath.Join(d.opt.State, unattendedDir, unattendedFile)
	if errors.Is(err, vault.ErrWrongPassword) {
		return &startFault{
			"the password in " + file + " does not open it",
			"put the right file back, then: warder daemon restart; if it is lost, a person removes that one and opens the account with the recovery kit: warder unlock --recovery",
		}
	}
	told := api.AsError(accountError(err))
	return &startFault{told.Message, reopenHint(told.Hint)}
}

// reopenHint is a hint for an account that only a fresh daemon opens again: what was wrong may be over, and the daemon that runs
// would go on to tell it.
func reopenHint(hint string) string {
	if strings.Contains(hint, "warder daemon ") || strings.Contains(hint, "warder unlock") {
		return hint
	}
	return hint + "; then open it: warder daemon restart"
}

// isUnattended reports whether the account opens by itself: whether its password is here. It need not be the right one.
func (d opener) isUnattended() bool {
	dir, err := d.state.Open(unattendedDir)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer dir.Close() //nolint:errcheck // nothing is written through it
	f, err := dir.OpenRead(unattendedFile)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	_ = f.Close()
	return true
}

func (d opener) readUnattended() (secret.Value, error) {
	dir, err := d.state.Open(unattendedDir)
	if err != nil {
		return secret.Value{}, err
	}
	defer dir.Close() //nolint:errcheck // nothing is written through it
	f, err := dir.OpenRead(unattendedFile)
	if err != nil {
		return secret.Value{}, err
	}
	defer f.Close()
	return secret.Read(f, 4<<10)
}

// makeUnattended makes the password of an unattended account and stores it before there is an account that needs it. One that
// an interrupted setup left is used.
func (d opener) makeUnattended() (password secret.Value, path string, err error) {
	raw, err := secret.Random(unattendedBytes)
	if err != nil {
		return password, "", err
	}
	defer raw.Destroy()
	password, err = secret.Make(hex.EncodedLen(unattendedBytes), func(text []byte) error {
		return raw.Use(func(b []byte) { hex.Encode(text, b) })
	})
	if err != nil {
		return password, "", err
	}
	dir, err := d.state.Create(unattendedDir)
	if err == nil {
		defer dir.Close() //nolint:errcheck // what was written through it is synced
		path = filepath.Join(dir.Path(), unattendedFile)
		if used := password.Use(func(b []byte) { err = dir.WriteNew(unattendedFile, b) }); used != nil {
			err = used
		}
	}
	if err == nil {
		return password, path, nil
	}
	password.Destroy()
	if errors.Is(err, fs.ErrExist) {
		password, err = d.readUnattended()
	}
	if err != nil {
		return secret.Value{}, "", fmt.Errorf("storing the password of the unattended account: %w", err)
	}
	return password, path, nil
}

// accountError is what whoever started the daemon is told about the account.
func accountError(err error) error {
	var known *api.Error
	var wait *vault.WaitError
	var weak *vault.WeakPasswordError
	var newer *vault.FormatError
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &wait):
		return api.Errorf(api.WrongPassword, "%v", wait).WithHint("wait, then type it again").WithCause(err)
	case errors.As(err, &weak):
		return api.Errorf(api.Usage, "%v", weak).WithHint("choose a longer one: five random words do").WithCause(err)
	case errors.As(err, &newer):
		return api.Errorf(api.Internal, "%v", newer).WithHint("update warder on this device").WithCause(err)
	case errors.Is(err, vault.ErrMistyped):
		return api.Errorf(api.WrongPassword, "%v", vault.ErrMistyped).WithHint(mistypedHint).WithCause(err)
	case errors.Is(err, vault.ErrWrongPassword):
		return api.Errorf(api.WrongPassword, "%v", vault.ErrWrongPassword).WithCause(err)
	case errors.Is(err, vault.ErrNoAccount):
		return api.Errorf(api.NoAccount, "there is no account on this device").WithCause(err)
	case errors.Is(err, vault.ErrExists):
		return api.Errorf(api.Exists, "there is an account already").WithHint("unlock it: warder unlock").WithCause(err)
	case errors.Is(err, vault.ErrNoDeviceSecret):
		return api.Errorf(api.Integrity, "%v", vault.ErrNoDeviceSecret).
			WithHint("type it from the recovery kit: warder unlock --recovery").WithCause(err)
	}
	hint := state.Hint(err)
	if hint == "" {
		hint = "see what was found: warder doctor"
	}
	return api.Errorf(api.Internal, "the account can't be opened: %v", err).WithHint(hint).WithCause(err)
}
