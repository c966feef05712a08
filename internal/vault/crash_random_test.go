package vault_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"

	"warder/internal/vault"
)

// TestKilledAtRandom kills a process that writes without a pause, again and again on one account. What it reported as written is there,
// and at most the one act more that it was about to report.
func TestKilledAtRandom(t *testing.T) {
	oneThread(t)
	t.Parallel()
	s := newScene(t)
	a, _ := create(t, s.account())
	save(t, firstVault(t, a), newItem(t, "counter", "0"))
	a.Lock()
	last := 0
	for round := range 15 {
		acknowledged := dieCounting(t, s, last, round)
		a, err := vault.Open(s.later(s.account()), value(t, password))
		must(t, err)
		found := a.Findings()
		last = counted(t, firstVault(t, a))
		a.Lock()
		if len(found) > 0 || last < acknowledged || last > acknowledged+1 {
			t.Fatalf("round %d: %d acts were acknowledged, %d are there, findings %q", round, acknowledged, last, texts(found))
		}
	}
	if last < 15 {
		t.Fatalf("only %d acts in 15 rounds", last)
	}
	a, err := vault.Open(s.later(s.account()), value(t, password))
	must(t, err)
	healed(t, s.account(), a)
}

// dieCounting lets a process count on from a number and kills it at some moment after a random number of acts. It returns the last act
// that the process acknowledged.
func dieCounting(t *testing.T, s scene, from, round int) (acknowledged int) {
	t.Helper()
	c := startChild(t, command(t, job{Name: "counting for ever", Dir: s.dir, Count: from}))
	acknowledged = from
	for range 1 + rand.IntN(6) {
		acknowledged = number(t, c.await("wrote"))
	}
	yields := rand.IntN(3000) * (round % 2) // every other time at once, while the next act begins
	go func() {
		for range yields {
			runtime.Gosched()
		}
		_ = c.cmd.Process.Kill()
	}()
	for word, rest, ok := c.next(); ok; word, rest, ok = c.next() {
		if word == "wrote" {
			acknowledged = number(t, rest)
		}
	}
	if err := c.cmd.Wait(); err == nil {
		t.Fatal("a process that should count for ever came to an end")
	}
	return acknowledged
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	must(t, err)
	return n
}

// countForEver does one act after another: an edit of the counter together with a new item.
func countForEver(t *testing.T, j job) {
	s := sceneAt(j.Dir)
	a := open(t, s.later(s.account())) // the process before it may have died while it unlocked
	v := firstVault(t, a)
	for n := j.Count + 1; ; n++ {
		counter, err := v.Open(find(t, v, "counter"))
		must(t, err)
		counter.Fields[0].Put(value(t, strconv.Itoa(n)))
		save(t, v, counter, newItem(t, actName(n), strconv.Itoa(n)))
		tell("wrote", n)
	}
}

func actName(n int) string { return fmt.Sprintf("act %05d", n) }

// counted is the counter's value, after checking that every act up to it is there and none after it.
func counted(t *testing.T, v *vault.Vault) int {
	t.Helper()
	text, _ := firstValue(t, v, find(t, v, "counter"))
	n := number(t, text)
	for i := 1; i <= n; i++ {
		if text, _ := firstValue(t, v, find(t, v, actName(i))); text != strconv.Itoa(i) {
			t.Errorf("act %d left %q", i, text)
		}
	}
	if items := len(v.List()); items != n+1 {
		t.Errorf("%d items after %d acts", items, n)
	}
	return n
}
