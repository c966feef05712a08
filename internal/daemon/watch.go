package daemon

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// tickTime is how late an account whose time is over may be locked. An act after that time finds it locked in any case.
const tickTime = 15 * time.Second

// watchTime locks the account when its time is over, by the settings as they are then, until the returned function is called.
// It also tries to get a log to work again that could not be written to, as on a full disk.
func (d *Daemon) watchTime(k *keeper) (end func() error) {
	return inBackground(func(ctx context.Context) {
		ticker := time.NewTicker(tickTime)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				k.tick()
				wishes{d}.reload(k)
				d.mendAudit()
			}
		}
	})
}

// mendAudit begins the log anew where it has stopped. As long as it stops nothing is lent.
func (d *Daemon) mendAudit() {
	if d.audit.Status().Stopped == nil {
		return
	}
	if err := d.audit.Reopen(); err != nil {
		d.log.LogAttrs(context.Background(), slog.LevelWarn, "the audit log does not work yet", slog.String("cause", err.Error()))
	}
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
