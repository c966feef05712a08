package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warder/internal/api"
	"warder/internal/caller"
)

// tableOf is a table with so many agents, whose names begin with a word.
func tableOf(word string, n int) string {
	text := strings.Builder{}
	text.WriteString("version = 1\n")
	for i := range n {
		fmt.Fprintf(&text, "[[agent]]\nclient = \"%s%d\"\nnames = [\"%s%d\"]\n", word, i, word, i)
	}
	return text.String()
}

// mybotTable is what a person adds.
const mybotTable = "version = 1\n[[agent]]\nclient = \"mybot\"\nmarks = [\"MYBOT=1\"]\n"

// judged is the identity of who carries the mark of a person's agent, or of who does not.
func judged(s *asking, marked bool) caller.Identity {
	s.t.Helper()
	id, err := s.d.tables.Load().JudgeSelf(func(name string) string {
		if marked && name == "MYBOT" {
			return "1"
		}
		return ""
	})
	must(s.t, err)
	return id
}

// toldBy is all that status tells a person.
func toldBy(s *asking) string {
	texts, _ := wishes{s.d}.says(true)
	return strings.Join(texts, "\n")
}

// isMybot reports whether somebody carries the mark of a person's agent, also beneath another one.
func isMybot(id caller.Identity) bool {
	return id.Verdict == caller.Agent && len(id.Evidence) > 0 && strings.Contains(id.Evidence[0].Why, "carries MYBOT")
}

// isDoubted reports whether somebody is no person for a reason; where the test runs beneath an agent, that is enough.
func isDoubted(id caller.Identity, why string) bool {
	return id.Verdict == caller.Agent || id.Verdict == caller.Unknown && strings.Contains(id.Why, why)
}

// TestAFloodOfAgentsIsNotKept: a table that no person would write counts for nothing and leaves no trace in what is kept, so that a
// person's own agent is kept afterwards.
func TestAFloodOfAgentsIsNotKept(t *testing.T) {
	for name, flood := range map[string]string{
		"many": tableOf("flood", maxOwnAgents+1), "long": tableOf("x", 1) + "# " + strings.Repeat("x", maxOwnText), "over what is read": tableOf("flood", 24643),
	} {
		t.Run(name, func(t *testing.T) {
			s := newAsking(t)
			s.write(agentsFile, flood)
			if text := toldBy(s); !strings.Contains(text, "nobody counts as a person until "+filepath.Join(s.config(), agentsFile)) {
				t.Errorf("told %q", text)
			}
			if id := judged(s, false); !isDoubted(id, "can't be read") {
				t.Errorf("judged %s: %s", id.Verdict, id.Why)
			}
			if kept, err := s.d.agents.kept.list(); err != nil || len(kept.Agent) > 0 {
				t.Errorf("%d rows are kept, %v", len(kept.Agent), err)
			}
			s.write(agentsFile, mybotTable)
			s.write(agentsFile, "")
			if id := judged(s, true); !isMybot(id) || s.waits() != 1 {
				t.Errorf("a person's agent is %+v, %d wait: %s", id.Client, s.waits(), toldBy(s))
			}
		})
	}
}

// TestAFullTableIsTold fills what is kept by one small table after the other: from then on agents may be missing, so nobody is a
// person, whatever the file has, and in later daemons, until the table is mended as status tells.
func TestAFullTableIsTold(t *testing.T) {
	s := newAsking(t)
	for i := range maxKeptAgents / maxOwnAgents {
		s.write(agentsFile, tableOf(fmt.Sprintf("flood%d-", i), maxOwnAgents))
	}
	s.write(agentsFile, "")
	if text := toldBy(s); strings.Contains(text, "nobody counts") || s.waits() != maxKeptAgents {
		t.Fatalf("%d wait: %s", s.waits(), text)
	}
	s.write(agentsFile, mybotTable)
	s.write(agentsFile, "")
	doubted := func(when string) {
		t.Helper()
		id, text := judged(s, false), toldBy(s)
		if !isDoubted(id, errKeptFull.Error()) || !strings.Contains(text, errKeptFull.Error()) || !strings.Contains(text, "warder daemon stop") {
			t.Errorf("%s: judged %s, %s; %s", when, id.Verdict, id.Why, text)
		}
		if id, err := JudgeSelf(Options{Config: s.config(), State: s.d.opt.State, Getenv: func(string) string { return "" }}); !isDoubted(id, errKeptFull.Error()) || err != nil {
			t.Errorf("%s: a client judges %s", when, id.Verdict)
		}
	}
	doubted("full")
	if rec := s.recorded(eventPolicyIncomplete); len(rec) != 1 || rec[0].Reason != errKeptFull.Error() {
		t.Errorf("recorded %+v", rec)
	}
	s.next(false)
	doubted("the next daemon")
	s.write(agentsFile, tableOf("more", 1))
	doubted("one more")

	s.next(true) // a person does what they were told
	must(t, os.WriteFile(filepath.Join(s.d.opt.State, agentsFile), []byte(mybotTable), 0o600))
	must(t, os.WriteFile(filepath.Join(s.config(), agentsFile), nil, 0o600))
	must(t, os.Remove(s.stored()))
	s.next(false)
	if id := judged(s, true); !isMybot(id) || strings.Contains(toldBy(s), "nobody counts") || s.waits() != 1 {
		t.Errorf("mended: %+v, %s", id.Client, toldBy(s))
	}
}

