// Package approval gets a person's answer where policy wants one.
//
// Today that is presence: a person proves to be there with the master password, for exactly the act that was shown. How a proof is
// made and opened is not this package's: package daemon wires it.
package approval

import (
	"crypto/rand"
	"slices"
	"sync"
	"time"
)

// Question is what one proof of presence answers.
type Question struct {
	Act       string // the hash of the act
	Challenge string // a word that serves one proof
	Shown     string // what the act does, in the words that the person reads
}

// Asked is the error of an act that waits for a person: it is done when it is asked for again with a proof for this question.
type Asked struct{ Question }

func (a *Asked) Error() string { return a.Shown }

// Proof is a proof of presence as it came with a request.
type Proof interface {
	// Claims are the act and the challenge that the proof says it is for.
	Claims() (act, challenge string)
	// Open opens the proof, which only a process that was given the master password can have made, for this question and for
	// the process that sent it. Its errors are told to the caller.
	Open(q Question) error
}

// challengeTime is how long a person may take to read what is asked and to type the password.
const challengeTime = 5 * time.Minute

// maxChallenges bounds what is kept. Whoever asks for more makes the oldest void, which costs a person another question.
const maxChallenges = 64

// AgainTime is how long after a proof others like it need none, below the same session leader.
const AgainTime = 10 * time.Minute

// maxPlaces bounds the terminals that are remembered: more sessions than that of one person prove anew.
const maxPlaces = 64

// Presence asks for proofs of presence. Each challenge is for one act and for one proof, so that none serves twice, and for a while,
// so that none lies about. It is safe for concurrent use.
type Presence struct {
	now func() time.Time

	mu     sync.Mutex
	open   []challenge // the oldest first
	proved []place     // the oldest first
}

type challenge struct {
	word, act string
	until     time.Time
}

// place is where a person was.
type place struct {
	leader string
	until  time.Time
}

// NewPresence makes one that takes the time from now.
func NewPresence(now func() time.Time) *Presence { return &Presence{now: now} }

// Ask asks for presence: the error that goes to whoever wants the act.
func (p *Presence) Ask(act, shown string) *Asked {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.forget()
	if over := len(p.open) - (maxChallenges - 1); over > 0 {
		p.open = slices.Delete(p.open, 0, over)
	}
	made := challenge{rand.Text(), act, now.Add(challengeTime)}
	p.open = append(p.open, made)
	return &Asked{Question{Act: act, Challenge: made.word, Shown: shown}}
}

// Take uses up a proof's challenge, and reports whether it was one for the act that the proof says it is for. Whatever comes of it, a
// challenge serves one try.
func (p *Presence) Take(proof Proof) bool {
	act, word := proof.Claims()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget()
	at := slices.IndexFunc(p.open, func(c challenge) bool { return c.word == word })
	if at < 0 {
		return false
	}
	fits := p.open[at].act == act
	p.open = slices.Delete(p.open, at, at+1)
	return fits
}

// Remember notes that presence was proved in the session of that leader, a text that names one process for as long as the machine runs.
// An empty one names none.
func (p *Presence) Remember(leader string) {
	if leader == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.forget()
	p.proved = slices.DeleteFunc(p.proved, func(l place) bool { return l.leader == leader })
	if over := len(p.proved) - (maxPlaces - 1); over > 0 {
		p.proved = slices.Delete(p.proved, 0, over)
	}
	p.proved = append(p.proved, place{leader, now.Add(AgainTime)})
}

// Recent reports whether presence was proved in that leader's session less than AgainTime ago.
func (p *Presence) Recent(leader string) bool {
	if leader == "" {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget()
	return slices.ContainsFunc(p.proved, func(l place) bool { return l.leader == leader })
}

// forget drops what is over, and returns the time.
func (p *Presence) forget() time.Time {
	now := p.now()
	p.open = slices.DeleteFunc(p.open, func(c challenge) bool { return !now.Before(c.until) })
	p.proved = slices.DeleteFunc(p.proved, func(l place) bool { return !now.Before(l.until) })
	return now
}
