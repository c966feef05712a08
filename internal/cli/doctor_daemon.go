package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/state"
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
	if r.install == nil && r.blind != nil {
		e := api.AsError(noAccount(r)) // whose it is, or what hides it
		c.broken("installation", e.Hint, "%s", e.Message)
		c.clock(time.Time{})
		return
	}
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
		if r.stranger != nil {
			c.limited("daemon's socket", takeBack, "%v", r.stranger)
		}
		judgeKind(c, &s)
		checkWarnings(c, s.Warnings)
		if err == nil && (!s.Audit.OK || s.Audit.Signed > 0) {
			judgeLog(c, &s)
		}
		lookAtLog(c, filepath.Join(r.places.State.Path, "audit"))
		return
	case err != nil:
		c.broken(name, "put a fresh one in its place: warder daemon restart", "%v", err)
		lookAtLog(c, filepath.Join(r.places.State.Path, "audit"))
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
	if s.Account.Why != "" {
		c.broken("account", s.Account.Hint, "it is unattended and stays locked: %s", s.Account.Why)
	}
	judgeKind(c, &s)
	if text := keysText(&s); text != "" {
		c.ok("keys", "%s", text)
	}
	judgeLog(c, &s)
	checkWarnings(c, s.Warnings)
}

// judgeKind tells of an account that has no password of a person's.
func judgeKind(c *checkup, s *api.Status) {
	if s.Account.Unattended {
		c.limited("account", "use it where nobody else's programs run; a person has one with a password: warder setup", "it is unattended: %s", unattendedText(s))
	}
}

// checkWarnings are what status warns of.
func checkWarnings(c *checkup, texts []string) {
	for _, w := range texts {
		place := placeOf(w)
		c.limited(place.name, place.do, "%s", w)
	}
}

// warningPlace is what a warning of status is about, and where more is told of it.
type warningPlace struct {
	about    string // stands in the text
	name, do string
}

// placeOf finds the place of a warning: the first that its text names.
func placeOf(text string) warningPlace {
	for _, p := range [...]warningPlace{
		{"agents.toml", "agents", "correct what it names; what waits for a person: warder policy"},
		{deviceGone, "device secret", deviceHint},
		{"the account is unattended, and ", "account", "put that file back"},
		{"audit", "audit log", "see what it is: warder audit verify"},
		{settingsFile, "settings", "warder config list"},
		{"the settings don't count", "settings", "warder config list"},
		{"WARDER_", "settings", "warder config list"},
	} {
		if strings.Contains(text, p.about) {
			return p
		}
	}
	return warningPlace{name: "daemon", do: "warder daemon status"}
}

// judgeLog judges the log by what its daemon knows.
func judgeLog(c *checkup, s *api.Status) {
	const name = "audit log"
	switch a := &s.Audit; {
	case !a.OK:
		do := a.Hint
		if do == "" {
			do = "see what it is: warder audit verify"
		}
		c.broken(name, do, "%s", auditText(a))
	case a.Signed > 0:
		do := "find out who removed it, then declare it: warder audit seal"
		if s.Account.Unattended {
			do = "find out who removed it; this line stays, since nobody can declare it for an unattended account"
		}
		c.limited(name, do, "%s; %s", auditText(a), begunAnew(a.Signed))
	case a.Checked == "":
		c.ok(name, "%d events, nothing is known to be wrong; not checked since %s: warder audit verify", a.Seq, s.Daemon.Started)
	default:
		c.ok(name, "%d events, whole when it was checked at %s", a.Seq, a.Checked)
	}
}

// lookAtLog tries whether a daemon could write the log, where none runs that would tell. It writes nothing.
func lookAtLog(c *checkup, path string) {
	const name = "audit log"
	dir, err := state.OpenDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return // the first daemon makes it
	}
	if err == nil {
		defer func() { _ = dir.Close() }()
		err = appendable(dir)
	}
	if err == nil {
		c.ok(name, "%s can be written; whether it is whole a daemon tells: warder audit verify", path)
		return
	}
	do := state.Hint(err)
	if do == "" {
		do = "see who may write there: ls -la " + shellWords(path)
	}
	c.broken(name, do, "no daemon can start, since it can't record anything: %v", err)
}

// appendable tries to open what a daemon would open for writing: the key and the newest segment.
func appendable(dir *state.Dir) error {
	names, err := dir.List()
	if err != nil {
		return err
	}
	for _, name := range slices.Backward(names) {
		if name != "key" && !strings.HasSuffix(name, ".jsonl") {
			continue
		}
		f, err := dir.OpenAppend(name)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil || name != "key" {
			return err
		}
	}
	return nil
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
		c.limited(name, "nothing, if that is so; a person runs warder in a terminal of their own"+wrongAgent(c), "%s: %s", who.Verdict, who.Why)
	}
}

// wrongAgent tells the way out of a row in the user's tables that makes an agent
// of a person: who is none can't accept that it goes. It is told where there are
// such tables.
func wrongAgent(c *checkup) string {
	places, err := c.env.places()
	if err != nil {
		return ""
	}
	own, kept := filepath.Join(places.Config.Path, "agents.toml"), filepath.Join(places.State.Path, "agents.toml")
	if !hasText(own) && !hasText(kept) {
		return ""
	}
	return fmt.Sprintf("; if a wrong row of your agents says so: warder daemon stop, then take it out of %s and of %s, and remove %s",
		own, kept, filepath.Join(places.State.Path, "policy.accepted"))
}

// hasText reports whether a file is there and not empty.
func hasText(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.Size() > 0
}
