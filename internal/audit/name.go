package audit

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"

	"warder/internal/seal"
)

const (
	// sealedPrefix begins a sealed name. No item's own name begins with ".".
	sealedPrefix = ".sealed:"

	// sealedSize is what every name is padded to, in bytes: two of length, and
	// more than the longest name and its vault's.
	sealedSize = 512
)

// SealName returns what a record's Item holds for an item that agents must not
// see: who reads the log learns neither its name nor how long that is, nor
// whether two records are of one item. Names are at most 510 bytes.
func SealName(root seal.RootKey, account seal.ID, name string) (string, error) {
	if len(name) > sealedSize-2 {
		return "", fmt.Errorf("sealing a name: it has %d bytes, at most %d", len(name), sealedSize-2)
	}
	plain := make([]byte, sealedSize)
	binary.BigEndian.PutUint16(plain, uint16(len(name)))
	copy(plain[2:], name)
	box, err := seal.SealAuditName(root, account, plain)
	if err != nil {
		return "", err
	}
	return sealedPrefix + base64.StdEncoding.EncodeToString(box), nil
}

// OpenName returns the name that SealName sealed, or item itself if it is a name
// in the clear. What does not open is seal.ErrOpen.
func OpenName(root seal.RootKey, account seal.ID, item string) (string, error) {
	text, sealed := strings.CutPrefix(item, sealedPrefix)
	if !sealed {
		return item, nil
	}
	box, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return "", seal.ErrOpen
	}
	plain, err := seal.OpenAuditName(root, account, box)
	if err != nil {
		return "", err
	}
	if len(plain) != sealedSize {
		return "", seal.ErrOpen
	}
	n := int(binary.BigEndian.Uint16(plain))
	if n > sealedSize-2 {
		return "", seal.ErrOpen
	}
	return string(plain[2 : 2+n]), nil
}
