package f1reader

import (
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"
)

// Sizes of secrets and MACs.
const (
	secretSize   = 32
	recoverySize = 20
	macSize      = 32
)

// keyset is a keyset whose form is checked and whose MAC is not.
type keyset struct {
	account id
	epoch   uint64
	created uint64
	prev    *hash
	roster  map[id]hash
	slots   []slot
	json    map[string]any
}

// slot is one way to the account root key.
type slot struct {
	kind   string
	epoch  uint64
	box    []byte
	commit []byte
	ds     bool
	kdf    kdf
	salt   []byte // of a recovery slot
}

// kdf are the parameters of Argon2id.
type kdf struct {
	memory, time, lanes uint64
	salt                []byte
}

// argon2idID is the number of the only key derivation there is.
const argon2idID = 1

// check applies the bounds of F1.2.
func (k kdf) check() error {
	if k.memory < 19456 || k.time < 2 || k.lanes < 1 || k.memory > 1048576 || k.time > 10 || k.lanes > 16 {
		return errors.New("parameters of the key derivation out of bounds")
	}
	return nil
}

// block is kdfblock.
func (k kdf) block() []byte {
	block := binary.BigEndian.AppendUint32([]byte{argon2idID}, uint32(k.memory))
	block = binary.BigEndian.AppendUint32(block, uint32(k.time))
	return append(append(block, byte(k.lanes)), k.salt...)
}

// credentials are what a person has: the password with the device secret, or
// the recovery code. The device secret is also needed for the device's keys.
type credentials struct {
	password string
	secret   []byte
	code     []byte // where set, used instead of the password
}

// parseKeyset reads a keyset. The bounds of a key derivation are checked when
// its slot is opened: they refuse a slot, not a keyset.
func parseKeyset(file []byte) (*keyset, error) {
	p, err := keysetKind.split(file)
	if err != nil {
		return nil, err
	}
	s, err := p.signed(macSize)
	if err != nil {
		return nil, err
	}
	f, err := parseForm(s.body)
	if err != nil {
		return nil, err
	}
	k := &keyset{
		account: p.head.id(),
		epoch:   p.head.u64(),
		created: member(f, "created", asCount),
		prev:    member(f, "prev", pointer(asHash)),
		roster:  member(f, "roster", asMap(asID, asHash)),
		slots:   member(f, "slots", asList(asObject(readSlot))),
		json:    f.members,
	}
	return k, f.err
}

// pointer makes of a reader one that tells absence from zero.
func pointer[T any](read func(any) (T, error)) func(any) (*T, error) {
	return func(v any) (*T, error) {
		t, err := read(v)
		return &t, err
	}
}

// readSlot reads a slot. Of a kind that it does not know it reads the kind alone.
func readSlot(f *form) slot {
	s := slot{kind: member(f, "kind", as[string])}
	if s.kind != "password" && s.kind != "recovery" {
		return s
	}
	f.must("box", "commit", "epoch")
	s.epoch = member(f, "epoch", asCount)
	s.box = member(f, "box", asSized(wrapSize))
	s.commit = member(f, "commit", asSized(macSize))
	if s.kind == "recovery" {
		f.must("salt")
		s.salt = member(f, "salt", asSized(32))
		return s
	}
	f.must("kdf")
	s.ds = member(f, "ds", as[bool])
	s.kdf = member(f, "kdf", asObject(func(f *form) kdf {
		f.must("id", "salt")
		f.only("id", "lanes", "memory", "salt", "time")
		if n := member(f, "id", asCount); n != argon2idID {
			f.fail("id", fmt.Errorf("unknown key derivation %d", n))
		}
		return kdf{
			memory: member(f, "memory", asCount),
			time:   member(f, "time", asCount),
			lanes:  member(f, "lanes", asCount),
			salt:   member(f, "salt", asSized(32)),
		}
	}))
	return s
}

// keysetAuthentic reports whether a keyset's MAC was made under ark.
func keysetAuthentic(file, ark []byte) bool {
	p, err := keysetKind.split(file)
	return err == nil && p.authentic("warder/keyset/v1", subkey(ark, "warder/keyset-mac/v1"))
}

// authentic checks the MAC at a file's end.
func (p parts) authentic(label string, key []byte) bool {
	s, err := p.signed(macSize)
	return err == nil && subtle.ConstantTimeCompare(s.seal, mac(key, []byte(label), s.covered)) == 1
}

// unlock opens the slot that the credentials are for: the first of its kind.
func (k *keyset) unlock(c credentials) ([]byte, error) {
	err := errOpen
	tried := map[string]bool{}
	for _, s := range k.slots {
		if tried[s.kind] {
			continue
		}
		tried[s.kind] = true
		key, ad, keyErr := s.keyFor(k.account, c)
		if keyErr != nil {
			err = keyErr
		}
		if key == nil {
			continue
		}
		commit := mac(key, enc("warder/commit/v1").add(ad, s.box).bytes)
		if subtle.ConstantTimeCompare(commit, s.commit) != 1 {
			continue
		}
		if ark, err := openWrap(key, s.box, ad); err == nil {
			return ark, nil
		}
	}
	return nil, err
}

// keyFor derives the key that the credentials give for a slot, and the wrap's
// associated data. The key is nil where they are for another kind of slot.
func (s slot) keyFor(account id, c credentials) (key, ad []byte, err error) {
	switch {
	case s.kind == "recovery" && c.code != nil:
		key = derive(s.salt, c.code, enc("warder/recover/v1").add(account[:]).u64(s.epoch).bytes)
		return key, enc("warder/wrap-ark-rec/v1").add(account[:]).u64(s.epoch).add(s.salt).bytes, nil
	case s.kind == "password" && c.code == nil:
		return s.passwordKey(account, c)
	}
	return nil, nil, nil
}

// passwordKey is keyFor for a password.
func (s slot) passwordKey(account id, c credentials) (key, ad []byte, err error) {
	if err := s.kdf.check(); err != nil {
		return nil, nil, err
	}
	if !utf8.ValidString(c.password) {
		return nil, nil, errors.New("the password is not UTF-8")
	}
	secret, flags := make([]byte, secretSize), byte(0)
	if s.ds {
		if c.secret == nil {
			return nil, nil, errors.New("the device secret is needed")
		}
		secret, flags = c.secret, 1
	}
	muk := argon2.IDKey(norm.NFKD.Bytes([]byte(c.password)), s.kdf.salt,
		uint32(s.kdf.time), uint32(s.kdf.memory), uint8(s.kdf.lanes), 32)
	block := s.kdf.block()
	key = derive(secret, muk, enc("warder/unlock/v1").add(account[:]).u64(s.epoch).add(block).bytes)
	return key, enc("warder/wrap-ark/v1").add(account[:]).u64(s.epoch).add(block, []byte{flags}).bytes, nil
}
