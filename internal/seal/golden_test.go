package seal_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warder/internal/seal"
	"warder/internal/secret"
)

const goldenFile = "warder-v1.json"

// golden is one vector: inputs, and all that follows from them.
type golden struct {
	Name     string `json:"name"`
	Function string `json:"function"`
	In       fields `json:"in"`
	Out      fields `json:"out"`
}

// construction says how a function of this package and its second
// implementation answer to the same inputs. seal returns what the public
// function gives; reference also what lies between.
type construction struct {
	seal      func(t *testing.T, in fields) fields
	reference func(in fields) fields
}

var update = flag.Bool("update", false, "write testdata/vectors/"+goldenFile)

// TestF1_GoldenVectors pins the bytes of format F1: a change here is a new
// format version, never an update of the file.
func TestF1_GoldenVectors(t *testing.T) {
	vectors := goldenInputs()
	used := map[string]bool{}
	for i, v := range vectors {
		c, ok := constructions()[v.Function]
		if !ok {
			t.Fatalf("%s: no function %q", v.Name, v.Function)
		}
		used[v.Function] = true
		vectors[i].Out = c.reference(v.In)
		for name, got := range c.seal(t, v.In) {
			if want := vectors[i].Out[name]; !bytes.Equal(got, want) {
				t.Errorf("%s: %s is %x, the second implementation says %x", v.Name, name, []byte(got), []byte(want))
			}
		}
	}
	for name := range constructions() {
		if !used[name] {
			t.Errorf("no vector for %s", name)
		}
	}
	if *update && !t.Failed() {
		writeGolden(t, vectors)
	}
	if diff := cmp.Diff(readVectors[golden](t, goldenFile), vectors); diff != "" {
		t.Errorf("the bytes of F1 changed (-file +now):\n%s", diff)
	}
}

