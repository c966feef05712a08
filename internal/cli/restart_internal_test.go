package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/api"
	"warder/internal/secret"
	"warder/internal/state"
)

// TestRestartThatAnotherCommandWon is as good as one's own where the daemon that
// runs is of the recorded program.
func TestRestartThatAnotherCommandWon(t *testing.T) {
	for _, row := range []struct {
		name   string
		same   bool
		status int
		says   string
	}{
		{"the recorded program", true, 0, "the daemon runs as pid "},
		{"another program", false, 1, "error[exists]: a daemon is running already"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newWorld(t)
			f.setUp()
			f.base.launch = func(context.Context, order) (api.Started, []secret.Value, error) {
				s := running()
				s.Daemon.SameBinary = row.same
				f.serve(map[string]api.Op{api.OpStatus: {Call: func(_ context.Context, call *api.Call) (*api.Reply, error) {
					return reply(s)(call)
				}}})
				return api.Started{}, nil, api.Errorf(api.Exists, "a daemon is running already")
			}
			f.run("", "daemon", "restart").want(t, row.status, row.says)
		})
	}
}

// TestCommandDuringARestart: whoever meets the daemon as it ends waits for the
// command that is putting another one in its place, and starts none.
func TestCommandDuringARestart(t *testing.T) {
	for _, line := range []string{"status", "whoami", "lock", "item list"} {
		t.Run(line, func(t *testing.T) {
			f := newWorld(t)
			f.setUp()
			f.base.launch = func(context.Context, order) (api.Started, []secret.Value, error) {
				t.Error("it started a daemon of its own")
				return api.Started{}, nil, api.Errorf(api.Unreachable, "no")
			}
			dir, err := state.OpenDir(filepath.Join(f.home, "state"))
			if err != nil {
				t.Fatal(err)
			}
			defer dir.Close()
			restarting, err := dir.Lock(startLock)
			if err != nil {
				t.Fatal(err)
			}
			ending, err := api.Listen(filepath.Join(f.home, "run", "warder.sock"), func() error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan said, 1)
			go func() { done <- f.run("", strings.Fields(line)...) }()
			nc, err := ending.AcceptUnix()
			if err != nil {
				t.Fatal(err)
			}
			// It ends without a word.
			if err := errors.Join(ending.Close(), nc.Close()); err != nil {
				t.Fatal(err)
			}
			answer := func(output any) api.Op {
				return api.Op{Call: func(_ context.Context, call *api.Call) (*api.Reply, error) { return reply(output)(call) }}
			}
			f.serve(map[string]api.Op{
				api.OpStatus: answer(running()), api.OpWhoami: answer(api.Whoami{Verdict: "agent"}), api.OpLock: answer(nil), api.OpItemList: answer(api.ItemList{}),
			})
			if err := restarting.Release(); err != nil {
				t.Fatal(err)
			}
			s := <-done
			s.want(t, 0)
			if line == "status" {
				s.want(t, 0, "running, pid")
			}
		})
	}
}

// TestStatusThatFails does not send whoever asked in a circle.
func TestStatusThatFails(t *testing.T) {
	f := newFake(t, answers{api.OpStatus: refusal(api.Unreachable, "it is ending")})
	s := f.run("", "status")
	s.want(t, 5, "it is ending", "warder doctor")
	if strings.Contains(s.errors, "warder status") {
		t.Errorf("status hints at status: %s", s.errors)
	}
}

// TestGarbageInTheRecord: each command says which file to remove, and setup
// records the program anew.
func TestGarbageInTheRecord(t *testing.T) {
	f := newWorld(t)
	f.setUp()
	record := filepath.Join(f.home, "state", "install.json")
	for _, garbage := range []string{"", "{", "{}", `{"version":9}`} {
		if err := os.WriteFile(record, []byte(garbage), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{"setup", "status", "unlock"} {
			s := f.run("", command)
			s.want(t, 1, "reading "+record, "rm "+record+"; warder setup\n")
			if strings.Contains(s.errors, "doctor") {
				t.Errorf("the hint sends on: %s", s.errors)
			}
		}
	}
	if err := os.Remove(record); err != nil {
		t.Fatal(err)
	}
	f.person()
	f.run("", "setup").want(t, 0, "it was left as it is")
	f.installed(filepath.Join(f.home, "state"))
}

// TestShellWords are pasted into a shell.
func TestShellWords(t *testing.T) {
	if got, want := shellWords("/a/b-c_d.1", "/it's here"), `/a/b-c_d.1 '/it'\''s here'`; got != want {
		t.Errorf("shellWords is %s, want %s", got, want)
	}
}
