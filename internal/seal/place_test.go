package seal_test

import (
	"reflect"
	"testing"

	"warder/internal/seal"
	"warder/internal/secret"
)

// changes returns copies of p that each differ in one spot of one field, under
// the field's name. Fields are found by reflection, so that one added later is
// tested without being listed.
func changes[P any](t *testing.T, p P) map[string]P {
	t.Helper()
	out := map[string]P{}
	for _, field := range leafFields(reflect.TypeFor[P]()) {
		old := reflect.ValueOf(p).FieldByIndex(field.Index)
		for how, changed := range changedValues(t, old) {
			c := reflect.New(reflect.TypeFor[P]()).Elem()
			c.Set(reflect.ValueOf(p))
			c.FieldByIndex(field.Index).Set(changed)
			out[" with "+field.Name+" "+how] = c.Interface().(P)
		}
	}
	return out
}

// leafFields lists the fields of a struct and of the structs in it.
func leafFields(typ reflect.Type) (leaves []reflect.StructField) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		if f.Type.Kind() != reflect.Struct {
			leaves = append(leaves, f)
			continue
		}
		for _, inner := range leafFields(f.Type) {
			inner.Name = f.Name + "." + inner.Name
			inner.Index = append([]int{i}, inner.Index...)
			leaves = append(leaves, inner)
		}
	}
	return leaves
}

// changedValues returns values of v's type that are not v.
func changedValues(t *testing.T, v reflect.Value) map[string]reflect.Value {
	t.Helper()
	out := map[string]reflect.Value{}
	change := func(how string, f func(c reflect.Value)) {
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		f(c)
		out[how] = c
	}
	switch v.Kind() {
	case reflect.Array:
		change("changed at its start", func(c reflect.Value) { c.Index(0).SetUint(v.Index(0).Uint() ^ 1) })
		last := v.Len() - 1
		change("changed at its end", func(c reflect.Value) { c.Index(last).SetUint(v.Index(last).Uint() ^ 0x80) })
	case reflect.Slice:
		b := v.Bytes()
		change("cut", func(c reflect.Value) { c.SetBytes(b[:len(b)-1]) })
		change("longer", func(c reflect.Value) { c.SetBytes(join(b, []byte{0})) })
		change("changed", func(c reflect.Value) { c.SetBytes(xor(b, join([]byte{1}, make([]byte, len(b))))) })
		change("empty", func(c reflect.Value) { c.SetBytes(nil) })
	case reflect.Bool:
		change("turned", func(c reflect.Value) { c.SetBool(!v.Bool()) })
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		change("one more", func(c reflect.Value) { c.SetUint(v.Uint() + 1) })
		change("far more", func(c reflect.Value) { c.SetUint(v.Uint() ^ 1<<(v.Type().Bits()-1)) })
	default:
		t.Fatalf("no change for a %s", v.Kind())
	}
	return out
}

// bound checks that open works at p and nowhere near it.
func bound[P any](t *testing.T, name string, p P, open func(P) error) {
	t.Helper()
	opened(t, name, open(p))
	for change, q := range changes(t, p) {
		refused(t, name+change, open(q))
	}
}

type itemFile struct {
	Place  seal.ItemPlace
	Header []byte
}

type devicePlace struct{ Account, Device seal.ID }

func TestS2_09_EveryFieldIsBound(t *testing.T) {
	root, vk := seal.FixedRootKey(t, count(1, 32)), seal.FixedVaultKey(t, count(2, 32))

	vault := seal.VaultPlace{Account: id(1), Vault: id(2), Epoch: 3}
	vaultBox := must(seal.WrapVaultKey(root, vk, vault))
	bound(t, "vault key", vault, func(p seal.VaultPlace) error {
		_, err := seal.OpenVaultKey(root, vaultBox[:], p)
		return err
	})

	item := seal.ItemPlace{Vault: id(2), Item: id(3), Epoch: 3}
	ik, ikBox, err := seal.NewItemKey(vk, item)
	if err != nil {
		t.Fatal(err)
	}
	bound(t, "item key", item, func(p seal.ItemPlace) error {
		_, err := seal.OpenItemKey(vk, ikBox[:], p)
		return err
	})

	file := itemFile{item, []byte("clear header")}
	itemBox := must(seal.SealItem(ik, item, file.Header, []byte("content")))
	bound(t, "item", file, func(f itemFile) error {
		_, err := seal.OpenItem(ik, f.Place, f.Header, itemBox)
		return err
	})

	manifest := seal.ManifestPlace{Account: id(1), Vault: id(2), Device: id(4), Seq: 5, Part: 6}
	manifestBox := must(seal.SealManifest(vk, manifest, []byte("shard")))
	bound(t, "manifest", manifest, func(p seal.ManifestPlace) error {
		_, err := seal.OpenManifest(vk, p, manifestBox)
		return err
	})

	device := devicePlace{id(1), id(4)}
	seenBox := must(seal.SealSeen(root, device.Account, device.Device, []byte("seen")))
	bound(t, "seen state", device, func(p devicePlace) error {
		_, err := seal.OpenSeen(root, p.Account, p.Device, seenBox)
		return err
	})

	proof := proofPlace()
	proofBox := must(seal.SealProof(root, proof, value(t, []byte("carried"))))
	bound(t, "proof of presence", proof, func(p seal.ProofPlace) error {
		_, err := seal.OpenProof(root, p, proofBox)
		return err
	})

	ds := value(t, count(9, 32))
	keys := must(seal.NewDeviceKeys())
	keysBox := must(seal.SealDeviceKeys(root, ds, device.Account, device.Device, keys))
	bound(t, "device keys", device, func(p devicePlace) error {
		_, err := seal.OpenDeviceKeys(root, ds, p.Account, p.Device, keysBox)
		return err
	})
}

