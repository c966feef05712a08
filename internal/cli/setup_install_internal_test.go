package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/api"
	"warder/internal/state"
)

// TestSetupKeepsAnotherProgram: what has warder's name among a person's programs and is none gives way only to a person's yes.
func TestSetupKeepsAnotherProgram(t *testing.T) {
	const foreign, older = "#!/bin/sh\necho mine\n", "…\npath\twarder/cmd/warder\nmod\twarder\n"
	long := strings.Repeat("x", 1<<20+10) // the mark lies across two reads
	question := func(f *fake) string {
		return f.home + "/.local/bin/warder is another program. Put warder in its place? [y/N] "
	}
	for _, row := range []struct {
		name, there, answer string // there is what has the name, "/" a directory; no answer: --headless
		kept                bool
	}{
		{"headless", foreign, "", true},
		{"headless, a directory", "/", "", true},
		{"headless, an older warder", older, "", false},
		{"headless, a large one", long + older, "", false},
		{"no", foreign, "", true},
		{"a plain Enter", foreign, "\n", true},
		{"yes", foreign, "y", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newWorld(t)
			f.atHome()
			target := filepath.Join(f.home, ".local", "bin", "warder")
			plant(t, target, row.there)
			args := []string{"setup", "--headless"}
			if person := !strings.HasPrefix(row.name, "headless"); person {
				args = args[:1]
				f.person(
					typed{question: question(f), answer: strings.TrimSpace(row.answer), shown: true},
					typed{question: "New master password: ", answer: testPassword},
					typed{question: "The same again: ", answer: testPassword},
				)
			}
			f.base.launch = founding(t, len(args) > 1)
			s := f.run("", args...)
			s.want(t, 0)
			stateDir := filepath.Join(f.home, ".local", "state", "warder")
			in := f.installed(stateDir)
			if want := filepath.Join(stateDir, "bin", "warder"); row.kept && in.Binary != want || !row.kept && in.Binary != target {
				t.Errorf("the program is %s", in.Binary)
			}
			if kept := isThere(target) && in.Binary != target; kept != row.kept {
				t.Errorf("kept: %v", kept)
			}
			if text, err := os.ReadFile(target); row.kept && row.there != "/" && string(text) != row.there {
				t.Errorf("the other program became %.20q, %v", text, err)
			}
			if told := strings.Contains(s.errors, "another program has this name there"); told != (row.kept && len(args) > 1) {
				t.Errorf("told: %v: %s", told, s.errors)
			}
		})
	}
}

