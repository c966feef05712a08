package daemon

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"warder/internal/audit"
	"warder/internal/state"
)

// tickTime is how late an account whose time is over may be locked. An act after that time finds it locked in any case.
const tickTime = 15 * time.Second

// watchTime locks the account when its time is over, by the settings as they are then, until the returned function is called.
// It also tries to get a log to work again that could not be written to, as on a full disk.
func (d *Daemon) watchTime(k *keeper) (end func() error) {
	return inBackground(func(ctx context.Context) {
		ticker := time.NewTicker(tickTime)
		defer ticker.Stop()
		signed := d.audit.Status().Segment // by keepAccount
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				k.tick()
				wishes{d}.reload(k)
				wishes{d}.keepUp()
				d.mendAudit(ctx)
				signed = journal{d}.signRotation(k, signed)
			}
		}
	})
}

// mendAudit tries whether a log can be written again that could not, and records how much it has missed. As long as it can't
// nothing is lent.
func (d *Daemon) mendAudit(ctx context.Context) {
	s := d.audit.Status()
	if s.Stopped == nil && s.Failing == nil {
		return
	}
	var err error
	if s.Stopped != nil {
		err = d.audit.Reopen()
	}
	if err == nil {
		_, err = d.audit.Append(ctx, audit.Record{Event: eventResumed, Data: dataOf(map[string]any{"lost": s.Lost})})
	}
	if err != nil {
		d.log.LogAttrs(ctx, slog.LevelWarn, "the audit log does not work yet", slog.String("cause", err.Error()))
	}
}

// signRotation signs the log's end into the account after a rotation. The signed head would otherwise come to lie in a segment
// that is rotated away while the account stays open, and then proves nothing of what is left. It is done from here, not from
// the rotation itself: that happens under the log's lock, which is taken after the account's. It returns the segment that was
// signed last.
func (d journal) signRotation(k *keeper, signed uint64) uint64 {
	now := d.audit.Status().Segment
	if now == signed {
		return signed
	}
	a, err := k.get()
	if err != nil {
		return signed // the next opening signs
	}
	if err := d.signHead(a); errors.Is(err, state.ErrLocked) {
		return signed // somebody holds the account's lock file
	}
	return now
}

// inBackground runs f until the returned function is called, which waits for it.
func inBackground(f func(context.Context)) (end func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { f(ctx) })
	return func() error {
		cancel()
		running.Wait()
		return nil
	}
}
