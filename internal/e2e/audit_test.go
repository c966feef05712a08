package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"warder/internal/e2e/person"
)

// verdict is what "warder audit verify --json" prints.
type verdict struct {
	OK       bool   `json:"ok"`
	Events   uint64 `json:"events"`
	Segments int    `json:"segments"`
	Full     bool   `json:"full"`
	FirstBad *struct {
		Seq   uint64 `json:"seq"`
		Cause string `json:"cause"`
	} `json:"first_bad"`
}

// verify asks for the verdict on the log, and wants the exit status to say the
// same.
func (h *house) verify(t *testing.T) verdict {
	t.Helper()
	r := h.door.Run(t, "warder audit verify --json")
	v := decode[verdict](t, r.Output)
	if want := map[bool]int{true: 0, false: 8}[v.OK]; r.Status != want {
		t.Errorf("verify exits with %d: %s", r.Status, r.Output)
	}
	return v
}

// whole wants a log without fault. Full says that each record is to be proved.
func (h *house) whole(t *testing.T, full bool) verdict {
	t.Helper()
	v := h.verify(t)
	if !v.OK || v.Full != full || v.FirstBad != nil {
		t.Errorf("the log is %+v, bad %+v, want a whole one, proved %v", v, v.FirstBad, full)
	}
	return v
}

// bad wants the verdict that the log is wrong first at seq, for this cause, in
// both forms.
func (h *house) bad(t *testing.T, seq uint64, causes ...string) {
	t.Helper()
	v := h.verify(t)
	if v.OK || v.FirstBad == nil || seq != 0 && v.FirstBad.Seq != seq || !slices.Contains(causes, v.FirstBad.Cause) {
		t.Errorf("the log is %+v, bad %+v; want seq %d, %v", v, v.FirstBad, seq, causes)
		return
	}
	wantsShown(t, "verify", h.door.Run(t, "warder audit verify"), 8, fmt.Sprintf(`seq %d\b.*%s`, v.FirstBad.Seq, v.FirstBad.Cause))
}

// segments are the files of the log, the oldest first.
func (h *house) segments(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(h.WarderHome(), "state", "audit", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no segment of the log: %v", err)
	}
	slices.Sort(files)
	return files
}

// record is the part of a record that these tests read.
type record struct {
	Seq       uint64 `json:"seq"`
	Event     string `json:"event"`
	Tool      string `json:"tool"`
	Principal *struct {
		Verdict string `json:"verdict"`
		Client  string `json:"client"`
	} `json:"principal"`
}

// records reads the log's files.
func (h *house) records(t *testing.T) []record {
	t.Helper()
	var all []record
	for _, file := range h.segments(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var r record
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatalf("%s: %q: %v", file, line, err)
			}
			all = append(all, r)
		}
	}
	return all
}

// often is a command that runs another one so often, whatever it answers.
func often(times int, argv ...string) []string {
	const loop = `n=$1; shift; while [ "$n" -gt 0 ]; do "$@" >/dev/null 2>&1; n=$((n-1)); done`
	return append([]string{"sh", "-c", loop, "sh", strconv.Itoa(times)}, argv...)
}

// TestDone3_twoClients: two agents act at the same time until each has left 500
// events.
func TestDone3_twoClients(t *testing.T) {
	h := newHouse(t, person.Options{})
	h.add(t, token("v-"), "github --type api-token --level use")
	const each = 3 // of an act: asked, decided, done
	events := 500
	if testing.Short() {
		events = 60
	}
	var waits []func(testing.TB) person.Result
	clients := []string{"claude", "codex"}
	for _, client := range clients {
		argv := h.Under(t, client, often(events/each+1, h.Warder(), "item", "check", "github")...)
		waits = append(waits, h.Background(t, person.Command{Argv: argv}))
	}
	for _, wait := range waits {
		wait(t)
	}
	v := h.whole(t, true)
	count := map[string]int{}
	all := h.records(t)
	for i, r := range all {
		if r.Seq != uint64(i)+1 {
			t.Fatalf("record %d has seq %d", i+1, r.Seq)
		}
		if r.Principal != nil {
			count[r.Principal.Client]++
		}
	}
	for _, client := range clients {
		if count[client] < events {
			t.Errorf("%s left %d events, want %d", client, count[client], events)
		}
	}
	if v.Events < 2*uint64(events) {
		t.Errorf("verified %d events", v.Events)
	}
}

// TestDone3_killed kills the daemon again and again while an agent acts.
func TestDone3_killed(t *testing.T) {
	h := newHouse(t, person.Options{})
	h.add(t, token("v-"), "github --type api-token --level use")
	wait := h.Background(t, person.Command{Argv: h.Under(t, "claude", often(150, h.Warder(), "item", "check", "github")...)})
	for range 3 {
		s := h.status(t)
		from, killed := s.Audit.Seq, s.Daemon.PID
		until(t, "the agent acts", func() bool { return h.status(t).Audit.Seq > from+5 })
		h.mustRun(t, fmt.Sprintf("kill -9 %d", killed))
		until(t, "the agent's next command starts another daemon", func() bool {
			s = h.status(t)
			return s.Daemon.Running && s.Daemon.PID != killed
		})
	}
	wait(t)
	h.whole(t, false) // nobody has unlocked the new one
	h.unlock(t)
	h.whole(t, true)
	wantsShown(t, "the account", h.door.Run(t, "warder item list"), 0, `github`)
}

