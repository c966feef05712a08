package caller

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// row is a chain and the verdict on it.
type row struct {
	name  string
	chain chain
	want  verdict
	why   string // part of the reason
}

// run judges each row.
func run(t *testing.T, rows []row) {
	t.Helper()
	tables := loaded(t)
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			id := tables.judge(r.chain, nil)
			if diff := cmp.Diff(r.want, id.short(), cmp.AllowUnexported(verdict{})); diff != "" {
				t.Errorf("%s\n%s\nevidence: %+v", diff, id.Why, id.Evidence)
			}
			if !strings.Contains(id.Why, r.why) || id.Why == "" {
				t.Errorf("the reason is %q, want %q in it", id.Why, r.why)
			}
			if id.Presence {
				t.Error("presence was made up")
			}
			if len(id.Evidence) != len(r.chain.links) {
				t.Errorf("%d of %d processes are in the evidence", len(id.Evidence), len(r.chain.links))
			}
		})
	}
}

func TestS2_31_persons(t *testing.T) {
	run(t, []row{
		{"a terminal", stack(warder(), bash(), kitty(), systemd()), person, "nothing of an agent"},
		{"a terminal of the desktop", stack(
			warder(), prog("/usr/bin/zsh"), prog("/usr/libexec/gnome-terminal-server"),
			prog("/usr/lib/systemd/systemd", "/usr/lib/systemd/systemd", "--user"), systemd()), person, ""},
		{"programs between", stack(
			warder(), prog("/usr/bin/make"), prog("/usr/bin/node", "node", "/usr/bin/npm", "run", "x"), prog("/usr/local/go/bin/go"),
			bash(), kitty(), systemd()), person, ""},
		{"an IDE's terminal", stack(warder(), bash(), prog("/usr/share/code/code"), systemd()), person, ""},
		{"the console", stack(warder(), bash(), of(0, "login", "/bin/login", "-p", "--"), systemd()), person, ""},
		{"sudo from root to the user", stack(
			warder(), bash(), of(0, "sudo", "sudo", "-iu", "ann"), of(0, "bash", "-bash"), systemd()), person, ""},
		{"su", stack(warder(), prog("/usr/bin/fish"), of(0, "su", "su", "-", "ann"), of(someone, "bash", "bash"), systemd()), person, ""},
		{"ssh", stack(
			warder(), bash().with(t, "SSH_CONNECTION=192.0.2.7 50000 192.0.2.1 22"), sealed("sshd-session: ann@pts/0"),
			of(0, "sshd-session", "sshd-session: ann [priv]"), of(0, "sshd", "sshd: /usr/sbin/sshd -D [listener]"), systemd()), person, ""},
		{"older ssh", stack(
			warder(), bash(), sealed("sshd: ann@pts/0"), of(0, "sshd", "sshd: ann [priv]"), of(0, "sshd", "/usr/sbin/sshd"), systemd()), person, ""},
		{"a container's shell", stack(warder(), bash()), person, ""},
		{"exec into a container", stack(warder(), bash()).but(func(c *chain) {
			c.links[0].pid, c.links[0].ppid = 31, 30
			c.links[1].pid, c.links[1].ppid, c.session = 30, 0, 30
		}), person, ""},
		{"a small container's shell", stack(warder(), prog("/bin/busybox", "sh")), person, ""},
		{"a terminal written in Python", stack(
			warder(), bash(), prog("/usr/bin/python3.13", "/usr/bin/python3", "/usr/bin/terminator"), systemd()), person, ""},
		{"a shell that was updated while it ran", stack(warder(), prog("/usr/bin/bash (deleted)", "bash"), kitty(), systemd()), person, ""},
		{"16 ancestors", stack(append(times(13, bash()), bash(), kitty(), of(0, "x", "x"), systemd())...), person, ""},
	})
}

// times are n links of a kind behind a caller.
func times(n int, l link) []link {
	links := []link{warder()}
	for range n {
		links = append(links, l)
	}
	return links
}

