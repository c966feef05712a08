package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"warder/internal/api"
)

// shifting answers trust.add of a link that leads elsewhere after each question, until it leads to /real/LAST.
func shifting(last int) func(*api.Call) (*api.Reply, error) {
	at := 1
	return func(call *api.Call) (*api.Reply, error) {
		var in api.TrustDir
		if err := json.Unmarshal(call.Input, &in); err != nil {
			return nil, err
		}
		dir := fmt.Sprintf("/real/%d", at)
		act := fmt.Sprintf("let agents use %s as a workspace", dir)
		if in.Presence && in.Hash == hashOfAct(act) {
			return reply(api.TrustDir{Dir: dir})(call)
		}
		at = min(at+1, last)
		return nil, asks(act)
	}
}

// TestProofOfAnActThatChanged: a person whose act does something else by the time of the password reads that and is asked
// again, and what is printed is what was done.
func TestProofOfAnActThatChanged(t *testing.T) {
	password := typed{question: "Master password: ", answer: testPassword}
	f := newFake(t, answers{api.OpTrustAdd: shifting(3)})
	screen := f.person(password, password, password)
	f.run("", "trust", "/link").want(t, 0, "trusted /real/3\n")
	shown := screen()
	for _, text := range []string{"/real/1 as", "/real/2 as", "would do something else by now", "/real/3 as"} {
		if !strings.Contains(shown, text) {
			t.Errorf("the terminal does not show %q but %q", text, shown)
		}
	}

	f = newFake(t, answers{api.OpTrustAdd: shifting(100)})
	screen = f.person(password, password, password, password)
	f.run("", "trust", "/link").want(t, 4, "error[needs_approval]", "changed each time")
	if n := strings.Count(screen(), "Master password: "); n != actShows {
		t.Errorf("asked %d times", n)
	}
}

// hears fails where one of the values came to a daemon in any way.
func (f *fake) hears(t *testing.T, values ...string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.calls) == 0 {
		t.Error("the daemon was asked nothing")
	}
	for _, call := range f.calls {
		for _, v := range values {
			if strings.Contains(call.input+strings.Join(call.values, "\n"), v) {
				t.Errorf("%s brought %q to the socket", call.op, v)
			}
		}
	}
}

// TestThePasswordGoesToTheProver: what answers at the socket gets a proof, and never the password, however often it asks; nor
// a wrong one that is nearly right, nor the new one.
func TestThePasswordGoesToTheProver(t *testing.T) {
	const nearly, next = testPassword + "x", "another battery staple 99 horse"
	f := newFake(t, answers{
		api.OpTrustAdd: proved("trust it", reply(api.TrustDir{Dir: "/real"})),
		api.OpPasswd:   proved("change it", reply(api.Receipt{Receipt: receipt})),
	})
	f.person(
		typed{question: "Master password: ", answer: nearly}, typed{question: "Master password: ", answer: testPassword},
		typed{question: "Present master password: ", answer: nearly}, typed{question: "New master password: ", answer: next},
		typed{question: "The same again: ", answer: next}, typed{question: "Present master password: ", answer: testPassword},
	)
	f.run("", "trust", "/link").want(t, 0, "trusted /real")
	f.run("", "passwd").want(t, 0, "is changed")
	f.hears(t, testPassword, next)
	if len(f.tries) != 4 || len(f.tries[1].values) != 1 || len(f.tries[3].values) != 2 || f.tries[3].values[1] != next {
		t.Errorf("the prover got %q", f.tries)
	}
}

// TestAnswersOfSomethingElse: a new kit, or word that the password is changed, counts only from what has opened the proof.
func TestAnswersOfSomethingElse(t *testing.T) {
	kit := func(r string) func(*api.Call) (*api.Reply, error) {
		return reply(api.KitInfo{Receipt: api.Receipt{Receipt: r}, Account: "acc", StateCode: "SC"}, "DEVICE-CANARY", "CODE-CANARY")
	}
	said := func(r string) func(*api.Call) (*api.Reply, error) { return reply(api.Receipt{Receipt: r}) }
	for name, c := range map[string]struct {
		asks bool
		told answers
	}{
		"without a question":             {false, answers{api.OpPasswd: said(""), api.OpNewKit: kit("")}},
		"without a question, with words": {false, answers{api.OpPasswd: said(receipt), api.OpNewKit: kit(receipt)}},
		"without the receipt":            {true, answers{api.OpPasswd: proved("change it", reply(nil)), api.OpNewKit: proved("make it", kit(""))}},
		"with another receipt":           {true, answers{api.OpPasswd: proved("change it", said("x")), api.OpNewKit: proved("make it", kit("x"))}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, c.told)
			var types []typed
			if c.asks {
				types = []typed{
					{question: "Present master password: ", answer: testPassword},
					{question: "New master password: ", answer: testPassword},
					{question: "The same again: ", answer: testPassword},
					{question: "Master password: ", answer: testPassword},
				}
			}
			screen := f.person(types...)
			f.run("", "passwd").want(t, 5, "error[unreachable]", fmt.Sprintf("(pid %d) is not the daemon of this account", os.Getpid()))
			s := f.run("", "passwd", "--new-kit")
			s.want(t, 5, "error[unreachable]")
			if strings.Contains(s.out+s.errors+screen(), "CANARY") {
				t.Error("a foreign kit is shown")
			}
		})
	}
}

// TestProofsNeedTheRecordedProgram: without one, or with another than was recorded, nobody is asked to type anything.
func TestProofsNeedTheRecordedProgram(t *testing.T) {
	f := newFake(t, answers{api.OpTrustAdd: proved("trust it", reply(nil))})
	f.base.prover = nil
	screen := f.person()
	f.run("", "trust", "/link").want(t, 1, "error[no_account]", "warder setup")
	f.setUp()
	f.run("", "trust", "/link").want(t, 5, "error[unreachable]: the recorded program can't be started", "warder setup")
	if s := screen(); strings.Contains(s, "password") {
		t.Errorf("asked %q", s)
	}
}

// TestProofThatComesTooLate: the same act again is no other act, and is said to be none.
func TestProofThatComesTooLate(t *testing.T) {
	times := 0
	f := newFake(t, answers{api.OpTrustAdd: func(call *api.Call) (*api.Reply, error) {
		if times++; times == 2 {
			return nil, asks("trust it") // the challenge is void
		}
		return proved("trust it", reply(api.TrustDir{Dir: "/real"}))(call)
	}})
	password := typed{question: "Master password: ", answer: testPassword}
	screen := f.person(password, password)
	f.run("", "trust", "/link").want(t, 0, "trusted /real")
	if s := screen(); !strings.Contains(s, "took too long") || strings.Contains(s, "something else") {
		t.Errorf("the terminal shows %q", s)
	}
}

// TestProjectSetWarns: what the daemon warns of is told, beside what was done.
func TestProjectSetWarns(t *testing.T) {
	f := newFake(t, answers{api.OpProjectSet: reply(api.StageChanged{Added: []string{"KEY"}, Warnings: []string{"agents can use \x1b[2JKEY"}})})
	s := f.run("v\n", "project", "set", "shop", "test", "KEY")
	s.want(t, 0)
	if s.errors != "warder: warning: agents can use \ufffd[2JKEY\n" || !strings.Contains(s.out, "KEY") {
		t.Errorf("printed %+v", s)
	}
}
