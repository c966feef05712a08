package caller

// The tables. A renamed copy of an agent is not in them, and neither is the
// agent that is built into an IDE: from there its commands look like a person's.

// agent is one client and how its processes are recognised.
type agent struct {
	client string
	// names are base names, of the program file, of the script that an
	// interpreter runs, or else of the first argument.
	names []string
	// paths are parts of paths, made of whole elements: packages whose script
	// or program file has a name that says nothing.
	paths []string
	// marks are variables that the client sets for what it starts: NAME with
	// any value but none, NAME=VALUE with this one, NAME=VALUE* with a prefix.
	marks []string
}

// agents holds what clients were seen to set. Left out is what others set too
// (CLAUDE_PROJECT_DIR, GEMINI_PROJECT_DIR), what people set for a client
// (CODEX_HOME, CODEX_VERSION, CLAUDE_CODE_USE_…), what is in the terminals of an
// IDE's users as well (CURSOR_TRACE_ID), and names that may mean anything (AGENT).
var agents = [...]agent{{
	client: "claude",
	names:  []string{"claude", "claude-code"},
	paths:  []string{"@anthropic-ai/claude-code", "claude/versions"},
	marks: []string{
		"CLAUDECODE", "CLAUDE_PID", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT",
		"AI_AGENT=claude-code*",
	},
}, {
	client: "codex",
	names:  []string{"codex", "codex-linux-sandbox"},
	paths:  []string{"@openai/codex"},
	marks: []string{
		"CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_TOOL_CALL_ID", "CODEX_CI", "CODEX_MANAGED_BY_NPM",
		"CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED",
	},
}, {
	client: "gemini",
	names:  []string{"gemini", "gemini-cli"},
	paths:  []string{"@google/gemini-cli"},
	marks:  []string{"GEMINI_CLI", "GEMINI_SESSION_ID", "GEMINI_CWD"},
}, {
	client: "qwen",
	names:  []string{"qwen", "qwen-code"},
	paths:  []string{"@qwen-code/qwen-code"},
	marks: []string{
		"QWEN_CODE", "QWEN_CODE_SESSION_ID", "QWEN_CODE_PROMPT_ID", "QWEN_CODE_AGENT_ID", "QWEN_PROJECT_DIR",
	},
}, {
	client: "opencode",
	names:  []string{"opencode"},
	paths:  []string{"opencode-ai"},
	marks:  []string{"OPENCODE", "OPENCODE_PID"},
}, {
	client: "copilot",
	names:  []string{"copilot"},
	paths:  []string{"@github/copilot"},
	marks:  []string{"COPILOT_CLI", "COPILOT_AGENT_SESSION_ID", "COPILOT_PROJECT_DIR"},
}, {
	client: "cline",
	names:  []string{"cline", ".cline"},
	marks:  []string{"CLINE_WRAPPER_PATH", "CLINE_ACTIVE"},
}, {
	client: "cursor",
	names:  []string{"cursor-agent"},
	paths:  []string{"cursor-agent/versions"},
	marks:  []string{"CURSOR_AGENT"},
}, {
	client: "kimi",
	names:  []string{"kimi", "kimi-cli"},
}, {
	client: "goose",
	names:  []string{"goose"},
	marks:  []string{"GOOSE_TERMINAL"},
}, {
	client: "aider",
	names:  []string{"aider"},
}, {
	client: "amp",
	names:  []string{"amp"},
	paths:  []string{"@sourcegraph/amp"},
}, {
	client: "crush",
	names:  []string{"crush"},
	paths:  []string{"@charmland/crush"},
}, {
	client: "droid",
	names:  []string{"droid"},
}, {
	client: "auggie",
	names:  []string{"auggie"},
	paths:  []string{"@augmentcode/auggie"},
	marks:  []string{"AUGMENT_AGENT"},
}, {
	client: "kilo",
	names:  []string{"kilo", "kilocode"},
	paths:  []string{"@kilocode/cli"},
}, {
	client: "continue",
	names:  []string{"continue"},
	paths:  []string{"@continuedev/cli"},
}, {
	marks: []string{"AI_AGENT", "WARDER_CALLER=agent"}, // whoever it is
}}

// programRow gives names their role.
type programRow struct {
	role  Role
	names []string
}

