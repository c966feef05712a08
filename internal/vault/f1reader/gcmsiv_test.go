package f1reader

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"slices"
)

// Sizes of AES-256-GCM-SIV.
const (
	sivNonce = 12
	sivTag   = 16
)

// element is an element of POLYVAL's field: the coefficient of x^i is bit i,
// counted from the lowest bit of lo.
type element struct{ lo, hi uint64 }

// loadElement reads 16 bytes, least significant first (RFC 8452, section 3).
func loadElement(block []byte) element {
	return element{binary.LittleEndian.Uint64(block), binary.LittleEndian.Uint64(block[8:])}
}

// plus adds two elements.
func (a element) plus(b element) element {
	return element{a.lo ^ b.lo, a.hi ^ b.hi}
}

// overX divides an element by x in the field of x^128 + x^127 + x^126 + x^121 + 1:
// an odd polynomial is made even by adding the modulus, then shifted.
func (a element) overX() element {
	shifted := element{a.lo>>1 | a.hi<<63, a.hi >> 1}
	if a.lo&1 == 1 {
		shifted.hi ^= 0xe1 << 56 // x^127 + x^126 + x^125 + x^120
	}
	return shifted
}

// dot is RFC 8452's dot(a, b), the product a·b·x^-128: each coefficient of b,
// from the lowest up, adds a, and the sum is divided by x after each.
func (a element) dot(b element) element {
	var sum element
	for i := range 128 {
		word := b.lo
		if i >= 64 {
			word = b.hi
		}
		if word>>(i%64)&1 == 1 {
			sum = sum.plus(a)
		}
		sum = sum.overX()
	}
	return sum
}

// polyval is POLYVAL over the blocks of input, whose length is a multiple of 16.
func polyval(key, input []byte) [16]byte {
	h := loadElement(key)
	var sum element
	for block := range slices.Chunk(input, 16) {
		sum = sum.plus(loadElement(block)).dot(h)
	}
	var out [16]byte
	binary.LittleEndian.PutUint64(out[:], sum.lo)
	binary.LittleEndian.PutUint64(out[8:], sum.hi)
	return out
}

// sivKeys derives the record's authentication key and the block cipher of its
// encryption key (RFC 8452, section 4). The key has 32 bytes.
func sivKeys(key, nonce []byte) (auth []byte, record cipher.Block) {
	master := newAES(key)
	var derived []byte
	for i := range uint32(6) {
		var block [16]byte
		binary.LittleEndian.PutUint32(block[:], i)
		copy(block[4:], nonce)
		master.Encrypt(block[:], block[:])
		derived = append(derived, block[:8]...)
	}
	return derived[:16], newAES(derived[16:])
}

// newAES is AES for a key whose length the caller knows to be right.
func newAES(key []byte) cipher.Block {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err)
	}
	return block
}

// padBlock appends zero bytes up to a multiple of 16.
func padBlock(data []byte) []byte {
	return append(slices.Clone(data), make([]byte, -len(data)&15)...)
}

// sivTagOf computes the tag of a plaintext.
func sivTagOf(auth []byte, record cipher.Block, nonce, plaintext, ad []byte) []byte {
	input := append(padBlock(ad), padBlock(plaintext)...)
	input = binary.LittleEndian.AppendUint64(input, uint64(len(ad))*8)
	input = binary.LittleEndian.AppendUint64(input, uint64(len(plaintext))*8)
	sum := polyval(auth, input)
	subtle.XORBytes(sum[:], sum[:sivNonce], nonce)
	sum[15] &= 0x7f
	record.Encrypt(sum[:], sum[:])
	return sum[:]
}

// sivStream encrypts or decrypts in counter mode: the counter begins as the
// tag with its last bit set, and its first 32 bits count, wrapping.
func sivStream(record cipher.Block, tag, in []byte) []byte {
	counter := slices.Clone(tag)
	counter[15] |= 0x80
	out := make([]byte, 0, len(in))
	for chunk := range slices.Chunk(in, 16) {
		var pad [16]byte
		record.Encrypt(pad[:], counter)
		binary.LittleEndian.PutUint32(counter, binary.LittleEndian.Uint32(counter)+1)
		subtle.XORBytes(pad[:], pad[:len(chunk)], chunk)
		out = append(out, pad[:len(chunk)]...)
	}
	return out
}

// sivSeal returns ciphertext ‖ tag.
func sivSeal(key, nonce, plaintext, ad []byte) []byte {
	auth, record := sivKeys(key, nonce)
	tag := sivTagOf(auth, record, nonce, plaintext, ad)
	return append(sivStream(record, tag, plaintext), tag...)
}

// sivOpen opens ciphertext ‖ tag.
func sivOpen(key, nonce, sealed, ad []byte) ([]byte, error) {
	if len(sealed) < sivTag {
		return nil, errOpen
	}
	tag := sealed[len(sealed)-sivTag:]
	auth, record := sivKeys(key, nonce)
	plaintext := sivStream(record, tag, sealed[:len(sealed)-sivTag])
	if subtle.ConstantTimeCompare(tag, sivTagOf(auth, record, nonce, plaintext, ad)) != 1 {
		return nil, errOpen
	}
	return plaintext, nil
}
