package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/api"
)

// TestHistoryTellsWhyNot: a revision that nothing takes back says so.
func TestHistoryTellsWhyNot(t *testing.T) {
	f := newFake(t, answers{api.OpItemHistory: reply(api.ItemHistory{Revisions: []api.ItemRevision{
		{Rev: "r2", By: "person", Undo: "t2"}, {Rev: "r1", By: "person", NoUndo: "it was changed since"},
	}})})
	f.run("", "item", "history", "x").want(t, 0, "undo: warder item undo t2\n", "no undo: it was changed since\n")
}

// TestVerifyTellsOfDeclaredEvents: after a break, the count that is judged is not taken for that of the log.
func TestVerifyTellsOfDeclaredEvents(t *testing.T) {
	f := newFake(t, answers{api.OpAuditVerify: reply(api.AuditReport{
		OK: true, Events: 2, Segments: 3, Full: true, Breaks: []api.AuditDeclared{{Seq: 33, Text: "records were cut"}},
	})})
	f.run("", "audit", "verify").want(t, 0, "whole: 2 events from the declared break on, and those before seq 33 as they were declared, in 3 segments, each")
}

// TestFlagFaults: what can't be parsed is told without the words of a library, and a negative value has a way in.
func TestFlagFaults(t *testing.T) {
	f := newWorld(t)
	for _, row := range []struct{ line, want string }{
		{"audit tail -n x", `invalid argument "x" for "-n, --lines" flag: want a number`},
		{"audit tail -n 99999999999999999999", `flag: the number is too large`},
		{"audit tail --follow=x", `flag: want true or false`},
		{"config set audit.generations -3", "a value that begins with - stands behind --: 'warder config set -- ...'"},
		{"config set -- audit.generations -3", `audit.generations can't be "-3"`},
	} {
		s := f.run("", strings.Fields(row.line)...)
		s.want(t, 2, row.want)
		if strings.Contains(s.errors, "strconv") {
			t.Errorf("%s: %s", row.line, s.errors)
		}
	}
}

// TestTrustHome: the home that the session has is refused before anybody is asked, under every name, and what holds it too.
func TestTrustHome(t *testing.T) {
	f := newFake(t, answers{api.OpTrustAdd: reply(api.TrustDir{Dir: "/real/src"})})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(f.home, link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{f.home, link, filepath.Dir(f.home), "/", filepath.Join(f.home, "x", "..")} {
		f.run("", "trust", dir).want(t, api.RowOf(api.Denied).Exit, "error[denied]", "never a workspace", "one project")
	}
	if n := f.count(); n > 0 {
		t.Errorf("the daemon was asked %d times", n)
	}
	f.run("", "trust", filepath.Join(f.home, "src")).want(t, 0, "trusted /real/src")
}

// TestImportLeavesNoFile: only a file that holds values is told to be removed.
func TestImportLeavesNoFile(t *testing.T) {
	f, file := importWorld(t)
	args := []string{"--project", "shop", "--stage", "test", "--yes"}
	f.run("", append([]string{"import", file}, args...)...).want(t, 0, "still holds the values")
	for _, name := range []string{"-", "/dev/fd/3", "/proc/self/fd/3", f.home} {
		if staysBehind(name) {
			t.Errorf("%s is a file to remove", name)
		}
	}
	empty := newFake(t, answers{api.OpImport: reply(api.Imported{})})
	if s := empty.run("", append([]string{"import", file}, args...)...); s.status != 0 || strings.Contains(s.errors, "still holds") {
		t.Errorf("an empty file: %+v", s)
	}
}

// TestDoctorPlacesWarnings: each warning stands where more is told of it.
func TestDoctorPlacesWarnings(t *testing.T) {
	for _, row := range []struct{ text, name string }{
		{"/c/config.toml:2: lock.idle: \"soon\" is not a duration", "settings"},
		{"environment WARDER_LOCK_IDLE: \"often\" is not a duration", "settings"},
		{"/c/agents.toml:3: unknown key", "agents"},
		{"the audit log is damaged: see what it is: warder audit verify", "audit log"},
		{"the account is unattended, and /s/unattended/secret is missing: put it back", "account"},
		{"a program (pid 7) was listening at /run/x without being the daemon", "daemon"},
	} {
		if got := placeOf(row.text); got.name != row.name || got.do == "" {
			t.Errorf("%s: %+v, want %s", row.text, got, row.name)
		}
	}
}

// TestDeviceSecretGone: status and doctor tell it while the account is open, when there is still time.
func TestDeviceSecretGone(t *testing.T) {
	status := api.Status{Findings: []api.Finding{}, Warnings: []string{}}
	f := newFake(t, answers{api.OpStatus: func(*api.Call) (*api.Reply, error) { return &api.Reply{Output: status}, nil }})
	f.setUp()
	dir := filepath.Join(f.home, "state", "device")
	secret := filepath.Join(dir, "secret")
	status.Daemon.Running, status.Audit.OK, status.Account.State, status.Account.DeviceSecretFile = true, true, accountUnlocked, secret
	f.run("", "status").want(t, 0, secret+" is gone", "warder unlock --recovery")
	s := f.run("", "doctor")
	s.want(t, s.status, "device secret: the device secret in "+secret+" is gone", "-> warder unlock --recovery")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := f.run("", "status"); strings.Contains(s.errors, "is gone") {
		t.Errorf("it is there: %s", s.errors)
	}
}
