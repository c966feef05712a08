package daemon

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"maps"
	"path/filepath"

	"warder/internal/audit"
	"warder/internal/seal"
	"warder/internal/state"
	"warder/internal/vault"
)

// acceptedFile keeps what a person has accepted, format F9.
const (
	acceptedFile    = "policy.accepted"
	acceptedVersion = 1
	acceptedLimit   = 4 << 20

	// maxBehind is how many records of the log may come before the acceptance is stored anew, while the account is open: a log
	// that keeps little has rotated away the record that it names otherwise.
	maxBehind = 1000
)

// The events around what waits for acceptance. The stored acceptance names the record behind which it was made, and each of
// these takes away from an older one: so it can't be brought back.
const (
	eventPolicyAccepted  = "policy.accepted"  // by whom; what was in the files
	eventPolicyTightened = "policy.tightened" // a file is stricter than what was in force
	eventPolicyRejected  = "policy.rejected"  // the stored acceptance does not count
)

// acceptance is what a person has accepted of the user's files.
type acceptance struct {
	Version  int               `json:"version"`
	Seq      uint64            `json:"seq"`                // of a record of the audit log: nothing later is in here
	Head     string            `json:"head"`               // the hash of that record's line; zeros before the first
	Settings map[string]string `json:"settings,omitempty"` // what is in force of an option, where that is not the default
	Agents   []agentRow        `json:"agents,omitempty"`   // which were seen, and stay whatever becomes of the plain file

	verified bool // by the account's key: else it is only what the file claims
}

// Why a stored acceptance does not count. The words are what the audit log holds.
var (
	errUnreadable = errors.New("it can't be read")
	errForged     = errors.New("it is not sealed by this account for this device")
	errOutdated   = errors.New("it is older than what the audit log tells")
	errOtherLog   = errors.New("the audit log is not the one that it goes with")
	errNewer      = errors.New("a newer warder wrote it")
)

// acceptor keeps what was accepted. Its methods are for who holds wishing.
type acceptor struct{ *Daemon }

// open takes what was accepted from the disk, with the account that was just unlocked, or with nil where it stays locked, and
// lets that count. An unattended account has nothing: there nobody's presence was ever proved.
func (d acceptor) open(a *vault.Account) {
	d.wishing.Lock()
	defer d.wishing.Unlock()
	if d.keep.unattended {
		d.accepted = acceptance{}
	} else {
		d.take(a)
	}
	wishes(d).loadSettings()
	d.keep.allow(d.policy.idle, d.policy.max)
}

// claim takes what the stored acceptance claims, before the log is opened: a restart must not make it keep less than is in force.
func (d acceptor) claim() {
	if stored, err := readAccepted(d.state); err == nil {
		d.accepted = stored.acceptance
	}
}

// take reads the stored acceptance. With the account's key it is verified; one that does not hold is recorded, told, and taken
// for nothing.
func (d acceptor) take(a *vault.Account) {
	stored, err := readAccepted(d.state)
	found := stored.acceptance
	missing := errors.Is(err, fs.ErrNotExist)
	if a == nil {
		if err != nil {
			d.accepted = d.fromLog()
			return
		}
		for rec := range d.since(found.Seq) { // it never widens, so it takes no key
			if rec.Event == eventPolicyTightened {
				_ = found.tighten(rec.Data)
			}
		}
		d.accepted = found
		return
	}
	switch {
	case missing:
		found, err = d.fromLog(), nil
	case err == nil:
		err = d.verify(a, &found, stored)
	}
	if err != nil {
		d.warn("what was accepted of the user's files (%s) does not count: %v", filepath.Join(d.opt.State, acceptedFile), err)
		if errors.Is(err, errNewer) || d.held.Load() != nil {
			d.accepted.noWider()
			return // the file stays for who can tell more of it
		}
		found = d.fromLog()
		d.audit.Note(context.Background(), audit.Record{Event: eventPolicyRejected, Reason: err.Error()})
	}
	found.verified = true
	d.accepted = found
	if d.agents.add(found.Agents) {
		d.warn("agents were missing in %s that were there before: they count again", d.agents.kept.path)
		wishes(d).storeAgents()
		wishes(d).applyTables()
	}
	if end, _ := d.audit.Head(); !missing || d.hasAny() || end > maxBehind { // so that the log need not be read again
		d.save(a)
	}
}

