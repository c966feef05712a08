package seal

import (
	"fmt"

	"warder/internal/secret"
)

// ItemPlace says where an item belongs. The item's revision needs no field: each
// revision has a key of its own.
type ItemPlace struct {
	Vault, Item ID
	Epoch       uint64 // of the vault key
}

func (p ItemPlace) wrapAAD() ([]byte, error) {
	return encode(labelWrapItemKey, p.Vault[:], p.Item[:], u64(p.Epoch))
}

func (p ItemPlace) contentAAD(header []byte) ([]byte, error) {
	return encode(labelItem, p.Vault[:], p.Item[:], u64(p.Epoch), header)
}

// NewItemKey makes the key of one new revision of an item and wraps it under the
// vault key: nonce 12, ciphertext 32, tag 16.
func NewItemKey(vk VaultKey, p ItemPlace) (ItemKey, [WrappedKeySize]byte, error) {
	k, err := newKey()
	if err != nil {
		return ItemKey{}, [WrappedKeySize]byte{}, err
	}
	box, err := wrapItemKey(vk, ItemKey{k}, p)
	if err != nil {
		k.Destroy()
		return ItemKey{}, box, fmt.Errorf("wrapping an item key: %w", err)
	}
	return ItemKey{k}, box, nil
}

func wrapItemKey(vk VaultKey, k ItemKey, p ItemPlace) ([WrappedKeySize]byte, error) {
	aad, err := p.wrapAAD()
	if err != nil {
		return [WrappedKeySize]byte{}, err
	}
	return wrapKey(vk.key, labelItemWrap, k.key, aad)
}

// OpenItemKey opens a key that NewItemKey wrapped for the same place, else
// ErrOpen.
func OpenItemKey(vk VaultKey, wrapped []byte, p ItemPlace) (ItemKey, error) {
	aad, err := p.wrapAAD()
	if err != nil {
		return ItemKey{}, err
	}
	k, err := openKey(vk.key, labelItemWrap, wrapped, aad)
	return ItemKey{k}, err
}

// SealItem seals an item's content: nonce 24, ciphertext, tag 16. The header is
// the whole clear part of the item's file, at most 65535 bytes; it is bound, not
// encrypted. The caller wipes plain.
func SealItem(k ItemKey, p ItemPlace, header, plain []byte) (box []byte, err error) {
	aad, err := p.contentAAD(header)
	if err != nil {
		return nil, fmt.Errorf("sealing an item: %w", err)
	}
	err = k.use(func(b []byte) error {
		box, err = sealContent(b, plain, aad)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("sealing an item: %w", err)
	}
	return box, nil
}

// OpenItem opens what SealItem made for the same place and header, else ErrOpen.
// The plaintext is decrypted in locked memory and is never anywhere else.
func OpenItem(k ItemKey, p ItemPlace, header, box []byte) (plain secret.Value, err error) {
	aad, err := p.contentAAD(header)
	if err != nil {
		return secret.Value{}, indistinct(err)
	}
	err = k.use(func(b []byte) error {
		plain, err = openSecret(b, box, aad)
		return err
	})
	return plain, err
}

// openSecret opens a content box into locked memory.
func openSecret(key, box, aad []byte) (secret.Value, error) {
	size, err := contentSize(box)
	if err != nil {
		return secret.Value{}, err
	}
	return secret.Make(size, func(dst []byte) error { return openContent(dst, key, box, aad) })
}
