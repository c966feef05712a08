package caller

import (
	"slices"
	"strings"
	"testing"
)

func TestS2_31_scripts(t *testing.T) {
	for _, row := range []struct{ exe, args, want string }{
		{"node", "node /usr/bin/gemini", "/usr/bin/gemini"},
		{"node", "node --max-old-space-size=8192 /usr/bin/gemini chat", "/usr/bin/gemini"},
		{"node", "node --expose-gc /usr/bin/qwen", "/usr/bin/qwen"},
		{"node", "node -r ./hook.js --import x /usr/bin/gemini", "/usr/bin/gemini"},
		{"node22", "node -- gemini", "gemini"},
		{"node", "node -e code gemini", ""},
		{"node", "node --eval code gemini", ""},
		{"node", "node", ""},
		{"node", "node -r", ""},
		{"node", "", ""},
		{"python3.14", "python3 -X dev -W error -m aider chat", "aider"},
		{"python3", "python3 -u /usr/bin/aider", "/usr/bin/aider"},
		{"python3", "python3 -c code aider", ""},
		{"python3", "python3 -m", ""},
		{"bun", "bun run /x/claude.ts", "/x/claude.ts"},
		{"bun", "bun x @openai/codex", "@openai/codex"},
		{"deno", "deno run -A npm:@google/gemini-cli@latest", "npm:@google/gemini-cli@latest"},
		{"java", "java -Xmx1g -cp a.jar:b.jar -jar agent.jar", "agent.jar"},
		{"ruby3.3", "ruby -I lib bin/x", "bin/x"},
		{"tclsh8.6", "tclsh8.6 /usr/bin/unbuffer ls", "/usr/bin/unbuffer"},
	} {
		in := interpreterOf(row.exe)
		if in == nil {
			t.Errorf("%s is no interpreter", row.exe)
			continue
		}
		if got := in.script(strings.Fields(row.args)); got != row.want {
			t.Errorf("%q runs %q, want %q", row.args, got, row.want)
		}
	}
	for _, name := range []string{"", "bash", "noded", "python3-config", "3.14", "claude"} {
		if in := interpreterOf(name); in != nil {
			t.Errorf("%q is the interpreter %s", name, in.name)
		}
	}
}

func TestLookupScript(t *testing.T) {
	tables := loaded(t)
	for script, want := range map[string]program{
		"/usr/bin/gemini":   {RoleAgent, "gemini"},
		"codex.js":          {RoleAgent, "codex"},
		"aider.main":        {RoleAgent, "aider"},
		`C:\npm\codex.js`:   {RoleAgent, "codex"},
		"/x/claude.test.js": {RoleOther, ""},
		"/x/claude.d/run":   {RoleOther, ""},
		"/usr/bin/expect":   {RoleAutomation, ""},
		"server.js":         {RoleOther, ""},
		"":                  {RoleOther, ""},
		"/":                 {RoleOther, ""},
		"/opt/lib/node_modules/@anthropic-ai/claude-code/cli.js": {RoleAgent, "claude"},
		"/x/@google/gemini-cli/bundle/gemini.js":                 {RoleAgent, "gemini"},
		"npm:@google/gemini-cli@latest":                          {RoleAgent, "gemini"},
		"@openai/codex@0.171.0":                                  {RoleAgent, "codex"},
		"/x/not@openai/codex/bin.js":                             {RoleOther, ""},
		"/x/@openai/codextra/bin.js":                             {RoleOther, ""},
	} {
		if got := tables.lookupScript(script); got != want {
			t.Errorf("%q is %+v, want %+v", script, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	for _, row := range []struct {
		of        func(string) string
		text, out string
	}{
		{exeName, "/usr/bin/bash", "bash"},
		{exeName, "/usr/bin/bash (deleted)", "bash"},
		{exeName, "/opt/claude.exe", "claude"},
		{exeName, "/x/a: b", "a: b"},
		{exeName, `C:\Program Files\claude.exe`, "claude"},
		{argName, "-bash", "bash"},
		{argName, "sshd: ann [priv]", "sshd"},
		{argName, "sshd: ann@pts/0", "sshd"},
		{argName, "tmux:", "tmux"},
		{argName, "/usr/sbin/sshd", "sshd"},
		{argName, "", "."},
		{scriptName, "/x/y.min.js", "y.min"},
		{scriptName, "@scope", "@scope"},
	} {
		if got := row.of(row.text); got != row.out {
			t.Errorf("%q is called %q, want %q", row.text, got, row.out)
		}
	}
	for text, want := range map[string]string{
		"sh": "sh", "/bin/sh -c x": "sh", "busybox sh": "sh", "/bin/busybox ash": "ash", "busybox": ".", "-sh": "sh",
	} {
		if got := applet(strings.Fields(text)); got != want {
			t.Errorf("%q acts as %q, want %q", text, got, want)
		}
	}
}

// FuzzScript: whatever the arguments, a script is one of them.
func FuzzScript(f *testing.F) {
	f.Fuzz(func(t *testing.T, exe, line string) {
		argv := strings.Split(line, "\x00")
		if in := interpreterOf(exe); in != nil {
			script := in.script(argv)
			if script != "" && !slices.Contains(argv[1:], script) {
				t.Errorf("%q runs %q", argv, script)
			}
		}
		l := prog("/usr/bin/"+exe, argv...)
		for _, c := range []chain{stack(warder(), l, systemd()), stack(warder(), sealed(argv...), of(0, exe, argv...))} {
			for _, p := range loaded(t).judge(c, nil).Evidence {
				if len(p.Argv0) > maxShown || len(p.Exe) > maxShown {
					t.Errorf("evidence %+v", p)
				}
			}
		}
	})
}

func TestIsLoopback(t *testing.T) {
	for text, want := range map[string]bool{
		"127.0.0.1 5 127.0.0.1 22":       true,
		"127.8.0.1 5 10.0.0.1 22":        true,
		"::1 5 ::1 22":                   true,
		"::ffff:127.0.0.1 5 10.0.0.1 2":  true,
		"192.0.2.1 5 192.0.2.1 22":       true,
		"::ffff:192.0.2.1 5 192.0.2.1 2": true,
		"192.0.2.7 5 192.0.2.1 22":       false,
		"2001:db8::1 5 2001:db8::2 22":   false,
		"127.0.0.1":                      false,
		"UNKNOWN 5 x 22":                 false,
		"":                               false,
	} {
		if got := isLoopback(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestUnitIn(t *testing.T) {
	for text, want := range map[string]string{
		"0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-u12.service\n": "run-u12.service",
		"0::/user.slice/user@1000.service/app.slice/run-p1-i2.scope/child\n":           "run-p1-i2.scope",
		"0::/user.slice/user-1000.slice/session-2.scope\n":                             "",
		"0::/user.slice/user@1000.service/app.slice/app-gnome-kitty-77.scope\n":        "",
		"12:cpu:/\n1:name=systemd:/system.slice/run-r0123.service\n0::/\n":             "run-r0123.service",
		"0::/system.slice/run-user-1000.mount\n":                                       "",
		"":                                                                             "",
	} {
		if got := unitIn(text); got != want {
			t.Errorf("%q holds %q, want %q", text, got, want)
		}
	}
}
