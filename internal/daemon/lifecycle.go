package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"warder/internal/audit"
	"warder/internal/gate"
	"warder/internal/platform"
	"warder/internal/seal"
	"warder/internal/vault"
)

// The daemon's own events.
const (
	eventStarted   = "daemon.started"
	eventStopAsked = "daemon.stop_asked" // by whom
	eventStopped   = "daemon.stopped"
	eventReplaced  = "daemon.replaced"        // another daemon takes this one's place
	eventRefused   = "daemon.replace_refused" // a process that may not wanted to
	eventDisplaced = "daemon.displaced"       // a program held the socket's place without the lock
	eventCreated   = "account.created"
	eventUnlocked  = "account.unlocked"
	eventRecovered = "account.recovered"
	eventLocked    = "account.locked"
	eventKept      = "audit.kept"    // how much the log keeps from here on, where that changed
	eventResumed   = "audit.resumed" // the log can be written again; how many events were lost
)

// auditDirName is the folder of the audit log in the state directory.
const auditDirName = "audit"

// signTime is how long signing the log's end may wait for others that write.
const signTime = time.Second

// journal keeps the daemon's own events.
type journal struct{ *Daemon }

// openAudit opens the log, which the lock makes this process's own.
func (d journal) openAudit() error {
	dir, err := d.state.Create(auditDirName)
	if err != nil {
		return placeError("the audit log's directory", err)
	}
	log, err := audit.Open(dir, audit.Options{
		MaxSize: d.policy.auditSize, Generations: d.policy.auditGenerations, Now: d.clock.now, Log: d.log,
	})
	if err != nil {
		_ = dir.Close()
		return placeError("the audit log", err)
	}
	d.audit = log
	d.onEnd(dir.Close)
	d.onEnd(log.Close)
	return nil
}

// auditHead is the log's end for the vault's manifests. While the account is opened there is no log yet. A head that was signed
// and that the log does not hold is signed again: the contradiction is evidence until a person has declared it.
func (d journal) auditHead() (uint64, seal.Hash) {
	if d.audit == nil {
		return 0, seal.Hash{}
	}
	if m := d.held.Load(); m != nil {
		return m.Seq, m.Head
	}
	return d.audit.Head()
}

// resume holds the log against what the account has signed of it, and seals its state.
func (d journal) resume(ctx context.Context, o *openedAccount) {
	marks := marksOf(o.account)
	newest := audit.Mark{}
	for _, m := range marks {
		if m.Seq > newest.Seq {
			newest = m
		}
	}
	if seq, _ := d.audit.Head(); o.unattended && seq == 0 && newest.Seq > 0 {
		// Nobody can declare anything here: whoever takes the whole log away has it begin anew, which its first record tells,
		// and status and verifying ever after.
		_ = d.seal(o.account, nil)
		if err := (audit.Witness{Log: d.audit}).BeginAnew(newest.Seq); err != nil {
			d.log.LogAttrs(ctx, slog.LevelWarn, "that the audit log begins anew is not recorded yet", slog.String("cause", err.Error()))
		}
		return
	}
	err := d.seal(o.account, marks)
	if newest.Seq > 0 && (errors.Is(err, audit.ErrBehind) || errors.Is(err, audit.ErrNoCheckpoints)) {
		d.held.Store(&newest)
	}
}

// signHead signs the log's end into the account's manifests, so that the log can't be taken away unseen. A failure is no reason
// not to go on: a home may be read-only or full, and findings stop all writing. Whoever holds the account's lock file is not waited
// for longer than signTime: any process of this user can.
func (d journal) signHead(a *vault.Account) error {
	if d.held.Load() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), signTime)
	defer cancel()
	err := vault.Until(ctx, a).Touch()
	if err != nil {
		d.log.LogAttrs(context.Background(), slog.LevelWarn, "the audit log's end is not signed into the account", slog.String("cause", err.Error()))
	}
	return err
}

// declared goes on with a log whose break a person has declared.
func (d journal) declared() {
	d.held.Store(nil)
	if a, err := d.keep.get(); err == nil {
		_ = d.signHead(a)
	}
}

// recordOpening records that the account was opened. What can't be recorded is not done; only a new account stays, since
// its kit has to reach the person.
func (d journal) recordOpening(ctx context.Context, o *openedAccount) error {
	_, err := d.audit.Append(ctx, audit.Record{
		Event: o.how, Principal: gate.PrincipalOf(d.starter), Outcome: gate.OutcomeOK,
		Data: dataOf(map[string]any{"pid": ownPID(), "account": o.account.ID().String(), "unattended": o.unattended, "wrong_before": o.wrong}),
	})
	switch {
	case err == nil:
		return nil
	case o.kit != nil:
		d.warn("the opening of the account could not be recorded: %v", err)
		return nil
	}
	d.keep.account = nil
	o.account.Lock()
	if o.unattended {
		d.keep.fault = &startFault{fmt.Sprintf("its opening could not be recorded in %s: %v", d.auditPlace(), err), reopenHint(d.faultHint(err))}
		return nil
	}
	return placeError("the audit log", err)
}

// beforeLock wipes what was made of values, then seals and signs the log's state while the keys are there.
func (d journal) beforeLock(a *vault.Account) (signed bool) {
	d.needles.close()
	if d.held.Load() != nil {
		return true // nothing is sealed over what contradicts the account, and that is signed
	}
	_ = d.seal(a, nil)
	return d.signHead(a) == nil
}

// afterLock records that the account is locked. It comes after the keys are gone, and so behind what was sealed.
func (d journal) afterLock(reason string, by *client, signed bool) {
	data := map[string]any{"reason": reason}
	if !signed {
		data["signed"] = false // whoever kept the lock file may want to take records away
	}
	d.note(context.Background(), eventLocked, by, data)
}

// seal seals the log's state under the account's key. A failure is no reason not to go on: verifying tells.
func (d journal) seal(a *vault.Account, marks []audit.Mark) error {
	err := a.WithRoot(func(root seal.RootKey) error { return d.audit.Checkpoint(root, a.ID(), marks...) })
	if err != nil {
		d.warn("%v: see what it is: warder audit verify", err)
	}
	return err
}

// note records an event of the daemon's. Nothing waits for it: what must not happen unrecorded uses Append.
func (d journal) note(ctx context.Context, event string, by *client, data map[string]any) {
	r := audit.Record{Event: event, Data: dataOf(data)}
	if by != nil {
		r.Principal = gate.PrincipalOf(by.id)
	}
	d.audit.Note(ctx, r)
	d.log.LogAttrs(ctx, slog.LevelInfo, "lifecycle", slog.String("event", event), slog.Any("data", data))
}

// noteRefused records that a process wanted to take this daemon's place.
func (d journal) noteRefused(ctx context.Context, c *client, why error) {
	r := audit.Record{
		Event: eventRefused, Principal: gate.PrincipalOf(c.id), Decision: "deny", Reason: why.Error(),
		Data: dataOf(map[string]any{"pid": c.peer.PID()}),
	}
	d.audit.Note(ctx, r)
}

// displaced records that a program without the lock listened where the daemon's socket belongs.
func (d journal) displaced(cred platform.PeerCred) {
	d.warn("a program (pid %d) was listening at %s without being the daemon: find out what it is", cred.PID, d.opt.Socket)
	d.note(context.Background(), eventDisplaced, nil, map[string]any{"pid": cred.PID, "uid": cred.UID, "socket": d.opt.Socket})
}
