package seal

import (
	"crypto/sha256"
	"fmt"

	"warder/internal/secret"
)

// ProofPlace says what a proof of presence proves: that whoever knows the
// password of this account read this, and wants this one act done for this
// process. A proof is for nothing else.
type ProofPlace struct {
	Account   ID
	Slot      [sha256.Size]byte // commitment of the slot that the password opened
	Act       []byte            // hash of the act, as its daemon gave it
	Challenge []byte            // of that daemon, for one use
	Shown     []byte            // the text that was shown
	Caller    []byte            // the process that asks for the act
}

func (p ProofPlace) aad() ([]byte, error) {
	return encode(labelPresence, p.Account[:], p.Slot[:], p.Act, p.Challenge, p.Shown, p.Caller)
}

// SealProof seals what goes with a proof of presence, so that nobody can make
// one, or read or exchange what it carries, without the root key: nonce 24,
// ciphertext, tag 16.
func SealProof(root RootKey, p ProofPlace, carried secret.Value) (box []byte, err error) {
	aad, err := p.aad()
	if err != nil {
		return nil, fmt.Errorf("sealing a proof of presence: %w", err)
	}
	err = use(carried, func(plain []byte) error {
		box, err = sealUnder(root.key, labelPresence, plain, aad)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("sealing a proof of presence: %w", err)
	}
	return box, nil
}

// OpenProof opens what SealProof made for the same place, else ErrOpen. What it
// carried is decrypted in locked memory.
func OpenProof(root RootKey, p ProofPlace, box []byte) (carried secret.Value, err error) {
	aad, err := p.aad()
	if err != nil {
		return secret.Value{}, indistinct(err)
	}
	err = root.subkey(labelPresence, func(sub []byte) error {
		carried, err = openSecret(sub, box, aad)
		return err
	})
	return carried, err
}
