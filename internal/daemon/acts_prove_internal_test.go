package daemon

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"warder/internal/api"
	"warder/internal/gate"
	"warder/internal/secret"
	"warder/internal/vault"
)

// revealed is an item with a value, and the question that a person is asked who wants to see it.
func revealed(t *testing.T, s *scene, name string) (api.ItemShow, result) {
	t.Helper()
	s.add(person(), name, "ask", token)
	in := api.ItemShow{Name: name, Reveal: true}
	asked := s.do(person(), api.OpItemShow, in)
	s.refused(asked, api.NeedsApproval)
	return in, asked
}

// madeFor makes the proof that answers a question, for a process without a connection.
func madeFor(s *scene, asked result) string {
	s.t.Helper()
	proof, err := prove(s, asked.err, masterPassword, "")
	must(s.t, err)
	return proof
}

// lent wants a call to have been refused and to have lent nothing.
func lent(t *testing.T, s *scene, what string, res result, code api.Code) {
	t.Helper()
	if res.err == nil || res.err.Code != code || len(res.values) > 0 {
		t.Errorf("%s: %+v with %d values, want %s", what, res.err, len(res.values), code)
	}
	if decided := s.events()[1]; strings.Contains(decided, "allow") {
		t.Errorf("%s: recorded %q", what, s.events())
	}
}

// TestProofServesOnce: a proof that was used, or that is for anything but what is done, by whom and where, is refused, and the
// person is asked again or told.
func TestProofServesOnce(t *testing.T) {
	s := newScene(t)
	in, asked := revealed(t, s, "db")
	other, otherAsked := revealed(t, s, "other")
	proof := madeFor(s, asked)

	lent(t, s, "an agent's", s.send(agent(), api.OpItemShow, proves(t, in, asked), proof), api.Denied)
	lent(t, s, "for another act", s.send(person(), api.OpItemShow, proves(t, other, asked), proof), api.NeedsApproval)
	// That was the challenge's one use, whoever made it.
	lent(t, s, "after another act", s.send(person(), api.OpItemShow, proves(t, in, asked), proof), api.NeedsApproval)

	// Another act's proof with this act's hash and challenge.
	asked = s.do(person(), api.OpItemShow, in)
	lent(t, s, "made for another act", s.send(person(), api.OpItemShow, proves(t, in, asked), madeFor(s, otherAsked)), api.Denied)
	lent(t, s, "after a wrong one", s.send(person(), api.OpItemShow, proves(t, in, asked), madeFor(s, asked)), api.NeedsApproval)

	// An older challenge's proof with a fresh challenge, and the other way round.
	asked = s.do(person(), api.OpItemShow, in)
	lent(t, s, "made for another challenge", s.send(person(), api.OpItemShow, proves(t, in, asked), proof), api.Denied)
	again := s.do(person(), api.OpItemShow, in)
	mixed := result{err: &api.Error{Hash: again.err.Hash, Challenge: "made up"}}
	lent(t, s, "with a challenge of its own", s.send(person(), api.OpItemShow, proves(t, in, mixed), madeFor(s, mixed)), api.NeedsApproval)

	res := s.send(person(), api.OpItemShow, proves(t, in, again), madeFor(s, again))
	s.ok(res, nil)
	if len(res.values) != 1 || res.values[0] != token {
		t.Errorf("%d values", len(res.values))
	}
	lent(t, s, "a second time", s.send(person(), api.OpItemShow, proves(t, in, again), madeFor(s, again)), api.NeedsApproval)
}

// TestProofOfAnotherText: who shows a person another text than the act's gets a proof that opens nothing. This is what a program
// does that answers at the socket and passes the questions of the daemon on, changed.
func TestProofOfAnotherText(t *testing.T) {
	s := newScene(t)
	in, asked := revealed(t, s, "db")
	told := *asked.err
	told.Message = "show the item personal/harmless"
	lent(t, s, "another text", s.send(person(), api.OpItemShow, proves(t, in, asked), madeFor(s, result{err: &told})), api.Denied)

	asked = s.do(person(), api.OpItemShow, in)
	proof, err := prove(s, asked.err, masterPassword, "pidfs 4711")
	must(t, err)
	lent(t, s, "another process", s.send(person(), api.OpItemShow, proves(t, in, asked), proof), api.Denied)

	asked = s.do(person(), api.OpItemShow, in)
	lent(t, s, "the password", s.send(person(), api.OpItemShow, proves(t, in, asked), masterPassword), api.Denied)
	asked = s.do(person(), api.OpItemShow, in)
	lent(t, s, "nothing", s.send(person(), api.OpItemShow, proves(t, in, asked), ""), api.Denied)
	asked = s.do(person(), api.OpItemShow, in)
	s.ok(s.send(person(), api.OpItemShow, proves(t, in, asked), madeFor(s, asked)), nil) // as it was told
	s.refused(s.send(person(), api.OpItemShow, proves(t, in, asked)), api.Usage)
	s.refused(s.send(person(), api.OpItemShow, proves(t, in, result{err: &api.Error{Hash: asked.err.Hash}}), "x"), api.Usage)
}