// TestDone3_lockedAppends: a locked daemon notes what is tried, without keys,
// and what it noted is proved when it is unlocked.
func TestDone3_lockedAppends(t *testing.T) {
	h := newHouse(t, person.Options{})
	h.lock(t)
	before := h.status(t).Audit.Seq
	for range 5 {
		wants(t, "an agent", h.agent(t, "", "item", "list"), 6, `error\[locked\]`)
	}
	if after := h.status(t).Audit.Seq; after < before+5 {
		t.Errorf("a locked daemon noted %d events", after-before)
	}
	h.whole(t, false)
	h.unlock(t)
	h.whole(t, true)
}

// TestDone3_flippedByte changes one byte of one record, at several places of it,
// then declares the break, and then takes the broken segment away.
func TestDone3_flippedByte(t *testing.T) {
	h := newHouse(t, person.Options{})
	h.add(t, token("v-"), "github --type api-token --level use")
	for range 4 {
		h.agent(t, "", "item", "check", "github")
	}
	all := h.records(t)
	seq := all[len(all)/2].Seq
	file := h.segments(t)[0]
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	start := len(bytes.Join(lines[:seq-1], nil))
	for _, part := range []int{4, 3, 2} { // a quarter, a third, half into the record
		at := start + len(lines[seq-1])/part
		overwrite(t, file, at, text[at]^1)
		h.bad(t, seq, "tamper")
		overwrite(t, file, at, text[at])
	}
	h.whole(t, true)

	at := start + len(lines[seq-1])/2
	overwrite(t, file, at, text[at]^1)
	wants(t, "seal by an agent", h.agent(t, "", "audit", "seal"), 3, `error\[denied\]`)
	wantsShown(t, "seal", h.prove(t, "warder audit seal"), 0, fmt.Sprintf(`seq %d`, seq))
	if kept, err := os.ReadFile(file); err != nil || kept[at] != text[at]^1 {
		t.Errorf("the broken segment was changed: %v", err)
	}
	if v := h.verify(t); !v.OK || v.Segments < 2 {
		t.Errorf("after the declaration: %+v, bad %+v", v, v.FirstBad)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	h.bad(t, 0, "gap")
}

// overwrite puts one byte into a file that a daemon has open.
func overwrite(t *testing.T, file string, at int, b byte) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte{b}, int64(at)); err != nil {
		t.Fatal(err)
	}
}

// TestDone3_cutTail takes the last records away while no daemon runs, and the
// next one has to notice.
func TestDone3_cutTail(t *testing.T) {
	h := newHouse(t, person.Options{})
	h.mustRun(t, "warder daemon stop")
	file := h.segments(t)[0]
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
	kept := strings.Join(lines[:len(lines)-2], "")
	if err := os.Truncate(file, int64(len(kept))); err != nil {
		t.Fatal(err)
	}
	h.bad(t, uint64(len(lines)-1), "cut")
	h.unlock(t)
	h.bad(t, uint64(len(lines)-1), "cut")
	wantsShown(t, "status", h.Terminal(t, person.Shell{Terminal: "xterm"}).Run(t, "warder status --json"), 8, `"audit":\{"seq":\d+,[^}]*"ok":false,[^}]*"first_bad":\{"seq":\d+,"cause":"cut"`)
}

// TestAuditRemoved takes the whole log away from an account that was only read.
func TestAuditRemoved(t *testing.T) {
	h := newHouse(t, person.Options{})
	for range 10 {
		h.agent(t, "", "item", "list")
	}
	h.mustRun(t, "warder daemon stop")
	if err := os.RemoveAll(filepath.Join(h.WarderHome(), "state", "audit")); err != nil {
		t.Fatal(err)
	}
	h.unlock(t)
	h.bad(t, 0, "cut", "gap")
	h.lock(t)
	h.unlock(t)
	h.bad(t, 0, "cut", "gap")
	wantsShown(t, "seal", h.prove(t, "warder audit seal"), 0, ``)
	if v := h.verify(t); !v.OK {
		t.Errorf("after it was declared the log is %+v, bad %+v", v, v.FirstBad)
	}
}

// TestAuditFollow: a person watches what an agent does, as it does it.
func TestAuditFollow(t *testing.T) {
	h := newHouse(t, person.Options{})
	h.add(t, token("v-"), "github --type api-token --level use")
	watching := h.Terminal(t, person.Shell{Terminal: "xterm"})
	watching.Begin(t, "warder audit tail -n 1 --follow")
	watching.Expect(t, `item\.add.*\r\n`)
	wants(t, "check", h.agent(t, "", "item", "check", "github"), 0, ``)
	watching.Expect(t, `agent claude +permission\.decided +item\.check.*github.*allow`)
	watching.Interrupt(t)
	watching.Finish(t)
	h.whole(t, true)
}
