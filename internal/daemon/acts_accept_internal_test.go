package daemon

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warder/internal/api"
	"warder/internal/caller"
	"warder/internal/seal"
)

// TestAcceptWhatWaits goes the whole way of a longer time: it waits, is accepted with presence, counts at once and in later
// daemons, and is forgotten once the file is stricter.
func TestAcceptWhatWaits(t *testing.T) {
	s := newAsking(t)
	s.write(configFile, idleFor("9h"))
	s.counts("asked for", 8*time.Hour, 1)
	list := s.pending()
	want := api.Proposal{
		File: filepath.Join(s.config(), configFile), Line: 2, Entry: "lock.idle", Accepted: "8h", Proposed: "9h",
		Widens: "the account stays open for longer while nobody uses it",
	}
	if len(list.Proposals) != 1 || list.Proposals[0] != want || len(list.Shown) != 64 {
		t.Errorf("it waits: %+v", list)
	}
	in := api.PolicyAccept{Shown: list.Shown}
	asked := s.do(person(), api.OpPolicyAccept, in)
	s.refused(asked, api.NeedsApproval)
	if asked.err.Message != "let lock.idle be 9h instead of 8h" {
		t.Errorf("asked %q", asked.err.Message)
	}
	s.refused(s.do(person(), api.OpPolicyAccept, proves(t, in, asked), "a wrong password 12"), api.WrongPassword)
	s.counts("a wrong password", 8*time.Hour, 1)
	s.now = s.now.Add(time.Hour)
	asked = s.do(person(), api.OpPolicyAccept, in) // the challenge is too old by now
	var done api.PolicyAccepted
	s.ok(s.do(person(), api.OpPolicyAccept, proves(t, in, asked), masterPassword), &done)
	if len(done.Accepted) != 1 || done.Accepted[0] != want {
		t.Errorf("accepted %+v", done)
	}
	s.counts("accepted", 9*time.Hour, 0)
	if status, _ := s.d.keep.status(); status.LocksAt != "2026-01-02T12:04:05Z" {
		t.Errorf("it locks at %s", status.LocksAt)
	}
	rec := s.recorded(eventPolicyAccepted)
	if len(rec) != 1 || rec[0].Principal.Verdict != "person" || !strings.Contains(string(rec[0].Data), seal.HashOf([]byte(idleFor("9h"))).String()) {
		t.Errorf("recorded %+v", rec)
	}

	s.next(false)
	s.counts("the next daemon", 9*time.Hour, 0)
	s.next(true)
	s.counts("a locked one", 8*time.Hour, 0)
	s.next(false)
	s.counts("unlocked again", 9*time.Hour, 0)
	s.write(configFile, idleFor("100h"))
	s.counts("wider than accepted", 9*time.Hour, 1)
	s.write(configFile, idleFor("8h30m"))
	s.counts("less than accepted", 8*time.Hour+30*time.Minute, 0)
	s.write(configFile, idleFor("9h"))
	s.counts("back", 8*time.Hour+30*time.Minute, 1)
	s.write(configFile, idleFor("1h"))
	s.counts("less than the default", time.Hour, 0)
	s.write(configFile, idleFor("8h30m"))
	s.counts("back again", time.Hour, 1)
	s.next(false)
	s.counts("the next daemon after it was forgotten", time.Hour, 1)
	if n := len(s.d.warnings); n != 0 {
		t.Errorf("warnings: %q", s.d.warnings)
	}
}

// TestNobodyElseAccepts: an agent is told which file waits and no more, and accepts nothing, locked or not.
func TestNobodyElseAccepts(t *testing.T) {
	s := newAsking(t)
	s.write(configFile, "[lock]\nidle = \"9h\"\nmax = \"13h\"\n")
	shown := s.pending().Shown
	for _, locked := range []bool{false, true} {
		if locked {
			s.next(true)
		}
		for _, who := range []*client{agent(), subagent(), unknown()} {
			var list api.PolicyPending
			s.ok(s.do(who, api.OpPolicyPending, nil), &list)
			if len(list.Proposals) != 1 || list.Proposals[0] != (api.Proposal{File: filepath.Join(s.config(), configFile), Widens: "more than counts"}) ||
				list.Shown != "" {
				t.Errorf("%s is shown %+v", who.id.Verdict, list)
			}
			s.acceptsNothing(who, api.PolicyAccept{Shown: shown})
			s.acceptsNothing(who, api.PolicyAccept{})
			s.acceptsNothing(who, api.PolicyAccept{Act: api.Act{Presence: true, Hash: "x", Challenge: "x"}, Shown: shown}, masterPassword)
		}
	}
	texts, waits := wishes{s.d}.says(false)
	if waits != 2 || len(texts) != 1 || !strings.Contains(texts[0], "ask one to run warder policy accept") || strings.Contains(texts[0], "13h") {
		t.Errorf("an agent is told %q", texts)
	}
	s.refused(s.do(person(), api.OpPolicyAccept, api.PolicyAccept{Shown: shown}), api.Locked)
	if _, err := os.Stat(s.stored()); err == nil {
		t.Error("something was stored")
	}
}

