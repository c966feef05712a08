package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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

// TestManyChangesAreCounted: of a list that no person reads the first are shown, and the rest is counted with how to see it.
func TestManyChangesAreCounted(t *testing.T) {
	var many []api.Proposal
	for i := range 2000 {
		many = append(many, api.Proposal{File: "/c/agents.toml", Entry: fmt.Sprintf("agent b%d", i), Accepted: "name \"x\""})
	}
	many[0].Accepted = strings.Repeat("name \"y\"\n", 50) + "name \"y\""
	f := newFake(t, answers{
		api.OpPolicyPending: reply(api.PolicyPending{Proposals: many, Shown: "digest"}),
		api.OpPolicyAccept:  proved("accept 2000 changes", reply(api.PolicyAccepted{Accepted: many})),
	})
	f.person(typed{question: "Master password: ", answer: testPassword})
	for _, words := range [][]string{{"policy"}, {"policy", "accept"}} {
		s := f.run("", words...)
		s.want(t, 0, "and 31 more lines of this one: warder policy --json\n",
			"and 1980 more changes, of 2000 in all; to see each of them: warder policy --json\n")
		if n := strings.Count(s.out, "\n"); n > 4*maxShown {
			t.Errorf("%q printed %d lines", words, n)
		}
	}
	var list api.PolicyPending
	if err := json.Unmarshal([]byte(f.run("", "policy", "--json").out), &list); err != nil || len(list.Proposals) != len(many) {
		t.Errorf("%d are in the JSON, %v", len(list.Proposals), err)
	}
}

// TestAUsersAgentIsKnownWithoutADaemon: an agent that only the user's tables name is told so by the client itself, before it could
// be led to ask for a password; and a table that can't be read leaves nobody a person.
func TestAUsersAgentIsKnownWithoutADaemon(t *testing.T) {
	const table = "version = 1\n[[agent]]\nclient = \"mybot\"\nmarks = [\"MYBOT=1\"]\n"
	for _, place := range []string{"config", "state"} {
		t.Run(place, func(t *testing.T) {
			f := newWorld(t)
			f.base.judge, f.env["MYBOT"] = nil, "1"
			path := filepath.Join(f.home, place, "agents.toml")
			write := func(text string) {
				t.Helper()
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(table)
			f.run("", "whoami").want(t, 0, "agent", "carries MYBOT")
			f.run("", "doctor").want(t, 0, "if a wrong row of your agents says so: warder daemon stop", path)
			if who, err := f.base.person("unlock the account"); who != nil || err == nil || !strings.Contains(err.Error(), "this is agent") {
				t.Errorf("it is asked for a password: %v", err)
			}
			write("version = \n")
			who, err := f.base.judgeSelf()
			if err != nil || who.Verdict == verdictPerson || who.Verdict == "unknown" && !strings.Contains(who.Why, "agents") {
				t.Errorf("with a broken table it is %s: %s, %v", who.Verdict, who.Why, err)
			}
		})
	}
}
