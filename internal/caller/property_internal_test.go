package caller

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// labelled is a kind of process with what the rules say about it, stated here
// again and apart from the code that finds it out.
type labelled struct {
	link
	role   Role
	agent  bool // by process or mark
	opaque bool
}

// palette has one of each kind.
func palette(t testing.TB) []labelled {
	loopback := bash().with(t, "SSH_CONNECTION=::1 50000 ::1 22")
	return []labelled{
		{link: warder(), role: RoleOther},
		{link: prog("/usr/bin/make"), role: RoleOther},
		{link: prog("/usr/bin/node", "node", "server.js"), role: RoleOther},
		{link: of(someone, "make", "make"), role: RoleOther},
		{link: of(someone, "sshd", "sshd: x"), role: RoleOther},
		{link: of(0, "ping", "sshd"), role: RoleOther},
		{link: link{euid: 0}, role: RoleOther},
		{link: bash(), role: RoleShell},
		{link: prog("/bin/busybox", "ash"), role: RoleShell},
		{link: of(0, "zsh", "-zsh"), role: RoleShell},
		{link: prog("/usr/bin/bash", "claude"), role: RoleShell},
		{link: loopback, role: RoleShell},
		{link: kitty(), role: RoleTerminal},
		{link: prog("/usr/bin/tmux"), role: RoleMultiplexer},
		{link: prog("/usr/bin/script"), role: RoleAutomation},
		{link: of(0, "cron", "/usr/sbin/cron"), role: RoleAutomation},
		{link: of(0, "su", "su", "-"), role: RoleLogin},
		{link: of(0, "sshd", "sshd: ann [priv]"), role: RoleLogin},
		{link: prog("/usr/bin/tini"), role: RoleContainer},
		{link: sealed("x"), role: RoleOther, opaque: true},
		{link: sealed("bash"), role: RoleOther, opaque: true},
		{link: link{euid: someone}, role: RoleOther, opaque: true},
		{link: claude(), role: RoleAgent, agent: true},
		{link: sealed("codex"), role: RoleAgent, agent: true},
		{link: of(0, "node", "node", "/usr/bin/qwen"), role: RoleAgent, agent: true},
		{link: bash().with(t, "OPENCODE=1"), role: RoleShell, agent: true},
		{link: warder().with(t, "WARDER_CALLER=agent"), role: RoleOther, agent: true},
	}
}

// drawn is a chain with its labels.
type drawn struct {
	chain
	labels []labelled
}

func drawChain(t *rapid.T, kinds []labelled) drawn {
	labels := rapid.SliceOfN(rapid.SampledFrom(kinds), 1, maxAncestors+1).Draw(t, "links")
	return drawn{chain{own: me, boot: "boot"}, labels}.place(
		rapid.IntRange(-1, len(labels)-1).Draw(t, "leader"),
		rapid.Bool().Draw(t, "namespace ends at pid 1"),
	).set(t)
}

// place numbers the processes; leader is the place of the session's leader, or -1.
func (d drawn) place(leader int, one bool) drawn {
	d.links, d.session = nil, 5000
	for i, l := range d.labels {
		l.pid, l.ppid = 2000-i, 2000-i-1
		if i == len(d.labels)-1 {
			l.ppid = 0
			if one {
				l.pid = 1
				if i > 0 {
					d.links[i-1].ppid = 1
				}
			}
		}
		if i == leader {
			d.session = l.pid
		}
		d.links = append(d.links, l.link)
	}
	return d
}

func (d drawn) set(t *rapid.T) drawn {
	d.tty = rapid.SampledFrom([]int{0, 34816, 34817, 34818}).Draw(t, "tty")
	d.cut = rapid.Bool().Draw(t, "cut") && rapid.Bool().Draw(t, "cut indeed")
	d.unit = rapid.SampledFrom([]string{"", "", "run-u1.service"}).Draw(t, "unit")
	return d
}

// byTheBook states the rules for a person again.
func (d drawn) byTheBook() (person, masked bool) {
	masked = d.unit != ""
	loopback, shell, entry, leader := false, false, false, false
	for i, l := range d.labels {
		if l.agent || l.opaque {
			return false, true
		}
		role := l.role
		loopback = loopback || l.loopback
		if role == RoleLogin && loopback && l.comm == "sshd" {
			role = RoleAutomation
		}
		masked = masked || role == RoleMultiplexer || role == RoleAutomation
		entry = entry || shell && (role == RoleTerminal || role == RoleMultiplexer || role == RoleLogin)
		shell = shell || role == RoleShell
		leader = leader || d.links[i].pid == d.session
	}
	top := len(d.links) - 1
	end := d.links[top].pid != 1 || d.labels[top].role == RoleShell
	person = d.tty != 0 && leader && shell && (entry || end) && !d.cut && d.links[0].own
	return person, masked || !person
}

