package seal

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/hpke"
	"crypto/rand"
	"crypto/sha256"
	"fmt"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/chacha20poly1305"

	"warder/internal/secret"
)

// The functions of this file are the only ones that name an algorithm. Each is
// checked against published vectors; those above them are checked against
// warder's own.

const keySize = 32

// WrappedKeySize is the length of a wrapped key: nonce 12, ciphertext 32, tag 16.
const WrappedKeySize = sivNonce + keySize + sivTag

// derive makes size bytes of key from a secret (HKDF-SHA256, RFC 5869). The
// caller wipes the result.
func derive(ikm, salt, info []byte, size int) ([]byte, error) {
	prk, err := hkdf.Extract(sha256.New, ikm, salt)
	if err != nil {
		return nil, fmt.Errorf("deriving a key: %w", err)
	}
	defer secret.Wipe(prk)
	out, err := hkdf.Expand(sha256.New, prk, string(info), size)
	if err != nil {
		return nil, fmt.Errorf("deriving a key: %w", err)
	}
	return out, nil
}

// stretch makes a password expensive to guess (Argon2id, RFC 9106). The caller
// has checked the cost, memory being in KiB, and wipes the result.
func stretch(password, salt []byte, memory, time uint32, lanes uint8) []byte {
	return argon2.IDKey(password, salt, time, memory, lanes, keySize)
}

// authenticate is HMAC-SHA256 over the parts in a row.
func authenticate(key []byte, parts ...[]byte) [sha256.Size]byte {
	mac := hmac.New(sha256.New, key)
	for _, p := range parts {
		mac.Write(p)
	}
	return [sha256.Size]byte(mac.Sum(nil))
}

// wrap encrypts a key under another (AES-256-GCM-SIV, RFC 8452): a nonce drawn
// twice then shows only that two keys are equal, which random keys are not. The
// box is nonce, ciphertext, tag; the nonce is drawn inside from crypto/rand.
func wrap(kek, plain, aad []byte) ([]byte, error) {
	nonce := make([]byte, sivNonce, WrappedKeySize)
	rand.Read(nonce)
	box, err := sivSeal(kek, nonce, plain, aad)
	if err != nil {
		return nil, fmt.Errorf("wrapping a key: %w", err)
	}
	return append(nonce, box...), nil
}

// unwrap opens what wrap made. The caller wipes the result.
func unwrap(kek, box, aad []byte) ([]byte, error) {
	if len(box) < sivNonce {
		return nil, ErrOpen
	}
	return sivOpen(kek, box[:sivNonce], box[sivNonce:], aad)
}

const (
	contentNonce    = chacha20poly1305.NonceSizeX
	contentOverhead = contentNonce + chacha20poly1305.Overhead
)

// sealContent encrypts content (XChaCha20-Poly1305), up to what locked memory
// takes in one piece when it is opened: 16 MiB, the longest manifest part. The
// box is nonce, ciphertext, tag; 24 random bytes make a repeated nonce out of
// reach.
func sealContent(key, plain, aad []byte) ([]byte, error) {
	if len(plain) > secret.MaxSize {
		return nil, inputError(fmt.Sprintf("content of %d bytes, at most %d", len(plain), secret.MaxSize))
	}
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return nil, fmt.Errorf("sealing: %w", err)
	}
	box := make([]byte, contentNonce, len(plain)+contentOverhead)
	rand.Read(box)
	return aead.Seal(box, box, plain, aad), nil
}

// contentSize returns how long the plaintext of a box is.
func contentSize(box []byte) (int, error) {
	size := len(box) - contentOverhead
	if size < 0 || size > secret.MaxSize {
		return 0, ErrOpen
	}
	return size, nil
}

// openContent decrypts a box straight into dst, whose length is that of the
// plaintext, so that no second copy of the plaintext comes to be.
func openContent(dst, key, box, aad []byte) error {
	size, err := contentSize(box)
	if err != nil || size != len(dst) {
		return ErrOpen
	}
	aead, err := chacha20poly1305.NewX(key)
	if err != nil {
		return fmt.Errorf("opening: %w", err)
	}
	if _, err := aead.Open(dst[:0:size], box[:contentNonce], box[contentNonce:], aad); err != nil {
		return ErrOpen
	}
	return nil
}

// signPublic returns the public half of a signing key (Ed25519, RFC 8032).
func signPublic(seed []byte) [ed25519.PublicKeySize]byte {
	private := ed25519.NewKeyFromSeed(seed)
	defer secret.Wipe(private)
	return [ed25519.PublicKeySize]byte(private[ed25519.SeedSize:])
}

// sign signs a message. The expanded key is made anew each time: signing is rare
// and the key then lies on the heap for no longer than it must.
func sign(seed, message []byte) [ed25519.SignatureSize]byte {
	private := ed25519.NewKeyFromSeed(seed)
	defer secret.Wipe(private)
	return [ed25519.SignatureSize]byte(ed25519.Sign(private, message))
}

// verify reports whether a signature is right; a signature of another length is
// not.
func verify(public [ed25519.PublicKeySize]byte, message, sig []byte) bool {
	return ed25519.Verify(public[:], message, sig)
}

// kemPublic returns the public half of a key for hand-overs (HPKE's hybrid of
// ML-KEM-768 and X25519, which holds while either of the two does).
func kemPublic(private []byte) (public [1216]byte, err error) {
	k, err := hpke.MLKEM768X25519().NewPrivateKey(private)
	if err != nil {
		return public, fmt.Errorf("making a key for hand-overs: %w", err)
	}
	copy(public[:], k.PublicKey().Bytes())
	return public, nil
}
