package caller

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTables_knowEveryClient(t *testing.T) {
	tables := loaded(t)
	for _, name := range strings.Fields(`claude codex gemini qwen opencode copilot cline cursor-agent
		kimi goose aider amp crush droid auggie kilo continue`) {
		want := strings.TrimSuffix(name, "-agent")
		if p := tables.lookup(name); p.role != RoleAgent || p.client != want {
			t.Errorf("%s is %+v", name, p)
		}
	}
	for role, names := range map[Role]string{
		RoleShell: "bash zsh fish dash sh ksh nu elvish xonsh pwsh",
		RoleTerminal: `kitty alacritty foot wezterm wezterm-gui gnome-terminal-server konsole xterm xfce4-terminal terminator
			tilix ghostty ptyxis st urxvt Terminal iTerm2 code cursor idea zed`,
		RoleLogin:       "sshd sshd-session login su sudo systemd-logind agetty getty",
		RoleMultiplexer: "tmux screen zellij dtach abduco",
		RoleAutomation:  "script expect unbuffer socat ttyd cron crond atd at systemd-run",
	} {
		for _, name := range strings.Fields(names) {
			if p := tables.lookup(name); p.role != role || p.client != "" {
				t.Errorf("%s is %+v, want %s", name, p, role)
			}
		}
	}
	for _, name := range []string{"", "warder", "systemd", "make", "bash2", "Claude", "node"} {
		if p := tables.lookup(name); p.role != RoleOther {
			t.Errorf("%q is %+v", name, p)
		}
	}
}

// TestTables_namesAreUnambiguous: a name in two tables would mean whatever was
// loaded last.
func TestTables_namesAreUnambiguous(t *testing.T) {
	seen := map[string]string{}
	note := func(name, where string) {
		if before, found := seen[name]; found {
			t.Errorf("%s is in %s and in %s", name, before, where)
		}
		seen[name] = where
	}
	for _, row := range programs {
		for _, name := range row.names {
			note(name, string(row.role))
		}
	}
	for _, row := range agents {
		for _, name := range slices.Concat(row.names, row.marks) {
			note(name, row.client)
		}
		if err := row.check(); err != nil && row.client != "" {
			t.Errorf("%s: %v", row.client, err)
		}
	}
	for _, row := range interpreters {
		note(row.name, "interpreters")
	}
}

func TestExtend(t *testing.T) {
	text := `
version = 1
colour = "red"            # line 3

[[agent]]                 # line 5
client = "mybot"
names = ["mybot"]
paths = ["@corp/mybot"]
marks = ["MYBOT", "BOT_KIND=mine"]
remove = ["claude"]       # line 10

[[ agent ]]               # line 12
client = "my bot"
names = ["x"]

[[agent]]                 # line 16
client = "empty"

[[agent]]
client = "script-is-mine"
names = ["script"]

[[terminal]]              # line 23
names = ["mybot-terminal"]

[shells]
names = ["mysh"]
`
	tables, warnings, err := LoadTables([]byte(text), "agents.toml")
	if err != nil {
		t.Fatal(err)
	}
	type short struct {
		Line    int
		Pending bool
	}
	var got []short
	for _, w := range warnings {
		got = append(got, short{w.Line, w.Pending})
		if !strings.HasPrefix(w.String(), "agents.toml:") || w.Text == "" {
			t.Errorf("warning %q", w)
		}
	}
	want := []short{{3, true}, {10, true}, {23, true}, {26, true}, {12, false}, {16, false}}
	slices.SortFunc(got, func(a, b short) int { return a.Line - b.Line })
	slices.SortFunc(want, func(a, b short) int { return a.Line - b.Line })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n%v", diff, warnings)
	}
	for name, role := range map[string]Role{
		"mybot": RoleAgent, "script": RoleAgent, "bash": RoleShell, "claude": RoleAgent, "zsh": RoleShell,
		"x": RoleOther, "mysh": RoleOther, "mybot-terminal": RoleOther,
	} {
		if p := tables.lookup(name); p.role != role {
			t.Errorf("%s is %s, want %s", name, p.role, role)
		}
	}
	for _, c := range []chain{
		stack(warder(), prog("/usr/bin/script", "script"), bash(), systemd()),
		stack(warder(), prog("/usr/bin/node", "node", "/x/@corp/mybot/index.js"), systemd()),
	} {
		if id := tables.judge(c, nil); id.Verdict != Agent {
			t.Errorf("judged %s: %s", id.Verdict, id.Why)
		}
	}
	for value, marks := range map[string]int{"mine": 1, "other": 0, "": 0} {
		tr := tracesOf(tables, func(name string) string { return map[string]string{"BOT_KIND": value}[name] })
		if len(tr.marks) != marks {
			t.Errorf("BOT_KIND=%s gives %v", value, tr.marks)
		}
	}
}

