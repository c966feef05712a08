package caller

import (
	"fmt"
	"slices"
	"strings"
)

// finding is what one process turned out to be.
type finding struct {
	role   Role
	client string // of RoleAgent
	why    []string
	opaque bool // its program is unknown, and it might be an agent
}

func (f *finding) note(format string, args ...any) {
	f.why = append(f.why, fmt.Sprintf(format, args...))
}

// classify judges each process of the chain by itself and by what is next to it.
func (t *Tables) classify(c chain, holders func(inode uint64) bool) []finding {
	found := make([]finding, len(c.links))
	loopback := false
	for i, l := range c.links {
		var above link
		if i+1 < len(c.links) {
			above = c.links[i+1]
		}
		f := t.judgeOne(l, above, holders)
		loopback = loopback || l.loopback
		if f.role == RoleLogin && loopback && strings.HasPrefix(l.name(), "sshd") {
			f.role = RoleAutomation
			f.note("reached over ssh from this machine itself")
		}
		if l.pid == c.session {
			f.note("leads the session")
		}
		if marks := markNames(l.marks); len(marks) > 0 {
			f.note("carries %s", strings.Join(marks, ", "))
		}
		found[i] = f
	}
	return found
}

// judgeOne judges one process, given its parent.
func (t *Tables) judgeOne(l, above link, holders func(inode uint64) bool) finding {
	switch {
	case !l.own:
		return t.judgeForeign(l)
	case !l.hidden:
		return t.judgeOwn(l)
	}
	if client, how, found := t.agentByArgs(l); found {
		return finding{role: RoleAgent, client: client, why: []string{how}}
	}
	f := finding{role: RoleOther}
	switch {
	case holders != nil && l.inode != 0 && holders(l.inode):
		f.note("can't be read, and holds a lease")
	case isUserHalf(l, above):
		f.role = RoleLogin
		f.note("the part of sshd that runs as the user")
	default:
		f.opaque = true
		f.note("its program can't be read")
	}
	return f
}

// notOfRoot says of sshd and its like why they don't count.
const notOfRoot = "not of root, so nobody logs in by it"

// judgeOwn judges a process of the caller's user by its program file; where that
// is an interpreter, by its script; where it acts as what it is called by, by that.
// A first argument says nothing against a program file that is in the tables, and
// of others it only tells agents.
func (t *Tables) judgeOwn(l link) finding {
	if client, found := t.lookupPath(l.exe); found {
		return finding{role: RoleAgent, client: client, why: []string{"by the place of its program"}}
	}
	if p, how := programOf(t, l); p.role == RoleLogin && l.euid != 0 {
		return finding{role: RoleOther, why: []string{notOfRoot}}
	} else if p.role != RoleOther {
		return finding{role: p.role, client: p.client, why: []string{how}}
	}
	if client, how, found := t.agentByArgs(l); found {
		return finding{role: RoleAgent, client: client, why: []string{how}}
	}
	return finding{role: RoleOther}
}

// programOf finds what runs in a process whose program file can be read.
func programOf(t *Tables, l link) (p program, how string) {
	name := l.name()
	if p := t.lookup(name); p.role != RoleOther {
		return p, "by its program"
	}
	if slices.Contains(multiCall[:], name) {
		return t.lookup(applet(l.argv)), "by what " + name + " was called as"
	}
	if in := interpreterOf(name); in != nil {
		return t.lookupScript(in.script(l.argv)), "by the script of " + in.name
	}
	return program{role: RoleOther}, ""
}

// judgeForeign judges a process of another user, of which only arguments and
// comm can be read. Both have to agree on a role, as a caller may start a setuid
// program under any first argument; and only root lets people log in. Processes
// of root can't be the caller's forgeries, so they are never opaque.
func (t *Tables) judgeForeign(l link) finding {
	if client, how, found := t.agentByArgs(l); found {
		return finding{role: RoleAgent, client: client, why: []string{"of another user", how}}
	}
	f := finding{role: RoleOther, why: []string{"of another user"}}
	if len(l.argv) == 0 && l.comm == "" {
		f.opaque = l.euid != 0
		f.note("can't be read")
		return f
	}
	name := l.name()
	p := t.lookup(name)
	if p.role == RoleOther || p.role == RoleAgent || !(isComm(l.comm, name) || t.lookup(l.comm).role == p.role) {
		return f
	}
	if p.role == RoleLogin && l.euid != 0 {
		f.note(notOfRoot)
		return f
	}
	f.role = p.role
	f.note("by its first argument and comm")
	return f
}

// commLength is how many bytes of a program's name comm has room for.
const commLength = 15

// isComm reports whether comm is a program's name, which may be cut.
func isComm(comm, name string) bool { return comm == name[:min(len(name), commLength)] }

// isUserHalf recognises the process of an ssh login that sshd runs as the user.
// Having been root it can't be read. It counts only as the direct child of
// sshd's own process of root: nothing that the user starts has such a parent.
// Pid 1 is left out, as it also adopts orphans.
func isUserHalf(l, above link) bool {
	return isSSHD(l) && isSSHD(above) && !above.own && above.euid == 0 && above.pid > 1
}

// isSSHD reports whether a process calls itself sshd, or the program of a
// session since OpenSSH 9.8, both ways.
func isSSHD(l link) bool {
	is := func(name string) bool { return name == "sshd" || name == "sshd-session" }
	return is(l.name()) && is(l.comm)
}

// agentByArgs looks for an agent in the arguments of a process: its first one,
// or the script that an interpreter runs. It is evidence for an agent alone.
func (t *Tables) agentByArgs(l link) (client, how string, found bool) {
	first := at(l.argv, 0)
	if client, found := t.lookupPath(first); found {
		return client, "by its first argument", true
	}
	if p := t.lookup(argName(firstWord(first))); p.role == RoleAgent {
		return p.client, "by its first argument", true
	}
	in := interpreterOf(argName(first))
	if in == nil {
		return "", "", false
	}
	p := t.lookupScript(in.script(l.argv))
	return p.client, "by the script of " + in.name, p.role == RoleAgent
}

// lookupScript finds what a script, module or package is.
func (t *Tables) lookupScript(script string) program {
	if script == "" {
		return program{role: RoleOther}
	}
	if client, found := t.lookupPath(script); found {
		return program{role: RoleAgent, client: client}
	}
	if p := t.lookup(scriptName(script)); p.role != RoleOther {
		return p
	}
	if scriptName(script) != script { // a file
		return program{role: RoleOther}
	}
	pkg, _, _ := strings.Cut(script, ".") // a module of a package: aider.main
	return t.lookup(pkg)
}

// firstWord is what a process title made of a whole command line begins with.
func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}

// markNames are the variables of marks, each once.
func markNames(marks []mark) []string {
	var names []string
	for _, m := range marks {
		if !slices.Contains(names, m.name) {
			names = append(names, m.name)
		}
	}
	return names
}
