package f1reader

import (
	"crypto/ed25519"
	"fmt"
)

// kemSize is the size of a public MLKEM768X25519 key.
const kemSize = 1216

// card is what a device says of itself, vouched for by the account.
type card struct {
	account, device id
	hash            hash
	created         uint64
	enrolledBy      id
	kem             []byte
	sign            ed25519.PublicKey
	state           string
	json            map[string]any
}

// readCard reads a device card and checks its MAC.
func readCard(file, ark []byte) (*card, error) {
	p, err := cardKind.split(file)
	if err != nil {
		return nil, err
	}
	if !p.authentic("warder/device-card/v1", subkey(ark, "warder/device-cert/v1")) {
		return nil, errOpen
	}
	s, err := p.signed(macSize)
	if err != nil {
		return nil, err
	}
	f, err := parseForm(s.body)
	if err != nil {
		return nil, err
	}
	f.must("kem", "sign", "state")
	c := &card{
		account:    p.head.id(),
		device:     p.head.id(),
		hash:       hashOf(file),
		created:    member(f, "created", asCount),
		enrolledBy: member(f, "enrolled_by", asID),
		kem:        member(f, "kem", asSized(kemSize)),
		sign:       member(f, "sign", asSized(ed25519.PublicKeySize)),
		state:      member(f, "state", as[string]),
		json:       f.members,
	}
	if f.err == nil && c.state != "active" {
		return nil, fmt.Errorf("device card in state %q", c.state)
	}
	return c, f.err
}