// TestExtend_broken: a file that can't be read may hold the agent that calls, so
// nobody is a person until it is repaired; agents stay agents.
func TestExtend_broken(t *testing.T) {
	for name, text := range map[string]string{
		"no TOML":     "version = 1\n[[agent\n",
		"no version":  "[[agent]]\nclient = \"x\"\nnames = [\"x\"]\n",
		"a later one": "version = 2\n",
		"other types": "version = 1\n[[agent]]\nclient = 7\n",
		"twice":       "version = 1\nversion = 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			tables, _, err := LoadTables([]byte(text), "agents.toml")
			if err == nil || !strings.Contains(err.Error(), "agents.toml:") {
				t.Errorf("error %v", err)
			}
			if id := tables.judge(stack(warder(), bash(), kitty(), systemd()), nil); id.Verdict != Unknown || !strings.Contains(id.Why, "agents.toml") {
				t.Errorf("a person is %s: %s", id.Verdict, id.Why)
			}
			if id := tables.judge(stack(warder(), claude(), systemd()), nil); id.Verdict != Agent {
				t.Errorf("an agent is %s", id.Verdict)
			}
		})
	}
}

func TestExtend_twice(t *testing.T) {
	tables := loaded(t)
	for _, client := range []string{"one", "two"} {
		if w, err := tables.Extend([]byte("version=1\n[[agent]]\nclient=\""+client+"\"\nnames=[\""+client+"\"]\n"), "f"); err != nil || len(w) > 0 {
			t.Fatal(w, err)
		}
	}
	if tables.lookup("one").role != RoleAgent || tables.lookup("two").role != RoleAgent {
		t.Error("the second text took the first one's agents away")
	}
	if w, err := tables.Extend([]byte(" \n"), "f"); err != nil || len(w) > 0 {
		t.Errorf("an empty file: %v, %v", w, err)
	}
}

// TestExtend_takesNoPersonForAnAgent: whoever can write the file once must not make agents of what every person has above or
// around them. The row is refused as a whole, and told with its line.
func TestExtend_takesNoPersonForAnAgent(t *testing.T) {
	for _, row := range []string{
		`names = ["warder"]`, `names = ["acme", "bash"]`, `names = ["kitty"]`, `names = ["tmux"]`, `names = ["sshd"]`, `names = ["sudo"]`,
		`names = ["systemd"]`, `names = ["busybox"]`,
		`paths = ["usr/bin"]`, `paths = ["bin"]`, `paths = ["bin/bash"]`, `paths = ["usr/local/bin/warder"]`, `paths = ["usr/lib/systemd/systemd"]`,
		`marks = ["PATH"]`, `marks = ["HOME=/*"]`, `marks = ["SHELL=/bin/bash"]`, `marks = ["ACME", "TERM"]`,
	} {
		t.Run(row, func(t *testing.T) {
			tables, warnings, err := LoadTables([]byte("version = 1\n\n[[agent]]\nclient = \"acme\"\n"+row+"\n"), "agents.toml")
			if err != nil || len(warnings) != 1 || warnings[0].Line != 3 || warnings[0].Pending || !strings.Contains(warnings[0].Text, "can't tell an agent") {
				t.Errorf("told %v, %v", warnings, err)
			}
			if id := tables.judge(stack(warder(), bash(), kitty(), systemd()), nil); id.Verdict != Person {
				t.Errorf("a person is %s: %s", id.Verdict, id.Why)
			}
			if len(tables.marks["PATH"])+len(tables.marks["HOME"])+len(tables.marks["TERM"])+len(tables.marks["SHELL"])+len(tables.marks["ACME"]) > 0 {
				t.Errorf("marks %v", tables.markNames)
			}
		})
	}
}

// TestDoubt: a reason from outside of the tables leaves nobody a person, and agents agents.
func TestDoubt(t *testing.T) {
	tables := loaded(t)
	Doubt(tables, "agents are missing")
	if id := tables.judge(stack(warder(), bash(), kitty(), systemd()), nil); id.Verdict != Unknown || id.Why != "agents are missing" {
		t.Errorf("a person is %s: %s", id.Verdict, id.Why)
	}
	if id := tables.judge(stack(warder(), claude(), systemd()), nil); id.Verdict != Agent {
		t.Errorf("an agent is %s", id.Verdict)
	}
}

// FuzzExtend: no file can take a role away from an agent, or give a name any
// role but that.
func FuzzExtend(f *testing.F) {
	f.Fuzz(func(t *testing.T, text []byte) {
		before := loaded(t)
		after, warnings, err := LoadTables(text, "f")
		if err != nil && after.broken == "" {
			t.Error("an error leaves the tables whole")
		}
		for name, p := range before.programs {
			if now := after.programs[name]; now.role != p.role && now.role != RoleAgent {
				t.Errorf("%s was %s and is %s", name, p.role, now.role)
			}
		}
		for name := range maps.Keys(after.programs) {
			if before.programs[name].role == "" && after.programs[name].role != RoleAgent {
				t.Errorf("%s became %s", name, after.programs[name].role)
			}
		}
		for _, w := range warnings {
			if w.Line < 1 || w.Text == "" {
				t.Errorf("warning %+v", w)
			}
		}
	})
}

func TestLoadTables_isCheap(t *testing.T) {
	if n := testing.AllocsPerRun(10, func() { _, _, _ = LoadTables(nil, "") }); n > 400 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkLoadTables(b *testing.B) {
	for b.Loop() {
		_, _, _ = LoadTables(nil, "")
	}
}
