package seal

import (
	"fmt"

	"warder/internal/secret"
)

// deviceKeysSize is the private part: a signing seed and a key that opens
// hand-overs, 32 bytes each.
const deviceKeysSize = 2 * keySize

// DeviceKeys are the two private keys of one device: one signs its manifests,
// the other opens what other devices hand over to it.
type DeviceKeys struct {
	key
	public DevicePublic
}

// DevicePublic is the public half, as a device card shows it: an Ed25519 key and
// a key of HPKE's hybrid MLKEM768-X25519.
type DevicePublic struct {
	Sign [32]byte
	KEM  [1216]byte
}

// NewDeviceKeys returns fresh random keys.
func NewDeviceKeys() (DeviceKeys, error) {
	v, err := secret.Random(deviceKeysSize)
	if err != nil {
		return DeviceKeys{}, fmt.Errorf("making device keys: %w", err)
	}
	return deviceKeys(v)
}

// deviceKeys computes the public half of v, which it owns from here on.
func deviceKeys(v secret.Value) (DeviceKeys, error) {
	k := DeviceKeys{key: key{v}}
	err := use(v, func(b []byte) (err error) {
		k.public.Sign = signPublic(b[:keySize])
		k.public.KEM, err = kemPublic(b[keySize:])
		return err
	})
	if err != nil {
		v.Destroy()
		return DeviceKeys{}, err
	}
	return k, nil
}

// Public returns the public half.
func (k DeviceKeys) Public() DevicePublic { return k.public }

// SignManifest signs a manifest file up to the place of the signature.
func (k DeviceKeys) SignManifest(file []byte) (sig [64]byte, err error) {
	err = k.use(func(b []byte) error {
		sig = sign(b[:keySize], manifestMessage(file))
		return nil
	})
	if err != nil {
		return sig, fmt.Errorf("signing a manifest: %w", err)
	}
	return sig, nil
}

// VerifyManifest returns ErrOpen unless sig is the signature of file by the
// device whose public key is given.
func VerifyManifest(public [32]byte, file, sig []byte) error {
	if !verify(public, manifestMessage(file), sig) {
		return ErrOpen
	}
	return nil
}

// manifestMessage is what is signed. The label keeps a manifest's signature from
// passing as one of another kind of message under the same key.
func manifestMessage(file []byte) []byte {
	return append([]byte(labelManifestSign), file...)
}

// SealDeviceKeys seals a device's private keys for the device's own disk: nonce
// 24, ciphertext 64, tag 16. deviceSecret is the account's, or the zero Value in
// an account that has none.
func SealDeviceKeys(root RootKey, deviceSecret secret.Value, account, device ID, k DeviceKeys) (box []byte, err error) {
	err = unlockDevice(root, deviceSecret, account, device, func(kek, aad []byte) error {
		return k.use(func(b []byte) error {
			box, err = sealContent(kek, b, aad)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("sealing device keys: %w", err)
	}
	return box, nil
}

// OpenDeviceKeys opens what SealDeviceKeys made for the same device, else
// ErrOpen.
func OpenDeviceKeys(root RootKey, deviceSecret secret.Value, account, device ID, box []byte) (DeviceKeys, error) {
	if len(box) != deviceKeysSize+contentOverhead {
		return DeviceKeys{}, ErrOpen
	}
	var v secret.Value
	err := unlockDevice(root, deviceSecret, account, device, func(kek, aad []byte) (err error) {
		v, err = openSecret(kek, box, aad)
		return err
	})
	if err != nil {
		return DeviceKeys{}, indistinct(err)
	}
	return deviceKeys(v)
}

// unlockDevice lends f the key of a device's private keys and the data bound to
// their box. The key needs both the root key and the device secret, so that
// neither of them alone gives the device's identity away.
func unlockDevice(root RootKey, deviceSecret secret.Value, account, device ID, f func(kek, aad []byte) error) error {
	info, err := encode(labelDeviceKeys, account[:], device[:])
	if err != nil {
		return err
	}
	withSalt := func(salt []byte) error {
		return root.use(func(b []byte) error {
			return useDerived(b, salt, info, func(kek []byte) error { return f(kek, info) })
		})
	}
	if deviceSecret.IsZero() { // F1 has accounts that a password alone opens; no command makes one yet
		return withSalt(make([]byte, deviceSecretSize))
	}
	return useExactly(deviceSecretSize, deviceSecret, withSalt)
}
