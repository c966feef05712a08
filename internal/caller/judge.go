package caller

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"warder/internal/platform"
)

// Judge says who p is. holders reports whether the process with that pidfs
// inode holds a live lease: such a process hides itself, and is passed over; it
// may be nil. Judge fails with [ErrGone] if the caller has exited, and if the
// processes above it changed under two looks; the caller is refused then. The
// identity that comes with an error is unknown.
func (t *Tables) Judge(p *Peer, holders func(inode uint64) bool) (Identity, error) {
	if p.pidfd == nil {
		return t.judge(chain{blind: p.blind}, holders), nil
	}
	c, err := t.gather(subject{pidfd: p.pidfd, pid: p.pid, own: p.uid}, newWalker())
	if err != nil {
		return t.judge(chain{blind: err.Error()}, holders), err
	}
	c.weak = p.weak
	return t.judge(c, holders), nil
}

// JudgeSelf judges this very process, whose environment getenv reads. Where the
// system does not tell ancestors, marks in it are all there is.
func (t *Tables) JudgeSelf(getenv func(name string) string) (Identity, error) {
	pidfd, err := platform.OpenPidfd(os.Getpid())
	if err != nil {
		return t.judge(alone(t, getenv), nil), nil
	}
	defer pidfd.Close() //nolint:errcheck // nothing was written to it
	c, err := t.gather(subject{pidfd: pidfd, pid: os.Getpid(), own: uint32(os.Geteuid()), self: getenv}, newWalker())
	if err != nil {
		return t.judge(chain{blind: err.Error()}, nil), err
	}
	return t.judge(c, nil), nil
}

// alone is the chain of this process where nothing above it can be seen.
func alone(t *Tables, getenv func(name string) string) chain {
	self := link{pid: os.Getpid(), ppid: os.Getppid(), own: true, hidden: true, traces: tracesOf(t, getenv)}
	return chain{links: []link{self}, blind: "this system does not tell who is above a process"}
}

// judge gives the verdict on a chain. It is pure.
func (t *Tables) judge(c chain, holders func(inode uint64) bool) Identity {
	found := t.classify(c, holders)
	id := Identity{Verdict: Unknown, Masked: true, Evidence: evidence(c, found)}
	if leader := c.leader(); leader >= 0 {
		id.Leader = c.instance(leader)
	}
	if c.judgeAgent(found, &id) {
		return id
	}
	if len(c.links) > 0 {
		id.Instance = c.instance(0)
	}
	if c.blind != "" {
		id.Why = c.blind
		return id
	}
	if missing := c.missing(found, t.broken); len(missing) > 0 {
		id.Why = strings.Join(missing, "; ")
		return id
	}
	id.Verdict, id.Instance = Person, Instance{}
	id.Why = "a person's terminal and nothing of an agent"
	if hand := c.otherHand(found); hand != "" {
		id.Why += "; masked: " + hand
	} else {
		id.Masked = false
	}
	return id
}

// judgeAgent fills the identity in if there is any evidence of an agent.
func (c chain) judgeAgent(found []finding, id *Identity) bool {
	isAgent := func(f finding) bool { return f.role == RoleAgent }
	nearest := slices.IndexFunc(found, isAgent)
	marked := -1 // the topmost
	for i, l := range c.links {
		if len(l.marks) > 0 {
			marked = i
		}
	}
	if nearest < 0 && marked < 0 {
		return false
	}
	clients := c.clients(found)
	id.Verdict = Agent
	id.Depth = max(1, len(clients))
	if nearest >= 0 {
		id.Client = found[nearest].client
		id.Instance = c.instance(nearest)
		id.Why = fmt.Sprintf("%s is process %d", id.Client, c.links[nearest].pid)
		return true
	}
	if len(clients) > 0 {
		id.Client = clients[len(clients)-1]
	}
	id.Instance = c.instance(marked)
	id.Why = fmt.Sprintf("%s in the environment of process %d",
		strings.Join(markNames(c.links[marked].marks), ", "), c.links[marked].pid)
	return true
}

