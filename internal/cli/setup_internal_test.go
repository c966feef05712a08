package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"warder/internal/api"
	"warder/internal/secret"
	"warder/internal/state"
)

// founding is a launch that makes an account, if the order fits.
func founding(t *testing.T, unattended bool) func(context.Context, order) (api.Started, []secret.Value, error) {
	return func(_ context.Context, o order) (api.Started, []secret.Value, error) {
		in, fits := o.in.(api.StartCreate)
		if o.op != api.OpStartCreate || !fits || in.Unattended != unattended || len(o.values) != map[bool]int{true: 0, false: 1}[unattended] {
			t.Errorf("the order is %s %+v with %d values", o.op, o.in, len(o.values))
		}
		return api.Started{Account: "acc", StateCode: "SC", PasswordFile: "/pw"}, kitValues(t), nil
	}
}

// atHome lets the places of a world be those of a person without WARDER_HOME.
func (f *fake) atHome() {
	delete(f.env, "WARDER_HOME")
	f.env["XDG_RUNTIME_DIR"] = f.home
}

// installed is what setup recorded.
func (f *fake) installed(stateDir string) state.Install {
	f.t.Helper()
	dir, err := state.OpenDir(stateDir)
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	in, err := state.ReadInstall(dir)
	if err != nil {
		f.t.Fatal(err)
	}
	return in
}

func TestSetupByAPerson(t *testing.T) {
	for _, row := range []struct{ name, answer, binary string }{
		{"installed", "y", ".local/bin/warder"},
		{"not installed", "n", ".local/state/warder/bin/warder"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newWorld(t)
			f.atHome()
			f.base.launch = founding(t, false)
			screen := f.person(
				typed{question: "Install warder as " + f.home + "/.local/bin/warder? [Y/n] ", answer: row.answer, shown: true},
				typed{question: "New master password: ", answer: testPassword},
				typed{question: "The same again: ", answer: testPassword},
			)
			s := f.run("", "setup")
			s.want(t, 0, "Your account is made and open.", row.binary, "warder item add")
			in := f.installed(filepath.Join(f.home, ".local/state/warder"))
			if want := filepath.Join(f.home, row.binary); in.Binary != want || in.Unattended || in.Socket != f.home+"/warder/warder.sock" {
				t.Errorf("recorded %+v", in)
			}
			if sum, err := hashFile(in.Binary); err != nil || sum != in.SHA256 {
				t.Errorf("the program's hash is %s, %v; recorded is %s", sum, err, in.SHA256)
			}
			shown := screen()
			if !strings.Contains(shown, "Device secret  DEVICE-CANARY") || !strings.Contains(shown, "Recovery code  CODE-CANARY") {
				t.Errorf("the kit does not show: %q", shown)
			}
			if strings.Contains(shown+s.out, testPassword) || strings.Contains(s.out+s.errors, "CANARY") {
				t.Error("a secret shows where it should not")
			}
		})
	}
}

func TestSetupWithAKitFile(t *testing.T) {
	f := newWorld(t)
	f.base.launch = founding(t, false)
	screen := f.person(
		typed{question: "New master password: ", answer: testPassword},
		typed{question: "The same again: ", answer: testPassword},
	)
	kit := filepath.Join(f.home, "kit.txt")
	f.run("", "setup", "--kit-file", kit, "--json").want(t, 0, `"account":"acc"`, `"kit_file":"`+kit+`"`, `"binary":"`+f.home+`/state/bin/warder"`)
	if text, err := os.ReadFile(kit); err != nil || !strings.Contains(string(text), "CODE-CANARY") {
		t.Errorf("the kit is %q, %v", text, err)
	}
	if strings.Contains(screen(), "CANARY") {
		t.Error("the terminal shows what went to a file")
	}
}

// TestSetupThatFails leaves no empty kit behind, and can be done again.
func TestSetupThatFails(t *testing.T) {
	f := newWorld(t)
	kit := filepath.Join(f.home, "kit.txt")
	args := []string{"setup", "--headless", "--kit-file", kit, "--json"}
	f.base.launch = func(context.Context, order) (api.Started, []secret.Value, error) {
		return api.Started{}, nil, api.Errorf(api.Unreachable, "the disk is full")
	}
	f.run("", args...).want(t, 5, "the disk is full")
	if _, err := os.Lstat(kit); err == nil {
		t.Error("an empty kit is left")
	}
	f.base.launch = founding(t, true)
	s := f.run("", args...)
	s.want(t, 0, `"password_file":"/pw"`)
	var done setupDone
	if err := json.Unmarshal([]byte(s.out), &done); err != nil || done.KitFile != kit || done.Already {
		t.Errorf("%+v, %v", done, err)
	}
	if in := f.installed(filepath.Join(f.home, "state")); !in.Unattended {
		t.Errorf("recorded %+v", in)
	}
}