func TestS2_31_handsOfOthers(t *testing.T) {
	tmux := prog("/usr/bin/tmux", "tmux", "new")
	run(t, []row{
		{"tmux", stack(warder(), bash(), tmux, systemd()), masked, "masked: multiplexer"},
		{"tmux in a terminal", stack(warder(), bash(), tmux, bash(), kitty(), systemd()), masked, "masked: multiplexer"},
		{"script in a terminal", stack(warder(), bash(), prog("/usr/bin/script"), bash(), kitty(), systemd()), masked, "masked: automation"},
		{"expect in a terminal", stack(warder(), bash(), prog("/usr/bin/expect"), bash(), kitty(), systemd()), masked, "masked: automation"},
		{"unbuffer", stack(
			warder(), bash(), prog("/usr/bin/tclsh8.6", "tclsh8.6", "/usr/bin/unbuffer", "-p"), bash(), kitty(), systemd()), masked, "masked"},
		{"script alone", stack(warder(), bash(), prog("/usr/bin/script"), systemd()), unknown, "above the shell"},
		{
			"a transient unit under a terminal", stack(warder(), bash(), kitty(), systemd()).but(func(c *chain) { c.unit = "run-u7.scope" }),
			masked, "run-u7.scope",
		},
		{"a loopback login in a terminal", stack(
			warder(), bash().with(t, "SSH_CONNECTION=127.0.0.1 50000 127.0.0.1 22"),
			of(0, "sshd-session", "sshd-session: ann [priv]"), of(0, "sshd", "sshd: /usr/sbin/sshd -D"), systemd()), unknown, "above the shell"},
		{"a loopback login by name", stack(
			warder(), bash().with(t, "SSH_CONNECTION=192.0.2.1 50000 192.0.2.1 22"),
			prog("/usr/sbin/sshd", "x"), systemd()), unknown, "above the shell"},
	})
}

func TestC25_unknown(t *testing.T) {
	whole := stack(warder(), bash(), kitty(), systemd())
	run(t, []row{
		{"no terminal", whole.but(func(c *chain) { c.tty = 0 }), unknown, "no controlling terminal"},
		{
			"an orphan in the same session", stack(warder(), bash(), kitty(), systemd()).but(func(c *chain) { c.session = 999 }),
			unknown, "leader of its session",
		},
		{"a session led from outside of the pid namespace", whole.but(func(c *chain) { c.session = 0 }), unknown, "leader of its session"},
		{"no shell", stack(warder(), kitty(), systemd()), unknown, "no known shell"},
		{"a terminal below the shell", stack(warder(), kitty(), bash(), systemd()), unknown, "above the shell"},
		{"a login below the shell", stack(warder(), of(0, "su", "su"), bash(), systemd()), unknown, "above the shell"},
		{"a shell below a service", stack(warder(), bash(), prog("/usr/bin/myservice"), systemd()), unknown, "above the shell"},
		{"a shell below the user's systemd", stack(warder(), bash(), prog("/usr/lib/systemd/systemd"), systemd()), unknown, "above the shell"},
		{"cron", stack(warder(), prog("/usr/bin/dash", "/bin/sh", "-c", "x"), of(0, "cron", "/usr/sbin/CRON"), of(0, "cron", "/usr/sbin/cron"),
			systemd()).but(func(c *chain) { c.tty = 0 }), unknown, "no controlling terminal"},
		{"a shell that adopts below a container's init", stack(warder(), bash(), of(0, "tini", "tini")), unknown, "above the shell"},
		{"a shell below any pid 1", stack(warder(), bash(), prog("/usr/bin/script")), unknown, "above the shell"},
		{"an own program that can't be read", stack(warder(), sealed("x"), bash(), kitty(), systemd()), unknown, "process 4 can't be read"},
		{"a shell that can't be read", stack(warder(), bash(), sealed("-bash"), kitty(), systemd()), unknown, "process 3 can't be read"},
		{"a caller that can't be read", stack(sealed("warder"), bash(), kitty(), systemd()), unknown, "process 4 can't be read"},
		{
			"a caller that changed its user", whole.but(func(c *chain) { c.links[0] = of(0, "warder", "warder"); c.links[0].pid = 4 }),
			unknown, "changed its user",
		},
		{"more than 16 ancestors", stack(warder(), bash(), kitty()).but(func(c *chain) { c.cut = true }), unknown, "more than 16"},
		{"more than 16 ancestors above a shell", stack(warder(), bash()).but(func(c *chain) { c.cut = true }), unknown, "more than 16"},
		{"a blind system", chain{blind: "no eyes"}, unknown, "no eyes"},
		{"a hidden process of another user", stack(warder(), bash(), link{euid: someone}, kitty(), systemd()), unknown, "process 3 can't be read"},
	})
	t.Run("hidden processes of root are only nobody", func(t *testing.T) {
		if id := loaded(t).judge(stack(warder(), bash(), kitty(), link{euid: 0}), nil); id.Verdict != Person {
			t.Errorf("got %s: %s", id.Verdict, id.Why)
		}
	})
}

