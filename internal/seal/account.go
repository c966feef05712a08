package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
)

// MACKeyset authenticates a keyset file up to the place of the MAC.
func MACKeyset(root RootKey, file []byte) ([sha256.Size]byte, error) {
	return macFile(root, labelKeysetMAC, labelKeyset, file)
}

// CheckKeyset returns ErrOpen unless mac is what MACKeyset gives for file.
func CheckKeyset(root RootKey, file, mac []byte) error {
	return checkFile(root, labelKeysetMAC, labelKeyset, file, mac)
}

// MACCard authenticates a device card up to the place of the MAC.
func MACCard(root RootKey, file []byte) ([sha256.Size]byte, error) {
	return macFile(root, labelDeviceCert, labelCard, file)
}

// CheckCard returns ErrOpen unless mac is what MACCard gives for file.
func CheckCard(root RootKey, file, mac []byte) error {
	return checkFile(root, labelDeviceCert, labelCard, file, mac)
}

func macFile(root RootKey, subkey, label string, file []byte) (mac [sha256.Size]byte, err error) {
	err = root.subkey(subkey, func(sub []byte) error {
		mac = authenticate(sub, []byte(label), file)
		return nil
	})
	if err != nil {
		return mac, fmt.Errorf("authenticating a file: %w", err)
	}
	return mac, nil
}

func checkFile(root RootKey, subkey, label string, file, mac []byte) error {
	want, err := macFile(root, subkey, label, file)
	if err != nil {
		return err
	}
	if !hmac.Equal(want[:], mac) {
		return ErrOpen
	}
	return nil
}

// SealSeen seals what a device remembers of the newest state it has seen: nonce
// 24, ciphertext, tag 16.
func SealSeen(root RootKey, account, device ID, plain []byte) ([]byte, error) {
	aad, err := encode(labelSeen, account[:], device[:])
	if err != nil {
		return nil, err
	}
	box, err := sealUnder(root.key, labelSeen, plain, aad)
	if err != nil {
		return nil, fmt.Errorf("sealing the seen state: %w", err)
	}
	return box, nil
}

// OpenSeen opens what SealSeen made for the same device, else ErrOpen.
func OpenSeen(root RootKey, account, device ID, box []byte) ([]byte, error) {
	aad, err := encode(labelSeen, account[:], device[:])
	if err != nil {
		return nil, err
	}
	return openUnder(root.key, labelSeen, box, aad)
}
