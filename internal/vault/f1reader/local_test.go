package f1reader

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hpke"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// local is the state directory's content.
type local struct {
	device   id
	sign     ed25519.PrivateKey
	kem      hpke.PrivateKey
	seen     seen
	failures uint64 // wrong passwords
}

// seen is what the device remembers of the account.
type seen struct {
	keyset mark
	vaults map[id]map[id]mark
	since  map[string]uint64
	next   *pending
	gone   *pending
	json   map[string]any
}

// pending names files of a vault that a write brings or puts out of use.
type pending struct {
	vault       id
	root        mark
	files, gone []string
}

// readSecret reads device/secret.
func readSecret(d disk) ([]byte, error) {
	text, err := d.read("device/secret", keysKind.limit)
	if err != nil {
		return nil, err
	}
	return parseCode(strings.TrimSuffix(string(text), "\n"), secretSize)
}

// readLocal opens the state directory of a device of the account.
func readLocal(d disk, ark []byte, account id) (*local, error) {
	secret, err := readSecret(d)
	if err != nil {
		return nil, err
	}
	l := &local{}
	if err := l.readKeys(d, ark, secret, account); err != nil {
		return nil, fmt.Errorf("reading device keys: %w", err)
	}
	if err := l.readSeen(d, ark, account); err != nil {
		return nil, fmt.Errorf("reading seen state: %w", err)
	}
	if err := l.readAttempts(d); err != nil {
		return nil, fmt.Errorf("reading attempts: %w", err)
	}
	return l, nil
}

// readKeys reads device/keys, which says which device this is.
func (l *local) readKeys(d disk, ark, secret []byte, account id) error {
	file, err := d.read("device/keys", keysKind.limit)
	if err != nil {
		return err
	}
	device, err := l.openKeys(file, ark, secret, account)
	l.device = device
	return err
}

// openKeys opens device keys.
func (l *local) openKeys(file, ark, secret []byte, account id) (id, error) {
	p, err := keysKind.split(file)
	if err != nil {
		return id{}, err
	}
	of, device := p.head.id(), p.head.id()
	if of != account {
		return id{}, errOpen
	}
	info := enc("warder/device-keys/v1").add(account[:], device[:]).bytes
	keys, err := openBox(derive(secret, ark, info), p.body, info)
	if err != nil {
		return id{}, err
	}
	if len(keys) != 64 {
		return id{}, errors.New("device keys of another length")
	}
	l.sign = ed25519.NewKeyFromSeed(keys[:32])
	l.kem, err = hpke.MLKEM768X25519().NewPrivateKey(keys[32:])
	return device, err
}

// fits checks that the keys are those of a card.
func (l *local) fits(c *card) error {
	if !l.sign.Public().(ed25519.PublicKey).Equal(c.sign) || !bytes.Equal(l.kem.PublicKey().Bytes(), c.kem) {
		return errors.New("the device's keys are not those of its card")
	}
	return nil
}

// readSeen reads device/seen.
func (l *local) readSeen(d disk, ark []byte, account id) error {
	file, err := d.read("device/seen", seenKind.limit)
	if err != nil {
		return err
	}
	l.seen, err = openSeen(file, ark, account, l.device)
	return err
}

// openSeen opens seen state.
func openSeen(file, ark []byte, account, device id) (seen, error) {
	p, err := seenKind.split(file)
	if err != nil {
		return seen{}, err
	}
	if p.head.id() != account || p.head.id() != device {
		return seen{}, errOpen
	}
	ad := enc("warder/seen/v1").add(account[:], device[:]).bytes
	text, err := openBox(subkey(ark, "warder/seen/v1"), p.body, ad)
	if err != nil {
		return seen{}, err
	}
	f, err := parseForm(text)
	if err != nil {
		return seen{}, err
	}
	s := seen{
		keyset: member(f, "keyset", asMark("epoch", "hash")),
		vaults: member(f, "vaults", asMap(asID, asMap(asID, asMark("seq", "hash")))),
		since:  member(f, "since", asMap(as[string], asCount)),
		next:   member(f, "next", pointer(asObject(readPending))),
		gone:   member(f, "gone", pointer(asObject(readPending))),
		json:   f.members,
	}
	return s, f.err
}

// readPending reads seen state's next and gone.
func readPending(f *form) pending {
	names := asList(as[string])
	return pending{
		vault: member(f, "vault", asID),
		root:  mark{member(f, "seq", asCount), member(f, "hash", asHash)},
		files: member(f, "files", names),
		gone:  member(f, "gone", names),
	}
}

// readAttempts reads device/attempts, which is there after a wrong password.
func (l *local) readAttempts(d disk) error {
	text, err := d.read("device/attempts", keysKind.limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	f, err := parseForm(text)
	if err != nil {
		return err
	}
	l.failures = member(f, "failures", asCount)
	member(f, "last", asCount)
	return f.err
}