// TestS2_31_logins: what passes for a login has to be root's, under a name that
// its starter could not choose.
func TestS2_31_logins(t *testing.T) {
	above := func(links ...link) chain { return stack(append([]link{warder(), bash()}, links...)...) }
	run(t, []row{
		{"a setuid program called sshd", above(of(0, "ping", "sshd"), systemd()), unknown, ""},
		{"a setuid program in a file called sshd", above(of(0, "sshd", "ping"), systemd()), unknown, ""},
		{"another user's sshd", above(of(someone, "sshd", "sshd: ann"), systemd()), unknown, ""},
		{"a user's own sshd", above(prog("/usr/sbin/sshd"), systemd()), unknown, ""},
		{"a user's small su", above(prog("/bin/busybox", "su"), systemd()), unknown, ""},
		{"a user's script called sshd", above(prog("/usr/bin/python3", "python3", "/x/sshd"), systemd()), unknown, ""},
		{"an own process titled sshd", above(prog("/tmp/x", "sshd: ann@pts/0"), systemd()), unknown, ""},
		{"an unreadable one titled sshd", above(sealed("sshd: ann@pts/0"), systemd()), unknown, "can't be read"},
		{"the same below pid 1", above(sealed("sshd: ann@pts/0"), of(0, "sshd", "sshd: /usr/sbin/sshd -D")), unknown, "can't be read"},
		{"the same below another user's", above(sealed("sshd: ann@pts/0"), of(someone, "sshd", "sshd: x [priv]"), systemd()), unknown, ""},
		{"the same below another program", above(sealed("sshd: ann@pts/0"), of(0, "sudo", "sudo"), systemd()), unknown, ""},
		{"one that calls itself otherwise", above(sealed("x"), of(0, "sshd", "sshd: ann [priv]"), systemd()), unknown, "can't be read"},
		{"comm alone", above(link{own: true, euid: me, hidden: true, comm: "sshd"}, of(0, "sshd", "sshd: ann [priv]"), systemd()), unknown, ""},
	})
}