// plant puts a text, or a directory for "/", at a path.
func plant(t *testing.T, path, text string) {
	t.Helper()
	dir := filepath.Dir(path)
	if text == "/" {
		dir = path
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if text == "/" {
		return
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestSetupTellsThePath: who was told to use warder has to find it.
func TestSetupTellsThePath(t *testing.T) {
	const missing, another = "your shell does not find warder yet: ", "your shell takes warder for "
	for _, row := range []struct {
		name, path, there string // below the home
		want, lacks       string
	}{
		{"not in PATH", "other", "", missing, another},
		{"in PATH", ".local/bin", "", "", "your shell"},
		{"another one before it", "other:.local/bin", "other/warder", another, missing},
		{"another one behind it", ".local/bin:other", "other/warder", "", "your shell"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newWorld(t)
			f.atHome()
			dirs := strings.Split(row.path, ":")
			for i := range dirs {
				dirs[i] = filepath.Join(f.home, dirs[i])
			}
			f.env["PATH"] = strings.Join(dirs, string(filepath.ListSeparator))
			if row.there != "" {
				plant(t, filepath.Join(f.home, row.there), "#!/bin/sh\n")
			}
			f.base.launch = founding(t, true)
			s := f.run("", "setup", "--headless")
			s.want(t, 0, row.want)
			if strings.Contains(s.errors, row.lacks) {
				t.Errorf("it says %q", s.errors)
			}
			if row.want != "" {
				s.want(t, 0, "export PATH="+f.home+`/.local/bin:"$PATH"`)
			}
		})
	}
}

// TestSetupWhileTheAccountIsAway: the files of an account may be on a disk that is not mounted, or not be synced yet. Whoever
// sets up meanwhile, an agent with --headless above all, must not make another kind of account of it.
func TestSetupWhileTheAccountIsAway(t *testing.T) {
	for _, recorded := range []bool{true, false} {
		f := newWorld(t)
		f.setUp()
		stateDir := filepath.Join(f.home, "state")
		plant(t, filepath.Join(stateDir, "device", "secret"), "SECRET")
		if err := os.RemoveAll(filepath.Join(f.home, "data")); err != nil {
			t.Fatal(err)
		}
		record := filepath.Join(stateDir, "install.json")
		if !recorded {
			if err := os.Remove(record); err != nil {
				t.Fatal(err)
			}
		}
		before, _ := os.ReadFile(record)
		f.run("", "setup", "--headless").want(t, 1, "error[exists]: this device has the secret of an account in "+f.home+"/data/account, and nothing is there", "bring its files back")
		f.run("", "setup").want(t, 3, "error[denied]")
		if t.Failed() {
			return // it would ask the person
		}
		f.person()
		f.run("", "setup").want(t, 1, "error[exists]")
		if after, _ := os.ReadFile(record); string(after) != string(before) {
			t.Errorf("the record became %s", after)
		}
		// What an interrupted setup has left is nobody's account.
		plant(t, filepath.Join(stateDir, "device", "creating"), "ID")
		f.base.launch = founding(t, true)
		f.run("", "setup", "--headless", "--kit-file", filepath.Join(f.home, "kit")).want(t, 0, "unattended")
	}
}

// TestUnattendedIsTold: nobody overlooks that any program can open such an account, and who wanted that.
func TestUnattendedIsTold(t *testing.T) {
	const text = "any program of this user can open it"
	status := running()
	status.Account = api.AccountStatus{State: accountUnlocked, ID: "acc", Unattended: true}
	f := newFake(t, answers{api.OpStatus: reply(status)})
	f.setUp()
	dir, err := state.OpenDir(filepath.Join(f.home, "state"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dir.Close() }()
	in := f.installed(dir.Path())
	in.Unattended = true
	if err := state.WriteInstall(dir, in); err != nil { // as one before there was set_up_by
		t.Fatal(err)
	}
	f.run("", "status").want(t, 0, text+"\n")
	in.SetUpBy = "agent claude"
	if err := state.WriteInstall(dir, in); err != nil {
		t.Fatal(err)
	}
	f.run("", "status").want(t, 0, "account  unlocked, unattended\n", text+"; set up by agent claude\n")
	f.run("", "status", "--json").want(t, 0, `"set_up_by":"agent claude"`)
	f.run("", "doctor").want(t, 1, "limited  account: it is unattended: "+text)
	f.person()
	plant(t, in.Binary, "")
	s := f.run("", "setup")
	s.want(t, 0, "already set up: account acc, unlocked, unattended", "to make it yours", "warder unlock --recovery")
	if again := f.installed(dir.Path()); again.SetUpBy != "agent claude" || !again.Unattended {
		t.Errorf("a second setup recorded %+v", again)
	}
}

// TestHeadlessIsNoWayAroundAPerson: an agent that sets up headless where a person's account is changes nothing, whatever the
// daemon and the account are like.
func TestHeadlessIsNoWayAroundAPerson(t *testing.T) {
	locked := running()
	locked.Account = api.AccountStatus{State: accountLocked}
	for name, told := range map[string]api.Status{"open": running(), "locked": locked} {
		f := newFake(t, answers{api.OpStatus: reply(told)})
		f.setUp()
		before := f.installed(filepath.Join(f.home, "state"))
		for _, more := range [][]string{nil, {"--no-install"}, {"--kit-file", filepath.Join(f.home, "kit")}, {"--json"}} {
			s := f.run("", append([]string{"setup", "--headless"}, more...)...)
			s.want(t, 0, "--headless changed nothing: the account is one that a person opens")
		}
		if after := f.installed(filepath.Join(f.home, "state")); after != before || after.Unattended {
			t.Errorf("%s: recorded %+v", name, after)
		}
		for _, path := range []string{"kit", "state/unattended", "state/bin/warder", ".local"} {
			if isThere(filepath.Join(f.home, path)) {
				t.Errorf("%s: %s is there", name, path)
			}
		}
	}
}
