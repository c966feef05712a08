package vault

import (
	"bytes"
	"encoding/binary"
	"iter"
	"maps"
	"slices"

	"warder/internal/seal"
)

// digest hashes ENC(label, fields…) of F1.1.
type digest struct{ buf []byte }

func newDigest(label string) *digest { return &digest{[]byte(label)} }

// add appends one field of at most 65535 bytes.
func (d *digest) add(field []byte) {
	d.buf = binary.BigEndian.AppendUint16(d.buf, uint16(len(field))) // #nosec G115 -- callers add ids and hashes
	d.buf = append(d.buf, field...)
}

func (d *digest) sum() seal.Hash { return seal.HashOf(d.buf) }

func sortedIDs(ids iter.Seq[seal.ID]) []seal.ID { return slices.SortedFunc(ids, compareIDs) }

// StateCode is a 60-bit digest of the account's content and roster: equal on two devices that see the same state, which people
// compare by eye where a device has no memory to trust (F1.9). Empty once the account is locked.
func (a *Account) StateCode() string {
	a.c.mu.RLock()
	defer a.c.mu.RUnlock()
	if a.c.locked {
		return ""
	}
	return stateCode(a.c.keyset.roster, a.c.vaults)
}

func rosterHash(roster map[seal.ID]seal.Hash) seal.Hash {
	d := newDigest("warder/roster/v1")
	for _, id := range sortedIDs(maps.Keys(roster)) {
		card := roster[id]
		d.add(id[:])
		d.add(card[:])
	}
	return d.sum()
}

// stateCode digests the roster and each item's heads.
func stateCode(roster map[seal.ID]seal.Hash, vaults map[seal.ID]*shelf) string {
	d := newDigest("warder/state-code/v1")
	devices := rosterHash(roster)
	d.add(devices[:])
	for _, id := range sortedIDs(maps.Keys(vaults)) {
		v := vaults[id]
		d.add(id[:])
		for _, item := range sortedIDs(maps.Keys(v.heads)) {
			d.add(item[:])
			revs := make([]seal.Hash, len(v.heads[item]))
			for i, h := range v.heads[item] {
				revs[i] = h.rev
			}
			slices.SortFunc(revs, func(a, b seal.Hash) int { return bytes.Compare(a[:], b[:]) })
			for _, rev := range revs {
				d.add(rev[:])
			}
		}
	}
	sum := d.sum()
	code := make([]byte, 0, 14)
	n := 0
	eachFive(sum[:8], func(five byte) {
		if n == 4 || n == 8 {
			code = append(code, '-')
		}
		if n < 12 { // 60 bits
			code = append(code, crockford[five])
		}
		n++
	})
	return string(code)
}
