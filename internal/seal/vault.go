package seal

import (
	"fmt"

	"warder/internal/secret"
)

// VaultPlace says where a wrapped vault key belongs.
type VaultPlace struct {
	Account, Vault ID
	Epoch          uint64 // of the vault key
}

func (p VaultPlace) aad() ([]byte, error) {
	return encode(labelWrapVaultKey, p.Account[:], p.Vault[:], u64(p.Epoch))
}

// WrapVaultKey wraps a vault key under the root key: nonce 12, ciphertext 32,
// tag 16.
func WrapVaultKey(root RootKey, vk VaultKey, p VaultPlace) ([WrappedKeySize]byte, error) {
	aad, err := p.aad()
	if err != nil {
		return [WrappedKeySize]byte{}, err
	}
	box, err := wrapKey(root.key, labelVaultWrap, vk.key, aad)
	if err != nil {
		return box, fmt.Errorf("wrapping a vault key: %w", err)
	}
	return box, nil
}

// OpenVaultKey opens what WrapVaultKey made for the same place, else ErrOpen.
func OpenVaultKey(root RootKey, box []byte, p VaultPlace) (VaultKey, error) {
	aad, err := p.aad()
	if err != nil {
		return VaultKey{}, err
	}
	k, err := openKey(root.key, labelVaultWrap, box, aad)
	return VaultKey{k}, err
}

// Fingerprint returns six bytes that are equal for equal values of one vault
// and say nothing about the value without the vault key. Six bytes tell the
// values of a vault apart; they are no proof against someone who has the key. A
// value over 65535 bytes is an error.
func Fingerprint(vk VaultKey, value secret.Value) (fp [6]byte, err error) {
	err = vk.subkey(labelFingerprint, func(sub []byte) error {
		return use(value, func(b []byte) error {
			// The head and the value are fed apart: joining them would put a
			// copy of the value on the heap.
			if len(b) > maxField {
				return inputError(fmt.Sprintf("value of %d bytes, at most %d", len(b), maxField))
			}
			mac := authenticate(sub, []byte(labelFingerprintValue), u16(uint16(len(b))), b)
			copy(fp[:], mac[:])
			return nil
		})
	})
	if err != nil {
		return fp, fmt.Errorf("fingerprinting a value: %w", err)
	}
	return fp, nil
}