func TestProperty_personsMeetEveryCondition(t *testing.T) {
	tables, all := loaded(t), palette(t)
	harmless := slices.DeleteFunc(slices.Clone(all), func(l labelled) bool { return l.agent || l.opaque })
	rapid.Check(t, func(rt *rapid.T) {
		d := drawChain(rt, rapid.SampledFrom([][]labelled{all, harmless, harmless}).Draw(rt, "kinds"))
		id := tables.judge(d.chain, nil)
		person, masked := d.byTheBook()
		if (id.Verdict == Person) != person || id.Masked != masked {
			rt.Errorf("judged %s, masked %v; the book says person %v, masked %v\n%s\n%+v", id.Verdict, id.Masked, person, masked, id.Why, id.Evidence)
		}
		agent := slices.ContainsFunc(d.labels, func(l labelled) bool { return l.agent })
		if (id.Verdict == Agent) != agent {
			rt.Errorf("judged %s, but an agent is there: %v", id.Verdict, agent)
		}
	})
}

// TestProperty_agentAnywhere: one agent, by process or mark, at any place of any
// chain, and whatever is taken out of the rest, makes everything an agent's.
func TestProperty_agentAnywhere(t *testing.T) {
	tables, kinds := loaded(t), palette(t)
	agents := slices.DeleteFunc(slices.Clone(kinds), func(l labelled) bool { return !l.agent })
	rapid.Check(t, func(rt *rapid.T) {
		d := drawChain(rt, kinds)
		d.labels = d.labels[:min(len(d.labels), maxAncestors)]
		at := rapid.IntRange(0, len(d.labels)).Draw(rt, "place")
		d.labels = slices.Insert(slices.Clone(d.labels), at, rapid.SampledFrom(agents).Draw(rt, "agent"))
		d = d.place(rapid.IntRange(-1, len(d.labels)-1).Draw(rt, "new leader"), rapid.Bool().Draw(rt, "one"))
		all := func(uint64) bool { return true }
		if id := tables.judge(d.chain, all); id.Verdict != Agent || !id.Masked || id.Depth < 1 || id.Instance == (Instance{}) {
			rt.Errorf("judged %s, masked %v, depth %d, instance %+v", id.Verdict, id.Masked, id.Depth, id.Instance)
		}
	})
}

// TestProperty_environmentOnlyLowers: a verdict with any environments is never
// better than without.
func TestProperty_environmentOnlyLowers(t *testing.T) {
	tables, kinds := loaded(t), palette(t)
	entry := rapid.SampledFrom([]string{
		"CLAUDECODE=1", "CLAUDECODE=", "WARDER_CALLER=agent", "WARDER_CALLER=person", "SSH_CONNECTION=127.0.0.1 1 127.0.0.1 22",
		"SSH_CONNECTION=192.0.2.7 1 192.0.2.1 22", "SSH_CONNECTION=x", "TERM=xterm", "SUDO_USER=ann", "AI_AGENT=x",
	})
	rapid.Check(t, func(rt *rapid.T) {
		d := drawChain(rt, kinds)
		before := tables.judge(d.chain, nil)
		after := tables.judge(d.but(func(c *chain) {
			for i := range c.links {
				c.links[i] = c.links[i].with(t, rapid.SliceOfN(entry, 0, 3).Draw(rt, "entries")...)
			}
		}), nil)
		if after.Verdict == Person && before.Verdict != Person || !after.Masked && before.Masked {
			rt.Errorf("from %s, masked %v, to %s, masked %v", before.Verdict, before.Masked, after.Verdict, after.Masked)
		}
	})
}

// TestProperty_moreAgentsOnlyTighten: whatever names a user gives to an agent.
func TestProperty_moreAgentsOnlyTighten(t *testing.T) {
	kinds := palette(t)
	plain := loaded(t)
	name := rapid.SampledFrom([]string{"bash", "kitty", "make", "sshd", "warder", "claude", "node", "x"})
	rapid.Check(t, func(rt *rapid.T) {
		extended := loaded(t)
		extended.add(agent{client: "new", names: rapid.SliceOfN(name, 0, 3).Draw(rt, "names")})
		d := drawChain(rt, kinds)
		before, after := plain.judge(d.chain, nil), extended.judge(d.chain, nil)
		if after.Verdict == Person && before.Verdict != Person || before.Verdict == Agent && after.Verdict != Agent {
			rt.Errorf("from %s to %s", before.Verdict, after.Verdict)
		}
	})
}