func TestS2_32_agents(t *testing.T) {
	run(t, []row{
		{"above a shell", stack(warder(), bash(), claude(), bash(), kitty(), systemd()), isAgent("claude", 1), "claude is process 4"},
		{"as the caller", stack(claude(), bash(), kitty(), systemd()), isAgent("claude", 1), ""},
		{"as pid 1", stack(warder(), bash(), claude()), isAgent("claude", 1), ""},
		{"far above", stack(append(times(14, bash()), kitty(), claude())...), isAgent("claude", 1), ""},
		{"above a multiplexer", stack(warder(), bash(), prog("/usr/bin/tmux"), claude(), kitty(), systemd()), isAgent("claude", 1), ""},
		{"without a terminal", stack(warder(), claude(), systemd()).but(func(c *chain) { c.tty = 0 }), isAgent("claude", 1), ""},
		{"of another user", stack(warder(), bash(), of(0, "sudo", "sudo"), of(someone, "claude", "claude"), systemd()), isAgent("claude", 1), ""},
		{"of root, by script", stack(warder(), bash(), of(0, "su", "su"), of(0, "node", "node", "/usr/bin/gemini"), systemd()), isAgent("gemini", 1), ""},
		{"unreadable", stack(warder(), bash(), sealed("claude"), kitty(), systemd()), isAgent("claude", 1), ""},
		{"unreadable, by script", stack(warder(), bash(), sealed("node", "/x/@openai/codex/bin/codex.js"), kitty(), systemd()), isAgent("codex", 1), ""},
		{"deleted", stack(warder(), bash(), prog("/opt/claude (deleted)", "x"), kitty(), systemd()), isAgent("claude", 1), ""},
		{"native, by the place of its program", stack(
			warder(), bash(), prog("/home/a/.local/share/claude/versions/2.1.332", "x"), kitty(), systemd()), isAgent("claude", 1), ""},
		{"by its first argument, where the program says nothing", stack(
			warder(), bash(), prog("/tmp/memfd", "claude"), kitty(), systemd()), isAgent("claude", 1), ""},
		{"by a title", stack(warder(), bash(), prog("/usr/bin/node", "claude --resume 7"), kitty(), systemd()), isAgent("claude", 1), ""},
		{"a shell in a file called claude", stack(warder(), prog("/tmp/claude", "bash"), kitty(), systemd()), isAgent("claude", 1), ""},
		{"a shell called claude", stack(warder(), prog("/usr/bin/bash", "claude"), kitty(), systemd()), person, ""},
		{
			"a shell running a script called claude", stack(warder(), prog("/usr/bin/bash", "/bin/bash", "/home/a/bin/claude"), kitty(), systemd()),
			person, "",
		},
		{"comm alone", stack(warder(), bash(), kitty(), systemd()).but(func(c *chain) { c.links[1].comm = "claude" }), person, ""},
		{"a renamed copy", stack(warder(), bash(), prog("/tmp/notes", "notes"), bash(), kitty(), systemd()), person, ""},
	})
}

func TestS2_30_marks(t *testing.T) {
	marked := func(entry string) chain { return stack(warder(), bash().with(t, entry), kitty(), systemd()) }
	run(t, []row{
		{"in the caller", stack(warder().with(t, "CLAUDECODE=1"), bash(), kitty(), systemd()), isAgent("claude", 1), "CLAUDECODE in the environment"},
		{"in an ancestor", marked("GEMINI_CLI=1"), isAgent("gemini", 1), "process 3"},
		{"a value of its own", marked("AI_AGENT=claude-code_2-1-332_agent"), isAgent("claude", 1), ""},
		{"of nobody known", marked("AI_AGENT=another"), isAgent("", 1), ""},
		{"the caller's own word", marked("WARDER_CALLER=agent"), isAgent("", 1), "WARDER_CALLER"},
		{"another word", marked("WARDER_CALLER=human"), person, ""},
		{"a person's word", marked("WARDER_CALLER=person"), person, ""},
		{"a word of another case", marked("WARDER_CALLER=AGENT"), person, ""},
		{"an empty word", marked("WARDER_CALLER="), person, ""},
		{"an empty mark", marked("CLAUDECODE="), person, ""},
		{"no entry", marked("CLAUDECODE"), person, ""},
		{"a mark that others set too", marked("CLAUDE_PROJECT_DIR=/x"), person, ""},
		{"one more", marked("GEMINI_PROJECT_DIR=/x"), person, ""},
		{"of an IDE's terminal", marked("CURSOR_TRACE_ID=1"), person, ""},
		{"a setting of a person", marked("CLAUDE_CODE_USE_BEDROCK=1"), person, ""},
		{"a name that goes on", marked("CLAUDECODE2=1"), person, ""},
	})
}

