package daemon

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"warder/internal/audit"
	"warder/internal/state"
	"warder/internal/vault"
)

// TestTheTighterCounts plays what users, persons and daemons do in any order, and wants of each option that what counts is the
// tighter of what the file has and what was accepted (at least the default), and that what was given up once does not come back.
func TestTheTighterCounts(t *testing.T) {
	s := newAsking(t)
	account := s.account
	rapid.Check(t, func(t *rapid.T) {
		if err := os.Remove(s.stored()); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		must(s.t, os.WriteFile(filepath.Join(s.config(), configFile), nil, 0o600))
		m := &model{s: s, wanted: map[string]time.Duration{}, accepted: map[string]time.Duration{}}
		m.daemon(account)
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				m.wanted = map[string]time.Duration{}
				for _, w := range widenings() {
					if rapid.Bool().Draw(t, w.name) {
						m.wanted[w.name] = time.Duration(rapid.IntRange(5, 20).Draw(t, "hours")) * time.Hour
					}
				}
				m.write()
			},
			"accept": func(*rapid.T) { m.accept() },
			"begin anew": func(*rapid.T) {
				m.daemon(account)
			},
			"begin locked": func(*rapid.T) { m.daemon(nil) },
			"":             m.check,
		})
	})
}

// TestAnAcceptanceKeepsUpWithTheLog: in a log that keeps little, the record that the acceptance names is rotated away, unless the
// daemon names a later one in time.
func TestAnAcceptanceKeepsUpWithTheLog(t *testing.T) {
	s := newAsking(t)
	s.write(configFile, idleFor("9h"))
	s.accept()
	before, err := readAccepted(s.d.state)
	must(t, err)
	for range maxBehind + 1 {
		s.log.Note(t.Context(), audit.Record{Event: "test.event"})
	}
	wishes{s.d}.reload(s.d.keep)
	after, err := readAccepted(s.d.state)
	must(t, err)
	if after.Seq <= before.Seq+maxBehind {
		t.Errorf("it names record %d, before %d", after.Seq, before.Seq)
	}
	s.next(false)
	s.counts("the next daemon", 9*time.Hour, 0)
}

// TestTicksBesideAcceptance reads files, asks for the status and accepts at once.
func TestTicksBesideAcceptance(t *testing.T) {
	s := newAsking(t)
	m := &model{s: s, open: true, wanted: map[string]time.Duration{}, accepted: map[string]time.Duration{}}
	var beside sync.WaitGroup
	for range 2 {
		beside.Go(func() {
			for range 20 {
				wishes{s.d}.reload(s.d.keep)
				wishes{s.d}.says(true)
				s.d.keep.status()
			}
		})
	}
	for hours := range 10 {
		m.wanted["lock.idle"] = time.Duration(hours+9) * time.Hour
		m.write()
		m.accept()
	}
	beside.Wait()
	s.counts("in the end", 18*time.Hour, 0)
}

// model is what ought to count.
type model struct {
	s                *asking
	open             bool
	wanted, accepted map[string]time.Duration
}

// daemon is a next daemon, with the account that is open already.
func (m *model) daemon(account *vault.Account) {
	d := m.s.d
	fresh := &Daemon{opt: d.opt, state: d.state, log: d.log, audit: d.audit, clock: d.clock}
	fresh.keep = &keeper{clock: d.clock, exists: true, idle: time.Hour, max: time.Hour, account: account, opened: d.clock.moment(), last: d.clock.moment()}
	wishes{fresh}.loadTables()
	acceptor{fresh}.open(account)
	m.s.d, m.open = fresh, account != nil
}

func (m *model) write() {
	text := "[lock]\n"
	for name, d := range m.wanted {
		text += fmt.Sprintf("%s = %q\n", name[len("lock."):], d)
	}
	m.s.write(configFile, text)
	for name, least := range m.standard() {
		if have, found := m.accepted[name]; found {
			wanted, isWanted := m.wanted[name]
			switch {
			case !isWanted || wanted <= least:
				delete(m.accepted, name)
			case wanted < have:
				m.accepted[name] = wanted
			}
		}
	}
}

// accept is what a person does whose presence was proved.
func (m *model) accept() {
	if !m.open {
		return
	}
	w := accepting{m.s.d}
	wishes(w).reload(w.keep)
	list := w.waiting()
	if len(list) == 0 {
		return
	}
	r := &request{acts: m.s.acts, lookup: lookup{who: person().id, account: w.keep.account}, facts: map[string]any{}}
	_, err := w.accept(m.s.t.Context(), r, w.shown(list))
	must(m.s.t, err)
	for name, least := range m.standard() {
		if wanted := m.wanted[name]; wanted > max(least, m.accepted[name]) {
			m.accepted[name] = wanted
		}
	}
}

func (m *model) standard() map[string]time.Duration {
	s, _, err := state.LoadSettings(nil, "", func(string) string { return "" }, nil)
	must(m.s.t, err)
	all := map[string]time.Duration{}
	for _, w := range widenings() {
		all[w.name] = w.of(&s).Value
	}
	return all
}

func (m *model) check(t *rapid.T) {
	waits := 0
	for _, w := range widenings() {
		standard := m.standard()[w.name]
		wanted, isWanted := m.wanted[w.name]
		if !isWanted {
			wanted = standard
		}
		limit := max(standard, m.accepted[w.name])
		if wanted > limit {
			waits++
		}
		if !m.open {
			limit = standard
		}
		if got := *w.counts(&m.s.d.policy); got != min(wanted, limit) {
			t.Fatalf("%s is %s: wanted %s, accepted %s, open %t", w.name, got, wanted, m.accepted[w.name], m.open)
		}
	}
	if got := m.s.waits(); got != waits {
		t.Fatalf("%d wait, want %d", got, waits)
	}
}
