package seal

import (
	"errors"
	"fmt"
	"io"
	"log/slog"

	"warder/internal/secret"
)

// RootKey is an account's root key. It wraps the keys of the account's vaults
// and authenticates its keyset and device cards.
type RootKey struct{ key }

// VaultKey is the key of one vault in one epoch. It wraps item keys and seals
// manifests.
type VaultKey struct{ key }

// ItemKey is the key of one revision of one item.
type ItemKey struct{ key }

// NewRootKey returns a fresh random root key.
func NewRootKey() (RootKey, error) {
	k, err := newKey()
	return RootKey{k}, err
}

// NewVaultKey returns a fresh random vault key.
func NewVaultKey() (VaultKey, error) {
	k, err := newKey()
	return VaultKey{k}, err
}

// key is what all keys have in common: 32 bytes in locked memory that nothing
// outside this package can reach. Its methods are promoted to every key type.
type key struct{ bytes secret.Value }

func newKey() (key, error) {
	v, err := secret.Random(keySize)
	if err != nil {
		return key{}, fmt.Errorf("making a key: %w", err)
	}
	return key{v}, nil
}

// Destroy wipes the key. Every later use of it, or of a copy of it, fails.
func (k key) Destroy() { k.bytes.Destroy() }

// IsZero reports whether the key was never set.
func (k key) IsZero() bool { return k.bytes.IsZero() }

// Format prints a placeholder for every verb.
func (key) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, secret.Placeholder) }

// MarshalText writes a placeholder; it stands for JSON and XML too.
func (key) MarshalText() ([]byte, error) { return []byte(secret.Placeholder), nil }

// LogValue logs a placeholder.
func (key) LogValue() slog.Value { return slog.StringValue(secret.Placeholder) }

// errNoKey means that a zero key was used: a fault of the caller, which opening
// must not report as changed data.
var errNoKey = errors.New("no key")

// use lends the key's bytes to f.
func (k key) use(f func(b []byte) error) error {
	if k.bytes.IsZero() {
		return errNoKey
	}
	return use(k.bytes, f)
}

// subkey lends f the subkey that the label names.
func (k key) subkey(label string, f func(sub []byte) error) error {
	return k.use(func(b []byte) error { return useDerived(b, nil, []byte(label), f) })
}

// useDerived lends f a key derived from another secret and wipes it after.
func useDerived(ikm, salt, info []byte, f func(derived []byte) error) error {
	derived, err := derive(ikm, salt, info, keySize)
	if err != nil {
		return err
	}
	defer secret.Wipe(derived)
	return f(derived)
}

// use lends the bytes of v to f and hands back f's error.
func use(v secret.Value, f func(b []byte) error) error {
	var inner error
	if err := v.Use(func(b []byte) { inner = f(b) }); err != nil {
		return err
	}
	return inner
}

// useExactly is use for a secret that comes from outside this package and must
// have a certain length.
func useExactly(size int, v secret.Value, f func(b []byte) error) error {
	return use(v, func(b []byte) error {
		if len(b) != size {
			return inputError(fmt.Sprintf("secret of %d bytes, want %d", len(b), size))
		}
		return f(b)
	})
}

// wrapKey wraps inner under the subkey of outer that the label names.
func wrapKey(outer key, label string, inner key, aad []byte) (box [WrappedKeySize]byte, err error) {
	err = outer.subkey(label, func(kek []byte) error {
		return inner.use(func(b []byte) error {
			wrapped, err := wrap(kek, b, aad)
			copy(box[:], wrapped)
			return err
		})
	})
	return box, err
}

// openKey opens what wrapKey made.
func openKey(outer key, label string, box, aad []byte) (inner key, err error) {
	if len(box) != WrappedKeySize {
		return key{}, ErrOpen
	}
	err = outer.subkey(label, func(kek []byte) error {
		inner, err = unwrapKey(kek, box, aad)
		return err
	})
	return inner, err
}

// unwrapKey moves a wrapped key into locked memory. The box has been checked to
// hold exactly one key.
func unwrapKey(kek, box, aad []byte) (key, error) {
	plain, err := unwrap(kek, box, aad)
	if err != nil {
		return key{}, err
	}
	v, err := secret.New(plain) // wipes plain
	if err != nil {
		return key{}, fmt.Errorf("keeping a key: %w", err)
	}
	return key{v}, nil
}