// acceptsNothing wants a caller to be denied.
func (s *asking) acceptsNothing(who *client, in api.PolicyAccept, values ...string) {
	s.t.Helper()
	res := s.do(who, api.OpPolicyAccept, in, values...)
	s.refused(res, api.Denied)
	if !strings.Contains(res.err.Hint, "ask a person") {
		s.t.Errorf("the hint is %q", res.err.Hint)
	}
}

// TestAFileThatChangesMeanwhile changes the files between what is shown, what is asked and the proof: nothing is accepted then,
// not even for a comment.
func TestAFileThatChangesMeanwhile(t *testing.T) {
	for name, text := range map[string]string{
		"wider": idleFor("10h"), "another option": idleFor("9h") + "max = \"24h\"\n", "a comment": idleFor("9h") + "# mine\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := newAsking(t)
			path := filepath.Join(s.config(), configFile)
			s.write(configFile, idleFor("9h"))
			in := api.PolicyAccept{Shown: s.pending().Shown}
			asked := s.do(person(), api.OpPolicyAccept, in)
			s.refused(asked, api.NeedsApproval)
			must(t, os.WriteFile(path, []byte(text), 0o600))
			res := s.do(person(), api.OpPolicyAccept, proves(t, in, asked), masterPassword)
			s.refused(res, api.Denied)
			if !strings.Contains(res.err.Message, "not what was shown") {
				t.Errorf("%s", res.err.Message)
			}
			s.refused(s.do(person(), api.OpPolicyAccept, in), api.Denied)
			if s.d.policy.idle != 8*time.Hour || len(s.recorded(eventPolicyAccepted)) != 0 {
				t.Errorf("lock.idle is %s", s.d.policy.idle)
			}
			// A proof for one list is none for the next, either.
			in.Shown = s.pending().Shown
			s.refused(s.do(person(), api.OpPolicyAccept, proves(t, in, asked), masterPassword), api.NeedsApproval)
			s.counts("after a proof of another list", 8*time.Hour, len(s.pending().Proposals))
		})
	}
	s := newAsking(t)
	var done api.PolicyAccepted
	s.ok(s.do(person(), api.OpPolicyAccept, api.PolicyAccept{}), &done)
	if len(done.Accepted) != 0 || s.pending().Proposals == nil {
		t.Errorf("nothing waits: %+v", done)
	}
}

// TestNothingIsAcceptedUnrecorded: where the log can't be written to, nothing counts that did not before.
func TestNothingIsAcceptedUnrecorded(t *testing.T) {
	s := newAsking(t)
	s.write(configFile, idleFor("9h"))
	in := api.PolicyAccept{Shown: s.pending().Shown}
	asked := s.do(person(), api.OpPolicyAccept, in)
	must(t, s.log.Close())
	s.refused(s.do(person(), api.OpPolicyAccept, proves(t, in, asked), masterPassword), api.Denied)
	s.counts("unrecorded", 8*time.Hour, 1)
	if _, err := os.Stat(s.stored()); err == nil {
		t.Error("something was stored")
	}
}

