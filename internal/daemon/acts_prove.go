package daemon

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/caller"
	"warder/internal/secret"
	"warder/internal/vault"
)

// challenges are the words that proofs of presence have to hold. Each is for one act and for one proof, so that none serves
// twice, and for a while, so that none lies about. The zero value has none. It is safe for concurrent use.
type challenges struct {
	mu   sync.Mutex
	open []challenge // the oldest first
}

type challenge struct {
	word, act string
	until     time.Time
}

// challengeTime is how long a person may take to read what is asked and to type the password.
const challengeTime = 5 * time.Minute

// maxChallenges bounds what is kept. Whoever asks for more makes the oldest void, which costs a person another question.
const maxChallenges = 64

// issue makes the challenge for an act.
func (c *challenges) issue(act string, now time.Time) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(now)
	if over := len(c.open) - (maxChallenges - 1); over > 0 {
		c.open = slices.Delete(c.open, 0, over)
	}
	made := challenge{rand.Text(), act, now.Add(challengeTime)}
	c.open = append(c.open, made)
	return made.word
}

// take uses up a challenge, and reports whether it was one for that act.
func (c *challenges) take(word, act string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(now)
	at := slices.IndexFunc(c.open, func(k challenge) bool { return k.word == word })
	if at < 0 {
		return false
	}
	fits := c.open[at].act == act
	c.open = slices.Delete(c.open, at, at+1)
	return fits
}

// drop forgets those whose time is over.
func (c *challenges) drop(now time.Time) {
	c.open = slices.DeleteFunc(c.open, func(k challenge) bool { return !now.Before(k.until) })
}

// presence is the side of a request that proves that a person is there.
type presence struct{ *request }

// take parts the proof of presence from the values. Only operations whose input embeds api.Act know the member.
func (r presence) take(op *operation) error {
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
	r.shown = in
	r.proof, r.values = &r.values[last], r.values[:last]
	return nil
}

// present wants a person's presence for the act as it is planned now. A proof for anything else counts for nothing: the
// person is asked again, and told what it would do by now.
func (r presence) present(planned *act, d *decision) error {
	hash, err := planned.hash(r.request)
	if err != nil {
		d.effect, d.reason = deny, "the act has no hash"
		return err
	}
	// Whatever comes of it, a challenge serves one try.
	timely := r.proof != nil && r.acts.challenges.take(r.shown.Challenge, r.shown.Hash, r.acts.now())
	if r.proof != nil && r.shown.Hash != hash {
		d.effect, d.reason = ask, "it does something else than what was shown"
	}
	shown := frame.Text(printable(planned.text))
	switch {
	case d.effect == allow:
		return nil // it turned out to need no proof
	case r.proof == nil || r.shown.Hash != hash:
		return r.asks(shown, hash)
	case !timely:
		d.reason = "the proof of presence came too late, or again"
		return r.asks(shown, hash)
	}
	if err := r.openProof(shown); err != nil {
		d.effect, d.reason = deny, "presence was not proved"
		return err
	}
	d.effect, d.reason = allow, "presence was proved with the master password"
	return nil
}

// asks is the question for a person's presence.
func (r presence) asks(shown, hash string) error {
	e := api.Errorf(api.NeedsApproval, "%s", shown).WithHint("type the master password to allow exactly this")
	e.Hash, e.Challenge = hash, r.acts.challenges.issue(hash, r.acts.now())
	return e
}

// openProof opens the proof of presence, which only a process that was given the master password can have made, for this act,
// this text, and the process that calls.
func (r presence) openProof(shown string) error {
	if r.account == nil {
		return api.Errorf(api.Locked, "the account is locked")
	}
	var sealed []byte
	if err := r.proof.Use(func(b []byte) { sealed = bytes.Clone(b) }); err != nil {
		return err
	}
	c, err := clientOf(r.call)
	if err != nil {
		return err
	}
	load, err := vault.OpenProof(r.account, vault.Presence{
		Act: r.shown.Hash, Challenge: r.shown.Challenge, Shown: shown, Caller: processOf(c.peer),
	}, sealed)
	if err == nil {
		defer load.Destroy()
		err = r.unload(load)
	}
	if errors.Is(err, vault.ErrNoProof) {
		return api.Errorf(api.Denied, "that is no proof of presence for this account as it is open here, and for the process that sent it").
			WithHint("if you typed the password yourself, open the account again and repeat the command: warder lock, warder unlock").WithCause(err)
	}
	return vaultError(r.request, err)
}

// unload takes out what a proof carries.
func (r presence) unload(load secret.Value) (err error) {
	used := load.Use(func(b []byte) {
		if len(b) < loadHeader {
			err = vault.ErrNoProof
			return
		}
		if wrong := binary.BigEndian.Uint64(b); wrong > 0 {
			r.facts["wrong_before"] = wrong
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