// TestWorstMarks: a caller that claims everything a person's environment can
// hold stays what it is.
func TestS2_32_nothingRaises(t *testing.T) {
	claims := []string{
		"WARDER_CALLER=person", "WARDER_CALLER=human", "SSH_CONNECTION=192.0.2.7 1 192.0.2.1 22", "SSH_TTY=/dev/pts/1",
		"TERM=xterm-kitty", "TERM_PROGRAM=iTerm.app", "KITTY_PID=1", "SUDO_USER=ann", "DISPLAY=:0", "INVOCATION_ID=x", "SHELL=/bin/bash",
	}
	tables := loaded(t)
	for _, c := range []chain{
		stack(warder(), claude(), systemd()),
		stack(warder(), bash(), systemd()),
		stack(warder(), bash(), prog("/usr/bin/script"), systemd()),
		stack(warder(), bash(), kitty(), systemd()).but(func(c *chain) { c.tty = 0 }),
	} {
		before := tables.judge(c, nil)
		after := tables.judge(c.but(func(c *chain) {
			for i := range c.links {
				c.links[i] = c.links[i].with(t, claims...)
			}
		}), nil)
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("the claims changed: %s", diff)
		}
	}
}

func TestS0_31_depth(t *testing.T) {
	codex := prog("/usr/lib/codex/codex")
	node := prog("/usr/bin/node", "node", "/usr/lib/node_modules/@openai/codex/bin/codex.js")
	run(t, []row{
		{"a launcher and its program", stack(warder(), bash(), codex, node, bash(), kitty(), systemd()), isAgent("codex", 1), ""},
		{"one client with a shell between", stack(warder(), bash(), claude(), bash(), claude(), kitty(), systemd()), isAgent("claude", 1), ""},
		{"another client below", stack(warder(), bash(), codex, node, bash(), claude(), kitty(), systemd()), isAgent("codex", 2), ""},
		{"three", stack(warder(), claude(), codex, claude(), kitty(), systemd()), isAgent("claude", 3), ""},
		{"a client out of sight", stack(warder(), bash(), codex.with(t, "CLAUDECODE=1"), kitty(), systemd()), isAgent("codex", 2), ""},
		{"its own marks below", stack(warder().with(t, "CODEX_CI=1"), bash().with(t, "CODEX_CI=1"), codex, kitty(), systemd()), isAgent("codex", 1), ""},
		{"marks of two", stack(warder().with(t, "CLAUDECODE=1", "CODEX_CI=1"), bash().with(t, "CLAUDECODE=1"), kitty(), systemd()), isAgent("codex", 2), ""},
		{"marks of one and of nobody", stack(warder().with(t, "CLAUDECODE=1", "WARDER_CALLER=agent"), bash(), kitty(), systemd()), isAgent("claude", 1), ""},
	})
}

func TestInstance(t *testing.T) {
	tables := loaded(t)
	instance := func(pid int) Instance {
		return Instance{BootID: "boot", PID: pid, Start: uint64(10 * pid), Inode: uint64(1000 + pid)}
	}
	mark := "CLAUDECODE=1"
	for _, r := range []struct {
		name   string
		chain  chain
		want   Instance
		leader Instance
	}{
		{"the nearest agent", stack(warder(), bash(), claude(), bash(), claude(), systemd()), instance(4), instance(3)},
		{"the topmost that is marked", stack(warder().with(t, mark), bash().with(t, mark), kitty().with(t, mark), systemd()), instance(2), instance(3)},
		{"the caller, where it is unknown", stack(warder(), bash(), systemd()), instance(3), instance(2)},
		{"none of a person", stack(warder(), bash(), kitty(), systemd()), Instance{}, instance(3)},
		{"no leader above", stack(warder(), bash(), systemd()).but(func(c *chain) { c.session = 77 }), instance(3), Instance{}},
	} {
		id := tables.judge(r.chain, nil)
		if id.Instance != r.want || id.Leader != r.leader {
			t.Errorf("%s: instance %+v, leader %+v, want %+v and %+v", r.name, id.Instance, id.Leader, r.want, r.leader)
		}
	}
}

