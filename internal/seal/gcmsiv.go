package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"fmt"

	"warder/internal/secret"
)

// AES-256-GCM-SIV, RFC 8452, for the few bytes of a wrapped key. The standard
// library lacks it, and the library that has it opens the program's own file
// before main in each process that links it, which every command would pay for.
// The tests compare this with that library, with the vectors of the RFC and with
// Wycheproof's.
//
// Nothing here branches on, or indexes by, a secret. Products in POLYVAL's field
// take the long way for that, 128 steps a block: wrapped keys have a dozen
// blocks.

const (
	sivNonce = 12
	sivTag   = 16
	sivBlock = aes.BlockSize
)

// sivSeal encrypts plain and returns ciphertext and tag. The key has keySize
// bytes, the nonce sivNonce.
func sivSeal(key, nonce, plain, aad []byte) ([]byte, error) {
	s, err := newSIV(key, nonce)
	if err != nil {
		return nil, err
	}
	defer s.wipe()
	tag := s.tag(plain, aad)
	out := make([]byte, len(plain), len(plain)+sivTag)
	s.stream(out, plain, tag)
	return append(out, tag[:]...), nil
}

// sivOpen opens what sivSeal made, else [ErrOpen]. The caller wipes the result.
func sivOpen(key, nonce, box, aad []byte) ([]byte, error) {
	if len(box) < sivTag {
		return nil, ErrOpen
	}
	s, err := newSIV(key, nonce)
	if err != nil {
		return nil, err
	}
	defer s.wipe()
	size := len(box) - sivTag
	tag := [sivTag]byte(box[size:])
	plain := make([]byte, size)
	s.stream(plain, box[:size], tag)
	if want := s.tag(plain, aad); subtle.ConstantTimeCompare(want[:], tag[:]) != 1 {
		secret.Wipe(plain)
		return nil, ErrOpen
	}
	return plain, nil
}

// siv is the state of one message: the keys that its nonce gives (section 4).
type siv struct {
	nonce  [sivNonce]byte
	hash   element // the key of POLYVAL
	cipher cipher.Block
}

func newSIV(key, nonce []byte) (*siv, error) {
	if len(key) != keySize || len(nonce) != sivNonce {
		return nil, inputError(fmt.Sprintf("a key of %d and a nonce of %d bytes", len(key), len(nonce)))
	}
	master, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("wrapping: %w", err)
	}
	// Six half blocks: 16 bytes for the hash, 32 for the cipher.
	var derived [6 * sivBlock / 2]byte
	defer secret.Wipe(derived[:])
	var in, out [sivBlock]byte
	defer secret.Wipe(out[:])
	copy(in[4:], nonce)
	for i := range 6 {
		binary.LittleEndian.PutUint32(in[:], uint32(i))
		master.Encrypt(out[:], in[:])
		copy(derived[i*sivBlock/2:], out[:sivBlock/2])
	}
	block, err := aes.NewCipher(derived[sivBlock:])
	if err != nil {
		return nil, fmt.Errorf("wrapping: %w", err)
	}
	return &siv{[sivNonce]byte(nonce), loadElement(derived[:sivBlock]), block}, nil
}

// wipe overwrites what can be reached; the schedule of the cipher can't (L4).
func (s *siv) wipe() { s.hash = element{} }

// tag is the message's tag, from which its key stream begins.
func (s *siv) tag(plain, aad []byte) (tag [sivTag]byte) {
	var sum element
	sum = s.hash.absorb(sum, aad)
	sum = s.hash.absorb(sum, plain)
	sum = s.hash.times(sum.plus(element{uint64(len(aad)) * 8, uint64(len(plain)) * 8}))
	binary.LittleEndian.PutUint64(tag[:8], sum.lo)
	binary.LittleEndian.PutUint64(tag[8:], sum.hi)
	subtle.XORBytes(tag[:sivNonce], tag[:sivNonce], s.nonce[:])
	tag[sivTag-1] &= 0x7f
	s.cipher.Encrypt(tag[:], tag[:])
	return tag
}

// stream encrypts or decrypts in counter mode. The first 32 bits of the block
// count, with the smallest byte first and wrapping, which the standard library's
// counter mode does not.
func (s *siv) stream(dst, src []byte, tag [sivTag]byte) {
	counter := tag
	counter[sivTag-1] |= 0x80
	var pad [sivBlock]byte
	defer secret.Wipe(pad[:])
	for at := 0; at < len(src); at += sivBlock {
		s.cipher.Encrypt(pad[:], counter[:])
		subtle.XORBytes(dst[at:], src[at:], pad[:])
		binary.LittleEndian.PutUint32(counter[:], binary.LittleEndian.Uint32(counter[:])+1)
	}
}

// element is an element of POLYVAL's field, 128 bits modulo x^128 + x^127 +
// x^126 + x^121 + 1; bit i of lo is the coefficient of x^i.
type element struct{ lo, hi uint64 }

func loadElement(b []byte) element {
	return element{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
}

func (a element) plus(b element) element { return element{a.lo ^ b.lo, a.hi ^ b.hi} }

// times is the RFC's dot(a, b), the product divided by x^128: for each bit of b,
// the lowest first, a is added if it is set, and the sum is divided by x.
func (a element) times(b element) (sum element) {
	for _, word := range [2]uint64{b.lo, b.hi} {
		for range 64 {
			set := -(word & 1) // all ones or all zeros, in the place of a branch
			word >>= 1
			sum.lo ^= a.lo & set
			sum.hi ^= a.hi & set
			odd := -(sum.lo & 1)
			sum.lo = sum.lo>>1 | sum.hi<<63
			sum.hi = sum.hi>>1 ^ odd&(0xe1<<56) // what the modulus leaves of x^128 + x^127 + x^126 + x^121 + 1
		}
	}
	return sum
}

// absorb goes on with POLYVAL over data, padded with zeros to whole blocks.
func (a element) absorb(sum element, data []byte) element {
	for len(data) > 0 {
		var block [sivBlock]byte
		data = data[copy(block[:], data):]
		sum = a.times(sum.plus(loadElement(block[:])))
	}
	return sum
}
