package cli

import (
	"encoding/json"
	"fmt"
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
		if in.Presence && in.Hash == hashOfAct(dir) {
			return reply(api.TrustDir{Dir: dir})(call)
		}
		asks := api.Errorf(api.NeedsApproval, "let agents use %s as a workspace", dir)
		asks.Hash = hashOfAct(dir)
		at = min(at+1, last)
		return nil, asks
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

// TestProjectSetWarns: what the daemon warns of is told, beside what was done.
func TestProjectSetWarns(t *testing.T) {
	f := newFake(t, answers{api.OpProjectSet: reply(api.StageChanged{Added: []string{"KEY"}, Warnings: []string{"agents can use \x1b[2JKEY"}})})
	s := f.run("v\n", "project", "set", "shop", "test", "KEY")
	s.want(t, 0)
	if s.errors != "warder: warning: agents can use \ufffd[2JKEY\n" || !strings.Contains(s.out, "KEY") {
		t.Errorf("printed %+v", s)
	}
}
