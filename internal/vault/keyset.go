package vault

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"warder/internal/seal"
	"warder/internal/secret"
)

// slotKind says what opens a slot.
type slotKind string

const (
	passwordSlot slotKind = "password"
	recoverySlot slotKind = "recovery"
)

// slot holds the root key wrapped for one way of opening the account.
type slot struct {
	kind    slotKind
	epoch   uint64   // of the keyset in which it was made: later keysets carry it over as it is
	kdf     seal.KDF // passwordSlot
	ds      bool     // passwordSlot: the device secret is needed too
	salt    [32]byte // recoverySlot
	wrapped seal.WrappedRoot
	extra   []rawMember
	raw     []byte // of a kind that this version does not know: the whole slot, which is written back as it was
}

// keyset is one epoch of the account's slots and roster.
type keyset struct {
	epoch   uint64
	created time.Time
	prev    seal.Hash
	roster  map[seal.ID]seal.Hash // device → hash of its card
	slots   []slot
	extra   []rawMember

	hash       seal.Hash // of the file
	file       []byte    // as read or written
	unreadable bool      // the JSON is not what this version knows
}

func (k *keyset) mark() mark { return mark{k.epoch, k.hash} }

func (k *keyset) slot(kind slotKind) *slot {
	for i := range k.slots {
		if k.slots[i].kind == kind {
			return &k.slots[i]
		}
	}
	return nil
}

// setSlot replaces the slot of the same kind or adds one. A second one of the kind never opened anything, and goes: another reader
// might not be so strict about what an old password opens.
func (k *keyset) setSlot(s slot) {
	at := slices.IndexFunc(k.slots, func(old slot) bool { return old.kind == s.kind })
	if at < 0 {
		k.slots = append(k.slots, s)
		return
	}
	k.slots[at] = s
	rest := slices.DeleteFunc(k.slots[at+1:], func(old slot) bool { return old.kind == s.kind })
	k.slots = k.slots[:at+1+len(rest)]
}

// successor is the keyset that follows k, with k's slots and roster.
func (k *keyset) successor(now time.Time) *keyset {
	roster := make(map[seal.ID]seal.Hash, len(k.roster)+1)
	for id, h := range k.roster {
		roster[id] = h
	}
	return &keyset{epoch: k.epoch + 1, created: now, prev: k.hash, roster: roster, slots: slices.Clone(k.slots), extra: k.extra}
}

// passwordSlot wraps the root key for a password in the given epoch.
func (r *ring) passwordSlot(epoch uint64, password secret.Value) (slot, error) {
	kdf := r.cfg.kdf()
	place := seal.PasswordSlot{Account: r.account, Epoch: epoch, KDF: kdf, DeviceSecret: true}
	w, err := seal.WrapRootForPassword(r.root, password, r.ds, place)
	return slot{kind: passwordSlot, epoch: epoch, kdf: kdf, ds: true, wrapped: w}, err
}

// recoverySlot wraps the root key for a recovery code in the given epoch.
func (r *ring) recoverySlot(epoch uint64, code secret.Value) (slot, error) {
	s := seal.NewRecoverySlot(r.account, epoch)
	w, err := seal.WrapRootForRecovery(r.root, code, s)
	return slot{kind: recoverySlot, epoch: epoch, salt: s.Salt, wrapped: w}, err
}

// open opens the slot with a password (and ds) or a recovery code.
func (s *slot) open(account seal.ID, key, ds secret.Value) (seal.RootKey, error) {
	if s.kind == recoverySlot {
		return seal.OpenRootWithRecovery(s.wrapped, key, seal.RecoverySlot{Account: account, Epoch: s.epoch, Salt: s.salt})
	}
	return seal.OpenRootWithPassword(s.wrapped, key, ds, seal.PasswordSlot{Account: account, Epoch: s.epoch, KDF: s.kdf, DeviceSecret: s.ds})
}

const (
	keysetHeaderLen = 16 + 8
	macLen          = 32
)

// encode makes the file and fills in file and hash. One that no reader would read is refused: it would lock everybody out.
func (k *keyset) encode(account seal.ID, root seal.RootKey) error {
	header := binary.BigEndian.AppendUint64(slices.Clone(account[:]), k.epoch)
	text, err := encode(k.put)
	if err != nil {
		return err
	}
	file := append(frame(magicKeyset, header), text...)
	mac, err := seal.MACKeyset(root, file)
	if err != nil {
		return err
	}
	file = append(file, mac[:]...)
	if err := checkSize("the keyset, with its "+strconv.Itoa(len(k.roster))+" devices,", len(file), limitSmall); err != nil {
		return err
	}
	k.file, k.hash = file, seal.HashOf(file)
	return nil
}

