package e2e_test

import (
	"os"
	"path/filepath"
	"testing"

	"warder/internal/e2e/person"
)

// furnish stores what the tests of agents look for.
func furnish(t *testing.T, h *house) (open, hidden string) {
	t.Helper()
	open, hidden = token("open-"), token("hidden-")
	h.add(t, open, "github --type api-token --host api.github.com --level use")
	h.add(t, hidden, "bank --type password")
	h.add(t, token("none-"), "diary --type note --level none")
	h.add(t, token("asks-"), "cloud --type api-token --level ask")
	file := filepath.Join(t.TempDir(), ".env")
	if err := os.WriteFile(file, []byte("SHOP_KEY="+token("shop-")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.mustRun(t, "warder import "+file+" --project shop --stage test --level use --yes")
	return open, hidden
}

// agentRow is a command that an agent tries, and what it gets.
type agentRow struct {
	args   []string
	stdin  string
	status int
	text   string // a regular expression
}

// agentRows are the commands in their order; name is an item that nobody has
// yet, and variable one that no stage has.
func agentRows(home, who, name, variable string) []agentRow {
	value := token("agent-")
	env := variable + "=" + token("new-") + "\n"
	return []agentRow{
		{args: []string{"whoami"}, status: 0, text: who},
		{args: []string{"status"}, status: 0, text: `unlocked`},
		{args: []string{"item", "list"}, status: 0, text: `github`},
		{args: []string{"item", "show", "github"}, status: 0, text: `secret`},
		{args: []string{"item", "check", "github"}, status: 0, text: `set`},

		// What is not open is not there.
		{args: []string{"item", "show", "bank"}, status: 7, text: `error\[not_found\]`},
		{args: []string{"item", "show", "diary"}, status: 7, text: `error\[not_found\]`},
		{args: []string{"item", "check", "bank"}, status: 7, text: `error\[not_found\]`},
		{args: []string{"item", "history", "bank"}, status: 7, text: `error\[not_found\]`},
		{args: []string{"item", "rm", "bank"}, status: 7, text: `error\[not_found\]`},
		{args: []string{"item", "show", "bank", "--reveal"}, status: 7, text: `error\[not_found\]`},

		// What takes a person is denied, at once.
		{args: []string{"item", "show", "github", "--reveal"}, status: 3, text: `(?s)error\[denied\].*warder run`},
		{args: []string{"item", "edit", "github", "--level", "read"}, status: 3, text: `error\[denied\]`},
		{args: []string{"item", "rm", "github"}, status: 3, text: `error\[denied\]`},
		{args: []string{"export", "--format", "json"}, status: 3, text: `error\[denied\]`},
		{args: []string{"export", "--format", "env", "--project", "shop", "--stage", "test"}, status: 3, text: `error\[denied\]`},
		{args: []string{"trust", home}, status: 3, text: `error\[denied\]`},
		{args: []string{"passwd"}, status: 3, text: `error\[denied\]`},
		{args: []string{"setup"}, status: 0, text: `(?i)already`},

		// It may store what is new, for use at most.
		{args: []string{"item", "add", name, "--type", "api-token"}, stdin: value, status: 0, text: `level use`},
		{args: []string{"item", "add", "wide", "--type", "api-token", "--level", "read"}, stdin: value, status: 3, text: `error\[denied\]`},
		{args: []string{"item", "add", "github", "--type", "api-token"}, stdin: value, status: 1, text: `error\[exists\]`},
		{args: []string{"item", "add", "bank", "--type", "api-token"}, stdin: value, status: 1, text: `error\[exists\]`},
		{args: []string{"item", "show", name}, status: 0, text: `by-agent`},
		{args: []string{"item", "edit", name, "--level", "read"}, status: 3, text: `error\[denied\]`},
		{args: []string{"item", "show", name, "--reveal"}, status: 3, text: `error\[denied\]`},
		{args: []string{"item", "rm", name}, status: 0, text: ``},

		{args: []string{"import", "-", "--project", "shop", "--stage", "test"}, stdin: env, status: 2, text: `nothing was stored`},
		{args: []string{"import", "-", "--project", "shop", "--stage", "test", "--yes"}, stdin: env, status: 0, text: `1 added`},
		{args: []string{"import", "-", "--project", "shop", "--stage", "test", "--yes"}, stdin: "SHOP_KEY=x\n", status: 1, text: `error\[exists\]`},
		{args: []string{"import", "-", "--project", "shop", "--stage", "test", "--yes"}, stdin: "LD_PRELOAD=x\n", status: 2, text: `error\[unsafe_name\]`},
		{args: []string{"import", "-", "--project", "shop", "--stage", "test", "--yes"}, stdin: "https_proxy=x\n", status: 2, text: `error\[unsafe_name\]`},

		// Locking is anybody's, unlocking is not.
		{args: []string{"lock"}, status: 0, text: `locked`},
		{args: []string{"item", "list"}, status: 6, text: `error\[locked\]`},
		{args: []string{"unlock"}, status: 3, text: `error\[denied\]`},
	}
}

// TestDone1_agent tries everything beneath an agent, and as an orphan, which is
// treated as one.
func TestDone1_agent(t *testing.T) {
	h := newHouse(t, person.Options{})
	open, hidden := furnish(t, h)
	said := ""
	for _, row := range agentRows(h.Home(), "agent claude", "agents", "AGENT_KEY") {
		r := h.agent(t, row.stdin, row.args...)
		wants(t, "agent: "+person.Line(row.args...), r, row.status, row.text)
		said += r.Stdout + r.Stderr
	}
	lacks(t, "what the agent saw", said, open, hidden, "diary-", h.password)

	h.unlock(t)
	for _, row := range agentRows(h.Home(), "unknown", "theirs", "THEIR_KEY") {
		wants(t, "nobody: "+person.Line(row.args...), h.nobody(t, row.stdin, row.args...), row.status, row.text)
	}
	h.unlock(t)
	wantsShown(t, "what is left", h.door.Run(t, "warder item list"), 0, `(?s)bank.*cloud.*diary.*github`)
}

// TestDone1_agentInTheTerminal: the terminal of a person makes no person of an
// agent that runs in it, and the agent is asked for no password there.
func TestDone1_agentInTheTerminal(t *testing.T) {
	h := newHouse(t, person.Options{})
	furnish(t, h)
	for _, row := range []agentRow{
		{args: []string{"whoami"}, status: 0, text: `agent claude`},
		{args: []string{"item", "show", "bank"}, status: 7, text: `error\[not_found\]`},
		{args: []string{"item", "show", "github", "--reveal"}, status: 3, text: `error\[denied\]`},
		{args: []string{"export", "--format", "json"}, status: 3, text: `error\[denied\]`},
		{args: []string{"lock"}, status: 0, text: `locked`},
		{args: []string{"item", "list"}, status: 6, text: `error\[locked\]`},
		{args: []string{"unlock"}, status: 3, text: `error\[denied\]`},
	} {
		line := person.Line(h.Under(t, "claude", append([]string{"bash", "-c", `"$@"; exit $?`, "bash", h.Warder()}, row.args...)...)...)
		r := h.door.Run(t, line)
		wantsShown(t, line, r, row.status, row.text)
	}
}

// TestDone1_agentAtSetup: no agent makes an account that a person should have
// the password of.
func TestDone1_agentAtSetup(t *testing.T) {
	w := start(t, person.Options{})
	h := &house{World: w}
	wants(t, "setup", h.agent(t, "", "setup"), 3, `(?s)error\[denied\].*--headless`)
	wants(t, "list", h.agent(t, "", "item", "list"), 1, `error\[no_account\]`)
	wants(t, "headless", h.agent(t, "", "setup", "--headless", "--no-install", "--json"), 0, `"password_file"`)
	wants(t, "add", h.agent(t, token("x-"), "item", "add", "mine", "--type", "api-token"), 0, `level use`)
	wants(t, "reveal", h.agent(t, "", "item", "show", "mine", "--reveal"), 3, `error\[denied\]`)
	p := w.Terminal(t, person.Shell{})
	wantsShown(t, "reveal by a person", p.Run(t, "warder item show mine --reveal"), 3, `error\[denied\]`)
}
