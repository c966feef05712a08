package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/secret"
)

// endHere sends this process a signal that has arrived when it returns.
func endHere(t *testing.T, s os.Signal) {
	t.Helper()
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skipf("it can't be seen here when a signal has arrived: %v", err)
	}
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Signal(s); err != nil {
		t.Fatal(err)
	}
	for {
		text, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nShdPnd:\t0000000000000000\n") {
			return
		}
		runtime.Gosched()
	}
}

// TestNoSignalLosesAKit ends the command while the daemon makes the kit. The
// signal would end the test, too.
func TestNoSignalLosesAKit(t *testing.T) {
	twice := []typed{
		{question: "New master password: ", answer: testPassword},
		{question: "The same again: ", answer: testPassword},
	}
	recovery := append([]typed{{question: "Recovery code (not shown): ", answer: testCode}}, twice...)
	for _, row := range []struct {
		name, op string
		args     []string
		answers  []typed
	}{
		{"headless", api.OpStartCreate, []string{"setup", "--headless"}, nil},
		{"attended", api.OpStartCreate, []string{"setup"}, twice},
		{"recovery", api.OpStartRecover, []string{"unlock", "--recovery"}, recovery},
	} {
		for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
			t.Run(row.name+" "+s.String(), func(t *testing.T) {
				f := newWorld(t)
				kit := filepath.Join(f.home, "kit.txt")
				pending := filepath.Join(f.home, "state", kitPending)
				if row.answers != nil {
					f.person(row.answers...)
				}
				if row.op == api.OpStartRecover {
					f.setUp()
				}
				f.base.launch = func(_ context.Context, o order) (api.Started, []secret.Value, error) {
					if _, err := os.Lstat(pending); o.op == api.OpStartCreate && err != nil {
						t.Errorf("nothing says that a kit is owed: %v", err)
					}
					endHere(t, s)
					return api.Started{Account: "acc", StateCode: "SC"}, kitValues(t), nil
				}
				f.run("", append(row.args, "--kit-file", kit)...).want(t, 0)
				if text, err := os.ReadFile(kit); err != nil || !strings.Contains(string(text), "CODE-CANARY") {
					t.Errorf("the kit is %q, %v", text, err)
				}
				if _, err := os.Lstat(pending); err == nil {
					t.Error("the kit is said to be owed")
				}
			})
		}
	}
}

// TestSignalIsHeld: one that comes before the account is made breaks the setup
// off, which leaves no empty kit.
func TestSignalIsHeld(t *testing.T) {
	kit := filepath.Join(t.TempDir(), "kit.txt")
	hold := holdSignals()
	defer hold.release()
	endHere(t, syscall.SIGTERM)
	for len(hold.signals) == 0 {
		runtime.Gosched()
	}
	if err := hold.arrived(); !errors.Is(err, outcome(exitInterrupted)) {
		t.Errorf("a signal that was held: %v", err)
	}
	target, err := newKitTarget(nil, kit)
	if err != nil {
		t.Fatal(err)
	}
	target.abandon()
	if _, err := os.Lstat(kit); err == nil {
		t.Error("an empty kit is left")
	}
}