func (k *keyset) put(e *encoder) {
	roster := make(map[string]seal.Hash, len(k.roster))
	for id, h := range k.roster {
		roster[id.String()] = h
	}
	e.object(k.extra,
		timeMember("created", k.created),
		hashMember("prev", k.prev),
		mapMember("roster", roster, putHash),
		listMember("slots", k.slots, putSlot),
	)
}

func putSlot(e *encoder, s slot) {
	if s.raw != nil {
		e.raw(s.raw)
		return
	}
	kdf, salt := member{}, member{}
	if s.kind == passwordSlot {
		kdf = member{"kdf", func(e *encoder) {
			e.object(nil, numMember("id", argon2ID), numMember("lanes", int64(s.kdf.Lanes)), numMember("memory", int64(s.kdf.Memory)),
				bytesMember("salt", s.kdf.Salt[:]), numMember("time", int64(s.kdf.Time)))
		}}
	} else {
		salt = bytesMember("salt", s.salt[:])
	}
	e.object(s.extra,
		bytesMember("box", s.wrapped.Box[:]),
		bytesMember("commit", s.wrapped.Commit[:]),
		flagMember("ds", s.ds),
		numMember("epoch", int64(s.epoch)), // #nosec G115 -- far below 2^53
		kdf,
		textMember("kind", string(s.kind)),
		salt,
	)
}

// bytesMember writes bytes that are no secret.
func bytesMember(key string, b []byte) member {
	return textMember(key, base64.StdEncoding.EncodeToString(b))
}

// parseKeyset reads a keyset without any proof: only a slot that opens and a MAC that fits make it one.
func parseKeyset(account seal.ID, file []byte) (*keyset, error) {
	f, err := unframe(magicKeyset, "keyset", keysetHeaderLen, file)
	if err != nil {
		return nil, err
	}
	if seal.ID(f.header[:16]) != account || len(f.body) < macLen {
		return nil, seal.ErrOpen
	}
	k := &keyset{epoch: u64(f.header[16:]), roster: map[seal.ID]seal.Hash{}, hash: seal.HashOf(file), file: file}
	if k.epoch == 0 || k.epoch > maxInt {
		return nil, seal.ErrOpen
	}
	err = decode(f.body[:len(f.body)-macLen], func(d *decoder) { d.object(func(key string) { readKeysetMember(d, k, key) }) })
	if err != nil {
		// It can't be used, but if it is authentic nothing older may be.
		k.roster, k.slots, k.unreadable = nil, nil, true
	}
	return k, nil
}

func (k *keyset) authentic(root seal.RootKey) bool {
	at := len(k.file) - macLen
	return seal.CheckKeyset(root, k.file[:at], k.file[at:]) == nil
}

func readKeysetMember(d *decoder, k *keyset, key string) {
	switch key {
	case "created":
		k.created = readTime(d)
	case "prev":
		k.prev = readHash(d)
	case "roster":
		d.object(func(dev string) { k.roster[parseIDIn(d, dev)] = readHash(d) })
	case "slots":
		d.list(func() { k.slots = append(k.slots, readSlot(d)) })
	default:
		d.unknown(&k.extra, key)
	}
}

// readSlot reads a slot in two passes, because its kind says what its members are and stands among them. Of a kind that is not known
// nothing else is read.
func readSlot(d *decoder) (s slot) {
	raw := d.raw()
	if d.err != nil {
		return s
	}
	d.failWith(decode(raw, func(d *decoder) { s.kind = readSlotKind(d) }))
	if s.kind != passwordSlot && s.kind != recoverySlot {
		s.raw = bytes.Clone(raw)
		return s
	}
	d.failWith(decode(raw, func(d *decoder) { d.object(func(key string) { readSlotMember(d, &s, key) }) }))
	return s
}

func readSlotKind(d *decoder) (kind slotKind) {
	d.object(func(key string) {
		if key == "kind" {
			kind = slotKind(d.str())
			return
		}
		d.skip()
	})
	return kind
}

func readSlotMember(d *decoder, s *slot, key string) {
	password := s.kind == passwordSlot
	switch {
	case key == "box":
		readFill(d, s.wrapped.Box[:])
	case key == "commit":
		readFill(d, s.wrapped.Commit[:])
	case key == "ds" && password:
		s.ds = d.flag()
	case key == "epoch":
		s.epoch = d.count()
	case key == "kdf" && password:
		s.kdf = readKDF(d)
	case key == "kind":
		d.skip()
	case key == "salt" && !password:
		readFill(d, s.salt[:])
	default:
		d.unknown(&s.extra, key)
	}
}

// argon2ID is the number of the only key derivation that this version knows.
const argon2ID = 1

func readKDF(d *decoder) (k seal.KDF) {
	var id int64 // absent is 0, which is none
	d.object(func(key string) {
		switch key {
		case "id":
			id = d.num()
		case "lanes":
			k.Lanes = uint8(readUpTo(d, 255)) // #nosec G115 -- bounded
		case "memory":
			k.Memory = uint32(readUpTo(d, 1<<32-1)) // #nosec G115 -- bounded
		case "salt":
			readFill(d, k.Salt[:])
		case "time":
			k.Time = uint32(readUpTo(d, 1<<32-1)) // #nosec G115 -- bounded
		default:
			d.fail() // an unknown parameter would change what is computed
		}
	})
	if id != argon2ID {
		d.fail()
	}
	return k
}