// TestAgentsThatCantBeWritten: what is known to this daemon only is told, nobody is a person until it is on the disk, and that is
// tried again by itself.
func TestAgentsThatCantBeWritten(t *testing.T) {
	s := newAsking(t)
	inTheWay := filepath.Join(s.d.opt.State, agentsFile)
	must(t, os.MkdirAll(filepath.Join(inTheWay, "x"), 0o700))
	s.write(agentsFile, mybotTable)
	if text := toldBy(s); !strings.Contains(text, errKeptUnwritten.Error()) || !isDoubted(judged(s, false), errKeptUnwritten.Error()) {
		t.Errorf("told %q, judged %+v", text, judged(s, false))
	}
	if rec := s.recorded(eventPolicyIncomplete); len(rec) != 1 || rec[0].Reason != errKeptUnwritten.Error() {
		t.Errorf("recorded %+v", rec)
	}
	must(t, os.RemoveAll(inTheWay))
	wishes{s.d}.reload(s.d.keep)
	if text := toldBy(s); text != "" || !strings.Contains(string(s.read(inTheWay)), "mybot") {
		t.Errorf("told %q", text)
	}
	if n := len(s.recorded(eventPolicyIncomplete)); n != 1 {
		t.Errorf("%d records", n)
	}
}

// TestUnreadableTablesOfAClient: a client that can't read what a daemon would judge by is nobody's.
func TestUnreadableTablesOfAClient(t *testing.T) {
	for _, place := range []string{"config", "state"} {
		t.Run(place, func(t *testing.T) {
			dir := t.TempDir()
			o := Options{Config: filepath.Join(dir, "config"), State: filepath.Join(dir, "state"), Getenv: func(string) string { return "" }}
			for _, path := range []string{o.Config, o.State} {
				must(t, os.Mkdir(path, 0o700))
			}
			must(t, os.WriteFile(filepath.Join(dir, place, agentsFile), []byte("version = 1\n"), 0o666))
			must(t, os.Chmod(filepath.Join(dir, place, agentsFile), 0o666))
			id, err := JudgeSelf(o)
			if err != nil || !isDoubted(id, agentsFile) {
				t.Errorf("judged %s: %s, %v", id.Verdict, id.Why, err)
			}
		})
	}
}

// TestManyChangesAreCounted: what one write to a file makes wait by the hundred is told and asked for by its number, and still shown
// in whole to who asks for all of it.
func TestManyChangesAreCounted(t *testing.T) {
	s := newAsking(t)
	long := "[[agent]]\nclient = \"aaa\"\nmarks = ["
	for i := range maxAsked + 7 {
		long += fmt.Sprintf("\"LONG%d\", ", i)
	}
	s.write(agentsFile, tableOf("flood", 200)+long+"]\n")
	s.write(agentsFile, "version = 1\n"+strings.Repeat("[[agent]]\nclient = \"void\"\n", 150))
	texts, waits := wishes{s.d}.says(true)
	all := strings.Join(texts, "\n")
	if path := filepath.Join(s.config(), agentsFile); waits != 201 || len(texts) != 2*(maxRepeated+1) ||
		!strings.Contains(all, path+": 130 more warnings") || !strings.Contains(all, path+": 181 more wait for you: warder policy") {
		t.Errorf("%d wait, told %d: %s", waits, len(texts), all)
	}
	list := s.pending()
	if len(list.Proposals) != 201 {
		t.Errorf("%d are listed", len(list.Proposals))
	}
	asked := s.do(person(), api.OpPolicyAccept, api.PolicyAccept{Shown: list.Shown})
	s.refused(asked, api.NeedsApproval)
	if text := asked.err.Message; !strings.HasPrefix(text, "accept 201 changes in all: know agent flood0 no longer by name \"flood0\"; ") ||
		!strings.HasSuffix(text, "; and 181 more of what was listed") || len(text) > 2000 {
		t.Errorf("asked %q", text)
	}
	s.write(agentsFile, tableOf("flood", 200))
	asked = s.do(person(), api.OpPolicyAccept, api.PolicyAccept{Shown: s.pending().Shown})
	if text := asked.err.Message; !strings.HasPrefix(text, "know agent aaa no longer by mark") || !strings.HasSuffix(text, ", and 7 more") {
		t.Errorf("asked %q", text)
	}
	s.write(agentsFile, "")
	s.accept()
	s.counts("accepted", 8*time.Hour, 0)
	s.d.keep.unattended = true
	s.write(agentsFile, tableOf("flood", 30))
	s.write(agentsFile, "")
	if texts, _ := (wishes{s.d}).says(true); len(texts) != maxRepeated+1 || !strings.Contains(texts[maxRepeated], "10 more stay as they were") {
		t.Errorf("an unattended one is told %q", texts)
	}
}