// hasAny reports whether there is anything to be kept.
func (d acceptor) hasAny() bool {
	kept, err := d.agents.kept.list()
	return len(d.accepted.Settings) > 0 || err == nil && len(kept.Agent) > 0
}

// storedAcceptance is the file: the text, and the MAC in the line behind it.
type storedAcceptance struct {
	acceptance
	text, mac []byte
}

// readAccepted reads the stored acceptance.
func readAccepted(dir *state.Dir) (s storedAcceptance, err error) {
	file, err := dir.Read(acceptedFile, acceptedLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	end := bytes.IndexByte(file, '\n') + 1
	if err != nil || end == 0 {
		return s, errUnreadable
	}
	s.text = file[:end]
	if json.Unmarshal(s.text, &s.acceptance) != nil {
		return storedAcceptance{}, errUnreadable
	}
	if s.Version > acceptedVersion {
		return storedAcceptance{}, errNewer
	}
	s.mac, err = hex.DecodeString(string(bytes.TrimSuffix(file[end:], []byte("\n"))))
	if err != nil || s.Version != acceptedVersion {
		return storedAcceptance{}, errUnreadable
	}
	return s, nil
}

// verify holds a stored acceptance against the account's key and against the audit log.
func (d acceptor) verify(a *vault.Account, found *acceptance, s storedAcceptance) error {
	account, device := a.ID(), a.Device()
	err := a.WithRoot(func(root seal.RootKey) error { return seal.CheckPolicy(root, account, device, s.text, s.mac) })
	switch {
	case errors.Is(err, seal.ErrOpen):
		return errForged
	case err != nil:
		return err
	case d.held.Load() != nil:
		return errOtherLog
	}
	return d.bringUpToDate(found)
}

// bringUpToDate reads the audit log from the record on that an acceptance names. Somebody could have put back an older file,
// of before a person narrowed or accepted something else: each of that left a record. The records have to be there and to follow
// each other; that the log itself was not put back is found out by the heads that the account has signed.
func (d acceptor) bringUpToDate(found *acceptance) error {
	end, _ := d.audit.Head()
	if found.Seq > end {
		return errOtherLog
	}
	next, head := found.Seq+1, found.Head
	for rec, err := range until(d.audit.Follow(context.Background(), max(found.Seq, 1)-1), end) {
		if err != nil {
			return errOtherLog
		}
		line := seal.HashOf(rec.Line()).String()
		switch {
		case rec.Seq == found.Seq && line == found.Head:
			continue
		case rec.Seq != next || rec.Prev.String() != head:
			return errOtherLog
		}
		next, head = rec.Seq+1, line
		switch rec.Event {
		case eventPolicyAccepted, eventPolicyRejected:
			return errOutdated
		case eventPolicyTightened:
			if err := found.tighten(rec.Data); err != nil {
				return err
			}
		}
	}
	if next != end+1 {
		return errOtherLog
	}
	return nil
}

// tightened is the data of such a record: what is in force of some options from then on, "" being the default.
type tightened struct {
	Settings map[string]string `json:"settings"`
}

// inForce is what an option can be without asking a person.
func (a *acceptance) inForce(w widening) amount { return w.parse(a.Settings[w.name]) }

// put makes a text what is in force of an option.
func (a *acceptance) put(w widening, text string) {
	if w.parse(text).value == w.parse("").value {
		delete(a.Settings, w.name)
		return
	}
	if a.Settings == nil {
		a.Settings = map[string]string{}
	}
	a.Settings[w.name] = text
}

// tighten takes from what is in force what a record says was given up since. It never widens.
func (a *acceptance) tighten(data json.RawMessage) error {
	var t tightened
	if json.Unmarshal(data, &t) != nil {
		return errOutdated
	}
	for _, w := range widenings() {
		if text, isNamed := t.Settings[w.name]; isNamed && w.isWider(a.inForce(w), w.parse(text)) {
			a.put(w, text)
		}
	}
	return nil
}

// noWider leaves of what is in force only what is tighter than the default.
func (a *acceptance) noWider() {
	for _, w := range widenings() {
		if w.isWider(a.inForce(w), w.parse("")) {
			delete(a.Settings, w.name)
		}
	}
}

// fromLog is what the log tells to be in force, for where no stored acceptance does: what a person has tightened does not end
// with a file that was taken away. Its records prove nobody's presence, so nothing in it is wider than the default.
func (d acceptor) fromLog() (a acceptance) {
	for rec := range d.since(0) {
		switch rec.Event {
		case eventPolicyAccepted:
			var accepted tightened
			_ = json.Unmarshal(rec.Data, &accepted)
			for _, w := range widenings() {
				if text, isNamed := accepted.Settings[w.name]; isNamed {
					a.put(w, text)
				}
			}
		case eventPolicyTightened:
			_ = a.tighten(rec.Data)
		case eventPolicyRejected:
			a.noWider()
		}
	}
	a.noWider()
	return a
}

// since are the records after a number that are there now. What is missing or damaged among them tells nothing.
func (d acceptor) since(seq uint64) iter.Seq[audit.Record] {
	return func(yield func(audit.Record) bool) {
		now, cancel := context.WithCancel(context.Background())
		cancel() // nothing is waited for, also where the end is missing
		for rec, err := range d.audit.Follow(now, seq) {
			if err == nil && !yield(rec) {
				return
			}
		}
	}
}

// forget gives up what was in force and is not wanted any more. It is recorded first, which is all that is needed while the
// account is locked. What can't be recorded is tried again with the next reading; the stricter file counts in any case.
func (d acceptor) forget(tighter map[string]string) {
	if d.audit == nil || d.keep == nil {
		return
	}
	data := dataOf(tightened{tighter})
	if _, err := d.audit.Append(context.Background(), audit.Record{Event: eventPolicyTightened, Data: data}); err != nil {
		return
	}
	_ = d.accepted.tighten(data) // it is our own
	d.resign()
}

// keepUp stores what counts anew where the log has gone on for long.
func (d acceptor) keepUp() {
	if d.accepted.Seq == 0 {
		return // nothing is stored
	}
	if seq, _ := d.audit.Head(); seq > d.accepted.Seq+maxBehind {
		d.resign()
	}
}

// resign stores what counts by now and lets the account sign that there is nothing older, where that is open.
func (d acceptor) resign() {
	if !d.accepted.verified || d.keep == nil || d.keep.unattended {
		return
	}
	if a, err := d.keep.get(); err == nil {
		d.save(a)
		_ = journal(d).signHead(a) // logged there
	}
}

// save stores what counts. A failure leaves a file that the log contradicts, which counts for nothing.
func (d acceptor) save(a *vault.Account) {
	var err error
	if d.accepted.Seq, err = d.store(a, d.accepted.Settings, d.agents.kept); err != nil {
		d.log.LogAttrs(context.Background(), slog.LevelWarn, "what was accepted is known to this daemon only", slog.String("cause", err.Error()))
	}
}

// store writes an acceptance as of the end of the audit log, which it returns.
func (d acceptor) store(a *vault.Account, settings map[string]string, agents agentsText) (seq uint64, err error) {
	kept, err := agents.list()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", agents.path, err)
	}
	seq, head := d.audit.Head()
	text, err := json.Marshal(acceptance{
		Version: acceptedVersion, Seq: seq, Head: head.String(), Settings: maps.Clone(settings), Agents: kept.Agent,
	})
	if err != nil {
		return 0, err
	}
	text = append(text, '\n')
	account, device := a.ID(), a.Device()
	err = a.WithRoot(func(root seal.RootKey) error {
		mac, err := seal.MACPolicy(root, account, device, text)
		text = append(hex.AppendEncode(text, mac[:]), '\n')
		return err
	})
	if err != nil {
		return 0, err
	}
	return seq, d.state.Replace(acceptedFile, text)
}
