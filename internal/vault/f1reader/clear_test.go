package f1reader

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// fileKind is one row of F1.3's table of files.
type fileKind struct {
	name   string
	magic  string
	header int // bytes
	limit  int // bytes of the whole file
}

// The kinds of files.
const (
	kib = 1 << 10
	mib = 1 << 20

	sealedHeader   = 16 + 16 + 8 + wrapSize
	manifestHeader = 16 + 16 + 16 + 8 + 8 + 2
)

var (
	formatKind = fileKind{"format", "WARDERFM", 16, 64 * kib}
	keysetKind = fileKind{"keyset", "WARDERKS", 16 + 8, 64 * kib}
	cardKind   = fileKind{"device card", "WARDERDC", 16 + 16, 64 * kib}
	headerKind = fileKind{"vault header", "WARDERVH", sealedHeader, 64 * kib}
	itemKind   = fileKind{"item", "WARDERIT", sealedHeader, 3 * mib / 2}
	rootKind   = fileKind{"root", "WARDERMR", manifestHeader, 16 * mib}
	shardKind  = fileKind{"shard", "WARDERMS", manifestHeader, 16 * mib}
	keysKind   = fileKind{"device keys", "WARDERDK", 16 + 16, 16 * mib}
	seenKind   = fileKind{"seen state", "WARDERSN", 16 + 16, 16 * mib}
)

// versionError refuses a version by name.
type versionError struct {
	name    string
	version uint16
}

// Error implements error.
func (e versionError) Error() string {
	return fmt.Sprintf("this %s has format %d, this reader reads up to 1", e.name, e.version)
}

// parts are the parts of a file.
type parts struct {
	clear []byte // magic, version, header length and header
	body  []byte
	head  header
}

// split takes a file apart.
func (k fileKind) split(file []byte) (parts, error) {
	const fixed = 8 + 2 + 2
	switch {
	case len(file) > k.limit:
		return parts{}, fmt.Errorf("%s over %d bytes", k.name, k.limit)
	case len(file) < fixed || string(file[:8]) != k.magic:
		return parts{}, fmt.Errorf("not a %s", k.name)
	}
	if version := binary.BigEndian.Uint16(file[8:]); version != 1 {
		return parts{}, versionError{k.name, version}
	}
	if n := int(binary.BigEndian.Uint16(file[10:])); n != k.header || len(file) < fixed+n {
		return parts{}, fmt.Errorf("%s with a header of another length", k.name)
	}
	clear := file[:fixed+k.header]
	return parts{clear, file[fixed+k.header:], header{clear[fixed:]}}, nil
}

// signed is a body that ends with a MAC or a signature.
type signed struct {
	seal    []byte // the MAC or signature
	body    []byte // what comes before it in the body
	covered []byte // all that comes before it in the file
}

// signed splits off a MAC or signature of n bytes.
func (p parts) signed(n int) (signed, error) {
	at := len(p.body) - n
	if at < 0 {
		return signed{}, errOpen
	}
	return signed{p.body[at:], p.body[:at], slices.Concat(p.clear, p.body[:at])}, nil
}

// header reads the fields of a header, whose length split has checked.
type header struct{ rest []byte }

// take returns the next n bytes.
func (h *header) take(n int) []byte {
	field := h.rest[:n]
	h.rest = h.rest[n:]
	return field
}

// id returns the next id.
func (h *header) id() id { return id(h.take(16)) }

// u64 returns the next eight bytes.
func (h *header) u64() uint64 { return binary.BigEndian.Uint64(h.take(8)) }

// u16 returns the next two bytes.
func (h *header) u16() uint16 { return binary.BigEndian.Uint16(h.take(2)) }
