package vault

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"strings"
	"time"

	"warder/internal/seal"
	"warder/internal/secret"
	"warder/internal/state"
)

// store is where an account is: its two directories and its id.
type store struct {
	cfg           Config
	shared, local tree
	account       seal.ID
	turn          turn
}

func (s *store) close() {
	_ = s.shared.top.Close()
	_ = s.local.top.Close()
}

// lockTime is how long a write waits for another process that writes. No write of warder's own takes that long.
const lockTime = 10 * time.Second

// writeLock is the name of the lock file of all that write, in the state directory.
const writeLock = "write.lock"

// exclusive runs f while no other process writes.
func (s *store) exclusive(f func() error) error {
	return s.alone(context.Background(), func() error { return s.holding(f) })
}

// alone runs f while no other process writes. It waits for them until wait ends and for no longer than lockTime, but tries once at
// the least. On a read-only state directory there is nothing to serialise.
func (s *store) alone(wait context.Context, f func() error) (err error) {
	if wait == nil {
		wait = context.Background()
	}
	limited, cancel := context.WithTimeout(wait, cmp.Or(s.cfg.lockTime, lockTime))
	defer cancel()
	if err := s.turn.take(wait); err != nil {
		return err
	}
	defer s.turn.give()
	l, err := s.local.top.LockUntil(limited, writeLock)
	if state.IsReadOnly(err) {
		return f()
	}
	if err != nil {
		return err
	}
	// Deferred, because a daemon survives a panic of one call: a lock that stayed would stop all writers of this device.
	defer func() { err = errors.Join(err, l.Release()) }()
	return f()
}

// turn is held by the one writer of this process that has the lock file or waits for it. The others wait behind it, without a limit
// of time: what it does is bounded.
type turn chan struct{}

func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	default:
	}
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for another write of this process: %w", context.Cause(ctx))
	}
}

func (t turn) give() { <-t }

// holding runs f with the folders on its way kept open.
func (s *store) holding(f func() error) error {
	s.shared.hold()
	s.local.hold()
	defer func() {
		s.shared.release()
		s.local.release()
	}()
	return f()
}

// unwritable says whether err comes from a place that takes no writes now: read-only, not permitted, or full. Reading goes on there.
func unwritable(err error) bool {
	return state.IsReadOnly(err) || state.IsDiskFull(err) || errors.Is(err, fs.ErrPermission)
}

