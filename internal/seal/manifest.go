package seal

import "fmt"

// ManifestPlace says where a part of a device's manifest belongs: the device and
// its sequence number, and which part it is, a shard (0 to 255) or the root
// (0x100). Binding the sequence number keeps an old shard out of a newer root.
type ManifestPlace struct {
	Account, Vault, Device ID
	Seq                    uint64
	Part                   uint16
}

func (p ManifestPlace) aad() ([]byte, error) {
	return encode(labelManifest, p.Account[:], p.Vault[:], p.Device[:], u64(p.Seq), u16(p.Part))
}

// SealManifest seals one part of a manifest: nonce 24, ciphertext, tag 16.
func SealManifest(vk VaultKey, p ManifestPlace, plain []byte) ([]byte, error) {
	aad, err := p.aad()
	if err != nil {
		return nil, err
	}
	box, err := sealUnder(vk.key, labelManifest, plain, aad)
	if err != nil {
		return nil, fmt.Errorf("sealing a manifest: %w", err)
	}
	return box, nil
}

// OpenManifest opens what SealManifest made for the same place, else ErrOpen. A
// manifest holds ids and hashes, so its plaintext is an ordinary slice.
func OpenManifest(vk VaultKey, p ManifestPlace, box []byte) ([]byte, error) {
	aad, err := p.aad()
	if err != nil {
		return nil, err
	}
	return openUnder(vk.key, labelManifest, box, aad)
}

// sealUnder seals content under the subkey that the label names.
func sealUnder(k key, label string, plain, aad []byte) (box []byte, err error) {
	err = k.subkey(label, func(sub []byte) error {
		box, err = sealContent(sub, plain, aad)
		return err
	})
	return box, err
}

// openUnder opens what sealUnder made into an ordinary slice.
func openUnder(k key, label string, box, aad []byte) ([]byte, error) {
	size, err := contentSize(box)
	if err != nil {
		return nil, err
	}
	plain := make([]byte, size)
	err = k.subkey(label, func(sub []byte) error { return openContent(plain, sub, box, aad) })
	if err != nil {
		return nil, err
	}
	return plain, nil
}
