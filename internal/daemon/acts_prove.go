package daemon

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"warder/internal/api"
	"warder/internal/approval"
	"warder/internal/caller"
	"warder/internal/secret"
	"warder/internal/vault"
)

// sent is the proof of presence that came with a request, as the prover sealed it.
type sent struct {
	*request
	sealed secret.Value // the server's to destroy
	claims api.Act
}

// takeProof parts the proof of presence from the values. Only operations whose input embeds api.Act know the member.
func takeProof(r *request, op *operation) error {
	var in api.Act
	if op.takes == 0 || len(r.call.Input) == 0 || json.Unmarshal(r.call.Input, &in) != nil || !in.Presence {
		return nil // what is wrong with the input is told when it is decoded
	}
	if len(r.values) == 0 {
		return api.Errorf(api.Usage, "the proof of presence is missing: it is the last of the values")
	}
	if in.Hash == "" || in.Challenge == "" {
		return api.Errorf(api.Usage, "the proof of presence says not what it is for: the hash of the act or the challenge is missing")
	}
	last := len(r.values) - 1
	r.Proof, r.values = sent{r, r.values[last], in}, r.values[:last]
	return nil
}

// Claims are what the proof says it is for.
func (s sent) Claims() (act, challenge string) { return s.claims.Hash, s.claims.Challenge }

// Open opens the proof, which only a process that was given the master password can have made, for this act, this text, and the
// process that calls.
func (s sent) Open(q approval.Question) error {
	if s.account == nil {
		return api.Errorf(api.Locked, "the account is locked")
	}
	var sealed []byte
	if err := s.sealed.Use(func(b []byte) { sealed = bytes.Clone(b) }); err != nil {
		return err
	}
	c, err := clientOf(s.call)
	if err != nil {
		return err
	}
	load, err := vault.OpenProof(s.account, vault.Presence{
		Act: q.Act, Challenge: q.Challenge, Shown: q.Shown, Caller: processOf(c.peer),
	}, sealed)
	if err == nil {
		defer load.Destroy()
		err = s.unload(load)
	}
	if errors.Is(err, vault.ErrNoProof) {
		return api.Errorf(api.Denied, "that is no proof of presence for this account as it is open here, and for the process that sent it").
			WithHint("if you typed the password yourself, open the account again and repeat the command: warder lock, warder unlock").WithCause(err)
	}
	return vaultError(s.request, err)
}

// unload takes out what a proof carries.
func (r *request) unload(load secret.Value) (err error) {
	used := load.Use(func(b []byte) {
		if len(b) < loadHeader {
			err = vault.ErrNoProof
			return
		}
		if wrong := binary.BigEndian.Uint64(b); wrong > 0 {
			r.Facts["wrong_before"] = wrong
		}
		r.receipt.Receipt = string(b[loadCount:loadHeader])
		if fresh := b[loadHeader:]; len(fresh) > 0 {
			r.carried, err = secret.Make(len(fresh), func(into []byte) error {
				copy(into, fresh)
				return nil
			})
		}
	})
	return errors.Join(used, err)
}

// What a proof of presence carries: how many wrong passwords came before the right one, the receipt, and what the act takes
// that nobody but the daemon may read.
const (
	loadCount   = 8
	loadReceipt = 26 // of rand.Text
	loadHeader  = loadCount + loadReceipt
)

// makeLoad makes it, and the receipt. The caller destroys it.
func makeLoad(wrong int64, carried secret.Value) (load secret.Value, receipt string, err error) {
	receipt = rand.Text()[:loadReceipt]
	load, err = secret.Make(loadHeader+carried.Len(), func(into []byte) error {
		binary.BigEndian.PutUint64(into, uint64(max(wrong, 0))) // #nosec G115 -- not negative
		copy(into[loadCount:], receipt)
		if carried.Len() == 0 {
			return nil
		}
		return carried.Use(func(b []byte) { copy(into[loadHeader:], b) })
	})
	return load, receipt, err
}

// processOf names a process so that it can be told from every other one of this machine, in whatever pid namespace whoever asks
// is. It is empty where the system tells too little; nobody is a person there.
func processOf(p *caller.Peer) string {
	if p == nil {
		return ""
	}
	i, err := p.Instance()
	switch {
	case err != nil:
		return ""
	case i.Inode != 0:
		return fmt.Sprintf("pidfs %d", i.Inode)
	}
	return fmt.Sprintf("started %d", i.Start)
}
