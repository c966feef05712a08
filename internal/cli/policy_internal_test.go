package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"warder/internal/api"
)

// twoProposals are an option and an agent, with what could upset a terminal.
var twoProposals = [...]api.Proposal{
	{File: "/c/config.toml", Line: 2, Entry: "lock.idle", Accepted: "8h", Proposed: "9h", Widens: "it stays open for longer"},
	{
		File: "/c/agents.toml", Entry: "agent my\x1b[2Jbot", Accepted: "mark \"MYBOT=1\"\nname \"mybot\"", Proposed: "name \"mybot\"",
		Widens: "it can count as a person",
	},
}

// shownTwo is how they are shown.
const shownTwo = `--- /c/config.toml: what counts
+++ /c/config.toml: what it asks for
@@ line 2, lock.idle: it stays open for longer @@
-8h
+9h
--- /c/agents.toml: what counts
+++ /c/agents.toml: what it asks for
@@ agent my` + "\ufffd" + `[2Jbot: it can count as a person @@
-mark "MYBOT=1"
 name "mybot"
`

// TestPolicyPending lists what waits, to a person and to an agent.
func TestPolicyPending(t *testing.T) {
	f := newFake(t, answers{api.OpPolicyPending: reply(api.PolicyPending{Proposals: twoProposals[:], Shown: "digest"})})
	for _, words := range [][]string{{"policy"}, {"policy", "pending"}} {
		s := f.run("", words...)
		s.want(t, 0)
		if want := shownTwo + "\n2 changes wait for you: warder policy accept\n"; s.out != want {
			t.Errorf("%q printed %q, want %q", words, s.out, want)
		}
		s = f.run("", append(words, "--json")...)
		var list api.PolicyPending
		if err := json.Unmarshal([]byte(s.out), &list); err != nil || len(list.Proposals) != 2 || list.Shown != "digest" {
			t.Errorf("%q printed %q", words, s.out)
		}
	}
	f = newFake(t, answers{api.OpPolicyPending: reply(api.PolicyPending{Proposals: []api.Proposal{{File: "/c/config.toml", Widens: "more than counts"}}})})
	f.run("", "policy").want(t, 0, "/c/config.toml asks for more than counts: ask a person to run warder policy accept\n")
	f = newFake(t, answers{api.OpPolicyPending: reply(api.PolicyPending{})})
	f.run("", "policy").want(t, 0, "nothing waits to be accepted\n")
	f.run("", "policy", "accept").want(t, 0, "nothing waits to be accepted\n")
	f.run("", "policy", "accept", "--json").want(t, 0, `{"accepted":[]}`)
	f.run("", "policy", "explode").want(t, 2, "takes no arguments")
	f.run("", "policy", "accept", "config.toml").want(t, 2, "takes no arguments")
}

// TestPolicyAccept shows what waits before it asks for the password, and sends back what stands for that.
func TestPolicyAccept(t *testing.T) {
	told := answers{
		api.OpPolicyPending: reply(api.PolicyPending{Proposals: twoProposals[:], Shown: "digest"}),
		api.OpPolicyAccept:  proved("let lock.idle be 9h instead of 8h", reply(api.PolicyAccepted{Accepted: twoProposals[:]})),
	}
	f := newFake(t, told)
	screen := f.person(typed{question: "Master password: ", answer: testPassword})
	s := f.run("", "policy", "accept")
	s.want(t, 0)
	if want := shownTwo + "accepted: 2 changes\n"; s.out != want {
		t.Errorf("printed %q, want %q", s.out, want)
	}
	if last := f.last(); !strings.Contains(last.input, `"shown":"digest"`) || len(last.values) != 1 {
		t.Errorf("asked %+v", last)
	}
	if text := screen(); !strings.Contains(text, "your master password to let lock.idle be 9h instead of 8h.") {
		t.Errorf("the terminal shows %q", text)
	}

	f = newFake(t, told)
	f.person(typed{question: "Master password: ", answer: testPassword})
	s = f.run("", "policy", "accept", "--json")
	s.want(t, 0)
	var done api.PolicyAccepted
	if err := json.Unmarshal([]byte(s.out), &done); err != nil || len(done.Accepted) != 2 || s.errors != shownTwo {
		t.Errorf("printed %q and %q", s.out, s.errors)
	}
	newFake(t, told).run("", "policy", "accept").want(t, 4, "error[needs_approval]") // there is no terminal
	newFake(t, answers{
		api.OpPolicyPending: told[api.OpPolicyPending], api.OpPolicyAccept: refusal(api.Denied, "the files are not what was shown"),
	}).run("", "policy", "accept").want(t, 3, "not what was shown")
}

// TestConfigKnowsWhatWasAccepted: a value that was accepted does not wait.
func TestConfigKnowsWhatWasAccepted(t *testing.T) {
	f := newFake(t, answers{api.OpPolicyPending: func(call *api.Call) (*api.Reply, error) {
		return reply(api.PolicyPending{Proposals: []api.Proposal{{File: "/elsewhere/config.toml", Entry: "lock.idle"}}})(call)
	}})
	if s := f.run("", "config", "set", "lock.idle", "9h"); s.status != 0 || s.errors != "" {
		t.Errorf("it waits: %+v", s)
	}
	f.run("", "config", "list", "--json").want(t, 0, `"value":"9h"`, `"waits":false`)
	for _, entry := range []string{"lock.idle", ""} {
		home := ""
		f := newFake(t, answers{api.OpPolicyPending: func(call *api.Call) (*api.Reply, error) {
			return reply(api.PolicyPending{Proposals: []api.Proposal{{File: home + "/config/config.toml", Entry: entry}}})(call)
		}})
		home = f.home
		f.run("", "config", "set", "lock.idle", "9h").want(t, 0, "warning: lock.idle = 9h waits")
		f.run("", "config", "list", "--json").want(t, 0, `"waits":true`)
	}
}