func proofPlace() seal.ProofPlace {
	return seal.ProofPlace{
		Account: id(1), Slot: [32]byte(count(7, 32)), Act: []byte("act"), Challenge: []byte("challenge"),
		Shown: []byte("what it does"), Caller: []byte("process"),
	}
}

// TestProofOfNothing: a proof of another root key is none, and a key that is
// gone makes and opens none.
func TestProofOfNothing(t *testing.T) {
	root, carried := seal.FixedRootKey(t, count(1, 32)), value(t, []byte("carried"))
	box := must(seal.SealProof(root, proofPlace(), carried))
	_, err := seal.OpenProof(seal.FixedRootKey(t, count(2, 32)), proofPlace(), box)
	refused(t, "proof of another root key", err)
	for _, short := range [][]byte{nil, box[:39]} {
		_, err := seal.OpenProof(root, proofPlace(), short)
		refused(t, "proof that was cut", err)
	}
	long := proofPlace()
	long.Shown = make([]byte, 1<<16)
	if _, err := seal.SealProof(root, long, carried); err == nil {
		t.Error("a text that does not fit was cut")
	}
	_, err = seal.OpenProof(root, long, box)
	refused(t, "proof of a text that does not fit", err)
	if _, err := seal.SealProof(seal.RootKey{}, proofPlace(), carried); err == nil {
		t.Error("sealed without a key")
	}
	empty := must(seal.OpenProof(root, proofPlace(), must(seal.SealProof(root, proofPlace(), secret.Value{}))))
	if empty.Len() != 0 {
		t.Errorf("a proof that carries nothing carries %d bytes", empty.Len())
	}
	gone := value(t, []byte("gone"))
	gone.Destroy()
	if _, err := seal.SealProof(root, proofPlace(), gone); err == nil {
		t.Error("sealed a value that is gone")
	}
}

func TestC36_EveryFieldOfASlotIsBound(t *testing.T) {
	root, ds := seal.FixedRootKey(t, count(1, 32)), value(t, count(9, 32))
	password, code := value(t, []byte("a password")), value(t, count(7, 20))

	slot := seal.PasswordSlot{Account: id(1), Epoch: 2, KDF: seal.FloorKDF(), DeviceSecret: true}
	w := must(seal.WrapRootForPassword(root, password, ds, slot))
	bound(t, "password slot", slot, func(s seal.PasswordSlot) error {
		_, err := seal.OpenRootWithPassword(w, password, ds, s)
		return err
	})

	// The other way round: a slot made without device secret, said to need one.
	alone := slot
	alone.DeviceSecret = false
	w2 := must(seal.WrapRootForPassword(root, password, secret.Value{}, alone))
	_, err := seal.OpenRootWithPassword(w2, password, value(t, make([]byte, 32)), slot)
	refused(t, "password slot said to need a device secret of zeros", err)

	recovery := seal.NewRecoverySlot(id(1), 2)
	w3 := must(seal.WrapRootForRecovery(root, code, recovery))
	bound(t, "recovery slot", recovery, func(s seal.RecoverySlot) error {
		_, err := seal.OpenRootWithRecovery(w3, code, s)
		return err
	})
}