// TestFalseAcceptances puts other files in the place of what a person accepted: none of them counts, each is told and recorded,
// and a person can accept anew.
func TestFalseAcceptances(t *testing.T) {
	s, rejected := newAsking(t), 0
	s.write(configFile, idleFor("9h"))
	lines := func(text []byte) (body, mac []byte) {
		at := bytes.IndexByte(text, '\n') + 1
		return text[:at], text[at:]
	}
	for name, c := range map[string]struct {
		forge func(s *asking, text []byte) []byte
		why   error
	}{
		"a longer time":   {func(_ *asking, b []byte) []byte { return bytes.Replace(b, []byte(`"9h"`), []byte(`"99h"`), 1) }, errForged},
		"another record":  {func(_ *asking, b []byte) []byte { return bytes.Replace(b, []byte(`"seq":`), []byte(`"seq":1`), 1) }, errForged},
		"one bit":         {func(_ *asking, b []byte) []byte { b[len(b)-2] = "10"[b[len(b)-2]&1]; return b }, errForged},
		"half a MAC":      {func(_ *asking, b []byte) []byte { return b[:len(b)-33] }, errForged},
		"no MAC":          {func(_ *asking, b []byte) []byte { body, _ := lines(b); return body }, errForged},
		"two MACs":        {func(_ *asking, b []byte) []byte { _, mac := lines(b); return append(b, mac...) }, errUnreadable},
		"nothing":         {func(*asking, []byte) []byte { return nil }, errUnreadable},
		"no line":         {func(_ *asking, b []byte) []byte { return b[:20] }, errUnreadable},
		"no JSON":         {func(*asking, []byte) []byte { return []byte("x\n00\n") }, errUnreadable},
		"version 0":       {func(*asking, []byte) []byte { return []byte("{}\n00\n") }, errUnreadable},
		"another device":  {func(s *asking, b []byte) []byte { return s.sealedBy(b, s.account.ID(), s.account.ID()) }, errForged},
		"another account": {func(s *asking, b []byte) []byte { return s.sealedBy(b, s.account.Device(), s.account.Device()) }, errForged},
		"another log": {func(s *asking, b []byte) []byte {
			return s.resealed(b, func(a *acceptance) { a.Head = strings.Repeat("0", 64) })
		}, errOtherLog},
		"a longer log":     {func(s *asking, b []byte) []byte { return s.resealed(b, func(a *acceptance) { a.Seq += 1000 }) }, errOtherLog},
		"a forgotten mark": {func(s *asking, b []byte) []byte { return s.resealed(b, func(a *acceptance) { a.Seq, a.Head = 0, "" }) }, errOtherLog},
	} {
		s.accept() // also after the last one was rejected
		s.counts(name+": accepted", 9*time.Hour, 0)
		text := c.forge(s, bytes.Clone(s.read(s.stored())))
		s.next(true)
		must(t, os.WriteFile(s.stored(), text, 0o600))
		s.next(false)
		s.counts(name, 8*time.Hour, 1)
		if all := strings.Join(s.d.warnings, "\n"); !strings.Contains(all, c.why.Error()) {
			t.Errorf("%s: told %q", name, all)
		}
		rejected++
		if rec := s.recorded(eventPolicyRejected); len(rec) != rejected || rec[len(rec)-1].Reason != c.why.Error() {
			t.Errorf("%s: recorded %+v", name, rec)
		}
	}
	s.next(false)
	s.counts("the next daemon", 8*time.Hour, 1)
	if len(s.d.warnings) != 0 {
		t.Errorf("it is told again: %q", s.d.warnings)
	}
}

// sealedBy is a stored text under the right key, for another account and device.
func (s *asking) sealedBy(file []byte, account, device seal.ID) []byte {
	s.t.Helper()
	text := file[:bytes.IndexByte(file, '\n')+1]
	must(s.t, s.account.WithRoot(func(root seal.RootKey) error {
		mac := keyed(s.t, root, account, device, text)
		file = append(hex.AppendEncode(bytes.Clone(text), mac[:]), '\n')
		return nil
	}))
	return file
}

// resealed is a stored text, changed and sealed as the daemon would.
func (s *asking) resealed(file []byte, change func(*acceptance)) []byte {
	s.t.Helper()
	var a acceptance
	must(s.t, json.Unmarshal(file[:bytes.IndexByte(file, '\n')], &a))
	change(&a)
	text, err := json.Marshal(a)
	must(s.t, err)
	return s.sealedBy(append(text, '\n'), s.account.ID(), s.account.Device())
}

