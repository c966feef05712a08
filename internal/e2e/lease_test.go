package e2e_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"warder/internal/e2e/person"
	"warder/internal/testkit"
)

// lasting is a program that waits until it is let go, in a world with an item for it.
type lasting struct {
	*house
	begun, gate string
}

func newLasting(t *testing.T) *lasting {
	t.Helper()
	uid := 0
	if os.Getuid() == 0 {
		uid = testkit.UID // root reads what hides itself
	}
	h := newHouse(t, person.Options{UID: uid})
	h.mustRun(t, "echo "+token("ghp_")+" | warder item add github-token --type api-token --level use")
	l := &lasting{house: h, begun: filepath.Join(h.Home(), "begun"), gate: filepath.Join(h.Home(), "gate")}
	h.mustRun(t, "mkfifo "+l.gate)
	return l
}

// script waits at the gate, and goes on with what follows.
func (l *lasting) script(follows string) string {
	return "echo > " + l.begun + "; read line < " + l.gate + "; " + follows
}

// awaitLease waits until the program runs and its lease is written down.
func (l *lasting) awaitLease(t *testing.T) {
	t.Helper()
	until(t, "the program begins", func() bool { return exists(l.begun) })
	until(t, "the lease is written down", func() bool { return len(l.leases()) == 1 })
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// leases are the files of the open leases.
func (l *lasting) leases() []string {
	list, _ := filepath.Glob(filepath.Join(l.WarderHome(), "state", "leases", "i*"))
	return list
}

// outcomes are those of runs in the log, but for the one that setup tried.
func (l *lasting) outcomes(t *testing.T) string {
	t.Helper()
	return l.door.Run(t, `warder audit tail -n 1000 --json | grep '"tool":"run"' | grep -o '"outcome":"[^"]*","reported_by":[^,]*' | tail -n +2`).Output
}

// TestLeaseOutlivesItsDaemon: a run goes on while the daemon is exchanged, by unlocking or after it was killed. The next daemon records how it
// ended, also where its client died meanwhile.
func TestLeaseOutlivesItsDaemon(t *testing.T) {
	for _, row := range []struct {
		name     string
		exchange func(t *testing.T, l *lasting)
		end      func(t *testing.T, l *lasting)
		status   int
		outcome  string
	}{
		{"unlocked anew", func(t *testing.T, l *lasting) {
			l.lock(t)
			l.unlock(t)
		}, func(t *testing.T, l *lasting) { l.mustRun(t, "echo > "+l.gate) }, 7, `"outcome":"exit 7","reported_by":"client"`},
		{"killed", func(t *testing.T, l *lasting) {
			l.mustRun(t, "kill -KILL "+strconv.Itoa(l.status(t).Daemon.PID))
			l.unlock(t)
		}, func(t *testing.T, l *lasting) { l.mustRun(t, "echo > "+l.gate) }, 7, `"outcome":"exit 7","reported_by":"client"`},
		{"with its client", func(t *testing.T, l *lasting) {
			l.mustRun(t, "kill -KILL "+strconv.Itoa(l.status(t).Daemon.PID))
			l.mustRun(t, "pkill -KILL -x warder; true")
			l.unlock(t)
		}, func(*testing.T, *lasting) {}, 1, `"outcome":"unknown","reported_by":null`},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := newLasting(t)
			argv := l.Under(t, "claude", l.Warder(), "run", "github-token", "--env-var", "V", "--", "sh", "-c", l.script("exit 7"))
			wait := l.Background(t, person.Command{Argv: argv})
			l.awaitLease(t)
			row.exchange(t, l)
			row.end(t, l)
			if r := wait(t); r.Status != row.status {
				t.Errorf("the run: %+v", r)
			}
			var last string
			until(t, "the outcome is recorded", func() bool {
				last = l.outcomes(t)
				return strings.Contains(last, row.outcome)
			})
			if strings.Count(last, `"outcome"`) != 1 {
				t.Errorf("recorded %s", last)
			}
			until(t, "the note is gone", func() bool { return len(l.leases()) == 0 })
		})
	}
}

