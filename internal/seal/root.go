package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"

	"warder/internal/secret"
)

// deviceSecretSize and recoveryCodeSize are the lengths of the two secrets that
// come as plain values, in bytes.
const (
	deviceSecretSize = 32
	recoveryCodeSize = 20
)

// PasswordSlot says where a root key wrapped for a password belongs and how the
// password is stretched. All of it is bound to the box.
type PasswordSlot struct {
	Account ID
	Epoch   uint64 // of the keyset
	KDF     KDF
	// DeviceSecret says that the account's device secret is needed beside the
	// password (C-36). Without it only the password stands against guessing.
	DeviceSecret bool
}

// RecoverySlot says where a root key wrapped for a recovery code belongs.
type RecoverySlot struct {
	Account ID
	Epoch   uint64 // of the keyset
	Salt    [32]byte
}

// WrappedRoot is a root key in a slot. Box is nonce 12, ciphertext 32, tag 16.
// Commit ties the box to one slot key: the cipher alone would let an attacker
// build a box that opens under many passwords and test them all with one try.
type WrappedRoot struct {
	Box    [WrappedKeySize]byte
	Commit [sha256.Size]byte
}

// NewRecoverySlot returns a slot with a fresh salt.
func NewRecoverySlot(account ID, epoch uint64) RecoverySlot {
	return RecoverySlot{Account: account, Epoch: epoch, Salt: newSalt()}
}

// WrapRootForPassword wraps the root key for whoever has the password and, if
// the slot says so, the 32-byte device secret. It fails on a password that is
// empty or not UTF-8, on a KDF out of bounds, and on a device secret that the
// slot does not want.
func WrapRootForPassword(root RootKey, password, deviceSecret secret.Value, s PasswordSlot) (w WrappedRoot, err error) {
	if !s.DeviceSecret && !deviceSecret.IsZero() {
		return w, errUnwantedSecret
	}
	err = s.unlock(password, deviceSecret, func(slotKey, aad []byte) error {
		w, err = wrapRoot(slotKey, root, aad)
		return err
	})
	return w, wrapping(err)
}

// OpenRootWithPassword opens what WrapRootForPassword made. Every wrong input is
// ErrOpen; a KDF out of bounds is so before any work is done. A slot without
// device secret ignores the one that is passed.
func OpenRootWithPassword(w WrappedRoot, password, deviceSecret secret.Value, s PasswordSlot) (root RootKey, err error) {
	err = s.unlock(password, deviceSecret, func(slotKey, aad []byte) error {
		root, err = openRoot(slotKey, w, aad)
		return err
	})
	return root, indistinct(err)
}

// WrapRootForRecovery wraps the root key for whoever has the 20-byte recovery
// code. The code is random, so it needs no stretching.
func WrapRootForRecovery(root RootKey, code secret.Value, s RecoverySlot) (w WrappedRoot, err error) {
	err = s.unlock(code, func(slotKey, aad []byte) error {
		w, err = wrapRoot(slotKey, root, aad)
		return err
	})
	return w, wrapping(err)
}

// OpenRootWithRecovery opens what WrapRootForRecovery made, else ErrOpen.
func OpenRootWithRecovery(w WrappedRoot, code secret.Value, s RecoverySlot) (root RootKey, err error) {
	err = s.unlock(code, func(slotKey, aad []byte) error {
		root, err = openRoot(slotKey, w, aad)
		return err
	})
	return root, indistinct(err)
}

var errUnwantedSecret = errors.New("wrapping the root key: the slot takes no device secret")

func wrapping(err error) error {
	if err != nil {
		return fmt.Errorf("wrapping the root key: %w", err)
	}
	return nil
}

// unlock lends f the slot's key and the data bound to its box. The key is the
// stretched password, extracted with the device secret as salt: without the
// device secret even the right password leaves 2^256 candidates.
func (s PasswordSlot) unlock(password, deviceSecret secret.Value, f func(slotKey, aad []byte) error) error {
	if err := s.KDF.Check(); err != nil {
		return err
	}
	info, err := encode(labelUnlock, s.Account[:], u64(s.Epoch), s.KDF.block())
	if err != nil {
		return err
	}
	aad, err := encode(labelWrapRoot, s.Account[:], u64(s.Epoch), s.KDF.block(), []byte{s.flags()})
	if err != nil {
		return err
	}
	return s.useSalt(deviceSecret, func(salt []byte) error {
		return useNormal(password, func(nfkd []byte) error {
			master := stretch(nfkd, s.KDF.Salt[:], s.KDF.Memory, s.KDF.Time, s.KDF.Lanes)
			defer secret.Wipe(master)
			return useDerived(master, salt, info, func(slotKey []byte) error { return f(slotKey, aad) })
		})
	})
}

// useSalt decides by the slot, never by what was passed: a missing device
// secret must not quietly become a weaker slot.
func (s PasswordSlot) useSalt(deviceSecret secret.Value, f func(salt []byte) error) error {
	if s.DeviceSecret {
		return useExactly(deviceSecretSize, deviceSecret, f)
	}
	return f(make([]byte, deviceSecretSize))
}

func (s PasswordSlot) flags() (f byte) {
	if s.DeviceSecret {
		f |= 1
	}
	return f
}

// unlock lends f the slot's key and the data bound to its box.
func (s RecoverySlot) unlock(code secret.Value, f func(slotKey, aad []byte) error) error {
	info, err := encode(labelRecover, s.Account[:], u64(s.Epoch))
	if err != nil {
		return err
	}
	aad, err := encode(labelWrapRootRecovery, s.Account[:], u64(s.Epoch), s.Salt[:])
	if err != nil {
		return err
	}
	return useExactly(recoveryCodeSize, code, func(b []byte) error {
		return useDerived(b, s.Salt[:], info, func(slotKey []byte) error { return f(slotKey, aad) })
	})
}

func wrapRoot(slotKey []byte, root RootKey, aad []byte) (w WrappedRoot, err error) {
	err = root.use(func(b []byte) error {
		box, err := wrap(slotKey, b, aad)
		if err != nil {
			return err
		}
		copy(w.Box[:], box)
		w.Commit, err = commit(slotKey, w.Box, aad)
		return err
	})
	return w, err
}

func openRoot(slotKey []byte, w WrappedRoot, aad []byte) (RootKey, error) {
	want, err := commit(slotKey, w.Box, aad)
	if err != nil {
		return RootKey{}, err
	}
	if !hmac.Equal(want[:], w.Commit[:]) {
		return RootKey{}, ErrOpen
	}
	k, err := unwrapKey(slotKey, w.Box[:], aad)
	return RootKey{k}, err
}

func commit(slotKey []byte, box [WrappedKeySize]byte, aad []byte) (c [sha256.Size]byte, err error) {
	msg, err := encode(labelCommit, aad, box[:])
	if err != nil {
		return c, err
	}
	return authenticate(slotKey, msg), nil
}