// TestOlderAcceptances puts back what was accepted once, after a person has thought better of it.
func TestOlderAcceptances(t *testing.T) {
	for name, c := range map[string]struct {
		since func(s *asking)
		waits string // what the file has then
		idle  time.Duration
	}{
		"narrowed":              {func(s *asking) { s.write(configFile, "") }, "9h", 8 * time.Hour},
		"narrowed a little":     {func(s *asking) { s.write(configFile, idleFor("8h10m")) }, "9h", 8*time.Hour + 10*time.Minute},
		"narrowed while locked": {func(s *asking) { s.next(true); s.write(configFile, idleFor("2h")); s.next(false) }, "9h", 2 * time.Hour},
		"accepted less": {func(s *asking) {
			s.write(configFile, "")
			s.write(configFile, idleFor("8h30m"))
			s.accept()
		}, "9h", 8 * time.Hour},
		"lost": {func(s *asking) {
			must(s.t, os.WriteFile(s.stored(), []byte("x"), 0o600))
			s.next(false)
		}, "9h", 8 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAsking(t)
			s.write(configFile, idleFor("9h"))
			s.accept()
			old := s.read(s.stored())
			c.since(s)
			s.next(true)
			must(t, os.WriteFile(s.stored(), old, 0o600))
			must(t, os.WriteFile(filepath.Join(s.config(), configFile), []byte(idleFor(c.waits)), 0o600))
			s.next(false)
			s.counts("put back", c.idle, 1)
		})
	}
}

// TestAnOlderAcceptanceWithItsLog puts back the log together with the acceptance: the account has signed that there was more.
func TestAnOlderAcceptanceWithItsLog(t *testing.T) {
	s := newAsking(t)
	s.write(configFile, idleFor("9h"))
	s.accept()
	s.next(false)
	stored, logs := s.read(s.stored()), filepath.Join(s.dir, "state", "audit")
	kept := map[string][]byte{}
	files, err := filepath.Glob(filepath.Join(logs, "*"))
	must(t, err)
	for _, file := range files {
		kept[file] = s.read(file)
	}
	s.write(configFile, "")
	if len(s.recorded(eventPolicyTightened)) != 1 {
		t.Fatal("nothing was recorded")
	}
	s.d.keep.before = func(*vaultAccount) bool { return false } // the daemon is killed
	s.next(true)
	for file, text := range kept {
		must(t, os.WriteFile(file, text, 0o600))
	}
	must(t, os.WriteFile(s.stored(), stored, 0o600))
	must(t, os.WriteFile(filepath.Join(s.config(), configFile), []byte(idleFor("9h")), 0o600))
	s.reopenLog()
	s.next(false)
	s.counts("put back with its log", 8*time.Hour, 1)
	if s.d.held.Load() == nil {
		t.Error("the log is taken for whole")
	}
}

// TestAnOlderAcceptanceAndAChangedLog puts back what was accepted and takes the record out of the log that speaks against it.
func TestAnOlderAcceptanceAndAChangedLog(t *testing.T) {
	s := newAsking(t)
	for name, change := range map[string]func(line []byte) []byte{
		"taken out": func([]byte) []byte { return nil },
		"another event": func(line []byte) []byte {
			return bytes.Replace(line, []byte(eventPolicyTightened), []byte("policy.tightenee"), 1)
		},
	} {
		s.write(configFile, idleFor("9h"))
		s.accept()
		old := s.read(s.stored())
		s.write(configFile, "")
		s.pending()
		s.next(true)
		files, err := filepath.Glob(filepath.Join(s.dir, "state", "audit", "*.jsonl"))
		must(t, err)
		var log []byte
		changed := false
		for line := range bytes.Lines(s.read(files[len(files)-1])) {
			if bytes.Contains(line, []byte(eventPolicyTightened)) {
				line, changed = change(line), true
			}
			log = append(log, line...)
		}
		must(t, os.WriteFile(files[len(files)-1], log, 0o600))
		must(t, os.WriteFile(s.stored(), old, 0o600))
		must(t, os.WriteFile(filepath.Join(s.config(), configFile), []byte(idleFor("9h")), 0o600))
		s.reopenLog()
		s.next(false)
		s.counts(name, 8*time.Hour, 1)
		if len(s.recorded(eventPolicyRejected)) == 0 || !changed {
			t.Errorf("%s: the log is taken for whole", name)
		}
		s.write(configFile, "")
	}
}