// TestLeaseHolders: a live `run` hides itself and must not make unknown what it
// runs; only its inode says so, never its name.
func TestLeaseHolders(t *testing.T) {
	tables := loaded(t)
	c := stack(warder(), bash(), sealed("warder", "run"), bash(), kitty(), systemd())
	holder := c.links[2].inode
	for _, r := range []struct {
		name    string
		holders func(uint64) bool
		want    Verdict
	}{
		{"it holds a lease", func(inode uint64) bool { return inode == holder }, Person},
		{"another holds one", func(inode uint64) bool { return inode == holder+1 }, Unknown},
		{"nobody does", nil, Unknown},
	} {
		if id := tables.judge(c, r.holders); id.Verdict != r.want {
			t.Errorf("%s: %s (%s), want %s", r.name, id.Verdict, id.Why, r.want)
		}
	}
	all := func(uint64) bool { return true }
	if id := tables.judge(c.but(func(c *chain) { c.links[2].inode = 0 }), all); id.Verdict != Unknown {
		t.Errorf("a kernel without inodes: %s", id.Verdict)
	}
	if id := tables.judge(stack(warder(), sealed("claude"), bash(), kitty(), systemd()), all); id.Verdict != Agent {
		t.Errorf("an agent that holds a lease: %s", id.Verdict)
	}
}

func TestEvidence(t *testing.T) {
	c := stack(
		warder(),
		prog("/tmp/a\x1b[31mb\n\u202e", strings.Repeat("x", 300), "-p", "secret"),
		prog("/usr/bin/node", "node --token secret"),
		bash(), kitty(), systemd(),
	)
	c.weak, c.below, c.unit = true, true, "run-u1.service"
	id := loaded(t).judge(c, nil)
	for _, p := range id.Evidence {
		if strings.ContainsAny(p.Exe+p.Argv0+p.Why, "\x1b\n\u202e") {
			t.Errorf("control characters stay in %q, %q", p.Exe, p.Argv0)
		}
		if strings.Contains(p.Argv0, "secret") || len(p.Argv0) > 256 {
			t.Errorf("too much of the arguments is shown: %q", p.Argv0)
		}
	}
	for _, want := range []string{"pid alone", "pid namespace of its own", "run-u1.service"} {
		if !strings.Contains(id.Evidence[0].Why, want) {
			t.Errorf("the caller's reasons %q lack %q", id.Evidence[0].Why, want)
		}
	}
	want := Process{PID: 3, PPID: 2, UID: me, Exe: "/usr/bin/bash", Argv0: "-bash", Role: RoleShell, Why: "by its program; leads the session"}
	if diff := cmp.Diff(want, id.Evidence[3]); diff != "" {
		t.Error(diff)
	}
}

// TestS2_36_otherSystems: where nobody tells who is above a process, a caller is
// unknown, and one's own environment can still tell of an agent.
func TestS2_36_otherSystems(t *testing.T) {
	tables := loaded(t)
	id, err := tables.Judge(&Peer{uid: noUser, blind: "no eyes"}, nil)
	if err != nil || id.short() != unknown || id.Why != "no eyes" || id.Evidence == nil {
		t.Errorf("judged %+v, %v", id, err)
	}
	for _, row := range []struct {
		env  map[string]string
		want verdict
	}{
		{nil, unknown},
		{map[string]string{"WARDER_CALLER": "person", "TERM": "xterm"}, unknown},
		{map[string]string{"WARDER_CALLER": "agent"}, isAgent("", 1)},
		{map[string]string{"COPILOT_CLI": "1"}, isAgent("copilot", 1)},
	} {
		id := tables.judge(alone(tables, func(name string) string { return row.env[name] }), nil)
		if id.short() != row.want || len(id.Evidence) != 1 {
			t.Errorf("%v: judged %+v", row.env, id)
		}
	}
}