// TestProofOfAnotherAccount: the password of another account of the same person proves nothing here.
func TestProofOfAnotherAccount(t *testing.T) {
	s, other := newScene(t), newScene(t)
	in, asked := revealed(t, s, "db")
	lent(t, s, "another account's", s.send(person(), api.OpItemShow, proves(t, in, asked), madeFor(other, asked)), api.Denied)
}

// TestProofComesTooLate: after five minutes, or when many were asked since, the person is asked again.
func TestProofComesTooLate(t *testing.T) {
	s := newScene(t)
	in, asked := revealed(t, s, "db")
	proof := madeFor(s, asked)
	const challengeTime, maxChallenges = 5 * time.Minute, 64
	s.now = s.now.Add(challengeTime)
	lent(t, s, "too late", s.send(person(), api.OpItemShow, proves(t, in, asked), proof), api.NeedsApproval)

	first := s.do(person(), api.OpItemShow, in)
	s.now = s.now.Add(challengeTime - time.Second)
	for range maxChallenges - 1 {
		s.do(person(), api.OpItemShow, in)
	}
	s.ok(s.send(person(), api.OpItemShow, proves(t, in, first), madeFor(s, first)), nil)
	first = s.do(person(), api.OpItemShow, in)
	for range maxChallenges {
		s.do(person(), api.OpItemShow, in)
	}
	lent(t, s, "after many others", s.send(person(), api.OpItemShow, proves(t, in, first), madeFor(s, first)), api.NeedsApproval)
}

// TestProofAfterAPasswordChange: what the old password proved before another device changed it is void.
func TestProofAfterAPasswordChange(t *testing.T) {
	s := newScene(t)
	in, asked := revealed(t, s, "db")
	proof := madeFor(s, asked)
	device, err := vault.Open(placesOf(s), value(t, masterPassword))
	must(t, err)
	defer device.Lock()
	must(t, device.SetPassword(value(t, "another battery staple 99 horse")))
	lent(t, s, "the old password's", s.send(person(), api.OpItemShow, proves(t, in, asked), proof), api.Denied)
	asked = s.do(person(), api.OpItemShow, in)
	if _, err := prove(s, asked.err, masterPassword, ""); accountError(err).(*api.Error).Code != api.WrongPassword { //nolint:errorlint // accountError makes one
		t.Errorf("the old password: %v", err)
	}
}

// TestWrongPasswordsAreRecorded: how many came before a proof stands in the log with what was done.
func TestWrongPasswordsAreRecorded(t *testing.T) {
	s := newScene(t)
	in, asked := revealed(t, s, "db")
	for range 2 {
		_, err := prove(s, asked.err, "not the password at all 9", "")
		var told *api.Error
		if !errors.As(err, &told) || told.Code != api.WrongPassword {
			t.Fatal(err)
		}
		s.now = s.now.Add(4 * time.Second)
	}
	s.ok(s.once(person(), api.OpItemShow, proves(t, in, asked), masterPassword), nil)
	all := s.records()
	if last := string(all[len(all)-1].Data); !strings.Contains(last, `"wrong_before":2`) {
		t.Errorf("recorded %s", last)
	}
}

// TestLoadOfAProof: what a proof carries comes out as it went in, and what is too short to be one is no proof.
func TestLoadOfAProof(t *testing.T) {
	for _, carried := range []string{"", "x", strings.Repeat("long ", 100)} {
		var in secret.Value
		if carried != "" {
			in = value(t, carried)
		}
		load, receipt, err := makeLoad(3, in)
		must(t, err)
		r := &request{Intent: gate.NewIntent("", gate.Session{})}
		must(t, r.unload(load))
		load.Destroy()
		got := ""
		if r.carried.Len() > 0 {
			must(t, r.carried.Use(func(b []byte) { got = string(b) }))
		}
		r.carried.Destroy()
		if got != carried || r.receipt.Receipt != receipt || r.Facts["wrong_before"] != uint64(3) {
			t.Errorf("carried %q, %q, %v", got, r.receipt, r.Facts)
		}
	}
	for _, short := range []string{"x", strings.Repeat("x", loadHeader-1)} {
		if err := (&request{Intent: gate.NewIntent("", gate.Session{})}).unload(value(t, short)); !errors.Is(err, vault.ErrNoProof) {
			t.Errorf("%d bytes: %v", len(short), err)
		}
	}
}

// TestLongTextsAreProved: of a text that is longer than an error carries, what was sent is what was shown.
func TestLongTextsAreProved(t *testing.T) {
	s := newScene(t)
	dir := filepath.Join(s.dir, strings.Repeat(strings.Repeat("d", 200)+"/", 18))
	must(t, os.MkdirAll(dir, 0o700))
	s.acts.home = filepath.Join(s.dir, "home")
	in := api.TrustDir{Dir: filepath.Clean(dir)}
	asked := s.do(person(), api.OpTrustAdd, in)
	s.refused(asked, api.NeedsApproval)
	s.ok(s.once(person(), api.OpTrustAdd, proves(t, in, asked), masterPassword), nil)
	if n := len(asked.err.Message); n > 4<<10 {
		t.Errorf("the text has %d bytes", n)
	}
	if !slices.Contains(s.events(), "permission.decided allow") {
		t.Error(fmt.Sprint(s.events()))
	}
}