func TestC36_EverySecretIsNeeded(t *testing.T) {
	root, ds := seal.FixedRootKey(t, count(1, 32)), value(t, count(9, 32))
	password, code := value(t, []byte("a password")), value(t, count(7, 20))
	slot := seal.PasswordSlot{Account: id(1), Epoch: 2, KDF: seal.FloorKDF(), DeviceSecret: true}
	w := must(seal.WrapRootForPassword(root, password, ds, slot))
	for name, try := range map[string]struct{ password, ds secret.Value }{
		"another password":               {value(t, []byte("a Password")), ds},
		"password with a space":          {value(t, []byte("a password ")), ds},
		"no password":                    {secret.Value{}, ds},
		"another device secret":          {password, value(t, count(8, 32))},
		"no device secret":               {password, secret.Value{}},
		"device secret of zeros":         {password, value(t, make([]byte, 32))},
		"device secret cut by a byte":    {password, value(t, count(9, 31))},
		"device secret longer by a byte": {password, value(t, count(9, 33))},
	} {
		_, err := seal.OpenRootWithPassword(w, try.password, try.ds, slot)
		refused(t, name, err)
	}

	recovery := seal.NewRecoverySlot(id(1), 2)
	w = must(seal.WrapRootForRecovery(root, code, recovery))
	for name, try := range map[string]secret.Value{
		"another code": value(t, count(8, 20)), "no code": {},
		"code cut by a byte": value(t, count(7, 19)), "code longer by a byte": value(t, count(7, 21)),
	} {
		_, err := seal.OpenRootWithRecovery(w, try, recovery)
		refused(t, name, err)
	}

	device := must(seal.SealDeviceKeys(root, ds, id(1), id(4), must(seal.NewDeviceKeys())))
	for name, try := range map[string]secret.Value{"another device secret": value(t, count(8, 32)), "no device secret": {}, "short": value(t, count(9, 31))} {
		_, err := seal.OpenDeviceKeys(root, try, id(1), id(4), device)
		refused(t, "device keys with "+name, err)
	}
}

func TestS2_09_SwappedBoxesDoNotOpen(t *testing.T) {
	root, vk := seal.FixedRootKey(t, count(1, 32)), seal.FixedVaultKey(t, count(2, 32))
	a, b := seal.ItemPlace{Vault: id(2), Item: id(3), Epoch: 3}, seal.ItemPlace{Vault: id(2), Item: id(4), Epoch: 3}
	keyA, boxA, errA := seal.NewItemKey(vk, a)
	keyB, boxB, errB := seal.NewItemKey(vk, b)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	header := []byte("same header")
	itemA, itemB := must(seal.SealItem(keyA, a, header, []byte("A"))), must(seal.SealItem(keyB, b, header, []byte("B")))

	_, err := seal.OpenItemKey(vk, boxB[:], a)
	refused(t, "key of item B in item A", err)
	_, err = seal.OpenItemKey(vk, boxA[:], b)
	refused(t, "key of item A in item B", err)
	_, err = seal.OpenItem(keyA, a, header, itemB)
	refused(t, "content of item B in item A", err)
	_, err = seal.OpenItem(keyB, a, header, itemB)
	refused(t, "key and content of item B in item A", err)

	again, _, err := seal.NewItemKey(vk, a)
	opened(t, "a second revision of item A", err)
	_, err = seal.OpenItem(again, a, header, itemA)
	refused(t, "content of an older revision under the newer key", err)

	other := seal.FixedVaultKey(t, count(5, 32))
	_, err = seal.OpenItemKey(other, boxA[:], a)
	refused(t, "key of an item under another vault's key", err)

	vaultA, vaultB := seal.VaultPlace{Account: id(1), Vault: id(2)}, seal.VaultPlace{Account: id(1), Vault: id(5)}
	_, err = seal.OpenVaultKey(root, sliceOf(must(seal.WrapVaultKey(root, other, vaultB))), vaultA)
	refused(t, "key of vault B in vault A", err)
}

func sliceOf(box [seal.WrappedKeySize]byte) []byte { return box[:] }

// TestS2_09_KindsDoNotMix puts every kind of box where each other kind belongs,
// with all keys being the same 32 bytes, so that only labels keep them apart.
func TestS2_09_KindsDoNotMix(t *testing.T) {
	things := sealedThings(t)
	for _, from := range things {
		for _, to := range things {
			if from.name != to.name {
				refused(t, from.name+" as "+to.name, to.open(from.box))
			}
		}
	}
	file := []byte("a file")
	root := seal.FixedRootKey(t, count(1, 32))
	keyset, card := must(seal.MACKeyset(root, file)), must(seal.MACCard(root, file))
	refused(t, "keyset's authentication as a card's", seal.CheckCard(root, file, keyset[:]))
	refused(t, "card's authentication as a keyset's", seal.CheckKeyset(root, file, card[:]))
}
