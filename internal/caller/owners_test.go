package caller_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"warder/internal/caller"
)

// asUser is the command that drops to the user that owners are judged under.
// The second exec is the first one without any right of root.
var asUser = []string{"setpriv", "--reuid", "12345", "--regid", "12345", "--clear-groups", "--", "env"}

// TestS2_31_realOwners judges, as an ordinary user, callers below processes of
// root: what can't be read of them must neither help a forger nor hurt a person.
func TestS2_31_realOwners(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to build trees of two users")
	}
	if _, err := exec.LookPath(asUser[0]); err != nil {
		t.Skip(err)
	}
	user := func(s *step) { s.Via = asUser }
	root := step{Name: "systemd", Judge: &judge{Via: asUser}}
	shell := shell.but(user)
	listener := step{Name: "sshd-session", Argv: []string{"sshd: /usr/sbin/sshd -D [listener]"}}
	private := step{Name: "sshd-session", Argv: []string{"sshd-session: ann [priv]"}}
	half := step{Name: "sshd", Script: true, Sealed: true, Via: asUser}
	entry := func(name string, argv ...string) step { return step{Name: name, Argv: argv, Script: true} } // one argument
	plain := step{Name: "bash"}
	local := plain.but(func(s *step) { s.Env = []string{"'SSH_CONNECTION=127.0.0.1 50000 127.0.0.1 22'"} })

	runTrees(t, []tree{
		{"login", []step{root, entry("login"), shell, leaf}, isPerson("")},
		{"su", []step{root, entry("su", "-su"), shell, leaf}, isPerson("")},
		{"sudo", []step{root, entry("sudo"), shell, leaf}, isPerson("")},
		{"ssh", []step{root, listener, private, half, plain, leaf}, isPerson("")},
		{"ssh from here", []step{root, listener, private, half, local, leaf}, isUnknown("above the shell")},
		{"sshd's user half below another program", []step{root, program, half, plain, leaf}, isUnknown("can't be read")},
		{"a user's own sshd", []step{root, half.but(func(s *step) { s.Sealed, s.Name = false, "sshd-session" }), plain, leaf}, isUnknown("above the shell")},
		{"sshd's user half below pid 1", []step{root, half, plain, leaf}, isUnknown("can't be read")},
		{"a program of root called sshd", []step{root, entry("ping", "sshd"), shell, leaf}, isUnknown("above the shell")},
		{"a service of root", []step{root, entry("service"), shell, leaf}, isUnknown("above the shell")},
		{"an agent of root", []step{root, agentic, entry("sudo"), shell, leaf}, isAgent("claude")},
		{"an agent's script of root", []step{root, {Name: "node", Argv: []string{"node", "/usr/bin/qwen"}}, entry("su"), shell, leaf}, isAgent("qwen")},
		{"an unreadable shell", []step{root, entry("login"), shell.but(func(s *step) { s.Sealed = true }), leaf}, isUnknown("can't be read")},
	})
}

// TestOwnersOfEvidence: of other users' processes only what everybody may read
// is shown.
func TestOwnersOfEvidence(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to build trees of two users")
	}
	needNamespaces(t)
	login := step{Name: "login", Script: true}
	o := newWorld(t, step{Name: "systemd", Judge: &judge{Via: asUser}}, login, shell.but(func(s *step) { s.Via = asUser }), leaf).run(t)
	if len(o.Identity.Evidence) != 4 {
		t.Fatalf("evidence %+v, error %s", o.Identity.Evidence, o.Err)
	}
	bash, login2 := o.Identity.Evidence[1], o.Identity.Evidence[2]
	if bash.UID != 12345 || bash.Role != caller.RoleShell || !strings.HasSuffix(bash.Exe, "/bash") {
		t.Errorf("the shell is %+v", bash)
	}
	if login2.UID != 0 || login2.Role != caller.RoleLogin || login2.Exe != "" || login2.Argv0 != "login" {
		t.Errorf("login is %+v", login2)
	}
}
