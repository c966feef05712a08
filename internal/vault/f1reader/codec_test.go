package f1reader

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"
)

// errOpen is the one answer to every failed check of F1.3.
var errOpen = errors.New("cannot open: wrong key or changed data")

// id names an account, vault, item or device.
type id [16]byte

// String is the id as it stands in names and JSON.
func (i id) String() string { return hex.EncodeToString(i[:]) }

// hash is SHA-256 of a whole file.
type hash [sha256.Size]byte

// String is the hash as it stands in JSON.
func (h hash) String() string { return hex.EncodeToString(h[:]) }

// hashOf hashes a whole file.
func hashOf(file []byte) hash { return sha256.Sum256(file) }

// parseHex decodes exactly n bytes of lower-case hex.
func parseHex(text string, n int) ([]byte, error) {
	decoded, err := hex.DecodeString(text)
	if err != nil || len(decoded) != n || text != strings.ToLower(text) {
		return nil, fmt.Errorf("%q is not %d bytes of lower-case hex", text, n)
	}
	return decoded, nil
}

// parseID decodes an id in a name or in JSON.
func parseID(text string) (id, error) {
	decoded, err := parseHex(text, len(id{}))
	if err != nil {
		return id{}, err
	}
	return id(decoded), nil
}

// parseHash decodes a hash in JSON.
func parseHash(text string) (hash, error) {
	decoded, err := parseHex(text, len(hash{}))
	if err != nil {
		return hash{}, err
	}
	return hash(decoded), nil
}

// fields collects the fields of an ENC.
type fields struct{ bytes []byte }

// enc begins ENC(label, …).
func enc(label string) *fields { return &fields{[]byte(label)} }

// add appends fields of bytes. A field over 65535 bytes cannot be encoded; no
// caller has one, for what it adds was read within smaller bounds.
func (f *fields) add(parts ...[]byte) *fields {
	for _, part := range parts {
		if len(part) > math.MaxUint16 {
			panic("field of ENC too long")
		}
		f.bytes = binary.BigEndian.AppendUint16(f.bytes, uint16(len(part)))
		f.bytes = append(f.bytes, part...)
	}
	return f
}

// u64 appends a field of eight bytes.
func (f *fields) u64(n uint64) *fields { return f.add(binary.BigEndian.AppendUint64(nil, n)) }

// u16 appends a field of two bytes.
func (f *fields) u16(n uint16) *fields { return f.add(binary.BigEndian.AppendUint16(nil, n)) }

// derive is HKDF-SHA256 with 32 bytes of output.
func derive(salt, ikm, info []byte) []byte {
	key, err := hkdf.Key(sha256.New, ikm, salt, string(info), 32)
	if err != nil {
		panic(err) // only for output that is too long
	}
	return key
}

// subkey is the key that F1.2 derives from ARK or VK for one use.
func subkey(key []byte, label string) []byte { return derive(nil, key, []byte(label)) }

// mac is HMAC-SHA256.
func mac(key []byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, part := range parts {
		h.Write(part)
	}
	return h.Sum(nil)
}

// wrapSize is the size of a wrapped key.
const wrapSize = sivNonce + 32 + sivTag

// openWrap opens a wrapped key.
func openWrap(key, wrap, ad []byte) ([]byte, error) {
	if len(wrap) != wrapSize {
		return nil, errOpen
	}
	return sivOpen(key, wrap[:sivNonce], wrap[sivNonce:], ad)
}

// openBox opens a box.
func openBox(key, box, ad []byte) ([]byte, error) {
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		panic(err) // only for a key of another length
	}
	if len(box) < aead.NonceSize()+aead.Overhead() {
		return nil, errOpen
	}
	plaintext, err := aead.Open(nil, box[:aead.NonceSize()], box[aead.NonceSize():], ad)
	if err != nil {
		return nil, errOpen
	}
	return plaintext, nil
}

// crockford is the alphabet of the codes that people type.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// base32 writes the first n symbols of data, most significant bit first, the
// last one padded with zero bits.
func base32(data []byte, n int) string {
	symbols := make([]byte, n)
	for i := range symbols {
		value := 0
		for bit := i * 5; bit < i*5+5; bit++ {
			value <<= 1
			if bit/8 < len(data) {
				value |= int(data[bit/8]>>(7-bit%8)) & 1
			}
		}
		symbols[i] = crockford[value]
	}
	return string(symbols)
}

// codeOf is the code for raw bytes without its dashes: base32 and two check
// symbols.
func codeOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return base32(raw, (len(raw)*8+4)/5) + base32(sum[:], 2)
}

// plainCode removes from a typed code what readers ignore.
func plainCode(text string) string {
	return strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(text))
}

// parseCode decodes a typed code of n bytes. What decodes is written again, so
// that padding bits and check symbols are compared too.
func parseCode(text string, n int) ([]byte, error) {
	plain := plainCode(text)
	raw := make([]byte, n)
	for i, symbol := range []byte(plain) {
		value := strings.IndexByte(crockford, symbol)
		if value < 0 {
			return nil, errors.New("a code with a symbol outside its alphabet")
		}
		for bit := range 5 {
			if at := i*5 + bit; at/8 < n {
				raw[at/8] |= byte(value>>(4-bit)&1) << (7 - at%8)
			}
		}
	}
	if codeOf(raw) != plain {
		return nil, errors.New("a code of another length or with a wrong check symbol")
	}
	return raw, nil
}
