package e2e_test

import (
	"testing"
	"time"

	"warder/internal/e2e/person"
)

// TestWhatWidensIsAccepted: an agent lets the account stay open for longer, which waits; a person sees it, accepts it with the
// password and finds it in force, also after locking. The agent can accept nothing.
func TestWhatWidensIsAccepted(t *testing.T) {
	h := newHouse(t, person.Options{})
	wants(t, "an agent widens", h.agent(t, "", "config", "set", "lock.idle", "9h"), 0, `lock\.idle = 9h waits`)
	locksLate := func(what string, want bool) {
		t.Helper()
		s := decode[struct {
			Account struct {
				LocksAt time.Time `json:"locks_at"`
			} `json:"account"`
			Pending int `json:"policy_pending"`
		}](t, h.door.Run(t, "warder status --json").Output)
		late := s.Account.LocksAt.After(time.Now().Add(8*time.Hour + 30*time.Minute))
		if late != want || (s.Pending == 0) != want {
			t.Errorf("%s: it locks at %s, and %d wait", what, s.Account.LocksAt, s.Pending)
		}
	}
	wantsShown(t, "what waits", h.door.Run(t, "TERM=dumb warder policy"), 0, `(?s)config\.toml.*-8h\s+\+9h.*1 change waits for you: warder policy accept`)
	locksLate("before", false)
	for _, words := range [][]string{{"policy", "accept"}, {"policy", "accept", "--json"}} {
		wants(t, "an agent accepts", h.agent(t, h.password+"\n", words...), 3, `(?s)error\[denied\].*ask a person`)
		wants(t, "nobody accepts", h.nobody(t, h.password+"\n", words...), 3, `error\[denied\]`)
	}
	wants(t, "an agent looks", h.agent(t, "", "policy"), 0, `^\S+/config\.toml asks for more than counts: ask a person`)
	h.mistype(t, "warder policy accept")
	locksLate("after a wrong password", false)

	h.door.Begin(t, "warder policy accept")
	h.door.Expect(t, `-8h`)
	h.door.Expect(t, `\+9h`)
	h.door.Expect(t, `to let lock\.idle be 9h instead of 8h`)
	h.door.Answer(t, askProof, h.password)
	wantsShown(t, "accept", h.door.Finish(t), 0, `accepted: 1 change`)
	locksLate("accepted", true)
	wantsShown(t, "again", h.door.Run(t, "warder policy accept"), 0, `nothing waits`)
	wantsShown(t, "config", h.door.Run(t, "warder config list"), 0, `lock\.idle +9h +\S+config\.toml:2\s`)
	h.lock(t)
	h.unlock(t)
	locksLate("unlocked again", true)

	h.mustRun(t, "warder config set lock.idle 8h")
	wantsShown(t, "nothing waits", h.door.Run(t, "warder policy"), 0, `nothing waits`)
	wants(t, "an agent widens again", h.agent(t, "", "config", "set", "lock.idle", "9h"), 0, `waits`)
	locksLate("taken back", false)
}
