package f1reader

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"strconv"
)

// rootPart is the part number of a root; shards have their own.
const rootPart = 0x100

// place is where a root or shard was found, and so what its header has to say.
type place struct {
	account, vault, device id
	part                   uint16
}

// manifestFile is what roots and shards have in common.
type manifestFile struct {
	epoch, seq uint64
	json       *form
}

// openManifest checks and opens a root or shard that was found at a place. keys
// are the vault's keys by epoch, sign is the device's.
func (k fileKind) openManifest(file []byte, at place, keys map[uint64][]byte, sign ed25519.PublicKey) (*manifestFile, error) {
	p, err := k.split(file)
	if err != nil {
		return nil, err
	}
	s, err := p.signed(ed25519.SignatureSize)
	if err != nil {
		return nil, err
	}
	if !ed25519.Verify(sign, append([]byte("warder/manifest-sign/v1"), s.covered...), s.seal) {
		return nil, errOpen
	}
	found := place{account: p.head.id(), vault: p.head.id(), device: p.head.id()}
	m := &manifestFile{epoch: p.head.u64(), seq: p.head.u64()}
	if found.part = p.head.u16(); found != at {
		return nil, fmt.Errorf("%s that belongs elsewhere", k.name)
	}
	vk, known := keys[m.epoch]
	if !known {
		return nil, fmt.Errorf("%s under unknown vault epoch %d", k.name, m.epoch)
	}
	ad := enc("warder/manifest/v1").add(at.account[:], at.vault[:], at.device[:]).u64(m.seq).u16(at.part).bytes
	text, err := openBox(subkey(vk, "warder/manifest/v1"), s.body, ad)
	if err != nil {
		return nil, err
	}
	m.json, err = parseForm(text)
	return m, err
}

// mark names one version of a keyset, root or audit log.
type mark struct {
	n    uint64
	hash hash
}

// name is the name of a keyset's file.
func (m mark) name() string {
	return fmt.Sprintf("keysets/%016x-%s", m.n, m.hash.String()[:8])
}

// asMark reads a mark whose number and hash have the given names.
func asMark(number, sum string) func(any) (mark, error) {
	return asObject(func(f *form) mark {
		f.must(number, sum)
		return mark{member(f, number, asCount), member(f, sum, asHash)}
	})
}

// root is what one device says of one vault.
type root struct {
	hash   hash
	seq    uint64
	prev   *hash
	keyset mark
	vk     uint64
	seen   map[id]uint64
	vaults map[id]uint64
	shards map[byte]hash
	time   uint64
	json   map[string]any
}

// readRoot reads a root.
func readRoot(file []byte, at place, keys map[uint64][]byte, sign ed25519.PublicKey) (*root, error) {
	at.part = rootPart
	m, err := rootKind.openManifest(file, at, keys, sign)
	if err != nil {
		return nil, err
	}
	f := m.json
	f.must("seq", "keyset", "vk", "time")
	r := &root{
		hash:   hashOf(file),
		seq:    member(f, "seq", asCount),
		prev:   member(f, "prev", pointer(asHash)),
		keyset: member(f, "keyset", asMark("epoch", "hash")),
		vk:     member(f, "vk", asCount),
		seen:   member(f, "seen", asMap(asID, asCount)),
		vaults: member(f, "vaults", asMap(asID, asCount)),
		shards: member(f, "shards", asMap(asShard, asHash)),
		time:   member(f, "time", asCount),
		json:   f.members,
	}
	member(f, "audit", asMark("seq", "head"))
	switch {
	case f.err != nil:
		return nil, f.err
	case r.seq != m.seq, r.seq == 0:
		return nil, errors.New("root with another number than its header")
	case (r.prev == nil) != (r.seq == 1):
		return nil, errors.New("root without the one before it, or the first with one")
	}
	return r, nil
}

// asShard reads a shard's number, which is a key of a map.
func asShard(v any) (byte, error) {
	text, err := as[string](v)
	if err != nil || !isHex(text, 2) {
		return 0, errors.New("no shard number")
	}
	n, err := strconv.ParseUint(text, 16, 8)
	return byte(n), err
}

// entry is what a shard says of an item: its revision, or that it is dead.
type entry struct {
	rev    *hash
	dead   uint64
	vector vector
}

// shard is one part of a root: the entries of items whose ids begin with its
// number.
type shard struct {
	hash    hash
	seq     uint64
	entries map[id]entry
	json    map[string]any
}

// readShard reads the shard that a root lists under a number with a hash.
func readShard(file []byte, at place, keys map[uint64][]byte, sign ed25519.PublicKey) (*shard, error) {
	m, err := shardKind.openManifest(file, at, keys, sign)
	if err != nil {
		return nil, err
	}
	s := &shard{hashOf(file), m.seq, member(m.json, "entries", asMap(asID, asObject(readEntry))), m.json.members}
	for item := range s.entries {
		if uint16(item[0]) != at.part {
			return nil, fmt.Errorf("item %s belongs to another shard", item)
		}
	}
	return s, m.json.err
}

// readEntry reads an entry.
func readEntry(f *form) entry {
	f.must("vector")
	if f.has("dead") == f.has("rev") {
		f.fail("rev", errors.New("neither a revision nor dead, or both"))
	}
	return entry{member(f, "rev", pointer(asHash)), member(f, "dead", asCount), member(f, "vector", asVector)}
}
