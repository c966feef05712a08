package vault_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warder/internal/vault"
)

// attack is one row of the attack table: what somebody who can write to the account directory does, and what a device must find.
// It is judged twice: by one that saw the account before ("seen"), and by one that never did ("fresh").
type attack struct {
	name    string
	prepare func(*replica) // what happens before, rightfully
	do      func(*replica)
	device  string // that has seen the account; A if empty
	local   bool   // it is the device's own state that is changed: undoing it is Repair's
	seen    verdict
	fresh   verdict
}

// verdict is what a device must make of an attack.
type verdict struct {
	found []string          // findings as told; "!" marks an alarm. Without an alarm writes must work, with one they must be refused
	reads map[string]string // what is served otherwise than before, by "vault/item"; "" is not listed any more
	code  codeIs            // compared with a device that sees the account as it should be
	later []string          // what is found once the attack is undone, if the device had taken it for the truth
}

type codeIs string

const (
	sameCode  codeIs = "same"
	otherCode codeIs = "differs"
)

// TestAttackTable goes through every way in which F1.9 says that the store can be changed behind the back of its devices; with -short
// through some.
func TestAttackTable(t *testing.T) {
	w := newWorld(t)
	tables := [][]attack{
		rootAttacks(), storeAttacks(), behindAttacks(), replayAttacks(), itemAttacks(), shardAttacks(), orphanAttacks(),
		memoryAttacks(), cardAttacks(), keysetAttacks(), vaultAttacks(),
	}
	for i, row := range slices.Concat(tables...) {
		if sampled(i) {
			t.Run(row.name, func(t *testing.T) { row.test(t, w) })
		}
	}
}

// TestAttackTableOfOneVault goes through what can be done to the least account: one device, one vault. No other vault's roots tell
// of what is gone, and no other device's.
func TestAttackTableOfOneVault(t *testing.T) {
	w := newSmallWorld(t)
	for _, row := range oneVaultAttacks() {
		t.Run(row.name, func(t *testing.T) { row.test(t, w) })
	}
}

// test judges an attack by a device that has seen the account, and by one that has not.
func (row attack) test(t *testing.T, w *world) {
	seen := row.device
	if seen == "" {
		seen = "A"
	}
	t.Run("seen", func(t *testing.T) {
		t.Parallel()
		row.judge(w.replica(t), seen, row.seen)
	})
	t.Run("fresh", func(t *testing.T) {
		t.Parallel()
		row.judge(w.replica(t), "C", row.fresh)
	})
}

// staged is an attack that was made.
type staged struct {
	device        string // that looks
	password      string // the right one
	before, after map[string]string
}

// judge makes the attack and lets a device look at what is left.
func (row attack) judge(r *replica, device string, want verdict) {
	r.Helper()
	if row.prepare != nil {
		row.prepare(r)
		r.copy().as("A", func(a *vault.Account) { r.reads = r.served(r.T, a) })
	}
	s := staged{device: device, password: r.password, before: r.tree()}
	row.do(r)
	s.after = r.tree()

	a := r.open(device)
	r.sees(a, want)
	if !row.local {
		s.witness(r, a, want)
	}
	r.writes(a, want.found)
	r.ages(a, want)
	if row.local {
		return
	}
	r.undo(s.before, s.after)
	if diff := cmp.Diff(want.later, r.check(a), sorted()); diff != "" {
		r.Errorf("findings after the attack was undone (-want +got):\n%s", diff)
	}
}

// check reads the whole store again.
func (r *replica) check(a *vault.Account) []string {
	r.Helper()
	found, err := a.Check()
	if err != nil {
		r.Fatal(err)
	}
	return r.told(found)
}

// sees compares findings and served values.
func (r *replica) sees(a *vault.Account, want verdict) {
	r.Helper()
	if diff := cmp.Diff(want.found, r.told(a.Findings()), sorted()); diff != "" {
		r.Errorf("findings (-want +got):\n%s", diff)
	}
	reads := maps.Clone(r.reads)
	for key, text := range want.reads {
		if text == "" {
			delete(reads, key)
		} else {
			reads[key] = text
		}
	}
	if diff := cmp.Diff(reads, r.served(r.T, a)); diff != "" {
		r.Errorf("served (-want +got):\n%s", diff)
	}
}

// sorted compares lists of findings, none and nil being the same.
func sorted() cmp.Option {
	return cmp.Transformer("sorted", func(list []string) []string { return append([]string{}, slices.Sorted(slices.Values(list))...) })
}

// witness lets another device look at a copy of the store in which the attack is undone: it finds nothing wrong and all there, since what
// a device made of the store while it was attacked must not have harmed it. Its state code is what people compare with.
func (s staged) witness(r *replica, attacked *vault.Account, want verdict) {
	r.Helper()
	c := r.copy()
	c.password = s.password
	c.undo(s.before, s.after)
	witness := "A"
	if s.device == "A" {
		witness = "B"
	}
	c.as(witness, func(a *vault.Account) {
		if want.later == nil {
			if diff := cmp.Diff([]string(nil), c.told(a.Findings()), sorted()); diff != "" {
				r.Errorf("findings of %s after the attack was undone (-want +got):\n%s", witness, diff)
			}
			if diff := cmp.Diff(r.reads, c.served(r.T, a)); diff != "" {
				r.Errorf("served to %s after the attack was undone (-want +got):\n%s", witness, diff)
			}
		}
		if same := a.StateCode() == attacked.StateCode(); same != (want.code == sameCode) {
			r.Errorf("the state code under the attack is that of %s, which sees the truth: %t, want %s", witness, same, want.code)
		}
	})
}

// writes tries to add an item: an alarm must refuse it, anything else must not.
func (r *replica) writes(a *vault.Account, found []string) {
	r.Helper()
	vaults := a.Vaults()
	if len(vaults) == 0 {
		return
	}
	it := newItem(r, "written at "+r.now.String(), "x")
	it.ID = r.freshID()                   // in no shard that is broken: that one can't be written
	err := vaults[len(vaults)-1].Save(it) // the first may be one that has lost its name
	var refused *vault.AlarmError
	if alarmed := slices.ContainsFunc(found, isAlarm); alarmed != errors.As(err, &refused) || !alarmed && err != nil {
		r.Errorf("an alarm stands: %t, and writing says: %v", alarmed, err)
	}
}

func isAlarm(found string) bool { return strings.Contains(found, "!") }

// waits says whether a finding becomes an alarm with time.
func waits(found string) bool {
	return !isAlarm(found) && !strings.HasPrefix(found, string(vault.FindOrphan))
}

// ages lets time pass: what is only absent is an alarm after the grace time, and not before. A device that an alarm kept from being
// enrolled remembers nothing; it is stopped by that alarm.
func (r *replica) ages(a *vault.Account, want verdict) {
	r.Helper()
	unenrolled := a.Device().IsZero()
	if !slices.ContainsFunc(want.found, waits) || unenrolled {
		return
	}
	start := r.now
	for _, step := range []struct {
		passed time.Duration
		alarm  bool
	}{{24*time.Hour - time.Millisecond, false}, {24 * time.Hour, true}} {
		r.now = start.Add(step.passed)
		found := r.check(a)
		for _, f := range want.found {
			if waits(f) && step.alarm {
				f = strings.Replace(f, " ", "! ", 1)
			}
			if !slices.Contains(found, f) {
				r.Errorf("after %s %q is not among %q", step.passed, f, found)
			}
		}
		r.writes(a, found)
	}
}
