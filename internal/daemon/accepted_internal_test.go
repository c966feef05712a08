package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"warder/internal/audit"
	"warder/internal/gate"
	"warder/internal/vault"
)

// TestTheTighterCounts plays what users, persons and daemons do in any order, and wants of each option that what counts is the
// tighter of what the file has and what is in force: the default, what a person accepted, or what was tighter in the file since.
func TestTheTighterCounts(t *testing.T) {
	s := newAsking(t)
	account := s.account
	rapid.Check(t, func(t *rapid.T) {
		if err := os.Remove(s.stored()); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		must(s.t, os.WriteFile(filepath.Join(s.config(), configFile), nil, 0o600))
		m := &model{s: s}
		m.begin()
		m.daemon(account)
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				m.wanted = map[string]int64{}
				for _, w := range widenings() {
					if rapid.Bool().Draw(t, w.name) { // on either side of the default
						m.wanted[w.name] = w.parse("").value * rapid.Int64Range(1, 6).Draw(t, "thirds") / 3
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
	wishes{s.d}.keepUp()
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
	m := &model{s: s, open: true}
	m.begin()
	var beside sync.WaitGroup
	for range 2 {
		beside.Go(func() {
			for range 20 {
				wishes{s.d}.reload(s.d.keep)
				wishes{s.d}.keepUp()
				wishes{s.d}.says(true)
				s.d.keep.status()
			}
		})
	}
	for hours := range 10 {
		m.wanted["lock.idle"] = int64(time.Duration(hours+9) * time.Hour)
		m.write()
		m.accept()
	}
	beside.Wait()
	s.counts("in the end", 18*time.Hour, 0)
}

// model is what ought to count.
type model struct {
	s               *asking
	open            bool
	wanted, inForce map[string]int64 // by option
}

// begin is before anything was wanted, whatever the log tells of an earlier model.
func (m *model) begin() {
	m.wanted, m.inForce = map[string]int64{}, map[string]int64{}
	texts := map[string]string{}
	for _, w := range widenings() {
		m.inForce[w.name], texts[w.name] = w.parse("").value, w.parse("").text
	}
	_, err := m.s.log.Append(m.s.t.Context(), audit.Record{Event: eventPolicyAccepted, Data: dataOf(tightened{texts})})
	must(m.s.t, err)
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
	text := ""
	for _, w := range widenings() {
		value, isWanted := m.wanted[w.name]
		if !isWanted {
			continue
		}
		said := strconv.FormatInt(value, 10)
		if strings.HasPrefix(w.name, "lock.") {
			said = strconv.Quote(time.Duration(value).String())
		}
		text += w.name + " = " + said + "\n"
	}
	m.s.write(configFile, text)
	for _, w := range widenings() {
		m.inForce[w.name] = tightest(w, m.inForce[w.name], m.wants(w))
	}
}

// tightest is the value that lets least happen.
func tightest(w widening, values ...int64) int64 {
	if w.lessWidens {
		return slices.Max(values)
	}
	return slices.Min(values)
}

// wants is what the file has for an option.
func (m *model) wants(w widening) int64 {
	if value, isWanted := m.wanted[w.name]; isWanted {
		return value
	}
	return w.parse("").value
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
	r := &request{Intent: gate.NewIntent("policy.accept", gate.Session{Who: person().id}), acts: m.s.acts, lookup: lookup{who: person().id, account: w.keep.account}}
	w.wishing.Lock()
	shown := w.shown(list)
	w.wishing.Unlock()
	_, err := w.accept(m.s.t.Context(), r, shown)
	must(m.s.t, err)
	for _, w := range widenings() {
		m.inForce[w.name] = m.wants(w)
	}
}

func (m *model) check(t *rapid.T) {
	waits := 0
	var want settings
	for _, w := range widenings() {
		counts := tightest(w, m.wants(w), m.inForce[w.name])
		if counts != m.wants(w) {
			waits++
		}
		if !m.open {
			counts = tightest(w, counts, w.parse("").value)
		}
		w.count(&want, counts)
	}
	if m.s.d.policy != want {
		t.Fatalf("%+v counts, want %+v: wanted %v, in force %v, open %t", m.s.d.policy, want, m.wanted, m.inForce, m.open)
	}
	if got := m.s.waits(); got != waits {
		t.Fatalf("%d wait, want %d", got, waits)
	}
}