func writeGolden(t *testing.T, vectors []golden) {
	t.Helper()
	data, err := json.MarshalIndent(struct {
		Source   string   `json:"source"`
		Encoding string   `json:"encoding"`
		Vectors  []golden `json:"vectors"`
	}{
		"warder's own, for format F1 version 1; the names of the keys are those of docs/formats.md",
		"every value is hex; numbers are big-endian in the width they have in F1",
		vectors,
	}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("testdata/vectors/"+goldenFile, append(data, '\n'), 0o644); err != nil {
		t.Fatal(err)
	}
}

func u16(n uint16) hexBytes { return binary.BigEndian.AppendUint16(nil, n) }
func u32(n uint32) hexBytes { return binary.BigEndian.AppendUint32(nil, n) }
func u64(n uint64) hexBytes { return binary.BigEndian.AppendUint64(nil, n) }

func goldenInputs() []golden {
	account, vault, item, device := hexBytes(count(0x00, 16)), hexBytes(count(0x10, 16)), hexBytes(count(0x20, 16)), hexBytes(count(0x30, 16))
	root, vk, ik := hexBytes(count(0x40, 32)), hexBytes(count(0x60, 32)), hexBytes(count(0x80, 32))
	ds, salt, seed, kem := hexBytes(count(0xa0, 32)), hexBytes(count(0xc0, 32)), hexBytes(count(0xe0, 32)), hexBytes(count(0x01, 32))
	wrapNonce, contentNonce := hexBytes(count(0xf0, 12)), hexBytes(count(0xd0, 24))
	epoch := u64(0x0102030405060708)
	standard, lowest := seal.KDF{Memory: 128 * 1024, Time: 3, Lanes: 4}, seal.KDF{Memory: 19 * 1024, Time: 2, Lanes: 1}

	password := func(name, password string, ds hexBytes, cost seal.KDF) golden {
		return golden{Name: name, Function: "password-slot", In: fields{
			"root_key": root, "password": hexBytes(password), "device_secret": ds, "account": account, "epoch": epoch,
			"memory": u32(cost.Memory), "time": u32(cost.Time), "lanes": {cost.Lanes}, "salt": salt, "nonce": wrapNonce,
		}}
	}
	content := func(name string, header, plain []byte) golden {
		return golden{Name: name, Function: "item", In: fields{
			"item_key": ik, "vault": vault, "item": item, "epoch": epoch, "header": header, "plain": plain, "nonce": contentNonce,
		}}
	}
	manifest := func(name string, part uint16) golden {
		return golden{Name: name, Function: "manifest", In: fields{
			"vault_key": vk, "account": account, "vault": vault, "device": device, "seq": u64(77), "part": u16(part),
			"plain": hexBytes(`{"entries":[]}`), "nonce": contentNonce,
		}}
	}
	deviceKeys := func(name string, ds hexBytes) golden {
		return golden{Name: name, Function: "device-keys", In: fields{
			"root_key": root, "device_secret": ds, "account": account, "device": device,
			"seed": seed, "kem_private": kem, "nonce": contentNonce,
		}}
	}
	file := hexBytes("WARDERxx and the rest of a file")
	return []golden{
		password("password and device secret, standard cost", "correct horse battery staple", ds, standard),
		password("password that NFKD changes, lowest cost", "  ﬁle Å ñ 2² ½ 한글 ", ds, lowest),
		password("password alone", "correct horse battery staple", hexBytes{}, lowest),
		{Name: "recovery code", Function: "recovery-slot", In: fields{
			"root_key": root, "code": hexBytes(count(0xa0, 20)), "account": account, "epoch": epoch, "salt": salt, "nonce": wrapNonce,
		}},
		{Name: "vault key", Function: "vault-key", In: fields{
			"root_key": root, "vault_key": vk, "account": account, "vault": vault, "epoch": epoch, "nonce": wrapNonce,
		}},
		{Name: "item key", Function: "item-key", In: fields{
			"vault_key": vk, "item_key": ik, "vault": vault, "item": item, "epoch": epoch, "nonce": wrapNonce,
		}},
		content("item", []byte("WARDERxx and a clear header"), []byte(`{"title":"example"}`)),
		content("item without content", []byte{}, []byte{}),
		manifest("manifest shard", 0xfe),
		manifest("manifest root", 0x100),
		{Name: "manifest signature", Function: "signature", In: fields{"seed": seed, "file": file}},
		{Name: "keyset", Function: "keyset-mac", In: fields{"root_key": root, "file": file}},
		{Name: "device card", Function: "card-mac", In: fields{"root_key": root, "file": file}},
		{Name: "seen state", Function: "seen", In: fields{
			"root_key": root, "account": account, "device": device, "plain": hexBytes(`{"seq":77}`), "nonce": contentNonce,
		}},
		deviceKeys("device keys under root key and device secret", ds),
		deviceKeys("device keys under the root key alone", hexBytes{}),
		{Name: "proof of presence", Function: "presence", In: fields{
			"root_key": root, "account": account, "slot": salt, "act": hexBytes("the hash of an act"), "challenge": hexBytes("a challenge"),
			"shown": hexBytes("change the master password"), "caller": hexBytes("inode 1"), "plain": hexBytes("what it carries"), "nonce": contentNonce,
		}},
		{Name: "fingerprint", Function: "fingerprint", In: fields{"vault_key": vk, "value": hexBytes("a value")}},
		{Name: "fingerprint of nothing", Function: "fingerprint", In: fields{"vault_key": vk, "value": hexBytes{}}},
	}
}

func constructions() map[string]construction {
	return map[string]construction{
		"password-slot": {sealPasswordSlot, f1PasswordSlot},
		"recovery-slot": {sealRecoverySlot, f1RecoverySlot},
		"vault-key":     {sealVaultKey, f1VaultKey},
		"item-key":      {sealItemKey, f1ItemKey},
		"item":          {sealItem, f1Item},
		"manifest":      {sealManifest, f1Manifest},
		"signature":     {sealSignature, f1Signature},
		"keyset-mac":    {sealKeysetMAC, f1KeysetMAC},
		"card-mac":      {sealCardMAC, f1CardMAC},
		"seen":          {sealSeen, f1Seen},
		"device-keys":   {sealDeviceKeys, f1DeviceKeys},
		"presence":      {sealProof, f1Proof},
		"fingerprint":   {sealFingerprint, f1Fingerprint},
	}
}

// withNonce runs f with the vector's nonce as the only randomness there is: a
// second draw would fail, so no function draws more than its nonce.
func withNonce(in fields, f func()) { seal.WithRandom(bytes.NewReader(in["nonce"]), f) }

// optional is the zero Value for an input that is not there.
func optional(t *testing.T, b []byte) secret.Value {
	if len(b) == 0 {
		return secret.Value{}
	}
	return value(t, b)
}

func (f fields) id(name string) seal.ID { return seal.ID(f[name]) }

func sealPasswordSlot(t *testing.T, in fields) (out fields) {
	slot := seal.PasswordSlot{
		Account: in.id("account"), Epoch: in.number("epoch"), DeviceSecret: len(in["device_secret"]) > 0,
		KDF: seal.KDF{
			Memory: uint32(in.number("memory")), Time: uint32(in.number("time")), Lanes: uint8(in.number("lanes")),
			Salt: [32]byte(in["salt"]),
		},
	}
	withNonce(in, func() {
		w := must(seal.WrapRootForPassword(seal.FixedRootKey(t, in["root_key"]), value(t, in["password"]), optional(t, in["device_secret"]), slot))
		root := must(seal.OpenRootWithPassword(w, value(t, in["password"]), optional(t, in["device_secret"]), slot))
		sameKey(t, root.Bytes(t), in["root_key"])
		out = fields{"box": w.Box[:], "commit": w.Commit[:]}
	})
	return out
}

func sealRecoverySlot(t *testing.T, in fields) (out fields) {
	slot := seal.RecoverySlot{Account: in.id("account"), Epoch: in.number("epoch"), Salt: [32]byte(in["salt"])}
	withNonce(in, func() {
		w := must(seal.WrapRootForRecovery(seal.FixedRootKey(t, in["root_key"]), value(t, in["code"]), slot))
		root := must(seal.OpenRootWithRecovery(w, value(t, in["code"]), slot))
		sameKey(t, root.Bytes(t), in["root_key"])
		out = fields{"box": w.Box[:], "commit": w.Commit[:]}
	})
	return out
}

func sealVaultKey(t *testing.T, in fields) (out fields) {
	root := seal.FixedRootKey(t, in["root_key"])
	place := seal.VaultPlace{Account: in.id("account"), Vault: in.id("vault"), Epoch: in.number("epoch")}
	withNonce(in, func() {
		box := must(seal.WrapVaultKey(root, seal.FixedVaultKey(t, in["vault_key"]), place))
		sameKey(t, must(seal.OpenVaultKey(root, box[:], place)).Bytes(t), in["vault_key"])
		out = fields{"box": box[:], "key": root.Subkey(t, "warder/vault-wrap/v1")}
	})
	return out
}

func sealItemKey(t *testing.T, in fields) (out fields) {
	vk := seal.FixedVaultKey(t, in["vault_key"])
	place := seal.ItemPlace{Vault: in.id("vault"), Item: in.id("item"), Epoch: in.number("epoch")}
	withNonce(in, func() {
		box := must(seal.WrapItemKey(vk, seal.FixedItemKey(t, in["item_key"]), place))
		sameKey(t, must(seal.OpenItemKey(vk, box[:], place)).Bytes(t), in["item_key"])
		out = fields{"box": box[:]}
	})
	return out
}

func sealItem(t *testing.T, in fields) (out fields) {
	k := seal.FixedItemKey(t, in["item_key"])
	place := seal.ItemPlace{Vault: in.id("vault"), Item: in.id("item"), Epoch: in.number("epoch")}
	withNonce(in, func() {
		box := must(seal.SealItem(k, place, in["header"], in["plain"]))
		sameKey(t, reveal(t, must(seal.OpenItem(k, place, in["header"], box))), in["plain"])
		out = fields{"box": box}
	})
	return out
}

func sealManifest(t *testing.T, in fields) (out fields) {
	vk := seal.FixedVaultKey(t, in["vault_key"])
	place := seal.ManifestPlace{
		Account: in.id("account"), Vault: in.id("vault"), Device: in.id("device"),
		Seq: in.number("seq"), Part: uint16(in.number("part")),
	}
	withNonce(in, func() {
		box := must(seal.SealManifest(vk, place, in["plain"]))
		sameKey(t, must(seal.OpenManifest(vk, place, box)), in["plain"])
		out = fields{"box": box}
	})
	return out
}

func sealSignature(t *testing.T, in fields) fields {
	keys := seal.FixedDeviceKeys(t, join(in["seed"], count(1, 32)))
	sig := must(keys.SignManifest(in["file"]))
	public := keys.Public().Sign
	if err := seal.VerifyManifest(public, in["file"], sig[:]); err != nil {
		t.Error(err)
	}
	return fields{"public": public[:], "signature": sig[:]}
}

func sealKeysetMAC(t *testing.T, in fields) fields {
	root := seal.FixedRootKey(t, in["root_key"])
	mac := must(seal.MACKeyset(root, in["file"]))
	if err := seal.CheckKeyset(root, in["file"], mac[:]); err != nil {
		t.Error(err)
	}
	return fields{"mac": mac[:]}
}

func sealCardMAC(t *testing.T, in fields) fields {
	root := seal.FixedRootKey(t, in["root_key"])
	mac := must(seal.MACCard(root, in["file"]))
	if err := seal.CheckCard(root, in["file"], mac[:]); err != nil {
		t.Error(err)
	}
	return fields{"mac": mac[:]}
}

func sealSeen(t *testing.T, in fields) (out fields) {
	root := seal.FixedRootKey(t, in["root_key"])
	withNonce(in, func() {
		box := must(seal.SealSeen(root, in.id("account"), in.id("device"), in["plain"]))
		sameKey(t, must(seal.OpenSeen(root, in.id("account"), in.id("device"), box)), in["plain"])
		out = fields{"box": box}
	})
	return out
}

func sealDeviceKeys(t *testing.T, in fields) (out fields) {
	root, ds := seal.FixedRootKey(t, in["root_key"]), optional(t, in["device_secret"])
	keys := seal.FixedDeviceKeys(t, join(in["seed"], in["kem_private"]))
	withNonce(in, func() {
		box := must(seal.SealDeviceKeys(root, ds, in.id("account"), in.id("device"), keys))
		again := must(seal.OpenDeviceKeys(root, ds, in.id("account"), in.id("device"), box))
		sameKey(t, again.Bytes(t), join(in["seed"], in["kem_private"]))
		public := again.Public()
		out = fields{"box": box, "sign_public": public.Sign[:], "kem_public": public.KEM[:]}
	})
	return out
}

func sealProof(t *testing.T, in fields) (out fields) {
	root := seal.FixedRootKey(t, in["root_key"])
	place := seal.ProofPlace{
		Account: in.id("account"), Slot: [32]byte(in["slot"]), Act: in["act"], Challenge: in["challenge"], Shown: in["shown"], Caller: in["caller"],
	}
	withNonce(in, func() {
		box := must(seal.SealProof(root, place, value(t, in["plain"])))
		sameKey(t, reveal(t, must(seal.OpenProof(root, place, box))), in["plain"])
		out = fields{"box": box}
	})
	return out
}

func sealFingerprint(t *testing.T, in fields) fields {
	fp := must(seal.Fingerprint(seal.FixedVaultKey(t, in["vault_key"]), value(t, in["value"])))
	return fields{"fingerprint": fp[:]}
}

func sameKey(t *testing.T, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Errorf("opened to %x, want %x", got, want)
	}
}