// clients are the agents from the topmost one down. Neighbours of one client,
// such as a launcher and what it launches, are one agent. A mark speaks of an
// agent above the process that carries it, who may be out of sight.
func (c chain) clients(found []finding) []string {
	var clients []string
	for i, l := range slices.Backward(c.links) {
		for _, m := range l.marks {
			if m.client != "" && !slices.Contains(clients, m.client) {
				clients = append(clients, m.client)
			}
		}
		if found[i].role != RoleAgent {
			continue
		}
		if len(clients) == 0 || clients[len(clients)-1] != found[i].client {
			clients = append(clients, found[i].client)
		}
	}
	return clients
}

// missing lists what the chain lacks to be a person's. broken says why the tables
// can't tell, if so.
func (c chain) missing(found []finding, broken string) []string {
	var missing []string
	need := func(met bool, format string, args ...any) {
		if !met {
			missing = append(missing, fmt.Sprintf(format, args...))
		}
	}
	need(broken == "", "%s", broken)
	need(len(c.links) > 0 && c.links[0].own, "the caller changed its user")
	need(!c.cut, "more than %d processes are above the caller", maxAncestors)
	need(c.tty != 0, "no controlling terminal")
	need(c.leader() >= 0, "the leader of its session is not above it")
	if opaque := slices.IndexFunc(found, func(f finding) bool { return f.opaque }); opaque >= 0 {
		need(false, "the program of process %d can't be read", c.links[opaque].pid)
	}
	shell := slices.IndexFunc(found, func(f finding) bool { return f.role == RoleShell })
	need(shell >= 0, "no known shell")
	if shell >= 0 {
		need(c.hasEntry(found, shell), "above the shell is no terminal, login or end of the pid namespace")
	}
	return missing
}

// hasEntry reports whether somebody can have come to the shell at that place:
// by a terminal, multiplexer or login above it, or where the pid namespace ends,
// in a process from outside or a shell that is pid 1.
func (c chain) hasEntry(found []finding, shell int) bool {
	entries := [...]Role{RoleTerminal, RoleMultiplexer, RoleLogin}
	if slices.ContainsFunc(found[shell+1:], func(f finding) bool { return slices.Contains(entries[:], f.role) }) {
		return true
	}
	top := len(c.links) - 1
	return !c.cut && (c.links[top].pid != 1 || found[top].role == RoleShell)
}

// otherHand names what may act in a person's place, or is "".
func (c chain) otherHand(found []finding) string {
	if c.unit != "" {
		return "in the transient unit " + c.unit
	}
	for i, f := range found {
		if f.role == RoleMultiplexer || f.role == RoleAutomation {
			return fmt.Sprintf("%s in process %d", f.role, c.links[i].pid)
		}
	}
	return ""
}

// leader is the place of the session's leader, or -1.
func (c chain) leader() int {
	return slices.IndexFunc(c.links, func(l link) bool { return l.pid == c.session })
}

// instance names the process at a place.
func (c chain) instance(i int) Instance {
	l := c.links[i]
	return Instance{BootID: c.boot, PID: l.pid, Start: l.start, Inode: l.inode}
}

// evidence shows the chain.
func evidence(c chain, found []finding) []Process {
	shown := make([]Process, len(found))
	for i, f := range found {
		l := c.links[i]
		if i == 0 {
			f.notePlace(c)
		}
		shown[i] = Process{
			PID: l.pid, PPID: l.ppid, UID: l.euid,
			Exe: clean(l.exe), Argv0: clean(shownArg(l.argv)),
			Role: f.role, Why: clean(strings.Join(f.why, "; ")),
		}
	}
	return shown
}

// notePlace says what is special about how the caller was found.
func (f *finding) notePlace(c chain) {
	if c.weak {
		f.note("known by its pid alone, as this kernel is older than 6.5")
	}
	if c.below {
		f.note("in a pid namespace of its own")
	}
	if c.unit != "" {
		f.note("in the transient unit %s", c.unit)
	}
}

// shownArg is the first argument, or the first word of a title: more of a
// command line may hold what is nobody's business.
func shownArg(argv []string) string {
	if len(argv) == 1 {
		return firstWord(argv[0])
	}
	return at(argv, 0)
}

// maxShown bounds a text of a foreign process in the evidence, in bytes.
const maxShown = 256

// clean makes a text of a foreign process harmless for a terminal and a log.
func clean(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), maxShown)], "?")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return '?'
		}
		return r
	}, text)
}