// TestSetupAfterOneThatLostTheKit says that nobody has it and how to get one.
func TestSetupAfterOneThatLostTheKit(t *testing.T) {
	f := newFake(t, answers{api.OpStatus: reply(running()), api.OpNewKit: proved("make a kit", func(*api.Call) (*api.Reply, error) {
		return &api.Reply{Output: api.KitInfo{Receipt: api.Receipt{Receipt: receipt}, Account: "acc", StateCode: "SC"}, Values: kitValues(t)}, nil
	})})
	f.setUp()
	pending := filepath.Join(f.home, "state", kitPending)
	if err := os.WriteFile(pending, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f.run("", "setup", "--json").want(t, 1, "recovery kit was never written", `"hint":"make a new kit: warder passwd --new-kit"`)
	if err := os.MkdirAll(filepath.Join(f.home, "state", "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	f.person(typed{question: "Master password: ", answer: testPassword})
	f.run("", "passwd", "--new-kit").want(t, 0)
	f.run("", "setup").want(t, 0, "already set up")
}

// TestSetupWhoseReplyIsLost leaves the mark, as the account is there.
func TestSetupWhoseReplyIsLost(t *testing.T) {
	f := newWorld(t)
	f.base.launch = func(context.Context, order) (api.Started, []secret.Value, error) {
		if err := os.MkdirAll(filepath.Join(f.home, "data", "account", "keysets"), 0o700); err != nil {
			t.Error(err)
		}
		return api.Started{}, nil, api.Errorf(api.Unreachable, "the daemon died")
	}
	f.run("", "setup", "--headless").want(t, 5, "the daemon died")
	if _, err := os.Lstat(filepath.Join(f.home, "state", kitPending)); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(f.home, "state", "recovery-kit.txt")); err == nil {
		t.Error("an empty kit is left")
	}
}

// TestOneSetupAtATime: the second neither waits nor takes the first one's kit
// for what an interrupted one has left.
func TestOneSetupAtATime(t *testing.T) {
	f := newWorld(t)
	made := founding(t, true)
	f.base.launch = func(ctx context.Context, o order) (api.Started, []secret.Value, error) {
		f.run("", "setup", "--headless").want(t, 1, "another setup is going on")
		return made(ctx, o)
	}
	f.run("", "setup", "--headless").want(t, 0, "recovery-kit.txt")
	if text, err := os.ReadFile(filepath.Join(f.home, "state", "recovery-kit.txt")); err != nil || len(text) == 0 {
		t.Errorf("the kit is %q, %v", text, err)
	}
}

// TestStopWaitsForTheOneThatWasAsked and not for a daemon that another command
// has started meanwhile.
func TestStopWaitsForTheOneThatWasAsked(t *testing.T) {
	f := newWorld(t)
	f.serve(map[string]api.Op{api.OpDaemonStop: {Call: func(ctx context.Context, _ *api.Call) (*api.Reply, error) {
		socket := filepath.Join(f.home, "run", "warder.sock")
		newcomer := exec.Command(os.Getenv("WARDER_TEST_BINARY"), "daemon", "run", "--home", f.home)
		if err := errors.Join(os.Remove(socket), f.lock.Release(), newcomer.Start()); err != nil {
			return nil, err
		}
		t.Cleanup(func() { _ = newcomer.Process.Kill(); _ = newcomer.Wait() })
		for {
			conn, err := api.Dial(ctx, frame.Dialer{Path: socket, Self: selfHello(), AnyBuild: true})
			if err == nil {
				return nil, conn.Close()
			}
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			runtime.Gosched()
		}
	}}})
	f.run("", "daemon", "stop").want(t, 0, "the daemon has ended")
}

// TestRecoveryOfAnUnattendedAccount makes it one that a person opens: its
// password file is lost, and a daemon would wait for it for ever.
func TestRecoveryOfAnUnattendedAccount(t *testing.T) {
	f := newWorld(t)
	f.setUp()
	r, err := f.base.reach()
	if err != nil {
		t.Fatal(err)
	}
	if err := recordProgram(r, program{r.install.Binary, r.install.SHA256}, true, "agent"); err != nil {
		t.Fatal(err)
	}
	file := passwordFile(r)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	f.base.launch = func(context.Context, order) (api.Started, []secret.Value, error) {
		return api.Started{Account: "acc", StateCode: "SC"}, kitValues(t), nil
	}
	f.run("", "unlock", "--recovery").want(t, 3, file, "remove that file")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	f.person(
		typed{question: "Recovery code (not shown): ", answer: testCode},
		typed{question: "New master password: ", answer: testPassword},
		typed{question: "The same again: ", answer: testPassword},
	)
	f.run("", "unlock", "--recovery").want(t, 0, "unlocked; the old recovery code")
	if f.installed(filepath.Join(f.home, "state")).Unattended {
		t.Error("it is still recorded as unattended")
	}
}
