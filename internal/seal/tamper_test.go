package seal_test

import (
	"bytes"
	"fmt"
	"testing"

	"warder/internal/seal"
	"warder/internal/secret"
)

// sealed is one box of each kind with a way to open it at its own place.
type sealed struct {
	name string
	box  []byte
	open func(box []byte) error
}

// sealedThings makes the same bytes on every run: keys, places and nonces are
// fixed, so that committed fuzz inputs stay what they are.
func sealedThings(t testing.TB) (things []sealed) {
	t.Helper()
	same := count(1, 32)
	root, vk, ik := seal.FixedRootKey(t, same), seal.FixedVaultKey(t, same), seal.FixedItemKey(t, same)
	vault := seal.VaultPlace{Account: id(1), Vault: id(2), Epoch: 3}
	item := seal.ItemPlace{Vault: id(2), Item: id(3), Epoch: 3}
	manifest := seal.ManifestPlace{Account: id(1), Vault: id(2), Device: id(4), Seq: 5, Part: 6}
	header, ds := []byte("clear header"), value(t, count(9, 32))
	add := func(name string, nonce int, sealIt func() ([]byte, error), open func(box []byte) error) {
		seal.WithRandom(bytes.NewReader(count(200, nonce)), func() {
			box, err := sealIt()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			things = append(things, sealed{name, box, open})
		})
	}
	add("vault key", 12, func() ([]byte, error) {
		box, err := seal.WrapVaultKey(root, vk, vault)
		return box[:], err
	}, func(box []byte) error {
		_, err := seal.OpenVaultKey(root, box, vault)
		return err
	})
	add("item key", 12, func() ([]byte, error) {
		box, err := seal.WrapItemKey(vk, ik, item)
		return box[:], err
	}, func(box []byte) error {
		_, err := seal.OpenItemKey(vk, box, item)
		return err
	})
	// As long as a device's private keys, so that kinds can be confused.
	plain := bytes.Repeat([]byte("content "), 8)
	add("item", 24, func() ([]byte, error) { return seal.SealItem(ik, item, header, plain) }, func(box []byte) error {
		_, err := seal.OpenItem(ik, item, header, box)
		return err
	})
	add("manifest", 24, func() ([]byte, error) { return seal.SealManifest(vk, manifest, plain) }, func(box []byte) error {
		_, err := seal.OpenManifest(vk, manifest, box)
		return err
	})
	add("seen state", 24, func() ([]byte, error) { return seal.SealSeen(root, id(1), id(4), plain) }, func(box []byte) error {
		_, err := seal.OpenSeen(root, id(1), id(4), box)
		return err
	})
	add("proof of presence", 24, func() ([]byte, error) { return seal.SealProof(root, proofPlace(), value(t, bytes.Clone(plain))) }, func(box []byte) error {
		_, err := seal.OpenProof(root, proofPlace(), box)
		return err
	})
	keys := seal.FixedDeviceKeys(t, count(100, 64))
	add("device keys", 24, func() ([]byte, error) { return seal.SealDeviceKeys(root, ds, id(1), id(4), keys) }, func(box []byte) error {
		_, err := seal.OpenDeviceKeys(root, ds, id(1), id(4), box)
		return err
	})
	return things
}

func TestS2_09_NoChangedBoxOpens(t *testing.T) {
	for _, s := range sealedThings(t) {
		opened(t, s.name, s.open(s.box))
		refused(t, s.name+" that is nil", s.open(nil))
		for n := range len(s.box) {
			refused(t, fmt.Sprintf("%s cut to %d bytes", s.name, n), s.open(s.box[:n]))
			refused(t, fmt.Sprintf("%s without its first %d bytes", s.name, n+1), s.open(s.box[n+1:]))
		}
		refused(t, s.name+" with a byte behind", s.open(join(s.box, []byte{0})))
		refused(t, s.name+" with a byte before", s.open(join([]byte{0}, s.box)))
		refused(t, s.name+" twice", s.open(join(s.box, s.box)))
		eachBit(s.box, func(bit int, changed []byte) {
			refused(t, fmt.Sprintf("%s with bit %d turned", s.name, bit), s.open(changed))
		})
		opened(t, s.name+" after all that", s.open(s.box))
	}
}

// eachBit calls f with a copy of b for each of its bits, that bit turned.
func eachBit(b []byte, f func(bit int, changed []byte)) {
	for bit := range 8 * len(b) {
		changed := bytes.Clone(b)
		changed[bit/8] ^= 1 << (bit % 8)
		f(bit, changed)
	}
}

// eachBitOfRoot is eachBit for the box and the commitment of a wrapped root key.
func eachBitOfRoot(w seal.WrappedRoot, f func(bit int, changed seal.WrappedRoot)) {
	eachBit(join(w.Box[:], w.Commit[:]), func(bit int, changed []byte) {
		f(bit, seal.WrappedRoot{Box: [seal.WrappedKeySize]byte(changed), Commit: [32]byte(changed[seal.WrappedKeySize:])})
	})
}

