package seal_test

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/mlkem"
	"crypto/sha256"
	"crypto/sha3"
	"encoding/binary"
	"io"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/chacha20poly1305"
	"golang.org/x/crypto/hkdf"
	"golang.org/x/text/unicode/norm"
)

// F1's constructions a second time, from the text of the format and without any
// of this package's code: each function takes a vector's inputs and returns all
// that follows from them. The golden test holds the two against each other.

type fields map[string]hexBytes

func (f fields) number(name string) uint64 {
	b := make([]byte, 8)
	copy(b[8-len(f[name]):], f[name])
	return binary.BigEndian.Uint64(b)
}

func f1Encode(label string, parts ...[]byte) []byte {
	out := []byte(label)
	for _, p := range parts {
		out = append(binary.BigEndian.AppendUint16(out, uint16(len(p))), p...)
	}
	return out
}

func f1Derive(ikm, salt, info []byte) []byte {
	out := make([]byte, 32)
	must(io.ReadFull(hkdf.New(sha256.New, ikm, salt, info), out))
	return out
}

func f1MAC(key, message []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write(message)
	return mac.Sum(nil)
}

func f1Seal(key, nonce, plain, aad []byte) []byte {
	return must(chacha20poly1305.NewX(key)).Seal(append([]byte(nil), nonce...), nonce, plain, aad)
}

func f1PasswordSlot(in fields) fields {
	kdf := join([]byte{1}, in["memory"], in["time"], in["lanes"], in["salt"])
	flags, ds := []byte{1}, []byte(in["device_secret"])
	if len(ds) == 0 {
		flags, ds = []byte{0}, make([]byte, 32)
	}
	nfkd := norm.NFKD.Bytes(in["password"])
	master := argon2.IDKey(nfkd, in["salt"], uint32(in.number("time")), uint32(in.number("memory")), uint8(in.number("lanes")), 32)
	unlock := f1Derive(master, ds, f1Encode("warder/unlock/v1", in["account"], in["epoch"], kdf))
	aad := f1Encode("warder/wrap-ark/v1", in["account"], in["epoch"], kdf, flags)
	box := referenceWrap(unlock, in["nonce"], in["root_key"], aad)
	return fields{
		"nfkd": nfkd, "master_unlock_key": master, "slot_key": unlock, "aad": aad,
		"box": box, "commit": f1MAC(unlock, f1Encode("warder/commit/v1", aad, box)),
	}
}

func f1RecoverySlot(in fields) fields {
	key := f1Derive(in["code"], in["salt"], f1Encode("warder/recover/v1", in["account"], in["epoch"]))
	aad := f1Encode("warder/wrap-ark-rec/v1", in["account"], in["epoch"], in["salt"])
	box := referenceWrap(key, in["nonce"], in["root_key"], aad)
	return fields{
		"slot_key": key, "aad": aad,
		"box": box, "commit": f1MAC(key, f1Encode("warder/commit/v1", aad, box)),
	}
}

func f1VaultKey(in fields) fields {
	key := f1Derive(in["root_key"], nil, []byte("warder/vault-wrap/v1"))
	aad := f1Encode("warder/wrap-vk/v1", in["account"], in["vault"], in["epoch"])
	return fields{"key": key, "aad": aad, "box": referenceWrap(key, in["nonce"], in["vault_key"], aad)}
}

func f1ItemKey(in fields) fields {
	key := f1Derive(in["vault_key"], nil, []byte("warder/item-wrap/v1"))
	aad := f1Encode("warder/wrap-item/v1", in["vault"], in["item"], in["epoch"])
	return fields{"key": key, "aad": aad, "box": referenceWrap(key, in["nonce"], in["item_key"], aad)}
}

func f1Item(in fields) fields {
	aad := f1Encode("warder/item/v1", in["vault"], in["item"], in["epoch"], in["header"])
	return fields{"aad": aad, "box": f1Seal(in["item_key"], in["nonce"], in["plain"], aad)}
}

func f1Manifest(in fields) fields {
	key := f1Derive(in["vault_key"], nil, []byte("warder/manifest/v1"))
	aad := f1Encode("warder/manifest/v1", in["account"], in["vault"], in["device"], in["seq"], in["part"])
	return fields{"key": key, "aad": aad, "box": f1Seal(key, in["nonce"], in["plain"], aad)}
}

func f1Signature(in fields) fields {
	private := ed25519.NewKeyFromSeed(in["seed"])
	message := join([]byte("warder/manifest-sign/v1"), in["file"])
	return fields{"public": hexBytes(private[32:]), "message": message, "signature": ed25519.Sign(private, message)}
}

func f1KeysetMAC(in fields) fields {
	key := f1Derive(in["root_key"], nil, []byte("warder/keyset-mac/v1"))
	return fields{"key": key, "mac": f1MAC(key, join([]byte("warder/keyset/v1"), in["file"]))}
}

func f1CardMAC(in fields) fields {
	key := f1Derive(in["root_key"], nil, []byte("warder/device-cert/v1"))
	return fields{"key": key, "mac": f1MAC(key, join([]byte("warder/device-card/v1"), in["file"]))}
}

func f1Seen(in fields) fields {
	key := f1Derive(in["root_key"], nil, []byte("warder/seen/v1"))
	aad := f1Encode("warder/seen/v1", in["account"], in["device"])
	return fields{"key": key, "aad": aad, "box": f1Seal(key, in["nonce"], in["plain"], aad)}
}

func f1Proof(in fields) fields {
	key := f1Derive(in["root_key"], nil, []byte("warder/presence/v1"))
	aad := f1Encode("warder/presence/v1", in["account"], in["slot"], in["act"], in["challenge"], in["shown"], in["caller"])
	return fields{"key": key, "aad": aad, "box": f1Seal(key, in["nonce"], in["plain"], aad)}
}

func f1DeviceKeysAAD(in fields) []byte {
	return f1Encode("warder/device-keys/v1", in["account"], in["device"])
}

func f1DeviceKeysKey(in fields) []byte {
	ds := []byte(in["device_secret"])
	if len(ds) == 0 {
		ds = make([]byte, 32)
	}
	return f1Derive(in["root_key"], ds, f1DeviceKeysAAD(in))
}

func f1DeviceKeys(in fields) fields {
	key, aad := f1DeviceKeysKey(in), f1DeviceKeysAAD(in)
	return fields{
		"key": key, "aad": aad,
		"sign_public": hexBytes(ed25519.NewKeyFromSeed(in["seed"])[32:]),
		"kem_public":  xwingPublic(in["kem_private"]),
		"box":         f1Seal(key, in["nonce"], join(in["seed"], in["kem_private"]), aad),
	}
}

// xwingPublic is the public key of MLKEM768-X25519 (draft-ietf-hpke-pq) from its
// two halves.
func xwingPublic(private []byte) []byte {
	expanded := sha3.SumSHAKE256(private, mlkem.SeedSize+32)
	pq := must(mlkem.NewDecapsulationKey768(expanded[:mlkem.SeedSize]))
	classic := must(ecdh.X25519().NewPrivateKey(expanded[mlkem.SeedSize:]))
	return join(pq.EncapsulationKey().Bytes(), classic.PublicKey().Bytes())
}

func f1Fingerprint(in fields) fields {
	key := f1Derive(in["vault_key"], nil, []byte("warder/fingerprint/v1"))
	return fields{"key": key, "fingerprint": f1MAC(key, f1Encode("warder/fp/v1", in["value"]))[:6]}
}
