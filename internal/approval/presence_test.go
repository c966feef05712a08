package approval_test

import (
	"fmt"
	"testing"
	"time"

	"warder/internal/approval"
)

// sent is a proof that says it is for something.
type sent struct{ act, challenge string }

func (s sent) Claims() (act, challenge string) { return s.act, s.challenge }

func (sent) Open(approval.Question) error { return nil }

// clocked is a Presence whose time tests set.
func clocked() (*approval.Presence, *time.Time) {
	now := time.Unix(1000, 0)
	return approval.NewPresence(func() time.Time { return now }), &now
}

// TestChallenge: each serves one try, for its act, in time, and many questions make the oldest void.
func TestChallenge(t *testing.T) {
	p, now := clocked()
	ask := func() sent { q := p.Ask("act", "shown"); return sent{q.Act, q.Challenge} }
	first := ask()
	if !p.Take(first) || p.Take(first) {
		t.Error("not for one try")
	}
	other := ask()
	if p.Take(sent{"another", other.challenge}) || p.Take(other) {
		t.Error("for another act, or once more after that")
	}
	if p.Take(sent{"act", "made up"}) || p.Take(sent{}) {
		t.Error("a challenge that was never given")
	}
	late := ask()
	*now = now.Add(5*time.Minute - time.Second)
	timely := ask()
	*now = now.Add(time.Second)
	if p.Take(late) || !p.Take(timely) {
		t.Error("the time is not kept")
	}
	oldest := ask()
	for range 64 {
		ask()
	}
	if p.Take(oldest) {
		t.Error("there is no bound")
	}
	if q := p.Ask("act", "shown"); q.Error() != "shown" {
		t.Errorf("asked %q", q)
	}
}

// TestRecent: a proof is remembered for a while from when it was made, by leader, and not for nobody.
func TestRecent(t *testing.T) {
	p, now := clocked()
	p.Remember("")
	p.Remember("leader")
	if !p.Recent("leader") || p.Recent("other") || p.Recent("") {
		t.Error("not by leader")
	}
	*now = now.Add(approval.AgainTime - time.Second)
	if !p.Recent("leader") {
		t.Error("forgotten too soon")
	}
	p.Remember("leader")
	*now = now.Add(approval.AgainTime - time.Second)
	if !p.Recent("leader") {
		t.Error("a newer proof does not count")
	}
	*now = now.Add(time.Second)
	if p.Recent("leader") {
		t.Error("remembered too long")
	}
	for i := range 65 {
		p.Remember(fmt.Sprint("leader ", i))
	}
	if p.Recent("leader 0") || !p.Recent("leader 64") {
		t.Error("there is no bound, or it takes the newest")
	}
}
