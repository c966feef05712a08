package cli

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"warder/internal/api"
	"warder/internal/api/frame"
)

// daemon looks at the installation and at the daemon, if one runs.
func (c *checkup) daemon(ctx context.Context) {
	r, err := c.env.glance()
	if err != nil {
		do := "look at what it names"
		if e := api.AsError(err); e.Hint != "" {
			do = e.Hint
		}
		c.broken("installation", do, "%v", err)
		c.clock(time.Time{})
		return
	}
	defer r.close()
	if r.install == nil {
		c.limited("installation", "warder setup", "nothing is set up here yet")
		c.clock(time.Time{})
		return
	}
	c.clock(r.install.Created)
	if err := checkProgram(r.install); err != nil {
		c.broken("installation", "warder setup", "%v", err)
	} else {
		c.ok("installation", "%s is the recorded program", r.install.Binary)
	}
	c.running(ctx, r)
}

// running judges the daemon that answers.
func (c *checkup) running(ctx context.Context, r *reach) {
	const name = "daemon"
	s, err := r.status(ctx)
	switch {
	case errors.Is(err, frame.ErrNotRunning) || err == nil && !s.Daemon.Running:
		c.ok(name, "it does not run; the next command that needs it starts it")
		checkWarnings(c, s.Warnings)
		return
	case err != nil:
		c.broken(name, "see what holds its place: warder daemon status", "%v", err)
		return
	case !s.Daemon.SameBinary:
		c.limited(name, "warder daemon restart", "pid %d runs another program than the recorded one", s.Daemon.PID)
	default:
		c.ok(name, "pid %d, warder %s, started by %s; its log is %s",
			s.Daemon.PID, s.Daemon.Version, s.Daemon.StartedBy, filepath.Join(r.places.State.Path, "daemon.log"))
	}
	switch s.Memory {
	case "memfd_secret":
		c.ok("daemon's memory", "%s", s.Memory)
	default:
		c.limited("daemon's memory", "see the line on memory above", "%s", memoryText(s.Memory))
	}
	if len(s.Findings) > 0 {
		c.broken("account", "warder repair", "%s in its files", plural(len(s.Findings), "finding"))
	}
	if !s.Audit.OK {
		c.broken("audit", "warder audit verify", "the log is not whole")
	}
	checkWarnings(c, s.Warnings)
}

// checkWarnings are what status warns of.
func checkWarnings(c *checkup, texts []string) {
	for _, w := range texts {
		c.limited("settings", "warder config list", "%s", w)
	}
}

// caller says whom this shell is taken for.
func (c *checkup) caller(ctx context.Context) {
	const name = "this shell"
	who, err := askWhoami(ctx, c.env)
	if err != nil { // told already, by what looked at the daemon
		who, err = c.env.judgeSelf()
	}
	switch {
	case err != nil:
		c.broken(name, "see what /proc shows here", "%v", err)
	case who.Verdict == verdictPerson:
		c.ok(name, "a person: %s", who.Why)
	default:
		c.limited(name, "nothing, if that is so; a person runs warder in a terminal of their own", "%s: %s", who.Verdict, who.Why)
	}
}
