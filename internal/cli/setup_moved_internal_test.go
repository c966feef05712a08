package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/api"
	"warder/internal/secret"
	"warder/internal/state"
)

// copyHome copies the whole of a world and makes the copy its home, as cp -a
// and another WARDER_HOME do.
func (f *fake) copyHome() (original string) {
	f.t.Helper()
	copied, err := os.MkdirTemp("", "c")
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { os.RemoveAll(copied) })
	if err := os.CopyFS(copied, os.DirFS(f.home)); err != nil {
		f.t.Fatal(err)
	}
	original, f.home = f.home, copied
	for name, value := range f.env {
		f.env[name] = strings.ReplaceAll(value, original, copied)
	}
	for _, dir := range []string{"state", "data", "data/account"} {
		if err := os.Chmod(filepath.Join(copied, dir), 0o700); err != nil {
			f.t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(copied, "state", "install.json"), 0o600); err != nil {
		f.t.Fatal(err)
	}
	return original
}

// TestCopiedHome: every command but setup stops, names both places, and leaves
// the original alone.
func TestCopiedHome(t *testing.T) {
	f := newWorld(t)
	f.setUp()
	original := f.copyHome()
	f.base.launch = func(context.Context, order) (api.Started, []secret.Value, error) {
		t.Error("a daemon was started")
		return api.Started{}, nil, api.Errorf(api.Unreachable, "not here")
	}
	for _, line := range []string{
		"status", "status --json", "item list", "item show x", "unlock", "lock", "whoami", "passwd", "repair", "trust list", "audit verify", "audit tail",
		"config list", "config get lock.idle", "config set lock.idle 2h", "daemon status", "daemon stop", "daemon restart", "daemon run", "project list", "item add x --type password",
	} {
		t.Run(line, func(t *testing.T) {
			f.person()
			s := f.run("a value\n", strings.Fields(line)...)
			s.want(t, 1, original+"/state as its state directory", f.home+"/state", "warder setup")
			if n := strings.Count(s.errors, "\n"); n != 2 {
				t.Errorf("%d lines", n)
			}
		})
	}
	f.run("", "doctor").want(t, 1, original+"/state", f.home+"/state", "-> to use what is here", "warder setup")
}

// TestSetupInACopy records the copy, with a socket and a program of its own, and
// leaves the record of the original as it was.
func TestSetupInACopy(t *testing.T) {
	f := newWorld(t)
	f.setUp()
	original := f.copyHome()
	before := f.installed(filepath.Join(original, "state"))
	f.run("", "setup").want(t, 3, "error[denied]", "this is agent", "ask your user")
	f.run("", "status").want(t, 1, "to use what is here")

	f.person()
	f.base.launch = func(context.Context, order) (api.Started, []secret.Value, error) {
		f.serve(map[string]api.Op{api.OpStatus: {Call: func(_ context.Context, call *api.Call) (*api.Reply, error) {
			return reply(running())(call)
		}}})
		return api.Started{}, nil, nil
	}
	f.run("", "setup").want(t, 0, "already set up", original+"/data stays in use too", "warder repair new-device")
	f.run("", "status").want(t, 0)
	in := f.installed(filepath.Join(f.home, "state"))
	for what, path := range map[string]string{"data": in.Data, "state": in.State, "config": in.Config, "socket": in.Socket, "binary": in.Binary} {
		if !strings.HasPrefix(path, f.home+"/") {
			t.Errorf("%s is recorded as %s", what, path)
		}
	}
	if after := f.installed(filepath.Join(original, "state")); after != before {
		t.Errorf("the original's record is now %+v", after)
	}
}

// TestSocketOfACopy: with one runtime directory for both, the copy takes a socket
// of its own as long as the original is there.
func TestSocketOfACopy(t *testing.T) {
	for _, row := range []struct {
		name       string
		remove     bool // the original, as a move does
		stateMoved bool
		want       func(r *reach) string
	}{
		{"a copy", false, true, func(r *reach) string { return filepath.Join(r.places.State.Path, "run", "warder.sock") }},
		{"a move", true, true, func(r *reach) string { return r.install.Socket }},
		{"another data directory", false, false, func(r *reach) string { return r.install.Socket }},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newWorld(t)
			f.atHome()
			run := t.TempDir()
			if err := os.Chmod(run, 0o700); err != nil {
				t.Fatal(err)
			}
			f.env["XDG_RUNTIME_DIR"] = run
			env := f.base
			places, err := env.places()
			if err != nil {
				t.Fatal(err)
			}
			in := state.Install{State: t.TempDir(), Socket: filepath.Join(run, "warder", "warder.sock")}
			if row.remove {
				in.State = filepath.Join(in.State, "gone")
			}
			r := &reach{env: &env, places: places, install: &in}
			if got, err := socketAnew(r, &state.MovedError{StateMoved: row.stateMoved}); err != nil || got != row.want(r) {
				t.Errorf("%s, %v; want %s", got, err, row.want(r))
			}
		})
	}
}

// TestMayResettle: an agent never turns a record that is in use elsewhere.
func TestMayResettle(t *testing.T) {
	for _, row := range []struct {
		verdict                string
		unattended, stateMoved bool
		want                   bool
	}{
		{verdictPerson, false, false, true},
		{verdictPerson, false, true, true},
		{verdictAgent, false, true, false},
		{verdictAgent, true, true, true},
		{verdictAgent, true, false, false},
		{"unknown", false, true, false},
		{"unknown", true, false, true},
	} {
		got := mayResettle(&state.Install{Unattended: row.unattended}, &state.MovedError{StateMoved: row.stateMoved}, api.Whoami{Verdict: row.verdict})
		if got != row.want {
			t.Errorf("%+v: %v", row, got)
		}
	}
}
