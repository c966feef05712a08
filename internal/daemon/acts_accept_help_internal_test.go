package daemon

import (
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"warder/internal/api"
	"warder/internal/audit"
	"warder/internal/seal"
	"warder/internal/vault"
)

// asking is a scene whose user has files, with one daemon after another.
type asking struct {
	*scene
	d     *Daemon
	hands *hands
}

// newAsking makes one with an unlocked account and no files.
func newAsking(t testing.TB) *asking {
	t.Helper()
	s := &asking{scene: newScene(t), hands: &hands{wall: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), boot: time.Hour}}
	must(t, os.Mkdir(s.config(), 0o700))
	s.next(false)
	return s
}

func (s *asking) config() string { return filepath.Join(s.dir, "config") }

// stored is the file of what was accepted.
func (s *asking) stored() string { return filepath.Join(s.dir, "state", acceptedFile) }

// next has another daemon take over: with the account unlocked anew, or locked.
func (s *asking) next(locked bool) {
	s.t.Helper()
	d := &Daemon{
		opt:   Options{Config: s.config(), State: filepath.Join(s.dir, "state")},
		state: s.acts.state, log: slog.New(slog.DiscardHandler), audit: s.log, clock: s.hands.clock(),
	}
	if s.d != nil && s.d.keep.account != nil {
		s.d.keep.lock(lockShutdown, nil)
	}
	s.d, s.account = d, nil
	wishes{d}.loadSettings()
	wishes{d}.loadTables()
	now := d.clock.moment()
	d.keep = &keeper{
		clock: d.clock, idle: d.policy.idle, max: d.policy.max, exists: true, opened: now, last: now,
		before: journal{d}.beforeLock, after: journal{d}.afterLock,
	}
	if !locked {
		var err error
		s.account, err = vault.Open(vault.Config{
			AccountDir: filepath.Join(s.dir, "account"), StateDir: filepath.Join(s.dir, "state"), AuditHead: journal{d}.auditHead,
		}, value(s.t, masterPassword))
		must(s.t, err)
		s.t.Cleanup(s.account.Lock)
		d.keep.account = s.account
		journal{d}.resume(s.t.Context(), &openedAccount{account: s.account})
	}
	acceptor{d}.open(s.account)
	if s.account != nil {
		_ = journal{d}.signHead(s.account)
	}
	maps.Copy(s.ops, accepting{d}.ops(s.acts))
}

// write writes a file of the user's, and lets the daemon look at it.
func (s *asking) write(name, text string) {
	s.t.Helper()
	must(s.t, os.WriteFile(filepath.Join(s.config(), name), []byte(text), 0o600))
	wishes{s.d}.reload(s.d.keep)
}

// waits is how much waits, and what a person is told of it.
func (s *asking) waits() int {
	_, n := wishes{s.d}.says(true)
	return n
}

// pending is what a person is shown.
func (s *asking) pending() (out api.PolicyPending) {
	s.t.Helper()
	s.ok(s.do(person(), api.OpPolicyPending, nil), &out)
	return out
}

// accept has a person accept all that waits.
func (s *asking) accept() (out api.PolicyAccepted) {
	s.t.Helper()
	in := api.PolicyAccept{Act: api.Act{Presence: true}, Shown: s.pending().Shown}
	s.ok(s.do(person(), api.OpPolicyAccept, in, masterPassword), &out)
	return out
}

// counts wants a time without use after which the account is locked, and so many things that wait.
func (s *asking) counts(what string, idle time.Duration, waits int) {
	s.t.Helper()
	if got, n := s.d.policy.idle, s.waits(); got != idle || n != waits {
		texts, _ := wishes{s.d}.says(true)
		s.t.Errorf("%s: lock.idle is %s and %d wait, want %s and %d; %q %q", what, got, n, idle, waits, texts, s.d.warnings)
	}
}

// idleFor is a config.toml.
func idleFor(text string) string { return "[lock]\nidle = \"" + text + "\"\n" }

// recorded are the records of an event.
func (s *asking) recorded(event string) (list []audit.Record) {
	s.t.Helper()
	for _, rec := range s.records() {
		if rec.Event == event {
			list = append(list, rec)
		}
	}
	return list
}

// read is a file's content.
func (s *asking) read(path string) []byte {
	s.t.Helper()
	text, err := os.ReadFile(path)
	must(s.t, err)
	return text
}

// keyed is what another key or device would make of a text of the store.
func keyed(t testing.TB, root seal.RootKey, account, device seal.ID, text []byte) [32]byte {
	t.Helper()
	mac, err := seal.MACPolicy(root, account, device, text)
	must(t, err)
	return mac
}

// vaultAccount is what the keeper's before is called with.
type vaultAccount = vault.Account

// reopenLog reads the log from the disk again.
func (s *asking) reopenLog() {
	s.t.Helper()
	must(s.t, s.log.Close())
	log, err := audit.Open(s.logs, audit.Options{})
	must(s.t, err)
	s.t.Cleanup(func() { log.Close() })
	s.log, s.acts.log = log, log
	serve(s.scene)
}