func TestC36_NoChangedRootOpens(t *testing.T) {
	root, code, slot := seal.FixedRootKey(t, count(1, 32)), value(t, count(7, 20)), seal.NewRecoverySlot(id(1), 2)
	w := must(seal.WrapRootForRecovery(root, code, slot))
	_, err := seal.OpenRootWithRecovery(w, code, slot)
	opened(t, "recovery slot", err)
	eachBitOfRoot(w, func(bit int, changed seal.WrappedRoot) {
		_, err := seal.OpenRootWithRecovery(changed, code, slot)
		refused(t, fmt.Sprintf("recovery slot with bit %d turned", bit), err)
	})

	// The commitment alone does not make a changed box open: the cipher must
	// refuse it too.
	key, aad := count(3, 32), []byte("place")
	box := [seal.WrappedKeySize]byte(must(seal.Wrap(key, count(4, 32), aad)))
	eachBit(box[:], func(bit int, changed []byte) {
		w := seal.WrappedRoot{Box: [seal.WrappedKeySize]byte(changed)}
		w.Commit = must(seal.Commit(key, w.Box, aad))
		_, err := seal.OpenRoot(key, w, aad)
		refused(t, fmt.Sprintf("box with bit %d turned and a fresh commitment", bit), err)
	})
}

// TestC36_NoChangedPasswordSlotOpens turns few of the bits: each costs one
// stretching of the password.
func TestC36_NoChangedPasswordSlotOpens(t *testing.T) {
	root, password, ds := seal.FixedRootKey(t, count(1, 32)), value(t, []byte("a password")), value(t, count(9, 32))
	slot := seal.PasswordSlot{Account: id(1), Epoch: 2, KDF: seal.FloorKDF(), DeviceSecret: true}
	w := must(seal.WrapRootForPassword(root, password, ds, slot))
	eachBitOfRoot(w, func(bit int, changed seal.WrappedRoot) {
		if bit%83 == 0 {
			_, err := seal.OpenRootWithPassword(changed, password, ds, slot)
			refused(t, fmt.Sprintf("password slot with bit %d turned", bit), err)
		}
	})
}

func TestS2_03_NoChangedFileIsVerified(t *testing.T) {
	root, keys := seal.FixedRootKey(t, count(1, 32)), seal.FixedDeviceKeys(t, count(100, 64))
	file := []byte("WARDERxx a file")
	public := keys.Public().Sign
	sig, keyset, card := must(keys.SignManifest(file)), must(seal.MACKeyset(root, file)), must(seal.MACCard(root, file))
	for _, c := range []struct {
		name  string
		proof []byte
		check func(file, proof []byte) error
	}{
		{"manifest", sig[:], func(file, sig []byte) error { return seal.VerifyManifest(public, file, sig) }},
		{"keyset", keyset[:], func(file, mac []byte) error { return seal.CheckKeyset(root, file, mac) }},
		{"card", card[:], func(file, mac []byte) error { return seal.CheckCard(root, file, mac) }},
	} {
		opened(t, c.name, c.check(file, c.proof))
		eachBit(file, func(bit int, changed []byte) {
			refused(t, fmt.Sprintf("%s with bit %d turned", c.name, bit), c.check(changed, c.proof))
		})
		eachBit(c.proof, func(bit int, changed []byte) {
			refused(t, fmt.Sprintf("%s with bit %d of the proof turned", c.name, bit), c.check(file, changed))
		})
		for n := range len(c.proof) {
			refused(t, fmt.Sprintf("%s with %d bytes of proof", c.name, n), c.check(file, c.proof[:n]))
		}
		refused(t, c.name+" with a longer proof", c.check(file, join(c.proof, []byte{0})))
		refused(t, c.name+" cut", c.check(file[:len(file)-1], c.proof))
		refused(t, c.name+" longer", c.check(join(file, []byte{0}), c.proof))
	}
	eachBit(public[:], func(bit int, changed []byte) {
		refused(t, fmt.Sprintf("signature under a key with bit %d turned", bit), seal.VerifyManifest([32]byte(changed), file, sig[:]))
	})
}

// TestS2_09_AuthenticBoxesOfAnotherLength covers boxes that only a holder of the
// keys can make: a faulty writer must not lead to a key of 16 bytes.
func TestS2_09_AuthenticBoxesOfAnotherLength(t *testing.T) {
	root := seal.FixedRootKey(t, count(1, 32))
	place := seal.VaultPlace{Account: id(1), Vault: id(2), Epoch: 3}
	in := fields{"account": count(1, 16), "vault": count(2, 16), "device": count(4, 16), "epoch": u64(3), "root_key": count(1, 32)}
	in["nonce"] = count(200, 12)
	for _, size := range []int{0, 16, 31, 32, 33, 64} {
		in["vault_key"] = count(5, size)
		_, err := seal.OpenVaultKey(root, f1VaultKey(in)["box"], place)
		if size == 32 {
			opened(t, "vault key of 32 bytes", err)
			continue
		}
		refused(t, fmt.Sprintf("vault key of %d bytes", size), err)
	}
	in["nonce"], in["seed"] = count(200, 24), count(6, 32)
	for _, size := range []int{0, 31, 32, 33} {
		box := f1Seal(f1DeviceKeysKey(in), in["nonce"], join(in["seed"], count(7, size)), f1DeviceKeysAAD(in))
		_, err := seal.OpenDeviceKeys(root, secret.Value{}, id(1), id(4), box)
		if size == 32 {
			opened(t, "device keys of 64 bytes", err)
			continue
		}
		refused(t, fmt.Sprintf("device keys of %d bytes", 32+size), err)
	}
}