// TestLeaseOfAStranger: a note that another program of the user wrote beside the daemon's names nobody.
func TestLeaseOfAStranger(t *testing.T) {
	l := newLasting(t)
	dir := filepath.Join(l.WarderHome(), "state", "leases")
	argv := l.Under(t, "claude", l.Warder(), "run", "github-token", "--env-var", "V", "--", "sh", "-c", l.script("true"))
	wait := l.Background(t, person.Command{Argv: argv})
	l.awaitLease(t)
	name := filepath.Base(l.leases()[0])
	l.mustRun(t, "umask 077; sed s/run/fun/ "+l.leases()[0]+" > "+filepath.Join(dir, "iforged"))
	l.mustRun(t, "umask 077; cp "+filepath.Join(dir, name)+" "+filepath.Join(dir, "icopied"))
	l.mustRun(t, "umask 077; echo nothing > "+filepath.Join(dir, "inothing"))
	l.lock(t)
	l.unlock(t)
	if list := l.leases(); len(list) != 1 || filepath.Base(list[0]) != name {
		t.Errorf("what is left: %q", list)
	}
	l.mustRun(t, "echo > "+l.gate)
	wait(t)
	if out := l.outcomes(t); strings.Count(out, `"outcome"`) != 1 {
		t.Errorf("recorded %s", out)
	}
}

// TestBelowALeaseThatWasTakenOver: who runs below a run is judged as if that were not there, also by the next daemon.
func TestBelowALeaseThatWasTakenOver(t *testing.T) {
	l := newLasting(t)
	other := l.Terminal(t, person.Shell{})
	other.Begin(t, "warder run github-token --env-var V -- sh -c '"+l.script("warder whoami")+"'")
	l.awaitLease(t)
	l.lock(t)
	l.unlock(t)
	l.mustRun(t, "echo > "+l.gate)
	wantsShown(t, "whoami below it", other.Finish(t), 0, "person")
}

// TestProofServesRunsForAWhile: one proof serves the runs of the same terminal, and no other act, terminal or multiplexer.
func TestProofServesRunsForAWhile(t *testing.T) {
	h := newHouse(t, person.Options{})
	h.add(t, token("closed-"), "bank --type password")
	const run = `warder run bank --env-var V -- sh -c 'echo "got $V"'`
	wantsShown(t, "the first", h.prove(t, run), 0, "got closed-")
	wantsShown(t, "the next", h.door.Run(t, run), 0, "got closed-")
	wantsShown(t, "seeing it", h.prove(t, "warder item show bank --reveal"), 0, "closed-")
	other := h.Terminal(t, person.Shell{})
	other.Begin(t, run)
	other.Answer(t, askProof, h.password)
	wantsShown(t, "another terminal", other.Finish(t), 0, "got closed-")
	multi := h.Terminal(t, person.Shell{Terminal: "tmux"})
	for range 2 {
		multi.Begin(t, run)
		multi.Answer(t, askProof, h.password)
		wantsShown(t, "a multiplexer, unmasked after presence", multi.Finish(t), 0, `got closed-`)
	}
	argv := h.Under(t, "codex", h.Warder(), "run", "bank", "--env-var", "V", "--", "true")
	wantsShown(t, "an agent in that terminal", h.door.Run(t, person.Line(argv...)), 125, `error\[not_found\]`)
	h.lock(t)
	h.unlock(t)
	wantsShown(t, "after a lock", h.prove(t, run), 0, "got closed-")
}

// TestS2_22_wiped: while the program runs, nothing that root can read of the process that started it, its memory first of all, has the
// value; the program's own does, so the reader finds what is there.
func TestS2_22_wiped(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root reads a process that hides itself")
	}
	h := newHouse(t, person.Options{})
	value := token("ghp_")
	h.add(t, value, "github-token --type api-token --level use")
	l := &lasting{house: h, begun: filepath.Join(h.Home(), "begun"), gate: filepath.Join(h.Home(), "gate")}
	h.mustRun(t, "mkfifo "+l.gate)
	for _, mask := range []string{"", "--mask "} {
		other := l.Terminal(t, person.Shell{})
		other.Begin(t, "warder run github-token --env-var V "+mask+"-- sh -c '"+l.script("true")+"'")
		l.awaitLease(t)
		pids := func(pattern string) []string {
			return strings.Fields(l.mustRun(t, "pgrep -f '"+pattern+"'; true"))
		}
		for _, pid := range pids("^warder (run|stage)") {
			got := readAll(t, l.World, atoi(t, pid), []string{value})
			if len(got.Hits) > 0 || len(got.Read) == 0 {
				t.Errorf("%swarder (%s) still has it: %q", mask, pid, got.Hits)
			}
		}
		child := pids("^sh -c echo")
		if len(child) != 1 || len(readAll(t, l.World, atoi(t, child[0]), []string{value}).Hits) == 0 {
			t.Errorf("%sthe reader does not find it in the program %q", mask, child)
		}
		l.mustRun(t, "rm "+l.begun+"; echo > "+l.gate)
		other.Finish(t)
		until(t, "the note is gone", func() bool { return len(l.leases()) == 0 })
	}
}

func atoi(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
