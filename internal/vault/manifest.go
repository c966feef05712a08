package vault

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"warder/internal/seal"
)

// rootPart is the part number of a root; shards have 0 to 255.
const rootPart = 0x100

// shardOf is the shard of an item: the first byte of its id.
func shardOf(item seal.ID) uint8 { return item[0] }

// mark names one root: its seq and the hash of its file. In an audit mark and a keyset mark, the numbers of those.
type mark struct {
	seq  uint64
	hash seal.Hash
}

// root is a device's signed statement of a vault's content (F1.6).
type root struct {
	seq    uint64
	prev   seal.Hash
	keyset mark // seq is the epoch
	vk     uint64
	seen   map[seal.ID]uint64
	vaults map[seal.ID]uint64
	shards map[uint8]seal.Hash
	audit  mark
	time   time.Time
	extra  []rawMember
}

// entry says what the current revision of an item is. A tombstone has dead and no rev.
type entry struct {
	rev   seal.Hash
	dead  time.Time
	vec   vector
	extra []rawMember

	absent bool // of a head: its file was not there when it was looked for
}

func (r *root) put(e *encoder) {
	audit := member{}
	if r.audit != (mark{}) {
		audit = member{"audit", func(e *encoder) { e.mark("head", "seq", r.audit) }}
	}
	e.object(r.extra,
		audit,
		member{"keyset", func(e *encoder) { e.mark("hash", "epoch", r.keyset) }},
		hashMember("prev", r.prev),
		seqsMember("seen", r.seen),
		numMember("seq", int64(r.seq)), // #nosec G115 -- seqs stay far below 2^53
		shardsMember(r.shards),
		timeMember("time", r.time),
		seqsMember("vaults", r.vaults),
		numMember("vk", int64(r.vk)), // #nosec G115 -- as above
	)
}

// shardsMember is a mapMember made for the largest part of a root, of which each write makes one: up to 256 shards, named by their number,
// whose order is that of their names.
func shardsMember(shards map[uint8]seal.Hash) member {
	if len(shards) == 0 {
		return member{}
	}
	numbers := slices.Sorted(maps.Keys(shards))
	return member{"shards", func(e *encoder) {
		before := "{"
		for _, n := range numbers {
			e.text(before)
			e.hex([]byte{n})
			e.text(":")
			putHash(e, shards[n])
			before = ","
		}
		e.text("}")
	}}
}

func (e *encoder) mark(hashKey, numKey string, m mark) {
	e.object(nil, hashMember(hashKey, m.hash), numMember(numKey, int64(m.seq))) // #nosec G115 -- far below 2^53
}

func readMark(d *decoder, hashKey, numKey string) (m mark) {
	d.object(func(key string) {
		switch key {
		case hashKey:
			m.hash = readHash(d)
		case numKey:
			m.seq = d.count()
		default:
			d.skip()
		}
	})
	return m
}

func seqsMember(key string, seqs map[seal.ID]uint64) member {
	m := make(map[string]uint64, len(seqs))
	for id, n := range seqs {
		m[id.String()] = n
	}
	return mapMember(key, m, func(e *encoder, n uint64) { e.num(int64(n)) }) // #nosec G115 -- far below 2^53
}

func readSeqs(d *decoder) map[seal.ID]uint64 {
	m := map[seal.ID]uint64{}
	d.object(func(key string) { m[parseIDIn(d, key)] = d.count() })
	return m
}

func shardName(n uint8) string { return fmt.Sprintf("%02x", n) }

func parseShardName(s string) (uint8, bool) {
	n, err := strconv.ParseUint(s, 16, 8)
	return uint8(n), err == nil && shardName(uint8(n)) == s // #nosec G115 -- parsed as 8 bits
}

func decodeRoot(plain []byte) (*root, error) {
	r := &root{shards: map[uint8]seal.Hash{}}
	err := decode(plain, func(d *decoder) { d.object(func(key string) { readRootMember(d, r, key) }) })
	if err == nil && (r.seq == 0 || r.keyset.seq == 0 || r.vk == 0) {
		err = errNotCanonical
	}
	return r, err
}

