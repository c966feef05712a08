package daemon

import (
	"context"

	"warder/internal/api"
	"warder/internal/platform"
	"warder/internal/state"
)

// birth brings a daemon to where it serves.
type birth struct{ *Daemon }

// begin does the steps of a start in their order. Whatever can fail without harm to a daemon that runs comes before that one
// is asked to end.
func (d birth) begin(ctx context.Context, s *starter) (started api.Started, kit kitValues, err error) {
	if err := d.openState(s != nil); err != nil {
		return started, nil, err
	}
	d.judgeStarter(s)
	old := claim(d).meetOld(ctx, s)
	defer old.close()
	if err := d.hide(); err != nil {
		return started, nil, err
	}
	req, err := s.request()
	if err != nil {
		return started, nil, err
	}
	defer req.destroy()
	opened, err := d.openInPlace(ctx, old, req)
	if err != nil {
		return started, nil, err
	}
	defer func() {
		if err != nil {
			opened.discard()
		}
	}()
	if err := d.keepAccount(ctx, opened); err != nil {
		return started, nil, err
	}
	if err := d.serve(); err != nil {
		return started, nil, err
	}
	return d.started(opened), opened.kit, nil
}

// hide keeps others of this user from reading this process, from before a secret is in it. The daemon that runs has seen its
// program by now.
func (d birth) hide() error { return hide(d.warn) }

// hide keeps others of this user from reading this process, from before a secret is in it. Who had attached as a debugger would
// go on reading.
func hide(warn func(format string, args ...any)) error {
	if err := platform.DropDumps(); err != nil {
		warn("this process can't be hidden from others of its user: %v", err)
	}
	if pid, err := platform.Tracer(); err == nil && pid != 0 {
		return api.Errorf(api.Denied, "a debugger (pid %d) is attached to the process that takes the password", pid).
			WithHint("find out what it is and end it")
	}
	return nil
}

// openInPlace opens the account and makes this process the daemon. A password is tried first, so that a wrong one leaves the
// daemon that runs as it is. Where the opening makes a recovery kit it comes last: what fails after it would lose the kit. A
// recovery code is tried beforehand, then, and opens the account when the place is taken.
func (d birth) openInPlace(ctx context.Context, old *oldDaemon, req *startRequest) (*openedAccount, error) {
	place, account := claim(d), opener(d)
	if err := place.checkSocket(); err != nil {
		return nil, err
	}
	if req.makesKit() {
		if err := account.mayMakeKit(ctx, req); err != nil {
			return nil, err
		}
		if err := place.take(ctx, old, req); err != nil {
			return nil, err
		}
		return account.open(ctx, req)
	}
	opened, err := account.open(ctx, req)
	if err != nil {
		return nil, err
	}
	if err := place.take(ctx, old, req); err != nil {
		opened.discard()
		return nil, err
	}
	return opened, nil
}

// openState opens this device's directory and what the user wants.
func (d birth) openState(detached bool) error {
	dir, err := state.CreateDir(d.opt.State)
	if err != nil {
		return placeError("the state directory", err)
	}
	d.state = dir
	d.onEnd(dir.Close)
	if detached {
		if err := d.logToFile(); err != nil {
			return err
		}
	}
	d.account = accountPlace{dir: accountDir(d.opt.Data), state: d.opt.State, head: journal(d).auditHead}
	d.warnLoose()
	acceptor(d).claim()
	wishes(d).loadSettings()
	wishes(d).loadTables()
	return nil
}

// warnLoose says where others can exchange a directory of this daemon's.
func (d birth) warnLoose() {
	for _, place := range []string{d.opt.Data, d.opt.State, d.opt.Config} {
		if loose := state.LooseParent(place); loose != "" {
			d.warn("anybody can write to %s and exchange warder's directory in it: chmod o-w %s", loose, loose)
		}
	}
}

// keepAccount takes over what was opened. The opening is recorded before anybody can use the account.
func (d birth) keepAccount(ctx context.Context, o *openedAccount) error {
	log, now := journal(d), d.clock.moment()
	k := &keeper{
		clock: d.clock, idle: d.policy.idle, max: d.policy.max,
		exists: o.exists, unattended: o.unattended, fault: o.fault, before: log.beforeLock, after: log.afterLock,
		account: o.account, opened: now, last: now,
	}
	d.keep = k
	if o.account != nil {
		k.id = o.account.ID().String()
		log.resume(ctx, o)
	}
	acceptor(d).open(o.account)
	log.note(ctx, eventStarted, nil, map[string]any{
		"pid": ownPID(), "version": d.opt.Version, "sha256": d.program.sha256(), "started_by": d.starter.Verdict,
		"same_binary": d.isRecorded() == "",
	})
	if o.account != nil {
		if err := log.recordOpening(ctx, o); err != nil {
			return err
		}
	}
	if k.account != nil {
		_ = log.signHead(k.account)
	}
	d.opened.Store(k)
	d.onEnd(func() error {
		k.lock(lockShutdown, nil)
		return nil
	})
	d.onEnd(func() error {
		log.note(context.Background(), eventStopped, nil, map[string]any{"pid": ownPID(), "reason": d.ending})
		return nil
	})
	d.onEnd(d.watchTime(k))
	if o.account != nil && !o.unattended {
		d.onEnd(d.watchSession(k))
	}
	return nil
}

// started is the answer to a start.
func (d birth) started(o *openedAccount) api.Started {
	s := api.Started{PID: ownPID(), Socket: d.opt.Socket, Account: d.keep.id, PasswordFile: o.file, StateCode: o.stateCode}
	if f := d.keep.fault; f != nil {
		s.Locked, s.Hint = f.why, f.hint
	}
	return s
}
