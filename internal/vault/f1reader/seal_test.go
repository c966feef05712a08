package f1reader

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"
)

// The inverse of the readers, as far as the tests need it: to put wrong bytes
// under right keys, where no changed byte on disk can reach.

// randomBytes returns n random bytes.
func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

// object is a JSON object being made.
type object = map[string]any

// writeCanonical writes canonical JSON of what parseCanonical reads, and of int
// and uint64.
func writeCanonical(v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		var members [][]byte
		for _, key := range slices.Sorted(maps.Keys(v)) {
			members = append(members, slices.Concat(writeCanonical(key), []byte(":"), writeCanonical(v[key])))
		}
		return slices.Concat([]byte("{"), bytes.Join(members, []byte(",")), []byte("}"))
	case []any:
		var values [][]byte
		for _, value := range v {
			values = append(values, writeCanonical(value))
		}
		return slices.Concat([]byte("["), bytes.Join(values, []byte(",")), []byte("]"))
	case string:
		return []byte(`"` + escapeCanonical(v) + `"`)
	default:
		return fmt.Append(nil, v)
	}
}

// escapeCanonical escapes the content of a string.
func escapeCanonical(text string) string {
	pairs := []string{`"`, `\"`, `\`, `\\`, "\b", `\b`, "\f", `\f`, "\n", `\n`, "\r", `\r`, "\t", `\t`}
	for b := range 0x20 {
		pairs = append(pairs, string(rune(b)), fmt.Sprintf(`\u%04x`, b))
	}
	return strings.NewReplacer(pairs...).Replace(text) // the first pair that matches wins
}

// b64 is base64.
func b64(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

// file joins the parts of a file of this kind.
func (k fileKind) file(body []byte, header ...[]byte) []byte {
	joined := slices.Concat(header...)
	file := binary.BigEndian.AppendUint16([]byte(k.magic), 1)
	file = binary.BigEndian.AppendUint16(file, uint16(len(joined)))
	return slices.Concat(file, joined, body)
}

// be64 is a u64 in a header.
func be64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// sealWrap wraps a key.
func sealWrap(key, inner, ad []byte) []byte {
	nonce := randomBytes(sivNonce)
	return append(nonce, sivSeal(key, nonce, inner, ad)...)
}

// sealBox makes a box.
func sealBox(key, plaintext, ad []byte) []byte {
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		panic(err)
	}
	nonce := randomBytes(aead.NonceSize())
	return aead.Seal(nonce, nonce, plaintext, ad)
}

// sealMAC appends the MAC that vouches for a file.
func sealMAC(file []byte, label string, key []byte) []byte {
	return append(file, mac(key, []byte(label), file)...)
}

// sealKeyset makes a keyset.
func sealKeyset(ark []byte, account id, epoch uint64, body object) []byte {
	file := keysetKind.file(writeCanonical(body), account[:], be64(epoch))
	return sealMAC(file, "warder/keyset/v1", subkey(ark, "warder/keyset-mac/v1"))
}

// sealCard makes a device card.
func sealCard(ark []byte, account, device id, body object) []byte {
	file := cardKind.file(writeCanonical(body), account[:], device[:])
	return sealMAC(file, "warder/device-card/v1", subkey(ark, "warder/device-cert/v1"))
}

// passwordSlot makes the slot of a password with the device secret.
func passwordSlot(ark []byte, account id, epoch uint64, password string, secret []byte) object {
	s := slot{kind: "password", epoch: epoch, ds: true, kdf: kdf{19456, 2, 1, randomBytes(32)}}
	key, ad, err := s.passwordKey(account, credentials{password: password, secret: secret})
	if err != nil {
		panic(err)
	}
	box := sealWrap(key, ark, ad)
	return object{
		"kind": "password", "epoch": epoch, "ds": true, "box": b64(box),
		"commit": b64(mac(key, enc("warder/commit/v1").add(ad, box).bytes)),
		"kdf":    object{"id": argon2idID, "memory": s.kdf.memory, "time": s.kdf.time, "lanes": s.kdf.lanes, "salt": b64(s.kdf.salt)},
	}
}

// pad makes the plaintext of an item of its JSON.
func pad(text []byte) []byte {
	padded := make([]byte, paddedSize(len(text)+4))
	binary.BigEndian.PutUint32(padded, uint32(len(text)))
	copy(padded[4:], text)
	return padded
}

// sealItem makes an item's file in vault epoch 1.
func sealItem(vk []byte, vault, item id, plaintext []byte) []byte {
	ik := randomBytes(32)
	wrap := sealWrap(subkey(vk, "warder/item-wrap/v1"), ik, enc("warder/wrap-item/v1").add(vault[:], item[:]).u64(1).bytes)
	clear := itemKind.file(nil, vault[:], item[:], be64(1), wrap)
	return append(clear, sealBox(ik, plaintext, enc("warder/item/v1").add(vault[:], item[:]).u64(1).add(clear).bytes)...)
}

// sealManifest makes a root or shard in vault epoch 1.
func (k fileKind) sealManifest(vk []byte, sign ed25519.PrivateKey, at place, seq uint64, text []byte) []byte {
	ad := enc("warder/manifest/v1").add(at.account[:], at.vault[:], at.device[:]).u64(seq).u16(at.part).bytes
	part := binary.BigEndian.AppendUint16(nil, at.part)
	file := k.file(sealBox(subkey(vk, "warder/manifest/v1"), text, ad),
		at.account[:], at.vault[:], at.device[:], be64(1), be64(seq), part)
	return append(file, ed25519.Sign(sign, append([]byte("warder/manifest-sign/v1"), file...))...)
}