func readRootMember(d *decoder, r *root, key string) {
	switch key {
	case "audit":
		r.audit = readMark(d, "head", "seq")
	case "keyset":
		r.keyset = readMark(d, "hash", "epoch")
	case "prev":
		r.prev = readHash(d)
	case "seen":
		r.seen = readSeqs(d)
	case "seq":
		r.seq = d.count()
	case "shards":
		d.object(func(name string) {
			n, ok := parseShardName(name)
			if !ok {
				d.fail()
			}
			r.shards[n] = readHash(d)
		})
	case "time":
		r.time = readTime(d)
	case "vaults":
		r.vaults = readSeqs(d)
	case "vk":
		r.vk = d.count()
	default:
		d.unknown(&r.extra, key)
	}
}

func putShard(entries map[seal.ID]entry, extra []rawMember) func(*encoder) {
	return func(e *encoder) {
		byID := make(map[string]entry, len(entries))
		for id, x := range entries {
			byID[id.String()] = x
		}
		e.object(extra, mapMember("entries", byID, func(e *encoder, x entry) {
			e.object(x.extra, timeMember("dead", x.dead), hashMember("rev", x.rev), x.vec.member())
		}))
	}
}

func decodeShard(n uint8, plain []byte) (entries map[seal.ID]entry, extra []rawMember, err error) {
	entries = map[seal.ID]entry{}
	err = decode(plain, func(d *decoder) {
		d.object(func(key string) {
			if key != "entries" {
				d.unknown(&extra, key)
				return
			}
			d.object(func(name string) {
				id, x := parseIDIn(d, name), readEntry(d)
				if shardOf(id) != n {
					d.fail()
				}
				entries[id] = x
			})
		})
	})
	return entries, extra, err
}

func readEntry(d *decoder) (x entry) {
	d.object(func(key string) {
		switch key {
		case "dead":
			x.dead = readTime(d)
		case "rev":
			x.rev = readHash(d)
		case "vector":
			x.vec = readVector(d)
		default:
			d.unknown(&x.extra, key)
		}
	})
	if len(x.vec) == 0 || x.dead.IsZero() == (x.rev == seal.Hash{}) {
		d.fail()
	}
	return x
}

// The header of roots and shards: place and key epoch.
const manifestHeaderLen = 16 + 16 + 16 + 8 + 8 + 2

const signatureLen = 64

// sealPart makes the file of a root or shard, signed by this device.
func sealPart(vk seal.VaultKey, epoch uint64, keys seal.DeviceKeys, p seal.ManifestPlace, plain []byte) ([]byte, error) {
	header := make([]byte, 0, manifestHeaderLen)
	for _, id := range [3]seal.ID{p.Account, p.Vault, p.Device} {
		header = append(header, id[:]...)
	}
	header = binary.BigEndian.AppendUint64(header, epoch)
	header = binary.BigEndian.AppendUint64(header, p.Seq)
	header = binary.BigEndian.AppendUint16(header, p.Part)
	m := magicShard
	if p.Part == rootPart {
		m = magicRoot
	}
	box, err := seal.SealManifest(vk, p, plain)
	if err != nil {
		return nil, err
	}
	file := append(frame(m, header), box...)
	sig, err := keys.SignManifest(file)
	if err != nil {
		return nil, err
	}
	return append(file, sig[:]...), nil
}

// openPart checks signature and place of a root or shard and opens it. The want's Seq is ignored and filled in from the file: what it
// may be is the caller's to judge.
func openPart(keys map[uint64]seal.VaultKey, signer [32]byte, want seal.ManifestPlace, file []byte) ([]byte, uint64, error) {
	m := magicShard
	if want.Part == rootPart {
		m = magicRoot
	}
	f, err := unframe(m, "manifest of device "+want.Device.String(), manifestHeaderLen, file)
	if err != nil {
		return nil, 0, err
	}
	if len(f.body) < signatureLen {
		return nil, 0, seal.ErrOpen
	}
	signed := len(file) - signatureLen
	if err := seal.VerifyManifest(signer, file[:signed], file[signed:]); err != nil {
		return nil, 0, err
	}
	h := fieldsOf(f.header, 16, 16, 16, 8, 8, 2)
	got := seal.ManifestPlace{
		Account: seal.ID(h[0]), Vault: seal.ID(h[1]), Device: seal.ID(h[2]), Seq: u64(h[4]), Part: binary.BigEndian.Uint16(h[5]),
	}
	want.Seq = got.Seq
	vk, ok := keys[u64(h[3])]
	if got != want || !ok {
		return nil, 0, seal.ErrOpen
	}
	plain, err := seal.OpenManifest(vk, got, f.body[:len(f.body)-signatureLen])
	return plain, got.Seq, err
}
