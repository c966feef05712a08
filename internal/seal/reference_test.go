package seal_test

import (
	"bytes"
	"crypto/aes"
	"encoding/binary"
	"errors"
	"testing"

	"warder/internal/seal"
)

// A second AES-256-GCM-SIV, written from RFC 8452 for clearness, not for speed
// and not in constant time. It checks the one that is linked with nonces of our
// choice, and its field arithmetic builds boxes that open under two keys.

// element is a member of POLYVAL's field; bit i of lo and hi is the coefficient
// of x^i and x^(64+i).
type element struct{ lo, hi uint64 }

func load(block []byte) element {
	return element{binary.LittleEndian.Uint64(block), binary.LittleEndian.Uint64(block[8:])}
}

func (a element) bytes() []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, a.lo), a.hi)
}

func (a element) plus(b element) element { return element{a.lo ^ b.lo, a.hi ^ b.hi} }

// times multiplies modulo x^128 + x^127 + x^126 + x^121 + 1.
func (a element) times(b element) element {
	var r element
	for i := 127; i >= 0; i-- {
		carry := r.hi >> 63
		r = element{r.lo << 1, r.hi<<1 | r.lo>>63}
		if carry == 1 {
			r = r.plus(element{1, 0xc2 << 56})
		}
		if (i < 64 && a.lo>>i&1 == 1) || (i >= 64 && a.hi>>(i-64)&1 == 1) {
			r = r.plus(b)
		}
	}
	return r
}

// inverse is a^(2^128 - 2).
func (a element) inverse() element {
	r := element{lo: 1}
	for range 127 {
		a = a.times(a)
		r = r.times(a)
	}
	return r
}

// record holds the two keys that GCM-SIV derives from a key and a nonce. auth
// already carries the factor x^-128 of POLYVAL's dot product.
type record struct {
	auth element
	enc  []byte
}

func deriveRecord(key, nonce []byte) record {
	block := must(aes.NewCipher(key))
	var out []byte
	for i := range uint32(6) {
		b := make([]byte, 16)
		block.Encrypt(b, append(binary.LittleEndian.AppendUint32(nil, i), nonce...))
		out = append(out, b[:8]...)
	}
	inverseX128 := element{1, 1<<(127-64) | 1<<(124-64) | 1<<(121-64) | 1<<(114-64)}
	return record{load(out[:16]).times(inverseX128), out[16:]}
}

func padded(b []byte) []byte { return append(bytes.Clone(b), make([]byte, -len(b)&15)...) }

// polyval hashes the associated data, the plaintext and their lengths.
func (r record) polyval(plain, aad []byte) element {
	lengths := binary.LittleEndian.AppendUint64(nil, uint64(len(aad))*8)
	lengths = binary.LittleEndian.AppendUint64(lengths, uint64(len(plain))*8)
	var s element
	for in := join(padded(aad), padded(plain), lengths); len(in) > 0; in = in[16:] {
		s = s.plus(load(in)).times(r.auth)
	}
	return s
}

func (r record) tag(nonce, plain, aad []byte) []byte {
	s := r.polyval(plain, aad).bytes()
	for i, b := range nonce {
		s[i] ^= b
	}
	s[15] &= 0x7f
	must(aes.NewCipher(r.enc)).Encrypt(s, s)
	return s
}

// stream is the key stream that belongs to a tag.
func (r record) stream(tag []byte, size int) []byte {
	block := must(aes.NewCipher(r.enc))
	counter := bytes.Clone(tag)
	counter[15] |= 0x80
	var out []byte
	for len(out) < size {
		b := make([]byte, 16)
		block.Encrypt(b, counter)
		out = append(out, b...)
		binary.LittleEndian.PutUint32(counter, binary.LittleEndian.Uint32(counter)+1)
	}
	return out[:size]
}

func xor(a, b []byte) []byte {
	out := bytes.Clone(a)
	for i := range out {
		out[i] ^= b[i]
	}
	return out
}

// referenceWrap returns nonce, ciphertext, tag.
func referenceWrap(key, nonce, plain, aad []byte) []byte {
	r := deriveRecord(key, nonce)
	tag := r.tag(nonce, plain, aad)
	return join(nonce, xor(plain, r.stream(tag, len(plain))), tag)
}

// boxForTwo builds a box that opens under both keys, by the attack of Len,
// Grubbs and Ristenpart ("Partitioning Oracle Attacks", 2021): the tag is
// chosen first, and the two ciphertext blocks are the unknowns of two linear
// equations, one per key.
func boxForTwo(key1, key2, nonce, aad []byte) ([]byte, error) {
	r1, r2 := deriveRecord(key1, nonce), deriveRecord(key2, nonce)
	for i := range byte(100) {
		tag := bytes.Repeat([]byte{i}, 16)
		want1, ok1 := r1.wanted(tag, nonce, aad)
		want2, ok2 := r2.wanted(tag, nonce, aad)
		if !ok1 || !ok2 {
			continue
		}
		a1, a2 := r1.auth.times(r1.auth), r2.auth.times(r2.auth) // squares
		b1, b2 := a1.times(r1.auth), a2.times(r2.auth)           // cubes
		det := b1.times(a2).plus(b2.times(a1)).inverse()
		c1 := want1.times(a2).plus(want2.times(a1)).times(det)
		c2 := want1.times(b2).plus(want2.times(b1)).times(det)
		return join(nonce, c1.bytes(), c2.bytes(), tag), nil
	}
	return nil, errors.New("no tag fits both keys")
}

// wanted is what cube*c1 + square*c2 must be for the tag to be right; half of
// all tags can't be right, as the highest bit of what is encrypted is 0.
func (r record) wanted(tag, nonce, aad []byte) (element, bool) {
	s := make([]byte, 16)
	must(aes.NewCipher(r.enc)).Decrypt(s, tag)
	if s[15]&0x80 != 0 {
		return element{}, false
	}
	for i, b := range nonce {
		s[i] ^= b
	}
	// The key stream in the place of the plaintext: the sum is linear.
	return load(s).plus(r.polyval(r.stream(tag, 32), aad)), true
}

func TestC36_CommitmentRefusesABoxForTwoKeys(t *testing.T) {
	key1, key2, nonce, aad := count(1, 32), count(101, 32), count(50, 12), []byte("where the box belongs")
	box, err := boxForTwo(key1, key2, nonce, aad)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range [][]byte{key1, key2} {
		if _, err := seal.Unwrap(key, box, aad); err != nil {
			t.Fatal("the box does not open under both keys, so the test shows nothing")
		}
	}
	w := seal.WrappedRoot{Box: [seal.WrappedKeySize]byte(box)}
	w.Commit = must(seal.Commit(key1, w.Box, aad))
	root, err := seal.OpenRoot(key1, w, aad)
	opened(t, "the box under the key it is committed to", err)
	root.Destroy()
	_, err = seal.OpenRoot(key2, w, aad)
	refused(t, "the box under the other key", err)
}
