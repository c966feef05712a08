package seal_test

import (
	"bytes"
	"errors"
	"testing"

	"warder/internal/seal"
)

// TestPolicyIsBoundToItsPlace: what MACPolicy makes is what format F9 says, and holds for one account, one device and one text.
func TestPolicyIsBoundToItsPlace(t *testing.T) {
	raw := count(1, 32)
	root, other := seal.FixedRootKey(t, raw), seal.FixedRootKey(t, count(2, 32))
	account, device, text := seal.ID(count(3, 16)), seal.ID(count(4, 16)), []byte("a text\n")
	mac := must(seal.MACPolicy(root, account, device, text))
	key := f1Derive(raw, nil, []byte("warder/policy-mac/v1"))
	if want := f1MAC(key, join(f1Encode("warder/policy/v1", account[:], device[:]), text)); !bytes.Equal(mac[:], want) {
		t.Errorf("the MAC is %x, by the format %x", mac, want)
	}
	if err := seal.CheckPolicy(root, account, device, text, mac[:]); err != nil {
		t.Errorf("the right one: %v", err)
	}
	changed := mac
	changed[31] ^= 1
	for name, err := range map[string]error{
		"another key":     seal.CheckPolicy(other, account, device, text, mac[:]),
		"another account": seal.CheckPolicy(root, device, device, text, mac[:]),
		"another device":  seal.CheckPolicy(root, account, account, text, mac[:]),
		"ids exchanged":   seal.CheckPolicy(root, device, account, text, mac[:]),
		"another text":    seal.CheckPolicy(root, account, device, []byte("a text"), mac[:]),
		"another MAC":     seal.CheckPolicy(root, account, device, text, changed[:]),
		"half a MAC":      seal.CheckPolicy(root, account, device, text, mac[:16]),
		"no MAC":          seal.CheckPolicy(root, account, device, text, nil),
	} {
		if !errors.Is(err, seal.ErrOpen) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