// list is the folder's names, empty if the folder is not there.
func (s *store) list(path string) (names []string, err error) {
	err = s.shared.in(path, func(d folder) error {
		names, err = d.List()
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}

// removeBelow removes files of a vault. One that is not there is fine.
func (s *store) removeBelow(vault seal.ID, paths []string) error {
	var errs error
	for _, p := range paths {
		dir, name := splitPath(p)
		err := s.shared.in(vaultPath(vault, dir), func(d folder) error { return d.Remove(name) })
		if !errors.Is(err, fs.ErrNotExist) {
			errs = errors.Join(errs, err)
		}
	}
	return errs
}

// removeTree removes what is below a folder of the account directory; path ends in a slash. Folders stay that hold what is not listed.
func (s *store) removeTree(path string) error {
	names, err := s.list(strings.TrimSuffix(path, "/"))
	if err != nil {
		return err
	}
	defer s.shared.forget() // what is removed must not be written into
	for _, name := range names {
		below := strings.HasSuffix(name, "/")
		if below {
			if err := s.removeTree(path + name); err != nil {
				return err
			}
		}
		err := s.shared.in(strings.TrimSuffix(path, "/"), func(d folder) error { return d.Remove(strings.TrimSuffix(name, "/")) })
		if err != nil && !below {
			return err
		}
	}
	return nil
}

// tempAge is how old a temporary file must be to be a dead writer's. Writers of one device take turns, but a folder may be shared with
// another device that is writing now.
const tempAge = time.Hour

// cleanTemps removes the temporary files that crashes left. They harm nobody, so neither does a failure.
func (s *store) cleanTemps() {
	before := s.cfg.now().Add(-tempAge)
	if d, err := s.local.top.Open("device"); err == nil {
		_ = d.CleanTemp(before)
		_ = d.Close()
	}
	cleanBelow(s.shared.top, before)
}

// cleanBelow cleans d and the folders of F1 below it. Others may be a cloud drive's or a version control's.
func cleanBelow(d *state.Dir, before time.Time) {
	_ = d.CleanTemp(before)
	names, _ := d.List()
	for _, name := range names {
		name, isFolder := strings.CutSuffix(name, "/")
		if !isFolder || !isFolderName(name) {
			continue
		}
		if sub, err := d.Open(name); err == nil {
			cleanBelow(sub, before)
			_ = sub.Close()
		}
	}
}

// isFolderName says whether F1 has folders of that name: a word, an id, a shard number, or a device's shards.
func isFolderName(name string) bool {
	switch name {
	case "keysets", "devices", "vaults", "items", "man":
		return true
	}
	_, err := hex.DecodeString(strings.TrimSuffix(name, ".d"))
	return err == nil
}

// ring holds the keys of an unlocked account: the root key, who is on the roster, and this device's own identity.
type ring struct {
	store
	root   seal.RootKey
	ds     secret.Value
	keyset *keyset
	junk   []string          // keyset files that lie above the ruling one and are no one's
	cards  map[seal.ID]*card // of the roster
	dev    device
}

// open opens the root key with a password or a recovery code, within the limits on wrong ones. It is one try after another for all
// processes: a right password that is being tried must not count against another one.
func (r *ring) open(kind slotKind, key secret.Value) error {
	return r.exclusive(func() error { return r.try(kind, key) })
}

func (r *ring) try(kind slotKind, key secret.Value) error {
	found, err := scanKeysets(r.shared, r.account)
	if err != nil {
		return err
	}
	if err := countAttempt(r.local, r.cfg.now()); err != nil {
		return err
	}
	r.keyset, r.root, err = openKeyset(found.list, r.account, kind, key, r.ds)
	// Argon2id's working memory is 128 MiB of garbage now: back to the system with it.
	debug.FreeOSMemory()
	if refusal := found.refusal(); err != nil && refusal != nil {
		return fmt.Errorf("%w; it may be the one for a keyset that can't be read: %w", err, refusal)
	}
	if err != nil {
		return err
	}
	return clearAttempts(r.local)
}

// publishDevice stores this device's keys locally and its card in the account.
func (r *ring) publishDevice() error {
	if err := writeDevice(r.local, r.account, r.root, r.ds, r.dev); err != nil {
		return err
	}
	k := &card{device: r.dev.id, created: r.cfg.now(), enrolledBy: r.dev.id, public: r.dev.keys.Public(), state: cardActive}
	file, err := encodeCard(r.account, r.root, k)
	if err != nil {
		return err
	}
	r.cards[k.device] = k
	return r.shared.make("devices", func(d folder) error { return d.WriteNew(k.device.String(), file) })
}

// writeKeyset stores and adopts a keyset that was encoded.
func (r *ring) writeKeyset(k *keyset) error {
	if err := r.shared.make("keysets", func(d folder) error { return d.WriteNew(keysetName(k), k.file) }); err != nil {
		return err
	}
	r.keyset = k
	return nil
}

const vaultHeaderLen = 16 + 16 + 8 + 60

// openHeader opens a vault's key from its header.
func (r *ring) openHeader(id seal.ID, epoch uint64, file []byte) (seal.VaultKey, error) {
	f, err := unframe(magicHeader, "vault "+id.String(), vaultHeaderLen, file)
	if err != nil {
		return seal.VaultKey{}, err
	}
	h := fieldsOf(f.header, 16, 16, 8, 60)
	if seal.ID(h[0]) != r.account || seal.ID(h[1]) != id || u64(h[2]) != epoch || len(f.body) != 0 {
		return seal.VaultKey{}, seal.ErrOpen
	}
	return seal.OpenVaultKey(r.root, h[3], seal.VaultPlace{Account: r.account, Vault: id, Epoch: epoch})
}

// signer is the public key that a device on the roster signs with. This device knows its own without a card.
func (r *ring) signer(dev seal.ID) (key [32]byte, ok bool) {
	if k := r.cards[dev]; k != nil {
		return k.public.Sign, true
	}
	if _, listed := r.keyset.roster[dev]; listed && dev == r.dev.id {
		return r.dev.keys.Public().Sign, true
	}
	return key, false
}

func (r *ring) destroy() {
	r.root.Destroy()
	r.ds.Destroy()
	r.dev.keys.Destroy()
	r.keyset = nil
}
