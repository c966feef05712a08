package caller

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// The chains of these tests are made, not gathered, so that each rule is met on
// every system. The caller stands first and pid 1 last.

const (
	me      = 1000
	someone = 2000
)

// prog is a process of the caller's user whose program file can be read.
func prog(exe string, argv ...string) link {
	if len(argv) == 0 {
		argv = []string{path.Base(exe)}
	}
	return link{own: true, euid: me, exe: exe, argv: argv, comm: comm(path.Base(exe))}
}

// sealed is a process of the caller's user whose program file can't be read.
func sealed(argv ...string) link {
	return link{own: true, euid: me, hidden: true, argv: argv, comm: comm(argName(argv[0]))}
}

// of is a process of another user.
func of(uid uint32, name string, argv ...string) link {
	return link{euid: uid, argv: argv, comm: comm(name)}
}

func comm(name string) string { return name[:min(len(name), commLength)] }

// with adds variables to the environment of a process.
func (l link) with(t testing.TB, entries ...string) link {
	tables := loaded(t)
	l.marks = slices.Clone(l.marks)
	for _, entry := range entries {
		l.note(tables, []byte(entry))
	}
	return l
}

func warder() link { return prog("/usr/local/bin/warder") }
func bash() link   { return prog("/usr/bin/bash", "-bash") }
func kitty() link  { return prog("/usr/bin/kitty") }
func claude() link { return prog("/opt/claude/claude.exe", "claude") }
func systemd() link {
	return of(0, "systemd", "/sbin/init")
}

// stack makes a chain with a terminal whose session is led by the topmost shell
// or, without one, by the caller.
func stack(links ...link) chain {
	c := chain{own: me, boot: "boot", tty: 34816}
	for i := range links {
		l := &links[i]
		l.pid, l.ppid = len(links)-i, len(links)-i-1
		l.start, l.inode = uint64(10*l.pid), uint64(1000+l.pid)
	}
	c.links = links
	c.session = links[0].pid
	for _, l := range links {
		if isShell(l) {
			c.session = l.pid
		}
	}
	return c
}

func isShell(l link) bool {
	return strings.HasSuffix(l.exe, "sh") || strings.HasSuffix(l.comm, "sh")
}

// but is a changed copy of the chain.
func (c chain) but(change func(*chain)) chain {
	c.links = append([]link(nil), c.links...)
	change(&c)
	return c
}

// loaded are the embedded tables.
func loaded(t testing.TB) *Tables {
	t.Helper()
	tables, warnings, err := LoadTables(nil, "")
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	return tables
}

// verdict is what a row of the tables below expects.
type verdict struct {
	verdict Verdict
	client  string
	depth   int
	masked  bool
}

var (
	person  = verdict{verdict: Person}
	masked  = verdict{verdict: Person, masked: true}
	unknown = verdict{verdict: Unknown, masked: true}
)

func isAgent(client string, depth int) verdict {
	return verdict{verdict: Agent, client: client, depth: depth, masked: true}
}

func (id Identity) short() verdict {
	return verdict{id.Verdict, id.Client, id.Depth, id.Masked}
}