func readUpTo(d *decoder, limit uint64) uint64 {
	n := d.count()
	if n > limit {
		d.fail()
		return 0
	}
	return n
}

// readFill reads base64 of exactly len(dst) bytes.
func readFill(d *decoder, dst []byte) {
	b := d.publicBytes()
	if d.err == nil && len(b) != len(dst) {
		d.fail()
		return
	}
	copy(dst, b)
}

// keysetName is the file's name in keysets/.
func keysetName(k *keyset) string {
	return fmt.Sprintf("%016x-%s", k.epoch, k.hash.String()[:8])
}

// readKeysets returns the readable keysets, the ruling one first. Names that do not fit are someone else's files; a file whose hash
// does not fit its name was changed and is junk until its MAC is known. A newer format is told only if there is nothing else: anybody
// could put one there.
func readKeysets(shared tree, account seal.ID) (list []*keyset, err error) {
	found, err := scanKeysets(shared, account)
	return found.list, err
}

// foundKeysets is what lies in the folder of keysets.
type foundKeysets struct {
	list    []*keyset
	strays  []string         // names of what is no keyset
	refused map[string]error // those among them that are not to be read: links, open to others, too large
	newer   error            // names a file of a newer version
}

// refusal is why a file is refused; nil if it is not.
func (f *foundKeysets) refusal() error {
	for _, name := range slices.Sorted(maps.Keys(f.refused)) {
		return f.refused[name]
	}
	return nil
}

// scanKeysets is readKeysets that also tells what else is there. A file that is not to be read is junk as well, as long as there is a
// keyset besides.
func scanKeysets(shared tree, account seal.ID) (found foundKeysets, err error) {
	found.refused = map[string]error{}
	err = shared.in("keysets", func(d folder) error {
		names, err := d.List()
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := found.take(d, account, name); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && len(found.list) == 0 {
		err = found.refusal()
	}
	if err != nil {
		return foundKeysets{}, fmt.Errorf("reading keysets: %w", err)
	}
	if len(found.list) == 0 && found.newer != nil {
		return foundKeysets{}, found.newer
	}
	slices.SortFunc(found.list, func(a, b *keyset) int {
		return cmp.Or(-cmp.Compare(a.epoch, b.epoch), cmp.Compare(a.hash.String(), b.hash.String()))
	})
	return found, nil
}

// take reads one file and says what it is.
func (f *foundKeysets) take(d folder, account seal.ID, name string) error {
	if _, ok := keysetEpoch(name); !ok {
		f.strays = append(f.strays, name)
		return nil
	}
	file, err := d.Read(name, limitSmall)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // superseded since it was listed
	case isUnfit(err):
		f.strays, f.refused[name] = append(f.strays, name), err
		return nil
	case err != nil:
		return err
	}
	k, err := parseKeyset(account, file)
	switch {
	case isNewer(err):
		f.newer = err
	case err == nil && keysetName(k) == name:
		f.list = append(f.list, k)
	default:
		f.strays = append(f.strays, name)
	}
	return nil
}

// keysetEpoch reads the epoch in a name that is a keyset's.
func keysetEpoch(name string) (epoch uint64, ok bool) {
	digits, hash, _ := strings.Cut(name, "-")
	if !isHex(digits, 16) || !isHex(hash, 8) {
		return 0, false
	}
	epoch, err := strconv.ParseUint(digits, 16, 64)
	return epoch, err == nil
}

// isHex says whether s is n digits as F1 writes them: lower case.
func isHex(s string, n int) bool {
	return len(s) == n && strings.Trim(s, hexDigits) == ""
}

// maxTries bounds how many keysets one unlock stretches the password for.
const maxTries = 3

// openKeyset finds the ruling keyset that key opens. Junk with a high epoch must not lock the owner out, and an old keyset must
// not let an old password in: so an older keyset counts only if every newer file fails the MAC under the key that it gave.
func openKeyset(list []*keyset, account seal.ID, kind slotKind, key, ds secret.Value) (*keyset, seal.RootKey, error) {
	for i, k := range list {
		if i == maxTries {
			break
		}
		s := k.slot(kind)
		if s == nil {
			continue
		}
		root, err := s.open(account, key, ds)
		if err != nil {
			continue
		}
		newerIsAuthentic := slices.ContainsFunc(list[:i], func(n *keyset) bool { return n.authentic(root) })
		if k.authentic(root) && !newerIsAuthentic {
			return k, root, nil
		}
		root.Destroy()
	}
	return nil, seal.RootKey{}, ErrWrongPassword
}
