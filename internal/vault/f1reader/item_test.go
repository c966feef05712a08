package f1reader

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxItem is the largest JSON of an item, maxValue the largest field.
const (
	maxItem  = mib
	maxValue = 65535
)

// vector is a version vector.
type vector map[id]uint64

// within reports whether a knows nothing that b does not: each of its counts is
// at most b's.
func (a vector) within(b vector) bool {
	for device, n := range a {
		if n > b[device] {
			return false
		}
	}
	return true
}

// dominated reports whether b follows a: it knows all that a does, and more.
func (a vector) dominated(b vector) bool { return a.within(b) && !b.within(a) }

// revision is one revision of an item.
type revision struct {
	hash      hash
	kind      string
	name      string
	typ       string
	tags      []string
	fields    []field
	level     string
	clients   map[string]string
	hosts     []host
	commands  []command
	delivery  []string
	neverEnv  bool
	maxUses   uint64
	expires   uint64
	origin    origin
	created   uint64
	modified  uint64
	trashed   uint64
	project   *id
	links     []id
	lamport   uint64
	vector    vector
	writer    id
	parents   []hash
	history   []hash
	conflicts any // reserved
	rekey     uint64
	json      map[string]any
}

// field is one value of an item, host and command what a value may be used
// for, origin who made the revision.
type (
	field struct {
		section, name, typ, level, nonsecret, ref string
		concealed                                 bool
		score, set                                uint64
		value                                     []byte
	}
	host struct {
		host           string
		methods, paths []string
	}
	command struct{ name, path string }
	origin  struct{ by, client, tag string }
)

// vaultHeader opens a vault header and returns its epoch and the vault's key.
func vaultHeader(file, ark []byte, account, vault id) (epoch uint64, vk []byte, err error) {
	p, err := headerKind.split(file)
	if err != nil {
		return 0, nil, err
	}
	if len(p.body) > 0 || p.head.id() != account || p.head.id() != vault {
		return 0, nil, errOpen
	}
	epoch = p.head.u64()
	ad := enc("warder/wrap-vk/v1").add(account[:], vault[:]).u64(epoch).bytes
	vk, err = openWrap(subkey(ark, "warder/vault-wrap/v1"), p.head.take(wrapSize), ad)
	return epoch, vk, err
}

// readRevision opens an item's file under the vault's keys, by epoch.
func readRevision(file []byte, keys map[uint64][]byte, vault, item id) (*revision, error) {
	p, err := itemKind.split(file)
	if err != nil {
		return nil, err
	}
	if p.head.id() != vault || p.head.id() != item {
		return nil, errOpen
	}
	epoch := p.head.u64()
	vk, known := keys[epoch]
	if !known {
		return nil, fmt.Errorf("item under unknown vault epoch %d", epoch)
	}
	ad := enc("warder/wrap-item/v1").add(vault[:], item[:]).u64(epoch).bytes
	ik, err := openWrap(subkey(vk, "warder/item-wrap/v1"), p.head.take(wrapSize), ad)
	if err != nil {
		return nil, err
	}
	padded, err := openBox(ik, p.body, enc("warder/item/v1").add(vault[:], item[:]).u64(epoch).add(p.clear).bytes)
	if err != nil {
		return nil, err
	}
	text, err := unpad(padded)
	if err != nil {
		return nil, err
	}
	return parseRevision(text, hashOf(file))
}

// paddedSize is the size that a plaintext of n bytes is padded to.
func paddedSize(n int) int {
	size := 256
	for size < n {
		if size < 16384 {
			size *= 4
		} else {
			size += size / 4
		}
	}
	return size
}

// unpad returns the JSON of an item's plaintext. The padding has one form.
func unpad(padded []byte) ([]byte, error) {
	if len(padded) < 4 {
		return nil, errors.New("item without length")
	}
	n, rest := binary.BigEndian.Uint32(padded), padded[4:]
	if n > maxItem || int(n) > len(rest) || len(padded) != paddedSize(int(n)+4) {
		return nil, errors.New("item of another length or padding")
	}
	for _, b := range rest[n:] {
		if b != 0 {
			return nil, errors.New("item with padding that is not zero")
		}
	}
	return rest[:n], nil
}

// parseRevision reads an item's JSON.
func parseRevision(text []byte, h hash) (*revision, error) {
	f, err := parseForm(text)
	if err != nil {
		return nil, err
	}
	f.must("kind", "name", "lamport", "vector", "writer")
	texts := asList(as[string])
	r := &revision{
		hash:      h,
		kind:      member(f, "kind", as[string]),
		name:      member(f, "name", as[string]),
		typ:       member(f, "type", as[string]),
		tags:      member(f, "tags", texts),
		fields:    member(f, "fields", asList(asObject(readField))),
		level:     member(f, "level", asLevel),
		clients:   member(f, "clients", asMap(as[string], asLevel)),
		hosts:     member(f, "hosts", asList(asObject(readHost))),
		commands:  member(f, "commands", asList(asObject(readCommand))),
		delivery:  member(f, "delivery", texts),
		neverEnv:  member(f, "never_env", as[bool]),
		maxUses:   member(f, "max_uses", asCount),
		expires:   member(f, "expires", asCount),
		origin:    member(f, "origin", asObject(readOrigin)),
		created:   member(f, "created", asCount),
		modified:  member(f, "modified", asCount),
		trashed:   member(f, "trashed", asCount),
		project:   member(f, "project", pointer(asID)),
		links:     member(f, "links", asList(asID)),
		lamport:   member(f, "lamport", asCount),
		vector:    member(f, "vector", asVector),
		writer:    member(f, "writer", asID),
		parents:   member(f, "parents", asList(asHash)),
		history:   member(f, "history", asList(asHash)),
		conflicts: member(f, "conflicts", as[any]),
		rekey:     member(f, "rekey", asCount),
		json:      f.members,
	}
	return r, f.err
}

// asLevel reads a level. Unset has no word.
func asLevel(v any) (string, error) {
	word, err := as[string](v)
	if err == nil && !slices.Contains(strings.Fields(allowedLevels), word) {
		err = fmt.Errorf("unknown level")
	}
	return word, err
}

// asVector reads a version vector.
func asVector(v any) (vector, error) {
	counts, err := asMap(asID, asCount)(v)
	return counts, err
}

// readField reads a field.
func readField(f *form) field {
	f.must("name")
	return field{
		section:   member(f, "section", as[string]),
		name:      member(f, "name", as[string]),
		typ:       member(f, "type", as[string]),
		level:     member(f, "level", asLevel),
		nonsecret: member(f, "nonsecret", as[string]),
		ref:       member(f, "ref", as[string]),
		concealed: member(f, "concealed", as[bool]),
		score:     member(f, "score", asCount),
		set:       member(f, "set", asCount),
		value:     member(f, "value", asValue),
	}
}

// asValue reads a field's value.
func asValue(v any) ([]byte, error) {
	value, err := asBytes(v)
	if len(value) > maxValue {
		return nil, fmt.Errorf("over %d bytes", maxValue)
	}
	return value, err
}

// readHost reads a host.
func readHost(f *form) host {
	texts := asList(as[string])
	return host{member(f, "host", as[string]), member(f, "methods", texts), member(f, "paths", texts)}
}

// readCommand reads a command.
func readCommand(f *form) command {
	return command{member(f, "name", as[string]), member(f, "path", as[string])}
}

// readOrigin reads an origin.
func readOrigin(f *form) origin {
	return origin{member(f, "by", as[string]), member(f, "client", as[string]), member(f, "tag", as[string])}
}
