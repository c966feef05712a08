package seal_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"testing"

	"warder/internal/seal"
)

// TestLocalFilesAreBoundToTheirPlace: what MACPolicy and MACLease make is what formats F9 and F7 say, and holds for one account, one
// device and one text.
func TestLocalFilesAreBoundToTheirPlace(t *testing.T) {
	t.Run("policy", func(t *testing.T) {
		localFile{"warder/policy-mac/v1", "warder/policy/v1", seal.MACPolicy, seal.CheckPolicy}.test(t)
	})
	t.Run("lease", func(t *testing.T) {
		localFile{"warder/lease-mac/v1", "warder/lease/v1", seal.MACLease, seal.CheckLease}.test(t)
	})
}

// localFile is how a file of one device is authenticated.
type localFile struct {
	subkey, label string
	mac           func(root seal.RootKey, account, device seal.ID, text []byte) ([sha256.Size]byte, error)
	check         func(root seal.RootKey, account, device seal.ID, text, mac []byte) error
}

func (f localFile) test(t *testing.T) {
	t.Helper()
	raw := count(1, 32)
	root, other := seal.FixedRootKey(t, raw), seal.FixedRootKey(t, count(2, 32))
	account, device, text := seal.ID(count(3, 16)), seal.ID(count(4, 16)), []byte("a text\n")
	mac := must(f.mac(root, account, device, text))
	key := f1Derive(raw, nil, []byte(f.subkey))
	if want := f1MAC(key, join(f1Encode(f.label, account[:], device[:]), text)); !bytes.Equal(mac[:], want) {
		t.Errorf("the MAC is %x, by the format %x", mac, want)
	}
	if err := f.check(root, account, device, text, mac[:]); err != nil {
		t.Errorf("the right one: %v", err)
	}
	changed := mac
	changed[31] ^= 1
	for name, err := range map[string]error{
		"another key":     f.check(other, account, device, text, mac[:]),
		"another account": f.check(root, device, device, text, mac[:]),
		"another device":  f.check(root, account, account, text, mac[:]),
		"ids exchanged":   f.check(root, device, account, text, mac[:]),
		"another text":    f.check(root, account, device, []byte("a text"), mac[:]),
		"another MAC":     f.check(root, account, device, text, changed[:]),
		"half a MAC":      f.check(root, account, device, text, mac[:16]),
		"no MAC":          f.check(root, account, device, text, nil),
	} {
		if !errors.Is(err, seal.ErrOpen) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
