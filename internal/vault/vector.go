package vault

import (
	"bytes"
	"slices"

	"warder/internal/seal"
)

// tick is how many revisions of one item a device had written.
type tick struct {
	device seal.ID
	n      uint64
}

// vector is a version vector: ticks in ascending order of device. It tells whether one revision of an item has seen another.
type vector []tick

// order is how two vectors relate.
type order int

const (
	equal order = iota
	before
	after
	concurrent
)

func compareIDs(a, b seal.ID) int { return bytes.Compare(a[:], b[:]) }

// compare says how v relates to o: v is before o when o has seen all of v and more.
func (v vector) compare(o vector) order {
	less, more := false, false
	for _, t := range v {
		less, more = less || t.n < o.get(t.device), more || t.n > o.get(t.device)
	}
	for _, t := range o {
		less = less || t.n > v.get(t.device)
	}
	switch {
	case less && more:
		return concurrent
	case less:
		return before
	case more:
		return after
	}
	return equal
}

func (v vector) get(device seal.ID) uint64 {
	for _, t := range v {
		if t.device == device {
			return t.n
		}
	}
	return 0
}

// join is the smallest vector that has seen both.
func (v vector) join(o vector) vector {
	out := slices.Clone(v)
	for _, t := range o {
		if t.n > out.get(t.device) {
			out = out.set(t.device, t.n)
		}
	}
	return out
}

// next is v after one more revision by device.
func (v vector) next(device seal.ID) vector { return slices.Clone(v).set(device, v.get(device)+1) }

func (v vector) set(device seal.ID, n uint64) vector {
	i, found := slices.BinarySearchFunc(v, device, func(t tick, d seal.ID) int { return compareIDs(t.device, d) })
	if found {
		v[i].n = n
		return v
	}
	return slices.Insert(v, i, tick{device, n})
}

func (v vector) member() member {
	if len(v) == 0 {
		return member{}
	}
	return member{"vector", func(e *encoder) {
		all := make([]member, len(v))
		for i, t := range v {
			all[i] = member{t.device.String(), func(e *encoder) { e.num(int64(t.n)) }} // #nosec G115 -- counts stay far below 2^53
		}
		e.object(nil, all...)
	}}
}

func readVector(d *decoder) vector {
	var v vector
	d.object(func(key string) { v = append(v, tick{parseIDIn(d, key), d.count()}) })
	return v
}

// parseIDIn reads an id that stands in a key or a string.
func parseIDIn(d *decoder, s string) seal.ID {
	id, err := seal.ParseID(s)
	d.failWith(err)
	return id
}

func readID(d *decoder) seal.ID { return parseIDIn(d, d.str()) }

func readHash(d *decoder) seal.Hash {
	h, err := seal.ParseHash(d.str())
	d.failWith(err)
	return h
}

func readHashes(d *decoder) []seal.Hash {
	var out []seal.Hash
	d.list(func() { out = append(out, readHash(d)) })
	return out
}

func putHash(e *encoder, h seal.Hash) { e.hex(h[:]) }

func hashMember(key string, h seal.Hash) member {
	if h == (seal.Hash{}) {
		return member{}
	}
	return member{key, func(e *encoder) { putHash(e, h) }}
}

func idMember(key string, id seal.ID) member {
	if id.IsZero() {
		return member{}
	}
	return textMember(key, id.String())
}