func TestSetupRefuses(t *testing.T) {
	f := newWorld(t)
	f.run("", "setup").want(t, 3, "error[denied]: a person sets up warder, and this is agent: a test", "warder setup --headless")
	f.run("", "setup", "--device-secret", "paper").want(t, 2, `--device-secret is file or keyring, not "paper"`)
	f.run("", "setup", "--headless", "--device-secret", "keyring").want(t, 2, "error[usage]: a keyring is not available", "nothing was set up", "hint: keep", "warder setup --headless --device-secret file")
	if _, err := os.Lstat(filepath.Join(f.home, "state")); err == nil {
		t.Error("without a keyring something was stored")
	}
	f.run("", "setup", "--help").want(t, 0, "secret is kept: file (")
	if s := f.run("", "__complete", "setup", "--device-secret", ""); s.status != 0 || strings.Contains(s.out, "keyring") || !strings.Contains(s.out, "file\n") {
		t.Errorf("offered: %+v", s)
	}
	if err := os.MkdirAll(filepath.Join(f.home, "data", "account", "keysets"), 0o700); err != nil {
		t.Fatal(err)
	}
	// An account that came from another device is nobody's to make anew.
	f.run("", "setup", "--headless").want(t, 1, "error[exists]", "warder unlock --recovery")
	if _, err := os.Lstat(filepath.Join(f.home, "state", "install.json")); err == nil {
		t.Error("a refused setup recorded something")
	}
	f.person()
	f.run("", "setup").want(t, 0, "There is an account in", "warder unlock --recovery --device-secret")
}

// TestSetupAgain: a person records the program anew, an agent nothing.
func TestSetupAgain(t *testing.T) {
	status := running()
	f := newFake(t, answers{api.OpStatus: reply(status)})
	f.setUp()
	before := f.installed(filepath.Join(f.home, "state"))
	f.run("", "setup").want(t, 0, "already set up: account acc, unlocked until")
	if after := f.installed(filepath.Join(f.home, "state")); after != before {
		t.Errorf("an agent changed the record: %+v", after)
	}
	if err := os.MkdirAll(filepath.Dir(before.Binary), 0o700); err != nil {
		t.Fatal(err)
	}
	f.person()
	f.run("", "setup").want(t, 0, "already set up", "the program was recorded anew")
	after := f.installed(filepath.Join(f.home, "state"))
	if sum, err := hashFile(after.Binary); err != nil || after.SHA256 != sum || after.SHA256 == before.SHA256 {
		t.Errorf("recorded %+v, %v", after, err)
	}
	if s := f.run("", "setup"); s.status != 0 || strings.Contains(s.errors, "anew") {
		t.Errorf("the same program again: %+v", s)
	}
}

// TestSetupAgainOnALockedAccount: the id of one is not known, and nothing stands where it would.
func TestSetupAgainOnALockedAccount(t *testing.T) {
	status := running()
	status.Account = api.AccountStatus{State: accountLocked}
	f := newFake(t, answers{api.OpStatus: reply(status)})
	f.setUp()
	f.run("", "setup").want(t, 0, "already set up: account, locked: warder unlock")
}

// TestU_155_SetupInAReadOnlyHome puts what setup needs elsewhere. The program
// can't go to ~/.local/bin, so it goes to the state directory.
func TestU_155_SetupInAReadOnlyHome(t *testing.T) {
	const closed = "/sys" // nobody makes a folder there, root neither
	if fi, err := os.Stat(closed); err != nil || !fi.IsDir() {
		t.Skip("no folder here that root can't write to either")
	}
	f := newWorld(t)
	f.atHome()
	f.env["HOME"] = closed
	f.env["XDG_STATE_HOME"], f.env["XDG_DATA_HOME"] = filepath.Join(f.home, "s"), filepath.Join(f.home, "d")
	f.base.launch = founding(t, true)
	program := filepath.Join(f.home, "s", "warder", "bin", "warder")
	f.run("", "setup", "--headless").want(t, 0, program, "as with --no-install")
	if in := f.installed(filepath.Join(f.home, "s", "warder")); in.Binary != program {
		t.Errorf("recorded %+v", in)
	}
}

// TestAFullDiskIsTold: whatever a command was writing, it says to make room.
func TestAFullDiskIsTold(t *testing.T) {
	err := coded(fmt.Errorf("installing: %w", &os.PathError{Op: "write", Path: "/bin/warder", Err: syscall.ENOSPC}))
	if e := api.AsError(err); e.Code != api.Internal || !strings.Contains(e.Hint, "make room on that disk") {
		t.Errorf("%v, hint %q", e, e.Hint)
	}
	if e := api.AsError(coded(errors.New("another"))); e.Hint != api.RowOf(api.Internal).Hint {
		t.Errorf("another one: %q", e.Hint)
	}
}

// TestSetupMakesTheConfigDirectory: a folder that a person makes has another
// mode mostly, and its settings would be refused. status says how to mend it.
func TestSetupMakesTheConfigDirectory(t *testing.T) {
	f := newWorld(t)
	f.base.launch = founding(t, true)
	f.run("", "setup", "--headless").want(t, 0)
	config := filepath.Join(f.home, "config")
	if fi, err := os.Stat(config); err != nil || fi.Mode().Perm() != 0o700 {
		t.Fatalf("after setup: %v, %v", fi, err)
	}
	if err := os.Chmod(config, 0o755); err != nil {
		t.Fatal(err)
	}
	f.run("", "status").want(t, 0, "the settings don't count", "loose mode 0755", "chmod 700 "+config)
}