// programs holds them all. What is in none of the tables is RoleOther.
var programs = [...]programRow{
	{RoleShell, []string{"bash", "zsh", "fish", "dash", "sh", "ash", "ksh", "nu", "elvish", "xonsh", "pwsh"}},
	{RoleTerminal, []string{
		"kitty", "alacritty", "foot", "wezterm", "wezterm-gui", "gnome-terminal-server", "konsole", "xterm", "xfce4-terminal",
		"terminator", "tilix", "ghostty", "ptyxis", "st", "urxvt", "Terminal", "iTerm2",
		"code", "cursor", "idea", "zed", // the part of an IDE that holds its terminals
	}},
	{RoleLogin, []string{"sshd", "sshd-session", "login", "su", "sudo", "systemd-logind", "agetty", "getty"}},
	{RoleMultiplexer, []string{"tmux", "screen", "zellij", "dtach", "abduco"}},
	{RoleAutomation, []string{
		"script", "expect", "unbuffer", "socat", "ttyd", "cron", "crond", "atd", "at", "systemd-run",
		"Runner.Listener", "Runner.Worker", "gitlab-runner", "buildkite-agent", "circleci-agent", "act_runner", "forgejo-runner",
	}},
	{RoleContainer, []string{
		"containerd-shim", "containerd-shim-runc-v2", "conmon", "runc", "crun", "docker-init", "tini", "dumb-init", "catatonit",
		"bwrap",
	}},
}

// What a user's file can't make an agent, since a person's processes have it, too:
// programs of these roles and of these names, paths of nothing but these
// directories, and these variables.
var (
	personRoles       = [...]Role{RoleShell, RoleTerminal, RoleLogin, RoleMultiplexer}
	everywhere        = [...]string{"warder", "systemd", "init"}
	sharedDirectories = [...]string{
		".", "..", "bin", "sbin", "usr", "local", "lib", "lib64", "libexec", "opt", "home", "root", "share", ".local", "snap", "nix", "store",
	}
	sharedVariables = [...]string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "OLDPWD", "SHLVL", "_", "TERM", "COLORTERM", "LANG", "LC_ALL", "TZ", "MAIL",
		"DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "XDG_SESSION_ID", "XDG_SESSION_TYPE",
		"SSH_TTY", "SSH_CLIENT", "SSH_CONNECTION", "SSH_AUTH_SOCK",
	}
)

// interpreter is a program that is judged by the script it runs.
type interpreter struct {
	name string // a version may follow it: python3.14
	// valued are the options whose value is an argument of its own. Other
	// options are taken to have none or to carry it.
	valued []string
	// code are the options after which no script follows, but its text.
	code []string
	// module are the options that name what runs in place of a script.
	module []string
	// words are subcommands that stand before the script.
	words []string
}

var interpreters = [...]interpreter{{
	name: "node",
	valued: []string{
		"-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions", "--title", "--env-file",
		"--inspect-port", "--stack-trace-limit",
	},
	code: []string{"-e", "--eval", "-p", "--print", "-pe"},
}, {
	name: "nodejs", valued: []string{"-r", "--require", "--import"}, code: []string{"-e", "--eval", "-p", "--print"},
}, {
	name: "bun", valued: []string{"-r", "--preload", "--cwd", "-c", "--config"}, code: []string{"-e", "--eval", "-p", "--print"},
	words: []string{"run", "x"},
}, {
	name: "deno", valued: []string{"-c", "--config", "--import-map", "--cert", "-L", "--log-level"}, words: []string{"run"},
}, {
	name: "python", valued: []string{"-W", "-X", "--check-hash-based-pycs"}, code: []string{"-c"}, module: []string{"-m"},
}, {
	name: "pypy", valued: []string{"-W", "-X"}, code: []string{"-c"}, module: []string{"-m"},
}, {
	name: "ruby", valued: []string{"-I", "-r", "-C", "-E", "-F", "-K"}, code: []string{"-e"},
}, {
	name: "perl", valued: []string{"-I", "-M", "-m"}, code: []string{"-e", "-E"},
}, {
	name: "java", valued: []string{"-cp", "-classpath", "--class-path", "-p", "--module-path", "--add-opens", "--add-modules"},
	module: []string{"-m", "--module", "-jar"},
}, {
	name: "php", valued: []string{"-d", "-c"}, code: []string{"-r"}, module: []string{"-f"},
}, {
	name: "tclsh",
}, {
	name: "lua", valued: []string{"-l"}, code: []string{"-e"},
}, {
	name: "electron",
}}

// multiCall are single programs that act as the one they are called by.
var multiCall = [...]string{"busybox", "toybox"}