// TestAnAgentIsGivenUp removes an agent: it stays one until a person accepts, and is none after that, in the next daemon too.
func TestAnAgentIsGivenUp(t *testing.T) {
	const mybot, more = "version = 1\n[[agent]]\nclient = \"mybot\"\nmarks = [\"MYBOT=1\"]\n", "names = [\"mybot\"]\n"
	s := newAsking(t)
	isAgent := func() bool {
		id, err := s.d.tables.Load().JudgeSelf(func(name string) string { return map[string]string{"MYBOT": "1"}[name] })
		must(t, err)
		return id.Client == "mybot"
	}
	s.write(agentsFile, mybot+more)
	s.write(agentsFile, "version = 1\n[[agent]]\nclient = \"mybot\"\n"+more)
	s.counts("changed", 8*time.Hour, 1)
	want := api.Proposal{
		File: filepath.Join(s.config(), agentsFile), Entry: "agent mybot", Accepted: "mark \"MYBOT=1\"\nname \"mybot\"", Proposed: "name \"mybot\"",
		Widens: "what it is no longer known by can count as a person",
	}
	if got := s.pending().Proposals; len(got) != 1 || got[0] != want || !isAgent() {
		t.Errorf("%+v, an agent: %t", got, isAgent())
	}
	asked := s.do(person(), api.OpPolicyAccept, api.PolicyAccept{Shown: s.pending().Shown})
	if asked.err == nil || asked.err.Message != `know agent mybot no longer by mark "MYBOT=1"` {
		t.Errorf("asked %v", asked.err)
	}
	s.accept()
	s.counts("accepted", 8*time.Hour, 0)
	if isAgent() {
		t.Error("it is still an agent")
	}
	s.next(false)
	s.counts("the next daemon", 8*time.Hour, 0)
	if isAgent() {
		t.Error("it is an agent again")
	}
	s.write(agentsFile, "version = 1\n[[agent]]\npaths = [\"/no/part\"]\nclient = \"void\"\n"+more)
	s.write(agentsFile, "")
	s.counts("all removed, and one that never counted", 8*time.Hour, 1)
	s.accept()
	s.next(true)
	s.counts("none left", 8*time.Hour, 0)
}

// TestAnAgentIsTakenFromBothFiles: who writes the state directory too takes an agent away until the account is unlocked.
func TestAnAgentIsTakenFromBothFiles(t *testing.T) {
	s := newAsking(t)
	s.write(agentsFile, "version = 1\n[[agent]]\nclient = \"mybot\"\nmarks = [\"MYBOT=1\"]\n")
	s.next(true)
	must(t, os.Remove(filepath.Join(s.config(), agentsFile)))
	must(t, os.Remove(filepath.Join(s.dir, "state", agentsFile)))
	s.next(false)
	id, err := s.d.tables.Load().JudgeSelf(func(name string) string { return map[string]string{"MYBOT": "1"}[name] })
	must(t, err)
	if id.Verdict != caller.Agent || id.Client != "mybot" || len(s.d.warnings) != 1 {
		t.Errorf("judged %s %s; %q", id.Verdict, id.Client, s.d.warnings)
	}
	s.counts("put back", 8*time.Hour, 1)
}

// TestUnattendedAccountsAcceptNothing: times change nothing there, an agent stays, and no command is named that would be refused.
func TestUnattendedAccountsAcceptNothing(t *testing.T) {
	s := newAsking(t)
	s.acts.unattended, s.d.keep.unattended = true, true
	s.write(agentsFile, "version = 1\n[[agent]]\nclient = \"mybot\"\nmarks = [\"MYBOT=1\"]\n")
	s.write(agentsFile, "")
	s.write(configFile, idleFor("9h"))
	for _, isPerson := range []bool{true, false} {
		texts, waits := wishes{s.d}.says(isPerson)
		all := strings.Join(texts, "\n")
		if waits != 0 || len(texts) != 2 || strings.Contains(all, "policy accept") || !strings.Contains(all, "not locked by time") ||
			!strings.Contains(all, "unattended account") {
			t.Errorf("told %q", texts)
		}
	}
	res := s.do(person(), api.OpPolicyAccept, api.PolicyAccept{Shown: s.pending().Shown})
	s.refused(res, api.Denied)
	res = s.do(agent(), api.OpPolicyAccept, api.PolicyAccept{})
	s.refused(res, api.Denied)
	if strings.Contains(res.err.Hint, "ask a person") || len(s.pending().Proposals) > 0 {
		t.Errorf("an agent is told %q, %+v", res.err.Hint, s.pending())
	}
	if s.d.policy.idle != 8*time.Hour {
		t.Errorf("lock.idle is %s", s.d.policy.idle)
	}
}
