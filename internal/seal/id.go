package seal

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// ID names an account, a vault, an item or a device: 16 random bytes, written
// as 32 lower-case hex digits. It is not secret.
type ID [16]byte

// NewID returns a fresh random ID.
func NewID() ID {
	var id ID
	rand.Read(id[:])
	return id
}

// ParseID reads what String writes and nothing else: upper-case digits are
// refused, so that one ID has one file name on every file system.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != hex.EncodedLen(len(id)) {
		return ID{}, errors.New("reading an id: want 32 lower-case hex digits")
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil || id.String() != s {
		return ID{}, errors.New("reading an id: want 32 lower-case hex digits")
	}
	return id, nil
}

// String returns the ID as 32 lower-case hex digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero reports whether the ID was never set.
func (id ID) IsZero() bool { return id == ID{} }

// Hash is the SHA-256 of a file or another public content.
type Hash [sha256.Size]byte

// HashOf returns the hash of data.
func HashOf(data []byte) Hash { return sha256.Sum256(data) }

// String returns the hash as 64 lower-case hex digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// ParseHash reads what Hash.String writes and nothing else.
func ParseHash(s string) (Hash, error) {
	var h Hash
	if len(s) != hex.EncodedLen(len(h)) {
		return Hash{}, errors.New("reading a hash: want 64 lower-case hex digits")
	}
	if _, err := hex.Decode(h[:], []byte(s)); err != nil || h.String() != s {
		return Hash{}, errors.New("reading a hash: want 64 lower-case hex digits")
	}
	return h, nil
}
