package seal_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"warder/internal/seal"
	"warder/internal/secret"
)

func FuzzParseID(f *testing.F) {
	f.Add("00112233445566778899aabbccddeeff")
	f.Fuzz(func(t *testing.T, s string) {
		id, err := seal.ParseID(s)
		if err == nil && id.String() != s {
			t.Errorf("%q read as %v", s, id)
		}
		if err != nil && !id.IsZero() {
			t.Errorf("%q refused, yet read as %v", s, id)
		}
	})
}

func FuzzParseHash(f *testing.F) {
	f.Add(seal.HashOf(nil).String())
	f.Fuzz(func(t *testing.T, s string) {
		h, err := seal.ParseHash(s)
		if err == nil && h.String() != s {
			t.Errorf("%q read as %v", s, h)
		}
		if err != nil && h != (seal.Hash{}) {
			t.Errorf("%q refused, yet read as %v", s, h)
		}
	})
}

// fuzzOpen checks that the only box that opens is the one that was sealed. The
// committed inputs hold that box, cut and changed ones.
func fuzzOpen(f *testing.F, name string) {
	for _, s := range sealedThings(f) {
		if s.name != name {
			continue
		}
		f.Add(s.box)
		f.Fuzz(func(t *testing.T, box []byte) {
			switch err := s.open(box); {
			case err == nil && !bytes.Equal(box, s.box):
				t.Errorf("another box opens: %x", box)
			case err != nil && bytes.Equal(box, s.box):
				t.Errorf("the sealed box does not open: %v", err)
			case err != nil && !errors.Is(err, seal.ErrOpen):
				t.Errorf("error %v", err)
			}
		})
		return
	}
	f.Fatalf("nothing sealed is called %q", name)
}

func FuzzOpenVaultKey(f *testing.F) { fuzzOpen(f, "vault key") }

func FuzzOpenItemKey(f *testing.F) { fuzzOpen(f, "item key") }

func FuzzOpenItem(f *testing.F) { fuzzOpen(f, "item") }

func FuzzOpenManifest(f *testing.F) { fuzzOpen(f, "manifest") }

func FuzzOpenSeen(f *testing.F) { fuzzOpen(f, "seen state") }

func FuzzOpenDeviceKeys(f *testing.F) { fuzzOpen(f, "device keys") }

// wrappedRoot fills a wrapped root key with as much of b as fits.
func wrappedRoot(b []byte) (w seal.WrappedRoot) {
	n := copy(w.Box[:], b)
	copy(w.Commit[:], b[n:])
	return w
}

func FuzzOpenRootWithRecovery(f *testing.F) {
	root := seal.FixedRootKey(f, count(1, 32))
	f.Fuzz(func(t *testing.T, wrapped, code, salt []byte, epoch uint64) {
		slot := seal.RecoverySlot{Account: id(1), Epoch: epoch}
		copy(slot.Salt[:], salt)
		v := must(secret.New(bytes.Clone(code)))
		defer v.Destroy()
		w := wrappedRoot(wrapped)
		if _, err := seal.OpenRootWithRecovery(w, v, slot); !errors.Is(err, seal.ErrOpen) {
			t.Errorf("a box that nobody sealed: %v", err)
		}
		w, err := seal.WrapRootForRecovery(root, v, slot)
		if (err == nil) != (len(code) == 20) {
			t.Fatalf("wrapped for a code of %d bytes: %v", len(code), err)
		}
		if err == nil {
			again, err := seal.OpenRootWithRecovery(w, v, slot)
			opened(t, "recovery slot", err)
			again.Destroy()
		}
	})
}

// FuzzOpenRootWithPassword tries any cost: one out of bounds must come back at
// once, one within is lowered to the floor, or each input would take seconds.
func FuzzOpenRootWithPassword(f *testing.F) {
	root := seal.FixedRootKey(f, count(1, 32))
	f.Fuzz(func(t *testing.T, password, cost, wrapped []byte) {
		cost = append(bytes.Clone(cost), make([]byte, 9)...)
		slot := seal.PasswordSlot{Account: id(1), Epoch: 2, KDF: seal.KDF{
			Memory: binary.BigEndian.Uint32(cost), Time: binary.BigEndian.Uint32(cost[4:]), Lanes: cost[8],
		}}
		within := slot.KDF.Check() == nil
		if within {
			slot.KDF = seal.KDF{Memory: 19456, Time: 2, Lanes: 1}
		}
		v := must(secret.New(bytes.Clone(password)))
		defer v.Destroy()
		w := wrappedRoot(wrapped)
		if _, err := seal.OpenRootWithPassword(w, v, secret.Value{}, slot); !errors.Is(err, seal.ErrOpen) {
			t.Errorf("a box that nobody sealed: %v", err)
		}
		w, err := seal.WrapRootForPassword(root, v, secret.Value{}, slot)
		if err == nil && !within {
			t.Fatal("wrapped at a cost out of bounds")
		}
		if err == nil {
			again, err := seal.OpenRootWithPassword(w, v, secret.Value{}, slot)
			opened(t, "password slot", err)
			again.Destroy()
		}
	})
}

func FuzzVerifyManifest(f *testing.F) {
	keys := seal.FixedDeviceKeys(f, count(100, 64))
	file := []byte("WARDERxx a file")
	sig := must(keys.SignManifest(file))
	public := keys.Public().Sign
	f.Add(file, sig[:])
	f.Fuzz(func(t *testing.T, otherFile, otherSig []byte) {
		err := seal.VerifyManifest(public, otherFile, otherSig)
		same := bytes.Equal(file, otherFile) && bytes.Equal(sig[:], otherSig)
		if (err == nil) != same {
			t.Errorf("signature %x of %q: %v", otherSig, otherFile, err)
		}
	})
}
