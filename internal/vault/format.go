package vault

import (
	"encoding/binary"
	"errors"
	"fmt"

	"warder/internal/seal"
)

// formatVersion is the F1 version this package writes, and the highest it reads.
const formatVersion = 1

// magic names the kind of a file in its first eight bytes (F1.3).
type magic string

const (
	magicFormat     magic = "WARDERFM"
	magicKeyset     magic = "WARDERKS"
	magicCard       magic = "WARDERDC"
	magicHeader     magic = "WARDERVH"
	magicItem       magic = "WARDERIT"
	magicRoot       magic = "WARDERMR"
	magicShard      magic = "WARDERMS"
	magicDeviceKeys magic = "WARDERDK"
	magicSeen       magic = "WARDERSN"
)

// Size limits of F1.3, in bytes. A file over its limit is refused before it is read.
const (
	limitSmall    = 64 << 10 // format, keyset, card, vault header, device secret, attempts
	limitItem     = 1536 << 10
	limitManifest = 16 << 20
	limitLocal    = 16 << 20
)

// checkSize refuses to write a file of n bytes if no reader would read it.
func checkSize(what string, n, limit int) error {
	if n > limit {
		return &SizeError{What: what, Have: n, Max: limit}
	}
	return nil
}

// boxOverhead is what a box is longer than what is in it: nonce and tag.
const boxOverhead = 24 + 16

// framePrefix is magic, version and header length.
const framePrefix = 8 + 2 + 2

// FormatError says that an object was written by a newer warder. Nothing is read from it and nothing is changed.
type FormatError struct {
	Object    string // what it is, for a person: "account format", "keyset 2", …
	Have, Max int    // the version found and the highest this build reads
}

// Error names the object and both versions.
func (e *FormatError) Error() string {
	return fmt.Sprintf("%s has version %d, this warder reads up to %d", e.Object, e.Have, e.Max)
}

// isNewer reports whether err says that something was written by a newer warder.
func isNewer(err error) bool {
	var newer *FormatError
	return errors.As(err, &newer)
}

// frame builds the clear part of a file.
func frame(m magic, header []byte) []byte {
	b := make([]byte, 0, framePrefix+len(header))
	b = append(b, m...)
	b = binary.BigEndian.AppendUint16(b, formatVersion)
	b = binary.BigEndian.AppendUint16(b, uint16(len(header))) // #nosec G115 -- headers are built here and at most 132 bytes
	return append(b, header...)
}

// framed is a file taken apart.
type framed struct{ clear, header, body []byte }

// unframe takes a file apart. A wrong magic, length or header size is seal.ErrOpen: the caller can't act on the difference, and
// an attacker should not learn which check failed. A newer version is told by name, because the user can act on that.
func unframe(m magic, object string, headerLen int, file []byte) (framed, error) {
	if len(file) < framePrefix || string(file[:8]) != string(m) {
		return framed{}, seal.ErrOpen
	}
	if v := int(binary.BigEndian.Uint16(file[8:])); v != formatVersion {
		return framed{}, &FormatError{Object: object, Have: v, Max: formatVersion}
	}
	n := int(binary.BigEndian.Uint16(file[10:]))
	if n != headerLen || len(file) < framePrefix+n {
		return framed{}, seal.ErrOpen
	}
	at := framePrefix + n
	return framed{clear: file[:at], header: file[framePrefix:at], body: file[at:]}, nil
}

// fieldsOf cuts a header into its fixed-size fields. The sizes add up to len(header) by construction of the callers.
func fieldsOf(header []byte, sizes ...int) [][]byte {
	out := make([][]byte, len(sizes))
	for i, n := range sizes {
		out[i], header = header[:n], header[n:]
	}
	return out
}

func u64(b []byte) uint64 { return binary.BigEndian.Uint64(b) }
