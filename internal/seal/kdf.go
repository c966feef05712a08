package seal

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"warder/internal/secret"
)

// KDF is how a password is made expensive to guess: Argon2id's cost and the
// salt. It is written in clear into the keyset, so it is data an attacker may
// have changed.
type KDF struct {
	Memory uint32 // KiB
	Time   uint32 // passes over the memory
	Lanes  uint8
	Salt   [32]byte
}

// The floor keeps a changed keyset from making guesses cheap, the ceiling from
// making one unlock take the machine's memory or minutes. The floor is OWASP's
// least Argon2id setting; both are here and not in a file on purpose.
const (
	floorMemory, ceilingMemory = 19 * 1024, 1024 * 1024
	floorTime, ceilingTime     = 2, 10
	floorLanes, ceilingLanes   = 1, 16
)

// StandardKDF returns the cost of a new password slot, 128 MiB, 3 passes, 4
// lanes, with a fresh salt: about 0.4 s on a small machine (S2-08).
func StandardKDF() KDF {
	return KDF{Memory: 128 * 1024, Time: 3, Lanes: 4, Salt: newSalt()}
}

// FloorKDF returns the least cost that opens at all, 19 MiB, 2 passes, 1 lane,
// with a fresh salt: for machines that can't spare more, and for tests.
func FloorKDF() KDF {
	return KDF{Memory: floorMemory, Time: floorTime, Lanes: floorLanes, Salt: newSalt()}
}

func newSalt() (salt [32]byte) {
	rand.Read(salt[:])
	return salt
}

// Check returns an error if a parameter is below the floor or above the
// ceiling.
func (k KDF) Check() error {
	switch {
	case k.Memory < floorMemory || k.Memory > ceilingMemory:
		return inputError(fmt.Sprintf("memory of %d KiB is not within %d and %d", k.Memory, floorMemory, ceilingMemory))
	case k.Time < floorTime || k.Time > ceilingTime:
		return inputError(fmt.Sprintf("%d passes are not within %d and %d", k.Time, floorTime, ceilingTime))
	case k.Lanes < floorLanes || k.Lanes > ceilingLanes:
		return inputError(fmt.Sprintf("%d lanes are not within %d and %d", k.Lanes, floorLanes, ceilingLanes))
	}
	return nil
}

// kdfArgon2id13 is F1's number for Argon2id version 1.3.
const kdfArgon2id13 = 1

// block is the KDF as one field: number, memory, time, lanes, salt; 42 bytes.
func (k KDF) block() []byte {
	b := []byte{kdfArgon2id13}
	b = binary.BigEndian.AppendUint32(b, k.Memory)
	b = binary.BigEndian.AppendUint32(b, k.Time)
	b = append(b, k.Lanes)
	return append(b, k.Salt[:]...)
}

// maxGrowth is how many times longer NFKD makes a UTF-8 text at most (Unicode
// Annex 15, table of maximum expansion factors: U+FDFA).
const maxGrowth = 11

// useNormal lends f the password in NFKD, so that the same password typed on
// two keyboards, composed on one and decomposed on the other, is the same.
// Nothing is trimmed: a blank at either end is part of the password.
func useNormal(password secret.Value, f func(nfkd []byte) error) error {
	return use(password, func(b []byte) error {
		switch {
		case len(b) == 0:
			return inputError("the password is empty")
		case len(b) > maxField:
			return inputError(fmt.Sprintf("password of %d bytes, at most %d", len(b), maxField))
		case !utf8.Valid(b):
			// NFKD of broken text is not defined: two readers could differ.
			return inputError("the password is not valid UTF-8")
		}
		// Room for the longest result: growing would leave copies behind.
		buf := make([]byte, 0, len(b)*maxGrowth)
		defer secret.Wipe(buf[:cap(buf)])
		return f(norm.NFKD.Append(buf, b...))
	})
}
