package vault

import (
	"errors"

	"warder/internal/seal"
	"warder/internal/secret"
)

// Presence says what a proof of presence proves, beside that somebody knew the password: that he was shown this text, about one
// act of one daemon, and wanted it done for one process. A proof serves nothing else.
type Presence struct {
	Act       string // the act's hash
	Challenge string // of the daemon that will do it
	Shown     string // what the act does, in the words that were shown
	Caller    string // the process that asks for the act
}

// ErrNoProof says that a proof of presence is not one for this act, here and now. It tells no more.
var ErrNoProof = errors.New("not a proof of presence for this")

// Prove makes a proof of presence with the master password, in a process that has not unlocked the account, and seals into it
// what is to go with it. So the password goes to this process alone, and whoever gets the proof on its way to the daemon learns
// nothing and can do nothing else with it.
//
// Wrong passwords count on disk together with those of Open, so that neither way lets anybody guess faster.
//
// Errors: as Open.
func Prove(cfg Config, password, carried secret.Value, p Presence) (proof []byte, err error) {
	c, err := openPlaces(cfg)
	if err != nil {
		return nil, err
	}
	defer c.lock()
	if c.ds, err = readDeviceSecret(c.local); err != nil {
		return nil, err
	}
	if err := c.open(passwordSlot, password); err != nil {
		return nil, err
	}
	return seal.SealProof(c.root, c.proofPlace(p), carried)
}

// OpenProof opens a proof that Prove has made for p, with the password that is in force by now, and returns what it carried.
//
// Errors: ErrNoProof, ErrLocked, and those of the file system.
func OpenProof(a *Account, p Presence, proof []byte) (carried secret.Value, err error) {
	c := a.c
	err = c.writing(a.wait, func() error {
		if err := c.sync(); err != nil { // another device may have changed the password
			return err
		}
		carried, err = seal.OpenProof(c.root, c.proofPlace(p), proof)
		if errors.Is(err, seal.ErrOpen) {
			return ErrNoProof
		}
		return err
	})
	return carried, err
}

// proofPlace binds a proof to the account and to the password slot: after a change of the password those that the old one made
// are void. Another change of the keyset voids none.
func (r *ring) proofPlace(p Presence) seal.ProofPlace {
	place := seal.ProofPlace{
		Account: r.account, Act: []byte(p.Act), Challenge: []byte(p.Challenge), Shown: []byte(p.Shown), Caller: []byte(p.Caller),
	}
	if s := r.keyset.slot(passwordSlot); s != nil {
		place.Slot = s.wrapped.Commit
	}
	return place
}
